package vertex_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// telling is a predictor of a server that streams the events {"text":…}.
func telling() vertex.Predictor {
	own := echo()
	own.Request = func(q *providers.ChatCompletionRequest) ([]byte, error) {
		return json.Marshal(map[string]any{"instances": []any{map[string]any{"prompt": q.Messages[0].Content.Text()}}, "parameters": map[string]bool{"stream": q.Stream}})
	}
	own.Chunk = func(data []byte) (vertex.Prediction, error) {
		var e struct {
			Text   string
			Finish string `json:"finish_reason"`
			Tokens int64
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return vertex.Prediction{}, fmt.Errorf("no event: %w", err)
		}
		p := vertex.Prediction{Text: e.Text, FinishReason: e.Finish}
		if e.Tokens > 0 {
			p.Usage = &providers.Usage{TotalTokens: e.Tokens}
		}
		return p, nil
	}
	return own
}

func TestAPredictorStreams(t *testing.T) {
	for name, tt := range map[string]struct {
		body   string
		chunks int
		text   string
		finish string
		tokens int64
	}{
		"to a finish reason": {"data: {\"text\":\"Hi\"}\n\n: ping\n\ndata: {\"text\":\" there\",\"finish_reason\":\"length\"}\n\n", 2, "Hi there", "length", 0},
		"to [DONE]":          {"data: {\"text\":\"Hi\"}\n\ndata: [DONE]\n\n", 2, "Hi", "stop", 0},
		"with usage":         {"data: {\"text\":\"Hi\",\"tokens\":2}\n\ndata: {\"tokens\":7,\"finish_reason\":\"stop\"}\n\n", 3, "Hi", "stop", 7},
		"nothing but an end": {"data: {\"finish_reason\":\"stop\"}\n\n", 1, "", "stop", 0},
		"empty events":       {"data: \n\ndata: {}\n\ndata: {\"text\":\"Hi\",\"finish_reason\":\"stop\",\"error\":null}\n\n", 1, "Hi", "stop", 0},
		"as a whole":         {"{\n \"predictions\": [\"Hi\"]\n}", 2, "Hi", "length", 3},
	} {
		for way, body := range map[string]func() io.Reader{
			"at once":  func() io.Reader { return strings.NewReader(tt.body) },
			"in bytes": func() io.Reader { return iotest.OneByteReader(strings.NewReader(tt.body)) },
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				rt := &player{body: body}
				r, err := predicting(t, telling(), rt).ChatCompletionStream(t.Context(), target("endpoints.1"), hello(t, "endpoints.1"))
				if err != nil {
					t.Fatal(err)
				}
				chunks, whole, err := outcome.Read(r)
				if err != nil {
					t.Fatal(err)
				}
				tokens := int64(0)
				if whole.Usage != nil {
					tokens = whole.Usage.TotalTokens
				}
				if len(chunks) != tt.chunks || whole.Text() != tt.text || whole.Choices[0].FinishReason != tt.finish || tokens != tt.tokens ||
					whole.Choices[0].Message.Role != providers.RoleAssistant {
					t.Errorf("%s in %d chunks", outcome.Stable(t, whole), len(chunks))
				}
				if diff := cmp.Diff(`{"instances":[{"prompt":"hi"}],"parameters":{"stream":true}}`, string(rt.sent)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if !strings.HasSuffix(rt.url, "/endpoints/1:streamRawPredict") {
					t.Error(rt.url)
				}
			})
		}
	}
}

func TestAPredictorsStreamFails(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want providers.Code
	}{
		"cut between events":     {"data: {\"text\":\"Hi\"}\n\n", providers.ErrStreamCut},
		"cut within an event":    {"data: {\"text\":\"Hi\"}\n\ndata: {\"te", providers.ErrStreamCut},
		"nothing":                {"", providers.ErrStreamCut},
		"an event it can't read": {"data: 7\n\ndata: {\"finish_reason\":\"stop\"}\n\n", providers.ErrBadResponse},
		"an error event":         {"data: {\"text\":\"Hi\"}\n\ndata: {\"error\":{\"code\":503,\"message\":\"x\"}}\n\n", providers.ErrUnavailable},
		"an error behind events": {"data: {\"text\":\"Hi\",\"finish_reason\":\"stop\"}\n\n{\"error\":{\"code\":503,\"message\":\"x\"}}", providers.ErrUnavailable},
		"an error alone":         {"{\"error\":{\"code\":429,\"message\":\"x\"}}", providers.ErrRateLimited},
		"a whole answer, cut":    {"{\"predictions\":[\"a", providers.ErrStreamCut},
		"HTML":                   {"<html>", providers.ErrBadResponse},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := predicting(t, telling(), plays([]byte(tt.body))).ChatCompletionStream(t.Context(), target("endpoints.1"), hello(t, "endpoints.1"))
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = outcome.Read(r)
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != tt.want || !e.Sent {
				t.Errorf("%+v, want %s", err, tt.want)
			}
		})
	}
}

// TestAPredictorsWholeAnswers are those of predict, with Chunk or without.
func TestAPredictorsWholeAnswers(t *testing.T) {
	rt := plays([]byte(`{"predictions":["Hi"]}`))
	answer, err := predicting(t, telling(), rt).ChatCompletion(t.Context(), target("endpoints.1"), hello(t, "endpoints.1"))
	if err != nil || answer.Text() != "Hi" || !strings.HasSuffix(rt.url, ":predict") || !strings.Contains(string(rt.sent), `"stream":false`) {
		t.Errorf("%+v %v from %s", answer, err, rt.url)
	}
}

// TestTheEmulatorStreamsPredictions also finds the own host of a dedicated
// endpoint, once for both methods.
func TestTheEmulatorStreamsPredictions(t *testing.T) {
	for name, dedicated := range map[string]bool{"shared": false, "dedicated": true} {
		t.Run(name, func(t *testing.T) {
			srv := vertextest.New(vertextest.WithDeployed(vertextest.Endpoint{ID: "1", Model: "m", Dedicated: dedicated}))
			defer srv.Close()
			p := vertex.New(vertex.Config{Transport: srv.Transport(), Predictors: map[string]vertex.Predictor{"1": telling()}})
			g := target("endpoints.1")
			g.Region = "us-central1"
			if _, err := p.ChatCompletion(t.Context(), g, hello(t, "endpoints.1")); err != nil {
				t.Fatal(err)
			}
			before := len(srv.Requests())
			r, err := p.ChatCompletionStream(t.Context(), g, hello(t, "endpoints.1"))
			if err != nil {
				t.Fatal(err)
			}
			chunks, whole, err := outcome.Read(r)
			if err != nil || len(chunks) < 2 || whole.Text() == "" {
				t.Errorf("%v in %d chunks", err, len(chunks))
			}
			if n := len(srv.Requests()) - before; n != 1 {
				t.Errorf("the stream took %d requests, want 1", n)
			}
		})
	}
}
