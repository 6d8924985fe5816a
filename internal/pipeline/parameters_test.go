package pipeline

import (
	"context"
	"io"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/internal/served"
	"github.com/b650d4bf/gateway/providers"
)

func TestObserversSeeTheParameters(t *testing.T) {
	zero, third := 0.0, 0.3
	limit, newer, k, n, seed := 10, 20, 40, 2, int64(7)
	tests := []struct {
		name string
		call Settings
		set  func(*providers.ChatCompletionRequest)
		want providers.Parameters
	}{
		{"none", Settings{}, func(*providers.ChatCompletionRequest) {}, providers.Parameters{}},
		{"all of them", Settings{}, func(q *providers.ChatCompletionRequest) {
			q.MaxTokens, q.TopK, q.N, q.Seed = &limit, &k, &n, &seed
			q.Temperature, q.TopP, q.PresencePenalty, q.FrequencyPenalty = &zero, &third, &zero, &third
			q.Stop, q.ReasoningEffort = providers.Stop{"a", "b"}, "low"
		}, providers.Parameters{
			MaxTokens: 10, TopK: 40, Choices: 2, Seed: &seed, Temperature: &zero, TopP: &third,
			PresencePenalty: &zero, FrequencyPenalty: &third, Stop: []string{"a", "b"}, ReasoningEffort: "low",
		}},
		{"the newer limit wins", Settings{}, func(q *providers.ChatCompletionRequest) {
			q.MaxTokens, q.MaxCompletionTokens = &limit, &newer
		}, providers.Parameters{MaxTokens: 20}},
		{"JSON", Settings{}, func(q *providers.ChatCompletionRequest) {
			q.ResponseFormat = &providers.ResponseFormat{Type: "json_object"}
		}, providers.Parameters{OutputType: "json"}},
		{"text", Settings{}, func(q *providers.ChatCompletionRequest) {
			q.ResponseFormat = &providers.ResponseFormat{Type: "text"}
		}, providers.Parameters{OutputType: "text"}},
		{"an unknown format", Settings{}, func(q *providers.ChatCompletionRequest) {
			q.ResponseFormat = &providers.ResponseFormat{Type: "grammar"}
		}, providers.Parameters{}},
		{"an image", Settings{}, func(q *providers.ChatCompletionRequest) { q.Modalities = []string{"text", "image"} }, providers.Parameters{OutputType: "image"}},
		{"speech", Settings{}, func(q *providers.ChatCompletionRequest) { q.Modalities = []string{"audio"} }, providers.Parameters{OutputType: "speech"}},
		{"another schema", Settings{Schema: providers.SchemaTextCompletion}, func(*providers.ChatCompletionRequest) {}, providers.Parameters{Schema: "text_completion"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, req := &watcher{name: "w"}, ask("m")
			tt.set(req)
			_, _ = New(answering(rich)).Chat(t.Context(), watched(w), &tt.call, req)
			wantEqual(t, &tt.want, w.starts[0].Parameters)
			wantEqual(t, &tt.want, w.records[0].Parameters)
		})
	}
}

// TestParametersAreTheCalls shows that a request may be changed when the call has
// returned, while a stream goes on.
func TestParametersAreTheCalls(t *testing.T) {
	w, req, hot := &watcher{name: "w"}, ask("m"), 0.5
	req.Temperature, req.Stop = &hot, providers.Stop{"a"}
	s, err := New(streaming(io.EOF, talk()...)).ChatStream(t.Context(), watched(w), &Settings{}, req)
	if err != nil {
		t.Fatal(err)
	}
	hot, req.Stop[0] = 1, "b"
	if _, err := s.Collect(); err != nil {
		t.Fatal(err)
	}
	was := 0.5
	wantEqual(t, &providers.Parameters{Temperature: &was, Stop: []string{"a"}}, w.last().Parameters)
}

func TestAttemptsNameTheirServer(t *testing.T) {
	p := answering(rich)
	answer := p.answer
	p.answer = func(ctx context.Context) (*providers.ChatCompletion, error) {
		served.Tell(ctx, &url.URL{Scheme: "https", Host: "models.example"})
		return answer(ctx)
	}
	w := &watcher{name: "w"}
	if _, err := New(p).Chat(t.Context(), watched(w), &Settings{}, ask("m")); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "models.example:443", w.last().Meta.Attempts[0].Server)

	out, err := New(p).Chat(t.Context(), here(), &Settings{}, ask("m"))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "", out.Meta.Attempts[0].Server)
}

func TestObserversSeeTheReasonsOfAllChoices(t *testing.T) {
	several := func(reasons ...string) []providers.Choice {
		var out []providers.Choice
		for i, r := range reasons {
			out = append(out, providers.Choice{Index: i, FinishReason: r, Message: providers.AssistantMessage("a")})
		}
		return out
	}
	tests := []struct {
		name    string
		choices []providers.Choice
		want    []string
	}{
		{"one choice", several("stop"), nil},
		{"two choices", several("stop", "length"), []string{"stop", "length"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &watcher{name: "w"}
			p := answering(func() providers.ChatCompletion { return providers.ChatCompletion{ID: "i", Choices: tt.choices} })
			if _, err := New(p).Chat(t.Context(), watched(w), &Settings{}, ask("m")); err != nil {
				t.Fatal(err)
			}
			wantEqual(t, tt.want, w.last().FinishReasons)
		})
	}
	t.Run("a stream", func(t *testing.T) {
		w := &watcher{name: "w"}
		end := func(i int, reason string) providers.ChatCompletionChunk {
			return providers.ChatCompletionChunk{ID: "i", Choices: []providers.ChunkChoice{{Index: i, FinishReason: reason}}}
		}
		s, err := New(streaming(io.EOF, end(1, "length"), end(0, "stop"))).ChatStream(t.Context(), watched(w), &Settings{}, ask("m"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Collect(); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, []string{"stop", "length"}, w.last().FinishReasons)
	})
}

// pacer is a watcher of chunks too.
type pacer struct {
	watcher
	gaps   []time.Duration
	models []string
}

func (p *pacer) ChunkReceived(_ context.Context, r *providers.Record, since time.Duration) {
	p.gaps = append(p.gaps, since)
	p.models = append(p.models, r.Meta.Model)
}

func TestObserversSeeThePaceOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pacer{watcher: watcher{name: "w"}}
		s, err := New(streaming(io.EOF, talk()[:3]...)).ChatStream(t.Context(), loose(p), &Settings{}, ask("m"))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := s.Recv(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, []time.Duration{time.Second, time.Second}, p.gaps)
		wantEqual(t, []string{"m", "m"}, p.models)
	})
}

// TestNothingIsMadeWithoutObservers shows that calls nobody is told of do without
// what is for observers.
func TestNothingIsMadeWithoutObservers(t *testing.T) {
	limit := 10
	req := ask("m")
	req.MaxTokens, req.Stop = &limit, providers.Stop{"a"}
	r := new(recorder)
	call := new(Settings)
	n := testing.AllocsPerRun(100, func() {
		r.asksChat(call, req)
		_, r.server = r.noted(t.Context())
		r.paced()
		r.pulled()
		r.finished(1, "stop")
	})
	if n != 0 || r.record.Parameters != nil || r.server != nil {
		t.Errorf("%v allocations, %+v", n, r.record)
	}
}
