package growth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
)

func quick() *Run { return &Run{Samples: 1, Least: time.Millisecond, Quick: true} }

// TestEverySeriesAtSmallSizes takes all figures once. What they are does not
// matter: that everything asked for was answered, and nothing goes on running, does.
func TestEverySeriesAtSmallSizes(t *testing.T) {
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			lines, err := s.measure(t.Context(), quick())
			if err != nil {
				t.Fatal(err)
			}
			for i := range lines {
				checkLine(t, &s, &lines[i])
			}
			for range 200 {
				if runtime.NumGoroutine() <= before {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("%d goroutines, and %d before", runtime.NumGoroutine(), before)
		})
	}
}

func checkLine(t *testing.T, s *Series, l *Line) {
	t.Helper()
	if l.Asked != l.Answered || l.Asked < int64(len(l.Rows)) && l.Name != "as the store counts" {
		t.Errorf("%s: %d answers to %d requests for %d sizes", l.Name, l.Answered, l.Asked, len(l.Rows))
	}
	if len(l.Rows) < 4 || l.Rows[0].Size != 1 {
		t.Fatalf("%s has the rows %v", l.Name, l.Rows)
	}
	for _, r := range l.Rows {
		if len(r.Values) != len(s.Metrics) {
			t.Errorf("%s of %d has %d figures for %d metrics", l.Name, r.Size, len(r.Values), len(s.Metrics))
		}
	}
	for name := range l.Rules {
		if !slices.ContainsFunc(s.Metrics, func(m Metric) bool { return m.Name == name }) {
			t.Errorf("%s has a rule for %q, which is no metric", l.Name, name)
		}
	}
}

// toy does work of n units, or of n*n.
func toy() Series {
	work := func(n int) (sum float64) {
		for i := range 20 * n {
			sum += math.Sqrt(float64(i))
		}
		return sum
	}
	return Series{
		Name: "toy", Title: "A toy", Axis: "things",
		Metrics: []Metric{{Name: "time", Unit: Nanoseconds, Rule: linear, Plotted: true}, {Name: "allocations", Unit: Count, Rule: linear}},
		measure: func(_ context.Context, r *Run) ([]Line, error) {
			lines, sums := []Line{{Name: "linear"}, {Name: "quadratic"}}, 0.0
			for _, n := range (&Run{}).sizes(200, 0) {
				for i, times := range []int{1, n} {
					paid, err := r.measure(func(*clock) error {
						for range times {
							sums += work(n)
						}
						made := make([][]byte, 0, n*times)
						for range n * times {
							made = append(made, make([]byte, 1))
						}
						runtime.KeepAlive(made)
						return nil
					})
					if err != nil {
						return nil, err
					}
					lines[i].Rows = append(lines[i].Rows, Row{n, []float64{paid.ns, paid.allocs}})
				}
			}
			if sums == 0 {
				return nil, errors.New("nothing was done")
			}
			return lines, nil
		},
	}
}

// TestAQuadraticCostIsFound measures one that is.
func TestAQuadraticCostIsFound(t *testing.T) {
	o := &options{run: *quick()}
	var out bytes.Buffer
	failed, err := o.measure(t.Context(), []Series{toy()}, Origin{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"growth: toy: quadratic, time: exponent", "growth: toy: quadratic, allocations: exponent 2.00"} {
		if !slices.ContainsFunc(failed, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%q is not among %q", want, failed)
		}
	}
	if strings.Contains(strings.Join(failed, "\n"), "linear, allocations") || !strings.Contains(out.String(), "ok     toy       linear                 allocations") {
		t.Errorf("a linear cost is said to be worse: %q\n%s", failed, &out)
	}
}

func TestJudge(t *testing.T) {
	rising := []Point{{1, 1}, {10, 1}, {100, 1}, {1000, 3}}
	for name, c := range map[string]struct {
		rule   Rule
		points []Point
		want   bool
	}{
		"linear, and linear is asked for":     {linear, curveOf(func(n float64) float64 { return n }), true},
		"n log n, and linear is asked for":    {linear, curveOf(func(n float64) float64 { return n * math.Log(n+1) }), false},
		"n^1.2, and linear is asked for":      {linear, curveOf(func(n float64) float64 { return math.Pow(n, 1.2) }), false},
		"no curve, and linear is asked for":   {linear, []Point{{1, 1}, {2, 2}}, false},
		"rising, and level is asked for":      {level, rising, false},
		"rising before, and level after it":   {Rule{Rise: 2, From: 1000}, rising, true},
		"rising, and level is asked from one": {Rule{Rise: 3.5, From: 1}, rising, true},
		"rising, and nothing is asked for":    {Rule{}, rising, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judge("l", "m", c.rule, c.points); got.OK != c.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestHistoriesAreConversations(t *testing.T) {
	for _, h := range histories() {
		for n := range 14 {
			n++
			req, calls := h.request(n), 0
			if len(req.Messages) != n || req.Messages[n-1].Role != gateway.RoleUser {
				t.Fatalf("%s: %d messages, want %d with the user's last", h.name, len(req.Messages), n)
			}
			for i := range req.Messages {
				m := &req.Messages[i]
				if len(m.ToolCalls) > 0 {
					calls++
					if m.ToolCalls[0].Function.ThoughtSignature != h.signature || req.Messages[i+1].ToolCallID != m.ToolCalls[0].ID {
						t.Errorf("%s, %d: call %d has the wrong signature or result", h.name, n, i)
					}
				} else if len(m.Content.Text()) != messageBytes {
					t.Errorf("%s, %d: message %d has %d bytes", h.name, n, i, len(m.Content.Text()))
				}
			}
			if want := (n - 1) / 4; h.calls && calls != want || !h.calls && calls != 0 {
				t.Errorf("%s, %d: %d calls, want %d", h.name, n, calls, want)
			}
		}
	}
}

// TestWrongAnswersEndTheRun has the platform say less than it is to.
func TestWrongAnswersEndTheRun(t *testing.T) {
	for _, s := range streamings() {
		t.Run(s.name, func(t *testing.T) {
			p := &platform{stream: &script{20, s.event}}
			client, err := newClient(p)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if err := s.read(t.Context(), client, 20); err != nil {
				t.Errorf("the right answer: %v", err)
			}
			if err := s.read(t.Context(), client, 40); !errors.Is(err, errAnswer) {
				t.Errorf("a short answer: %v", err)
			}
			p.stream = &script{20, func(b []byte, i, _ int) []byte { return s.event(b, i, 40) }}
			if err := s.read(t.Context(), client, 40); err == nil {
				t.Error("a stream that is cut is taken for a whole one")
			}
		})
	}
	c, err := newCaller(gemini)
	if err != nil {
		t.Fatal(err)
	}
	defer c.client.Close()
	c.platform.body = bytes.Replace(c.platform.body, []byte("world"), []byte("moon"), 1)
	if err := c.ask(t.Context(), request(gemini)); !errors.Is(err, errAnswer) || c.answered != 0 {
		t.Errorf("another answer: %v", err)
	}
}

func TestSizes(t *testing.T) {
	got := fmt.Sprint((&Run{}).sizes(2000, 20), (&Run{Quick: true}).sizes(2000, 20))
	if diff := cmp.Diff("[1 2 5 10 20 50 100 200 500 1000 2000] [1 2 5 10 20]", got); diff != "" {
		t.Error(diff)
	}
}
