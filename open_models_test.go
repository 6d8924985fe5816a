package gateway_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
)

// replies is a transport that answers with one text and keeps what was sent.
type replies struct{ text, url, sent string }

func (r *replies) RoundTrip(req *http.Request) (*http.Response, error) {
	data, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	r.url, r.sent = req.URL.String(), string(data)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(r.text)), Request: req}, err
}

func openClient(t *testing.T, rt http.RoundTripper, opts ...gateway.ClientOption) *gateway.Client {
	t.Helper()
	opts = append([]gateway.ClientOption{
		gateway.WithHTTPClient(&http.Client{Transport: rt}), gateway.WithProvider("vertex-ai"), gateway.WithProjectID("p"), gateway.WithRegion("us-central1"), gateway.WithAccessToken("t"),
	}, opts...)
	client, err := gateway.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestAnOpenModelsAnswerIsProjected(t *testing.T) {
	rt := &replies{text: `{"id":"i","created":1,"model":"m","object":"chat.completion","system_fingerprint":"fp","metadata":{"a":1},"choices":[{"index":0,"matched_stop":7,` +
		`"message":{"role":"assistant","content":"Hi","reasoning_content":"hm","refusal":null,"x":1,"tool_calls":null},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"extra_properties":{}}}`}
	client := openClient(t, rt)
	ask := func(opts ...gateway.RequestOption) string {
		t.Helper()
		answer, err := client.Chat.Completions.Create(t.Context(), &gateway.ChatCompletionRequest{
			Model: "qwen.qwen3-next-80b-a3b-thinking-maas", Messages: []gateway.Message{gateway.UserMessage("hi")},
		}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		data, err := answer.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const head, usage = `{"id":"i","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"`,
		`"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}`
	strict := head + `},"logprobs":null,"finish_reason":"stop"}],` + usage + `},"provider":"vertex-ai","system_fingerprint":"fp"}`
	if diff := cmp.Diff(strict, ask()); diff != "" {
		t.Errorf("strict (-want +got)\n%s", diff)
	}
	loose := head + `,"content_blocks":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hi"}],"x":1},"logprobs":null,"finish_reason":"stop","native_finish_reason":"stop","matched_stop":7}],` +
		usage + `,"extra_properties":{}},"provider":"vertex-ai","system_fingerprint":"fp","metadata":{"a":1}}`
	if diff := cmp.Diff(loose, ask(gateway.WithStrictCompliance(false))); diff != "" {
		t.Errorf("loose (-want +got)\n%s", diff)
	}
}

func TestPublishersAndPredictorsCanBeAdded(t *testing.T) {
	rt := &replies{text: `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`}
	predictor := gateway.Predictor{
		Request: func(*gateway.ChatCompletionRequest) ([]byte, error) { return []byte(`{"instances":[]}`), nil },
		Answer:  func([]byte) (gateway.Prediction, error) { return gateway.Prediction{Text: "raw"}, nil },
	}
	client := openClient(t, rt, gateway.WithPublishers(gateway.Publisher{Name: "acme"}), gateway.WithPredictor("9", predictor))
	for model, want := range map[string][2]string{
		"acme.rocket": {"/endpoints/openapi/chat/completions", "ok"},
		"endpoints.9": {"/endpoints/9:predict", "raw"},
	} {
		answer, err := client.Chat.Completions.Create(t.Context(), &gateway.ChatCompletionRequest{
			Model: model, Messages: []gateway.Message{gateway.UserMessage("hi")},
		})
		if err != nil || answer.Text() != want[1] || !strings.HasSuffix(rt.url, want[0]) {
			t.Errorf("%s: %v %v at %s", model, answer, err, rt.url)
		}
	}
	for name, o := range map[string]gateway.ClientOption{
		"a publisher without a name":      gateway.WithPublishers(gateway.Publisher{}),
		"an unknown wire":                 gateway.WithPublishers(gateway.Publisher{Name: "a", Wire: "x"}),
		"a version that is no segment":    gateway.WithPublishers(gateway.Publisher{Name: "a", Version: "v1/x"}),
		"a predictor without functions":   gateway.WithPredictor("1", gateway.Predictor{}),
		"a predictor without a name":      gateway.WithPredictor("", predictor),
		"a publisher's name with slashes": gateway.WithPublishers(gateway.Publisher{Name: "a/b"}),
	} {
		if _, err := gateway.New(o); !errors.Is(err, gateway.ErrInvalidConfig) {
			t.Errorf("%s: %v, want %s", name, err, gateway.ErrInvalidConfig)
		}
	}
}
