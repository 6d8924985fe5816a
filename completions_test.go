package gateway_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestTextCompletions(t *testing.T) {
	srv := vertextest.New()
	client := platformClient(t, srv)
	for _, tt := range []struct {
		name string
		req  gateway.CompletionRequest
		want []string
	}{
		{"one prompt", gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: gateway.PromptText("Tell me")}, []string{`You said: "Tell me".`}},
		{
			"several prompts, choices and echo",
			gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: gateway.PromptTexts("One", "Two"), N: new(2), Echo: true},
			[]string{`OneYou said: "One".`, `OneYou said: "One".`, `TwoYou said: "Two".`, `TwoYou said: "Two".`},
		},
		{"a Claude", gateway.CompletionRequest{Model: "anthropic.claude-sonnet-4-5@20250929", Prompt: gateway.PromptText("Tell me")}, []string{`You said: "Tell me".`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole, err := client.Completions.Create(t.Context(), &tt.req)
			if err != nil {
				t.Fatal(err)
			}
			stream, err := client.Completions.CreateStream(t.Context(), &tt.req)
			if err != nil {
				t.Fatal(err)
			}
			folded, err := stream.Collect()
			if err != nil {
				t.Fatal(err)
			}
			for form, answer := range map[string]*gateway.Completion{"whole": whole, "streamed": folded} {
				var got []string
				for i, c := range answer.Choices {
					if c.Index != i || c.FinishReason != "stop" {
						t.Errorf("%s: choice %d is %+v", form, i, c)
					}
					got = append(got, c.Text)
				}
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("%s (-want +got)\n%s", form, d)
				}
				if answer.Usage == nil || answer.Usage.CompletionTokens == 0 || answer.Provider != "vertex-ai" || answer.Meta.RequestID == "" {
					t.Errorf("%s: %+v", form, answer)
				}
			}
			if whole.Usage.PromptTokens != folded.Usage.PromptTokens {
				t.Errorf("usage %+v, streamed %+v", whole.Usage, folded.Usage)
			}
		})
	}
}

func TestTextCompletionsInPieces(t *testing.T) {
	client := platformClient(t, vertextest.New())
	stream, err := client.Completions.CreateStream(t.Context(), &gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: gateway.PromptTexts("One", "Two")})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[int]string{}
	for piece, err := range stream.Pieces() {
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range piece.Choices {
			texts[c.Index] += c.Text
		}
	}
	if d := cmp.Diff(map[int]string{0: `You said: "One".`, 1: `You said: "Two".`}, texts); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("%v after the end", err)
	}
}

// A config works for text completions as it does for chat completions.
func TestTextCompletionsUnderAConfig(t *testing.T) {
	srv := vertextest.New()
	srv.ScriptFor("gemini-2.5-pro", vertextest.Error(503, "UNAVAILABLE", "busy"), vertextest.Error(503, "UNAVAILABLE", "busy"))
	cfg, err := config.Parse([]byte(`{"strategy":{"mode":"fallback"},"targets":[
		{"override_params":{"model":"gemini-2.5-pro"}},{"override_params":{"model":"gemini-2.5-flash","temperature":0.25}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	client := platformClient(t, srv)
	req := &gateway.CompletionRequest{Model: "gemini-2.5-flash-lite", Prompt: gateway.PromptText("Tell me")}
	out, err := client.Completions.Create(t.Context(), req, gateway.WithConfig(cfg))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := client.Completions.CreateStream(t.Context(), req, gateway.WithConfig(cfg))
	if err != nil {
		t.Fatal(err)
	}
	folded, err := stream.Collect()
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range []*gateway.Completion{out, folded} {
		if answer.Text() != `You said: "Tell me".` || len(answer.Meta.Attempts) != 2 || answer.Meta.Model != "gemini-2.5-flash" {
			t.Errorf("%+v", answer)
		}
	}
	last := srv.Requests()[len(srv.Requests())-1]
	if !strings.Contains(string(last.Body), `"temperature":0.25`) {
		t.Errorf("%s was sent", last.Body)
	}
}

func TestTextCompletionsWithSettings(t *testing.T) {
	srv := vertextest.New()
	client := platformClient(t, srv)
	out, err := client.Completions.Create(t.Context(), &gateway.CompletionRequest{
		Model: "gemini-2.5-flash", Prompt: gateway.PromptText("def f():"), Suffix: "return n", MaxTokens: new(50), BestOf: new(3), Stop: gateway.Stop{"END"},
		Extra: gateway.Extra(`{"logit_bias":{"1":2},"thinking":{"type":"enabled","budget_tokens":0}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	var warned []string
	for _, w := range out.Meta.Warnings {
		warned = append(warned, w.Param)
	}
	slices.Sort(warned)
	if d := cmp.Diff([]string{"best_of", "logit_bias", "suffix"}, warned); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	body := string(srv.Requests()[0].Body)
	for _, part := range []string{`"maxOutputTokens":50`, `"stopSequences":["END"]`, `"thinkingBudget":0`, `\u003csuffix\u003ereturn n`} {
		if !strings.Contains(body, part) && !strings.Contains(body, strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(part)) {
			t.Errorf("%s is not in %s", part, body)
		}
	}
}

func TestTextCompletionsThatAreRefused(t *testing.T) {
	srv := vertextest.New()
	client := platformClient(t, srv)
	text := gateway.PromptText("a")
	for name, tt := range map[string]struct {
		req   *gateway.CompletionRequest
		param string
	}{
		"nothing at all":         {nil, "request"},
		"no model":               {&gateway.CompletionRequest{Prompt: text}, "model"},
		"no prompt":              {&gateway.CompletionRequest{Model: "gemini-2.5-flash"}, "prompt"},
		"an empty prompt":        {&gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: gateway.PromptTexts("a", "")}, "prompt[1]"},
		"a stream":               {&gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: text, Stream: true}, "stream"},
		"no choices":             {&gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: text, N: new(0)}, "n"},
		"no tokens":              {&gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: text, MaxTokens: new(0)}, "max_tokens"},
		"the best of less":       {&gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: text, N: new(3), BestOf: new(2)}, "best_of"},
		"tools":                  {&gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: text, Extra: gateway.Extra(`{"tools":[]}`)}, "tools"},
		"thinking that is none":  {&gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: text, Extra: gateway.Extra(`{"thinking":5}`)}, "thinking"},
		"a model that is none":   {&gateway.CompletionRequest{Model: "a/b/c", Prompt: text}, "model"},
		"several, of such a one": {&gateway.CompletionRequest{Model: "a/b/c", Prompt: gateway.PromptTexts("a", "b")}, "model"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Completions.Create(t.Context(), tt.req)
			e, ok := errors.AsType[*gateway.Error](err)
			if !ok || e.Code != gateway.ErrInvalidRequest || e.Param != tt.param || e.Sent || e.Message == "" {
				t.Errorf("%v, want it to be about %s", err, tt.param)
			}
			if tt.param == "stream" {
				return
			}
			if _, again := client.Completions.CreateStream(t.Context(), tt.req); again == nil || again.Error() != err.Error() {
				t.Errorf("streamed: %v, want %v", again, err)
			}
		})
	}
	if n := len(srv.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	var none gateway.TextCompletionsService
	if _, err := none.Create(t.Context(), nil); !errors.Is(err, gateway.ErrInvalidConfig) {
		t.Errorf("%v for a service without a client", err)
	}
}

