package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// node is a JSON value on the way to one of its members.
type node struct{ v any }

// at goes down by names and indexes; a negative one counts from the end.
func (n node) at(path ...any) node {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			n.v = n.v.(map[string]any)[step]
		case int:
			list := n.v.([]any)
			if step < 0 {
				step += len(list)
			}
			n.v = list[step]
		}
	}
	return n
}

func (n node) set(name string, v any) { n.v.(map[string]any)[name] = v }
func (n node) remove(name string)     { delete(n.v.(map[string]any), name) }
func (n node) text(name string) string {
	s, _ := n.v.(map[string]any)[name].(string)
	return s
}

// midTurn returns the request that goes on after the tools of the second turn
// have answered.
func midTurn(t *testing.T, model string) (url string, body []byte) {
	t.Helper()
	d := newDialogue(t, senders[0])
	next := func() string { return model }
	d.turn(questions()[1], next)
	d.turn(questions()[0], next)
	requests := d.platform.Requests()
	last := requests[len(requests)-1]
	return "https://aiplatform.googleapis.com" + last.Path + "?" + last.Query, last.Body
}

const (
	contents = "contents"
	messages = "messages"
)

// What the gateway sends is taken; with one thing wrong the platform refuses it.
// So the conversations above show that nothing is wrong with them.
func TestThePlatformRefusesBrokenConversations(t *testing.T) {
	other := vertextest.ClaudeSignature("What someone else thought.")
	call := func(b node) node { return b.at(contents, -2, "parts", 0) }
	thought := func(b node) node { return b.at(messages, -2, "content", 0) }
	used := func(b node) node { return b.at(messages, -2, "content", 1) }
	asked := func(b node) node { return b.at(messages, -2, "tool_calls", 0) }
	tests := []struct {
		model, name string
		breaks      func(b node)
		want        string
	}{
		{gemini38, "as it is", func(node) {}, ""},
		{gemini38, "a signature that was changed", func(b node) { call(b).set("thoughtSignature", "A"+call(b).text("thoughtSignature")[1:]) }, "Corrupted thought signature"},
		{gemini38, "a signature of Claude", func(b node) { call(b).set("thoughtSignature", other) }, "Corrupted thought signature"},
		{gemini38, "the signature of another call", func(b node) { call(b).at("functionCall").set("args", map[string]any{"city": "Oslo"}) }, "Corrupted thought signature"},
		{gemini38, "no signature", func(b node) { call(b).remove("thoughtSignature") }, "missing a `thought_signature`"},
		{gemini38, "the id of another call", func(b node) { b.at(contents, -1, "parts", 0, "functionResponse").set("id", "x") }, "has the id of its function call"},
		{gemini38, "the name of another function", func(b node) { b.at(contents, -1, "parts", 0, "functionResponse").set("name", "x") }, "has the name of its function call"},
		{gemini38, "no result", func(b node) { b.at(contents, -1).set("parts", []any{map[string]any{"text": "Well?"}}) }, "comes immediately after a function call turn"},
		{gemini38, "a block of another schema", func(b node) { b.at(contents, -2, "parts", 0).set("thinking", "hm") }, `Unknown name "thinking"`},
		{gemini25, "an id", func(b node) { call(b).at("functionCall").set("id", "x") }, `Unknown name "id"`},

		{opus46, "as it is", func(node) {}, ""},
		{opus46, "thinking that was changed", func(b node) { thought(b).set("thinking", "Hm.") }, "Invalid `signature` in `thinking` block"},
		{opus46, "another signature", func(b node) { thought(b).set("signature", other) }, "Invalid `signature` in `thinking` block"},
		{opus46, "thinking without a signature", func(b node) { thought(b).remove("signature") }, "signature: Field required"},
		{opus46, "thinking at the end", func(b node) {
			list := b.at(messages, -2, "content").v.([]any)
			list[0], list[1] = list[1], list[0]
		}, "final block in an assistant message cannot be `thinking`"},
		{haiku45, "lost thinking", func(b node) { b.at(messages, -2).set("content", b.at(messages, -2, "content").v.([]any)[1:]) }, "Expected `thinking` or `redacted_thinking`, but found `tool_use`"},
		{opus46, "the id of another call", func(b node) { b.at(messages, -1, "content", 0).set("tool_use_id", "x") }, "unexpected `tool_use_id` found"},
		{opus46, "an id with a colon", func(b node) { used(b).set("id", "a:0"); b.at(messages, -1, "content", 0).set("tool_use_id", "a:0") }, "String should match pattern"},
		{opus46, "a long id", func(b node) {
			long := strings.Repeat("a", 65)
			used(b).set("id", long)
			b.at(messages, -1, "content", 0).set("tool_use_id", long)
		}, "at most 64 characters"},
		{opus46, "no result", func(b node) { b.at(messages, -1).set("content", "Well?") }, "`tool_use` ids were found without `tool_result` blocks"},
		{opus46, "a model in the body", func(b node) { b.set("model", "claude-opus-4-6") }, "model: Extra inputs are not permitted"},
		{opus46, "no version", func(b node) { b.remove("anthropic_version") }, "anthropic_version: Field required"},
		{opus46, "no limit", func(b node) { b.remove("max_tokens") }, "max_tokens: Field required"},
		{sonnet55, "thinking by budget", func(b node) { b.set("thinking", map[string]any{"type": "enabled", "budget_tokens": 2048}) }, "is not supported for this model"},
		{haiku45, "thinking that adapts", func(b node) { b.set("thinking", map[string]any{"type": "adaptive"}) }, "not supported on this model"},

		{mistral3, "as it is", func(node) {}, ""},
		{mistral3, "an id of OpenAI", func(b node) {
			asked(b).set("id", "call_abcdefgh")
			b.at(messages, -1).set("tool_call_id", "call_abcdefgh")
		}, "with a length of 9"},
		{mistral3, "the id of another call", func(b node) { b.at(messages, -1).set("tool_call_id", "abcdefgh1") }, "doesn't belong to a tool call"},
		{mistral3, "the user after a result", func(b node) {
			b.set(messages, append(b.at(messages).v.([]any), map[string]any{"role": "user", "content": "Well?"}))
		}, "Unexpected role 'user' after role 'tool'"},
		{mistral3, "thinking", func(b node) { b.at(messages, -2).set("content_blocks", []any{}) }, "Extra inputs are not permitted"},

		{llama4, "as it is", func(node) {}, ""},
		{llama4, "the id of another call", func(b node) { b.at(messages, -1).set("tool_call_id", "x") }, "doesn't belong to a tool call"},
		{llama4, "no result", func(b node) { b.at(messages, -1).set("role", "user") }, "Not the same number of function calls and responses"},
	}
	for _, tt := range tests {
		t.Run(tt.model+" "+tt.name, func(t *testing.T) {
			url, body := midTurn(t, tt.model)
			var b node
			decodeBody(t, body, &b.v)
			tt.breaks(b)
			broken, err := json.Marshal(b.v)
			if err != nil {
				t.Fatal(err)
			}
			status, said := post(t, url, string(broken))
			if want := tt.want == ""; (status == http.StatusOK) != want || !strings.Contains(said, jsonText(t, tt.want)) {
				t.Errorf("status %d: %s, want %q", status, said, tt.want)
			}
		})
	}
}

// post sends a body to the platform, without a gateway between.
func post(t *testing.T, url, body string) (status int, said string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer t")
	req.Header.Set("Content-Type", "application/json")
	res, err := vertextest.New().Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// jsonText is a text as it stands within a JSON string.
func jsonText(t *testing.T, s string) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(strings.Trim(string(data), `"`))
}
