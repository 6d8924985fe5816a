package front

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

const (
	promptPath = "/v1/prompts/welcome@3/completions"
	renderPath = "/v1/prompts/welcome@3/render"
)

func TestPromptCompletions(t *testing.T) {
	b := &fake{answer: &providers.ChatCompletion{ID: "a", Model: "m-1", Created: 7, Meta: providers.Meta{
		RequestID: "r-1", Prompt: "welcome", PromptVersion: "3",
	}}}
	res := ask(t, Config{}, b, "POST", promptPath,
		`{"variables":{"name":"Ada","user": {"b":1, "a":[ ]},"none":null},"temperature":0,"tools":[],"x_new":{"z":1}}`,
		"x-gateway-provider", "@vx")
	if body := readBody(t, res); res.StatusCode != 200 || res.Header.Get("x-gateway-prompt") != "welcome@3" ||
		body != `{"id":"a","object":"chat.completion","created":7,"model":"m-1","choices":[]}` {
		t.Errorf("status %d, prompt %q, body %s", res.StatusCode, res.Header.Get("x-gateway-prompt"), body)
	}
	want := map[string]any{
		"name": json.RawMessage(`"Ada"`), "user": json.RawMessage(`{"b":1, "a":[ ]}`), "none": json.RawMessage("null"),
	}
	if diff := cmp.Diff(want, b.prompt.Variables); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	over := b.prompt.Overrides
	if b.prompt.ID != "welcome@3" || over.Temperature == nil || over.Tools == nil || string(over.Extra) != `{"x_new":{"z":1}}` || b.overrides.Provider != "vx" {
		t.Errorf("asked %+v, %+v", b.prompt, b.overrides)
	}
}

func TestPromptCompletionsAreStreamed(t *testing.T) {
	s := newScript(io.EOF, "Hel", "lo")
	s.meta = providers.Meta{Prompt: "welcome", PromptVersion: "3"}
	res := ask(t, Config{}, &fake{stream: s}, "POST", promptPath, `{"stream":true}`)
	want := ""
	for _, text := range []string{"Hel", "lo"} {
		chunk, err := textChunk(text).AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintf("data: %s\n\n", chunk)
	}
	if diff := cmp.Diff(want+"data: [DONE]\n\n", readBody(t, res)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if res.Header.Get("x-gateway-prompt") != "welcome@3" || !s.isClosed() {
		t.Errorf("prompt %q, closed %v", res.Header.Get("x-gateway-prompt"), s.isClosed())
	}
}

func TestPromptRender(t *testing.T) {
	b := &fake{}
	res := ask(t, Config{Keys: []string{"k"}}, b, "POST", renderPath, `{"model":"m","variables":{"a":1},"stream":true,"top_p":0.5}`,
		"x-gateway-api-key", "k", "x-gateway-trace-id", "r-7")
	const want = `{"success":true,"data":{"model":"m","messages":[],"top_p":0.5,"stream":true}}`
	if diff := cmp.Diff(want, readBody(t, res)); diff != "" || res.StatusCode != 200 {
		t.Errorf("status %d, body (-want +got):\n%s", res.StatusCode, diff)
	}
	for name, want := range map[string]string{
		"x-gateway-prompt": "welcome@3@3", "x-gateway-request-id": "r-7", "content-type": "application/json", "x-gateway-warnings": "",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if b.calls != 0 {
		t.Error("a model was asked")
	}
}

func TestPromptRequestsThatAreRefused(t *testing.T) {
	key := []string{"x-gateway-api-key", "k"}
	unknown := &providers.Error{Code: providers.ErrPromptNotFound, Param: "id", Message: "m"}
	for _, tt := range []struct {
		name, method, path, body string
		header                   []string
		err                      error
		status                   int
		code, param              string
	}{
		{"no key", "POST", promptPath, `{}`, nil, nil, 401, "authentication_failed", ""},
		{"no id", "POST", "/v1/prompts//completions", `{}`, key, nil, 404, "invalid_request", ""},
		{"nothing below", "POST", "/v1/prompts/", `{}`, key, nil, 404, "invalid_request", ""},
		{"no operation", "POST", "/v1/prompts/welcome", `{}`, key, nil, 404, "invalid_request", ""},
		{"another operation", "POST", "/v1/prompts/welcome/generate", `{}`, key, nil, 404, "invalid_request", ""},
		{"more below", "POST", promptPath + "/x", `{}`, key, nil, 404, "invalid_request", ""},
		{"another method", "GET", promptPath, ``, key, nil, 405, "invalid_request", ""},
		{"another header", "POST", promptPath, `{}`, append([]string{"x-gateway-providr", "x"}, key...), nil, 400, "invalid_request", "x-gateway-providr"},
		{"no body", "POST", promptPath, ``, key, nil, 400, "invalid_request", ""},
		{"a list", "POST", promptPath, `[]`, key, nil, 400, "invalid_request", ""},
		{"variables in a list", "POST", promptPath, `{"variables":[1]}`, key, nil, 400, "invalid_request", "variables"},
		{"variables as text", "POST", renderPath, `{"variables":"{}"}`, key, nil, 400, "invalid_request", "variables"},
		{"a wrong type", "POST", promptPath, `{"temperature":"hot"}`, key, nil, 400, "invalid_request", "temperature"},
		{"an unknown prompt", "POST", promptPath, `{}`, key, unknown, 404, "prompt_not_found", "id"},
		{"an unknown prompt, streamed", "POST", promptPath, `{"stream":true}`, key, unknown, 404, "prompt_not_found", "id"},
		{"an unknown prompt, rendered", "POST", renderPath, `{"variables":null}`, key, unknown, 404, "prompt_not_found", "id"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := ask(t, Config{Keys: []string{"k"}}, &fake{err: tt.err}, tt.method, tt.path, tt.body, tt.header...)
			e := readEnvelope(t, res)
			got := []any{res.StatusCode, e.Error.Code, e.param()}
			if diff := cmp.Diff([]any{tt.status, tt.code, tt.param}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", e.Error.Message, diff)
			}
		})
	}
}