// call sends a request to the front and returns the status and the JSON.
func callFront(t *testing.T, front *httptest.Server, method, path, body string) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, front.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := front.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out map[string]any
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, out
}

// TestCachesOverHTTP keeps a cached content, uses it, extends it and ends it.
func TestCachesOverHTTP(t *testing.T) {
	client := platformClient(t, vertextest.New(vertextest.WithCacheMinimum(10)))
	front := httptest.NewServer(client.Handler())
	defer front.Close()
	book := `"` + strings.Repeat("a long book ", 50) + `"`
	status, made := callFront(t, front, "POST", "/v1/cached_contents", `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":`+book+`}],"ttl":"1h","display_name":"book"}`)
	name, _ := made["id"].(string)
	if status != 200 || !strings.Contains(name, "/cachedContents/") || made["display_name"] != "book" {
		t.Fatalf("%d %v", status, made)
	}
	if status, answer := callFront(t, front, "POST", "/v1/chat/completions", `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Hi"}],"cached_content":"`+name+`"}`); status != 200 {
		t.Errorf("%d %v", status, answer)
	}
	id := name[strings.LastIndex(name, "/")+1:]
	if status, got := callFront(t, front, "GET", "/v1/cached_contents/"+id, ""); status != 200 || got["id"] != name {
		t.Errorf("%d %v", status, got)
	}
	status, longer := callFront(t, front, "PATCH", "/v1/cached_contents/"+name, `{"ttl":7200}`)
	before, _ := made["expires_at"].(float64)
	if after, _ := longer["expires_at"].(float64); status != 200 || after <= before {
		t.Errorf("%d %v", status, longer)
	}
	if status, list := callFront(t, front, "GET", "/v1/cached_contents", ""); status != 200 || len(list["data"].([]any)) != 1 {
		t.Errorf("%d %v", status, list)
	}
	if status, gone := callFront(t, front, "DELETE", "/v1/cached_contents/"+name, ""); status != 200 || gone["object"] != "cached_content.deleted" {
		t.Errorf("%d %v", status, gone)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if status, err := callFront(t, front, method, "/v1/cached_contents/"+id, ""); status != 404 {
			t.Errorf("%s of one that is gone: %d %v", method, status, err)
		}
	}
	if status, err := callFront(t, front, "GET", "/v1/cached_contents/a%2F..%2Fb", ""); status != 400 {
		t.Errorf("%d %v", status, err)
	}
}

func TestCountsAndFactsOverHTTP(t *testing.T) {
	client := platformClient(t, vertextest.New())
	front := httptest.NewServer(client.Handler())
	defer front.Close()
	status, count := callFront(t, front, "POST", "/v1/chat/completions/count_tokens", `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Hello there"}]}`)
	if n, _ := count["input_tokens"].(float64); status != 200 || n < 1 || count["object"] != "chat.completion.input_tokens" {
		t.Errorf("%d %v", status, count)
	}
	for model, want := range map[string]map[string]any{
		"gemini-2.5-flash": {
			"type": "chat", "provider": "vertex-ai", "family": "google", "context_window": 1048576.0, "supports_tools": true,
			"thinking": map[string]any{"min_budget_tokens": 1.0, "max_budget_tokens": 24576.0, "can_disable": true},
		},
		"text-embedding-005":  {"type": "embedding", "dimensions": 768.0, "max_inputs": 250.0, "max_input_tokens": 2048.0},
		"multimodalembedding": {"dimension_sizes": []any{128.0, 256.0, 512.0, 1408.0}, "input_modalities": []any{"text", "image", "video"}},
	} {
		status, got := callFront(t, front, "GET", "/v1/models/"+model, "")
		if status != 200 {
			t.Errorf("%s: %d %v", model, status, got)
		}
		for member, value := range want {
			if d := cmp.Diff(value, got[member]); d != "" {
				t.Errorf("%s: %s (-want +got)\n%s", model, member, d)
			}
		}
	}
}
