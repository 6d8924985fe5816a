package front

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

const completionsPath = "/v1/completions"

// fakeText is the part of a fake that completes texts.
type fakeText struct {
	answer  *providers.Completion
	stream  *textPieces
	request *providers.CompletionRequest
}

func (f *fake) Complete(_ context.Context, req *providers.CompletionRequest, o *Overrides) (*providers.Completion, error) {
	f.text.request, f.overrides = req, *o
	if f.err != nil {
		return nil, f.err
	}
	return cmp.Or(f.text.answer, &providers.Completion{ID: "a", Model: "m-1", Created: 7}), nil
}

func (f *fake) CompleteStream(_ context.Context, req *providers.CompletionRequest, _ *Overrides) (CompletionStream, error) {
	f.text.request = req
	if f.err != nil {
		return nil, f.err
	}
	return f.text.stream, nil
}

func (f *fake) ChatTokens(_ context.Context, req *providers.ChatCompletionRequest, o *Overrides) (*providers.TokenCount, error) {
	f.note(req, o)
	return &f.count, f.err
}

// pieces is a stream of pieces that ends in err.
type textPieces struct {
	texts  []string
	err    error
	closed int
}

func newTextPieces(err error, texts ...string) *textPieces {
	return &textPieces{texts: texts, err: err}
}

func (p *textPieces) Recv() (*providers.Completion, error) {
	if len(p.texts) == 0 {
		return nil, p.err
	}
	text := p.texts[0]
	p.texts = p.texts[1:]
	return &providers.Completion{ID: "a", Model: "m-1", Created: 7, Choices: []providers.CompletionChoice{{Text: text}}}, nil
}

func (p *textPieces) Meta() providers.Meta { return providers.Meta{RequestID: "r-1"} }

func (p *textPieces) Close() error {
	p.closed++
	return nil
}

func pieceEvent(text string) string {
	return `data: {"id":"a","object":"text_completion","created":7,"model":"m-1","choices":[{"text":"` + text + `","index":0,"logprobs":null,"finish_reason":null}]}` + "\n\n"
}

func TestCompletions(t *testing.T) {
	b := &fake{text: fakeText{answer: &providers.Completion{
		ID: "a", Model: "m-1", Created: 7, Provider: "vertex-ai",
		Choices: []providers.CompletionChoice{{Text: "one", FinishReason: "stop"}, {Text: "two", Index: 1, FinishReason: "length"}},
		Usage:   &providers.Usage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3},
		Meta:    providers.Meta{RequestID: "r-1", Provider: "vertex-ai", Slug: "vx", Model: "m"},
	}}}
	res := ask(t, Config{}, b, "POST", completionsPath, `{"model":"@vx/m","prompt":["a","b"],"max_tokens":5}`)
	want := `{"id":"a","object":"text_completion","created":7,"model":"m-1","choices":[` +
		`{"text":"one","index":0,"logprobs":null,"finish_reason":"stop"},{"text":"two","index":1,"logprobs":null,"finish_reason":"length"}],` +
		`"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},` +
		`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}},"provider":"vertex-ai"}`
	if diff := gocmp.Diff(want, readBody(t, res)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if got := res.Header.Get("x-gateway-target"); got != "@vx/m" {
		t.Errorf("target %q", got)
	}
	if q := b.text.request; q.Model != "@vx/m" || len(q.Prompt.Texts) != 2 || *q.MaxTokens != 5 {
		t.Errorf("request = %+v", q)
	}
}

func TestStreamedCompletions(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  error
		want string
	}{
		{"whole", io.EOF, pieceEvent("a") + pieceEvent("b") + "data: [DONE]\n\n"},
		{
			"cut", &providers.Error{Code: providers.ErrStreamCut, Message: "cut"},
			pieceEvent("a") + pieceEvent("b") + `data: {"error":{"message":"cut","type":"api_error","param":null,"code":"stream_cut"}}` + "\n\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &fake{text: fakeText{stream: newTextPieces(tt.end, "a", "b")}}
			res := ask(t, Config{}, b, "POST", completionsPath, `{"model":"m","prompt":"a","stream":true}`)
			got := readBody(t, res)
			if tt.name == "cut" {
				got, tt.want = got[:strings.LastIndex(got, `data: {"error"`)+15], tt.want[:strings.LastIndex(tt.want, `data: {"error"`)+15]
			}
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if b.text.stream.closed != 1 || res.Header.Get("x-gateway-request-id") != "r-1" {
				t.Errorf("closed %d times, id %q", b.text.stream.closed, res.Header.Get("x-gateway-request-id"))
			}
		})
	}
}

func TestCompletionBodiesThatAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, body, param, message string }{
		{"tokens", `{"model":"m","prompt":[1,2,3]}`, "prompt[0]", "send the text"},
		{"lists of tokens", `{"model":"m","prompt":[[1],[2]]}`, "prompt[0]", "send the text"},
		{"a number", `{"model":"m","prompt":5}`, "prompt", "expected a string"},
		{"an object", `{"model":"m","prompt":{}}`, "prompt", "expected a string"},
		{"a null in the list", `{"model":"m","prompt":["a",null]}`, "prompt[1]", "expected a string"},
		{"a temperature as text", `{"model":"m","prompt":"a","temperature":"1"}`, "temperature", ""},
		{"log probabilities as in chat completions", `{"model":"m","prompt":"a","logprobs":true}`, "logprobs", ""},
		{"echo as text", `{"model":"m","prompt":"a","echo":"yes"}`, "echo", ""},
		{"stop as a number", `{"model":"m","prompt":"a","stop":5}`, "stop", ""},
		{"no JSON", `{"prompt":`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := ask(t, Config{}, &fake{}, "POST", completionsPath, tt.body)
			e := readEnvelope(t, res)
			if res.StatusCode != 400 || tt.param != "" && e.param() != tt.param || !strings.Contains(e.Error.Message, tt.message) {
				t.Errorf("%d about %q: %s", res.StatusCode, e.param(), e.Error.Message)
			}
		})
	}
	for _, stream := range []string{"false", "true"} {
		res := ask(t, Config{}, &fake{err: errors.New("secret")}, "POST", completionsPath, `{"model":"m","prompt":"a","stream":`+stream+`}`)
		if e := readEnvelope(t, res); res.StatusCode != 500 || strings.Contains(e.Error.Message, "secret") {
			t.Errorf("%d: %s", res.StatusCode, e.Error.Message)
		}
	}
}

func TestCountOfTokens(t *testing.T) {
	b := &fake{count: providers.TokenCount{
		TotalTokens: 11, BillableCharacters: 30, ByModality: map[string]int64{"text": 7, "image": 4}, Meta: providers.Meta{RequestID: "r-1"},
	}}
	res := ask(t, Config{}, b, "POST", "/v1/chat/completions/count_tokens", hello)
	want := `{"object":"chat.completion.input_tokens","input_tokens":11,"billable_characters":30,"by_modality":{"image":4,"text":7}}`
	if diff := gocmp.Diff(want, readBody(t, res)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if b.request.Model != "m" || res.Header.Get("x-gateway-request-id") != "r-1" {
		t.Errorf("request = %+v, id %q", b.request, res.Header.Get("x-gateway-request-id"))
	}
	res = ask(t, Config{Keys: []string{"k"}}, b, "POST", "/v1/chat/completions/count_tokens", hello)
	if res.StatusCode != 401 {
		t.Errorf("status %d without a key", res.StatusCode)
	}
}

func TestFactsOfModels(t *testing.T) {
	b := &fake{models: []Model{
		{ID: "m", OwnedBy: "google", Facts: &ModelFacts{
			Type: "chat", Provider: "vertex-ai", Family: "google", ContextWindow: 1000, MaxOutputTokens: 10, InputModalities: []string{"text", "image"},
			OutputModalities: []string{"text"}, Tools: new(true), Thinking: &ThinkingFacts{MaxBudget: 5, Efforts: []string{"low"}, CanDisable: true},
		}},
		{ID: "e", Facts: &ModelFacts{Type: "embedding", MaxInputTokens: 7, MaxInputs: 2, Dimensions: 8, MinDimensions: 4, Sizes: []int{4, 8}}},
	}}
	for path, want := range map[string]string{
		"/v1/models/m": `{"id":"m","object":"model","created":0,"owned_by":"google","type":"chat","provider":"vertex-ai","family":"google","context_window":1000,` +
			`"max_output_tokens":10,"input_modalities":["text","image"],"output_modalities":["text"],"supports_tools":true,` +
			`"thinking":{"max_budget_tokens":5,"efforts":["low"],"can_disable":true}}`,
		"/v1/models/e": `{"id":"e","object":"model","created":0,"owned_by":"","type":"embedding","max_input_tokens":7,"max_inputs":2,"dimensions":8,"min_dimensions":4,"dimension_sizes":[4,8]}`,
	} {
		if d := gocmp.Diff(want, readBody(t, ask(t, Config{}, b, "GET", path, ""))); d != "" {
			t.Errorf("%s (-want +got)\n%s", path, d)
		}
	}
}
