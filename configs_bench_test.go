package gateway_test

import (
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
)

// planned is a config, and what a call through it may allocate beyond one without.
type planned struct {
	name, config string
	allocations  float64
}

// plans are configs from nothing to everything. The answer is always of the model
// that the request names.
func plans() []planned {
	full := `"retry":{"attempts":2},"cb_config":{"failure_threshold":3,"cooldown_interval":1000},` +
		`"limits":{"requests_per_minute":1000000000,"concurrency":100}`
	three := func(leaf string) string {
		inner := `{"strategy":{"mode":"loadbalance","sticky":{"enabled":true,"hash_fields":["metadata.team"]}},"targets":[` + leaf + `,` + leaf + `]}`
		return conditional(when(`{"metadata.team":"blue"}`, "blue")+","+when(`{"metadata.team":"red"}`, "red"), "",
			`{"name":"red","strategy":{"mode":"fallback"},"targets":[`+inner+`,`+to(second)+`]}`, to(second, `"name":"blue"`))
	}
	return []planned{
		{"nothing", `{}`, 4},
		{"one target", to(first), 5},
		{"three levels", three(`{}`), 5},
		{"three levels with a model", three(to(first)), 6},
		{"three levels with everything", three(to(first, full)), 7},
		{"three levels with params", three(`{"override_params":{"temperature":0.5}}`), 36},
	}
}

// planClients returns a client without a config, and one with it.
func planClients(tb testing.TB, config string) (direct, through *gateway.Client) {
	tb.Helper()
	direct = benchClient(tb, &fixed{ctype: "application/json", body: unaryAnswer("Hello, world!")})
	c, err := gateway.ParseConfig([]byte(config))
	if err != nil {
		tb.Fatal(err)
	}
	through, err = direct.With(gateway.WithConfig(c))
	if err != nil {
		tb.Fatal(err)
	}
	return direct, through
}

func planRequest() *gateway.ChatCompletionRequest {
	return &gateway.ChatCompletionRequest{
		Model: first, Metadata: map[string]string{"team": "red"}, Messages: []gateway.Message{gateway.UserMessage("Hello")},
	}
}

// TestConfigAllocations holds what planning adds to a call to its budget, and
// reports what it takes in time.
func TestConfigAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too")
	}
	req := planRequest()
	for _, p := range plans() {
		t.Run(p.name, func(t *testing.T) {
			direct, through := planClients(t, p.config)
			cost := func(c *gateway.Client) (allocations float64, each time.Duration) {
				const n = 200
				begin := time.Now()
				allocations = testing.AllocsPerRun(n, func() {
					if _, err := c.Chat.Completions.Create(t.Context(), req); err != nil {
						t.Fatal(err)
					}
				})
				return allocations, time.Since(begin) / n
			}
			cost(direct) // the pools are filled
			without, before := cost(direct)
			with, after := cost(through)
			if more := with - without; more > p.allocations {
				t.Errorf("%v allocations more than the %v of a call without a config, %v at most", more, without, p.allocations)
			}
			t.Logf("%v and %v allocations, time × %.2f", without, with, float64(after)/float64(before))
		})
	}
}

// BenchmarkConfig puts calls through configs beside one without.
func BenchmarkConfig(b *testing.B) {
	req := planRequest()
	run := func(b *testing.B, c *gateway.Client) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Chat.Completions.Create(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
	}
	direct, _ := planClients(b, `{}`)
	b.Run("direct", func(b *testing.B) { run(b, direct) })
	for _, p := range plans() {
		_, through := planClients(b, p.config)
		b.Run(p.name, func(b *testing.B) { run(b, through) })
	}
}
