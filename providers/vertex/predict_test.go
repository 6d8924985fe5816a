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
)

// echo is a predictor of a server that takes a prompt and gives a text.
func echo() vertex.Predictor {
	return vertex.Predictor{
		Request: func(q *providers.ChatCompletionRequest) ([]byte, error) {
			return json.Marshal(map[string]any{"instances": []any{map[string]string{"prompt": q.Messages[0].Content.Text()}}})
		},
		Answer: func(body []byte) (vertex.Prediction, error) {
			var x struct{ Predictions []string }
			if err := json.Unmarshal(body, &x); err != nil || len(x.Predictions) == 0 {
				return vertex.Prediction{}, fmt.Errorf("no prediction: %w", err)
			}
			return vertex.Prediction{Text: x.Predictions[0], FinishReason: "length", Usage: &providers.Usage{TotalTokens: 3}}, nil
		},
	}
}

func predicting(t *testing.T, own vertex.Predictor, rt *player) *vertex.Provider {
	t.Helper()
	p := vertex.New(vertex.Config{Transport: rt, Predictors: map[string]vertex.Predictor{"1": own}})
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func TestAPredictorSpeaksForAnEndpoint(t *testing.T) {
	const answer = "{\n  \"predictions\": [\n    \"Hi\\nthere\"\n  ],\n  \"error\": null,\n  \"deployedModelId\": \"7\"\n}\n"
	for name, body := range map[string]func() io.Reader{
		"at once":  func() io.Reader { return strings.NewReader(answer) },
		"in bytes": func() io.Reader { return iotest.OneByteReader(strings.NewReader(answer)) },
	} {
		t.Run(name, func(t *testing.T) {
			rt := &player{body: body}
			p := predicting(t, echo(), rt)
			q := hello(t, "endpoints.1", `"labels":{"a":"b"}`)
			whole, err := p.ChatCompletion(t.Context(), target("endpoints.1"), q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(`{"instances":[{"prompt":"hi"}]}`, string(rt.sent)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			r, err := p.ChatCompletionStream(t.Context(), target("endpoints.1"), q)
			if err != nil {
				t.Fatal(err)
			}
			chunks, folded, err := outcome.Read(r)
			if err != nil {
				t.Fatal(err)
			}
			whole.Created, folded.Created = 0, 0
			if diff := cmp.Diff(outcome.Stable(t, whole), outcome.Stable(t, folded)); diff != "" {
				t.Errorf("(-whole +folded)\n%s", diff)
			}
			c := whole.Choices[0]
			if whole.Text() != "Hi\nthere" || c.FinishReason != "length" || whole.Usage.TotalTokens != 3 || len(chunks) != 2 || len(whole.Meta.Warnings) != 1 {
				t.Errorf("%+v in %d chunks", whole, len(chunks))
			}
		})
	}
}

func TestAPredictorsFaultsAreTold(t *testing.T) {
	write := func(body string, err error) vertex.Predictor {
		own := echo()
		own.Request = func(*providers.ChatCompletionRequest) ([]byte, error) { return []byte(body), err }
		return own
	}
	odd := errors.New("odd")
	for _, tt := range []struct {
		name   string
		own    vertex.Predictor
		answer string
		want   providers.Code
		sent   bool
	}{
		{"no functions", vertex.Predictor{}, "", providers.ErrInvalidConfig, false},
		{"a body that is no JSON", write("{", nil), "", providers.ErrInvalidConfig, false},
		{"a request it refuses", write("", odd), "", providers.ErrInvalidRequest, false},
		{"a request it refuses with an error of ours", write("", providers.Invalid("messages", "no")), "", providers.ErrInvalidRequest, false},
		{"an answer it can't read", echo(), "{}", providers.ErrBadResponse, true},
		{"an answer that is no JSON", echo(), "<html>", providers.ErrBadResponse, true},
		{"an error in the answer", echo(), `{"error":{"code":503,"message":"x"}}`, providers.ErrUnavailable, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(tt.answer))
			_, err := predicting(t, tt.own, rt).ChatCompletion(t.Context(), target("endpoints.1"), hello(t, "endpoints.1"))
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != tt.want || e.Sent != tt.sent || tt.sent != (rt.calls == 1) {
				t.Errorf("%+v after %d requests, want %s", err, rt.calls, tt.want)
			}
		})
	}
	r, err := predicting(t, echo(), plays([]byte(`{"predictions":["a`))).ChatCompletionStream(t.Context(), target("endpoints.1"), hello(t, "endpoints.1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := outcome.Read(r); !errors.Is(err, providers.ErrStreamCut) {
		t.Errorf("%v, want %s", err, providers.ErrStreamCut)
	}
}
