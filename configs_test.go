package gateway_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	first  = "gemini-2.5-flash"
	second = "gemini-3-flash"
	third  = "anthropic.claude-sonnet-4-5@20250929"
)

// configScenario is a config, what the platform does by model, and what comes of
// a call.
type configScenario struct {
	name   string
	config string
	script map[string][]vertextest.Reply
	want   string // text of the answer, or the code of the error
	asked  string // models in order
	took   time.Duration
}

func to(model string, more ...string) string {
	return `{"override_params":{"model":"` + model + `"}` + strings.Join(append([]string{""}, more...), ",") + `}`
}

func fallback(targets ...string) string {
	return `{"strategy":{"mode":"fallback"},"targets":[` + strings.Join(targets, ",") + `]}`
}

func TestConfigsDecideWhereCallsGo(t *testing.T) {
	busy := vertextest.Overloaded()
	for _, tt := range []configScenario{
		{
			name: "the first target answers", config: fallback(to(first), to(second)), want: "one", asked: first,
			script: map[string][]vertextest.Reply{first: {vertextest.Text("one")}},
		},
		{
			name: "the next target answers", config: fallback(to(first), to(second)), want: "two", asked: first + " " + second,
			script: map[string][]vertextest.Reply{first: {busy}, second: {vertextest.Text("two")}},
		},
		{
			name: "another family answers", config: fallback(to(first), to(third)), want: "three", asked: first + " claude-sonnet-4-5@20250929",
			script: map[string][]vertextest.Reply{first: {busy}, "claude-sonnet-4-5@20250929": {vertextest.Text("three")}},
		},
		{
			name: "nobody answers", config: fallback(to(first), to(second)), want: "service_unavailable", asked: first + " " + second,
			script: map[string][]vertextest.Reply{first: {busy}, second: {busy}},
		},
		{
			name: "a status that is not named ends it", config: `{"strategy":{"mode":"fallback","on_status_codes":[429]},"targets":[` + to(first) + `,` + to(second) + `]}`,
			want: "service_unavailable", asked: first, script: map[string][]vertextest.Reply{first: {busy}},
		},
		{
			name: "another try", config: to(first, `"retry":{"attempts":2}`), want: "one", asked: strings.Repeat(first+" ", 2) + first, took: 3 * time.Second,
			script: map[string][]vertextest.Reply{first: {busy, busy, vertextest.Text("one")}},
		},
		{
			name: "a condition", asked: second, want: "two",
			config: `{"strategy":{"mode":"conditional","conditions":[{"query":{"params.temperature":{"$gt":0.5}},"then":"hot"}],"default":"cold"},` +
				`"targets":[` + to(first, `"name":"cold"`) + `,` + to(second, `"name":"hot"`) + `]}`,
			script: map[string][]vertextest.Reply{second: {vertextest.Text("two")}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, tt.run(false))
		})
		t.Run(tt.name+", streamed", func(t *testing.T) {
			synctest.Test(t, tt.run(true))
		})
	}
}

func (s *configScenario) run(stream bool) func(*testing.T) {
	return func(t *testing.T) {
		srv := vertextest.New()
		defer srv.Close()
		for model, replies := range s.script {
			srv.ScriptFor(model, replies...)
		}
		c, err := gateway.ParseConfig([]byte(s.config))
		if err != nil {
			t.Fatal(err)
		}
		client, err := gateway.New(
			gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"), gateway.WithConfig(c),
			gateway.WithHTTPClient(&http.Client{Transport: srv.Transport()}),
		)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		begin := time.Now()
		req := &gateway.ChatCompletionRequest{
			Model: first, Temperature: new(0.9), Messages: []gateway.Message{gateway.UserMessage("Hello")},
		}
		answer, err := answerTo(t, client, req, stream)
		got := ""
		var trail []gateway.Attempt
		var e *gateway.Error
		switch {
		case errors.As(err, &e):
			got, trail = string(e.Code), e.Attempts
		case err != nil:
			t.Fatal(err)
		default:
			got, trail = answer.Choices[0].Message.Content.Text(), answer.Meta.Attempts
		}
		if got != s.want {
			t.Errorf("%q, want %q (%v)", got, s.want, err)
		}
		var asked []string
		for _, r := range srv.Requests() {
			asked = append(asked, r.Model)
		}
		if d := cmp.Diff(s.asked, strings.Join(asked, " ")); d != "" {
			t.Errorf("asked (-want +got)\n%s", d)
		}
		if n := len(strings.Fields(s.asked)); len(trail) != n {
			t.Errorf("the trail has %d entries, want %d: %s", len(trail), n, fmt.Sprint(trail))
		}
		if took := time.Since(begin); took > s.took {
			t.Errorf("it took %v, at most %v", took, s.took)
		}
	}
}

func answerTo(t *testing.T, client *gateway.Client, req *gateway.ChatCompletionRequest, stream bool, opts ...gateway.RequestOption) (*gateway.ChatCompletion, error) {
	t.Helper()
	if !stream {
		return client.Chat.Completions.Create(t.Context(), req, opts...)
	}
	s, err := client.Chat.Completions.CreateStream(t.Context(), req, opts...)
	if err != nil {
		return nil, err
	}
	return s.Collect()
}
