package prompts_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/prompts"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// support is a prompt with most of what one can have.
const support = `{"labels":{"production":1},"default":1,"versions":{
	"1":{"request":{"model":"gemini-2.5-flash","temperature":0.25,"max_completion_tokens":900,
		"tools":[{"type":"function","function":{"name":"find","parameters":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}}}],
		"messages":[
			{"role":"system","content":"You work for {{company}}. {{> tone}}"},
			{"placeholder":"history"},
			{"role":"user","content":[{"type":"text","text":"{{question}}"},{"type":"image_url","image_url":{"url":"gs://shots/{{shot}}.png"}}]}]}},
	"2":{"request":{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"{{question}}"}]}}}}`

// client is one of the emulated platform, with the prompt.
func client(t testing.TB) (*gateway.Client, *vertextest.Server) {
	t.Helper()
	p, err := prompts.Parse("support", []byte(support), prompts.Partials{"tone": "Be <brief> & kind.\n"})
	if err != nil {
		t.Fatal(err)
	}
	store := new(prompts.Memory)
	if err := store.Add(p); err != nil {
		t.Fatal(err)
	}
	platform := vertextest.New()
	c, err := gateway.New(
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithPrompts(prompts.New(store)),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, platform
}

// asked is what each way of asking below brings to the platform.
const asked = `{"contents":[{"role":"user","parts":[{"text":"Hello"}]},{"role":"model","parts":[{"text":"Hi"}]},` +
	`{"role":"user","parts":[{"text":"Why \"so\"?"},{"fileData":{"mimeType":"image/png","fileUri":"gs://shots/7.png"}}]}],` +
	`"systemInstruction":{"parts":[{"text":"You work for Kettles & Co. Be <brief> & kind."}]},` +
	`"tools":[{"functionDeclarations":[{"name":"find","parametersJsonSchema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}}]}],` +
	`"generationConfig":{"temperature":0.25,"topP":0.5,"maxOutputTokens":50}}`

// TestGateway asks in all ways, which must make the same request.
func TestGateway(t *testing.T) {
	variables := map[string]any{
		"company": "Kettles & Co", "question": `Why "so"?`, "shot": 7,
		"history": []gateway.Message{gateway.UserMessage("Hello"), gateway.AssistantMessage("Hi")},
	}
	body := func(more string) string {
		return `{"variables":{"company":"Kettles & Co","question":"Why \"so\"?","shot":7,` +
			`"history":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]},"top_p":0.5,"max_tokens":50` + more + `}`
	}
	req := &gateway.PromptCompletionRequest{
		ID: "support@production", Variables: variables,
		Overrides: gateway.ChatCompletionRequest{TopP: new(0.5), MaxTokens: new(50)},
	}
	c, platform := client(t)
	h := c.Handler()
	meta := func(m gateway.Meta) string { return m.Prompt + "@" + m.PromptVersion }
	tests := []struct {
		name string
		ask  func(t *testing.T) (text, prompt string)
	}{
		{"Go, whole", func(t *testing.T) (string, string) {
			answer, err := c.Prompts.Completions.Create(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			return answer.Text(), meta(answer.Meta)
		}},
		{"Go, streamed", func(t *testing.T) (string, string) {
			stream, err := c.Prompts.Completions.CreateStream(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := stream.Collect()
			if err != nil {
				t.Fatal(err)
			}
			return answer.Text(), meta(stream.Meta())
		}},
		{"HTTP, whole", func(t *testing.T) (string, string) {
			res, text := post(t, h, "/v1/prompts/support@production/completions", body(""))
			var answer gateway.ChatCompletion
			if err := json.Unmarshal([]byte(text), &answer); err != nil || res.StatusCode != 200 {
				t.Fatalf("status %d, %v: %s", res.StatusCode, err, text)
			}
			return answer.Text(), res.Header.Get("x-gateway-prompt")
		}},
		{"HTTP, streamed", func(t *testing.T) (string, string) {
			res, text := post(t, h, "/v1/prompts/support/completions", body(`,"stream":true`))
			whole, ok := strings.CutSuffix(text, "data: [DONE]\n\n")
			if !ok || res.StatusCode != 200 {
				t.Fatalf("status %d: %s", res.StatusCode, text)
			}
			var acc gateway.Accumulator
			for event := range strings.SplitSeq(strings.TrimSpace(whole), "\n\n") {
				var chunk gateway.ChatCompletionChunk
				if err := json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &chunk); err != nil {
					t.Fatal(err)
				}
				if err := acc.Add(&chunk); err != nil {
					t.Fatal(err)
				}
			}
			return acc.Completion().Text(), res.Header.Get("x-gateway-prompt")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			platform.Reset()
			platform.Script(vertextest.Text("Because."))
			text, prompt := tt.ask(t)
			wantEqual(t, []string{"Because.", "support@1"}, []string{text, prompt})
			sent := platform.Requests()
			if len(sent) != 1 {
				t.Fatalf("%d requests", len(sent))
			}
			if diff := cmp.Diff(asked, string(sent[0].Body)); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

func post(t *testing.T, h http.Handler, path, body string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	res := w.Result()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// TestGateway_render checks that what is shown is what would be sent.
func TestGateway_render(t *testing.T) {
	c, platform := client(t)
	const body = `{"variables":{"question":"Why?","odd":1},"model":"@vx/other","temperature":0}`
	res, text := post(t, c.Handler(), "/v1/prompts/support@2/render", body)
	wantEqual(t, `{"success":true,"data":{"model":"@vx/other","messages":[{"role":"user","content":"Why?"}],"temperature":0}}`, text)
	wantEqual(t, []string{"support@2", `[{"code":"unknown_parameter","param":"variables.odd","message":"left out: the prompt has no such variable"}]`},
		[]string{res.Header.Get("x-gateway-prompt"), res.Header.Get("x-gateway-warnings")})
	if n := len(platform.Requests()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestGateway_errors checks the envelopes that HTTP clients get.
func TestGateway_errors(t *testing.T) {
	c, platform := client(t)
	tests := []struct {
		path, body           string
		status               int
		code, param, message string
	}{
		{"/v1/prompts/suport/completions", `{}`, 404, "prompt_not_found", "id", `prompt "suport" not found (did you mean "support"?)`},
		{"/v1/prompts/support@9/completions", `{"stream":true}`, 404, "prompt_not_found", "id", `prompt "support" has no version 9: its latest is 2`},
		{"/v1/prompts/support@prod/render", `{}`, 404, "prompt_not_found", "id", `prompt "support" has no label "prod" (did you mean "production"?)`},
		{"/v1/prompts/support@/render", `{}`, 400, "invalid_request", "id", "nothing follows the @: give a version's number, a label or \"latest\", or leave the @ out"},
		{"/v1/prompts/support/completions", `{"variables":{"company":"x"}}`, 400, "invalid_request", "variables",
			`"history", "question", "shot" are missing: the prompt needs a value, which may be null`},
		{"/v1/prompts/support@2/render", `{}`, 400, "invalid_request", "variables", `"question" is missing: the prompt needs a value, which may be null`},
		{"/v1/prompts/support@2/completions", `{"variables":{"question":"a"},"messages":[]}`, 400, "invalid_request", "messages",
			"the prompt has the messages: pass a conversation in a variable that the prompt has a placeholder for"},
		{"/v1/prompts/support/completions", `{"variables":{"company":"x","question":"a","shot":1,"history":[{"role":"system","content":"obey"}]}}`,
			400, "invalid_request", "variables.history[0].role", "must be user, assistant or tool"},
	}
	for _, tt := range tests {
		t.Run(tt.path+tt.body, func(t *testing.T) {
			res, text := post(t, c.Handler(), tt.path, tt.body)
			var e struct {
				Error struct{ Message, Param, Code string }
			}
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			wantEqual(t, []any{tt.status, tt.code, tt.param, tt.message}, []any{res.StatusCode, e.Error.Code, e.Error.Param, e.Error.Message})
		})
	}
	if n := len(platform.Requests()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestGateway_cut checks that a stream of a prompt that breaks is an error.
func TestGateway_cut(t *testing.T) {
	c, platform := client(t)
	platform.Script(vertextest.Text("Because of this and that.").CutAfterEvents(1))
	stream, err := c.Prompts.Completions.CreateStream(t.Context(), &gateway.PromptCompletionRequest{ID: "support@2", Variables: map[string]any{"question": "Why?"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Collect(); !errors.Is(err, gateway.ErrStreamCut) {
		t.Errorf("error %v, want %v", err, gateway.ErrStreamCut)
	}
	if m := stream.Meta(); m.Prompt != "support" || m.PromptVersion != "2" {
		t.Errorf("meta %+v", m)
	}
}
