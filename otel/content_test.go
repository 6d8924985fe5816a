package gatewayotel_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"github.com/b650d4bf/gateway"
	gatewayotel "github.com/b650d4bf/gateway/otel"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// conversation is a request with everything that a chat may hold.
func conversation() *gateway.ChatCompletionRequest {
	req := ask("")
	req.Messages = []gateway.Message{
		gateway.SystemMessage("Be terse."),
		{Role: "user", Name: "ann", Content: providers.PartsContent(
			gateway.TextPart("What is this?"),
			gateway.ImagePart("data:image/png;base64,iVBORw0KGgo="),
			gateway.ImagePart("https://user:pass@example.com/cat.png?token=canary#top"),
		)},
		{Role: "assistant", ToolCalls: []gateway.ToolCall{{ID: "c1", Type: "function", Function: gateway.FunctionCall{Name: "look_up", Arguments: `{"what":"cat"}`}}}},
		{Role: "tool", ToolCallID: "c1", Content: providers.TextContent(`{"name":"Tom"}`)},
		gateway.UserMessage("And then?"),
	}
	req.Tools = []gateway.Tool{gateway.FunctionTool("look_up", "Looks up.", json.RawMessage(`{"type":"object","properties":{"what":{"type":"string"}}}`))}
	return req
}

func content(t *testing.T, s *setup) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, key := range []attribute.Key{"gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.tool.definitions", "gen_ai.output.messages"} {
		if v, ok := s.find(t, "chat gemini-2.5-flash", key); ok {
			out[string(key)] = v.AsString()
		}
	}
	return out
}

func TestContentIsByTheSchemas(t *testing.T) {
	tests := []struct {
		name string
		opts gatewayotel.Options
		want map[string]string
	}{
		{"not asked for", gatewayotel.Options{}, map[string]string{}},
		{"asked for", gatewayotel.Options{Content: true}, map[string]string{
			"gen_ai.system_instructions": `[{"type":"text","content":"Be terse."}]`,
			"gen_ai.input.messages": `[{"role":"user","parts":[{"type":"text","content":"What is this?"},` +
				`{"type":"blob","mime_type":"image/png","modality":"image","content":""},` +
				`{"type":"uri","modality":"image","uri":"https://example.com/cat.png"}],"name":"ann"},` +
				`{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"look_up","arguments":{"what":"cat"}}]},` +
				`{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":{"name":"Tom"}}]},` +
				`{"role":"user","parts":[{"type":"text","content":"And then?"}]}]`,
			"gen_ai.tool.definitions": `[{"type":"function","name":"look_up"}]`,
			"gen_ai.output.messages":  `[{"role":"assistant","parts":[{"type":"reasoning","content":"Hm."},{"type":"text","content":"A cat."}]}]`,
		}},
		{"schemas of tools, and former names", gatewayotel.Options{Content: true, ToolSchemas: true, Conventions: gatewayotel.ConventionsV141}, map[string]string{
			"gen_ai.tool.definitions": `[{"type":"function","name":"look_up","description":"Looks up.","parameters":{"type":"object","properties":{"what":{"type":"string"}}}}]`,
			"gen_ai.output.messages":  `[{"role":"assistant","parts":[{"type":"reasoning","content":"Hm."},{"type":"text","content":"A cat."}],"finish_reason":"stop"}]`,
		}},
		{"redacted", gatewayotel.Options{Content: true, Redact: func(string) string { return "-" }}, map[string]string{
			"gen_ai.system_instructions": `[{"type":"text","content":"-"}]`,
			"gen_ai.input.messages": `[{"role":"user","parts":[{"type":"text","content":"-"},{"type":"blob","mime_type":"image/png","modality":"image","content":""},` +
				`{"type":"uri","modality":"image","uri":"-"}],"name":"ann"},{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"look_up","arguments":"-"}]},` +
				`{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"-"}]},{"role":"user","parts":[{"type":"text","content":"-"}]}]`,
			"gen_ai.output.messages": `[{"role":"assistant","parts":[{"type":"reasoning","content":"-"},{"type":"text","content":"-"}]}]`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSetup(t, tt.opts)
			s.platform.Script(vertextest.Thought("Hm.", "A cat."))
			s.chat(t, conversation())
			got := content(t, s)
			for key := range got {
				if _, ok := tt.want[key]; !ok && len(tt.want) > 0 {
					delete(got, key)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			known(t, s)
		})
	}
}

func TestContentOfAStreamThatBroke(t *testing.T) {
	s := newSetup(t, gatewayotel.Options{Content: true})
	s.platform.Script(vertextest.Text("one two three four five six").CutAfterEvents(2))
	stream, err := s.client.Chat.Completions.CreateStream(t.Context(), ask("Hi."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Collect(); !errors.Is(err, gateway.ErrStreamCut) {
		t.Fatal(err)
	}
	got := content(t, s)["gen_ai.output.messages"]
	if !strings.HasPrefix(got, `[{"role":"assistant","parts":[{"type":"text","content":"one`) {
		t.Error(got)
	}
	if v, _ := s.find(t, "chat gemini-2.5-flash", "gen_ai.response.finish_reasons"); v.String() != `["error"]` {
		t.Error(v.String())
	}
}

func TestContentIsBounded(t *testing.T) {
	const limit = 400
	long := strings.Repeat("ä<é", 5000)
	tests := []struct {
		name     string
		messages []gateway.Message
		want     string // is in what is left
	}{
		{"one long text", []gateway.Message{gateway.UserMessage(long)}, "…"},
		{"many messages: the newest are left", append(many(200), gateway.UserMessage("the last")), "the last"},
		{"JSON that is cut is a text", []gateway.Message{
			gateway.UserMessage("go"),
			{Role: "assistant", ToolCalls: []gateway.ToolCall{{ID: "c", Type: "function", Function: gateway.FunctionCall{Name: "f", Arguments: `{"a":"` + long + `"}`}}}},
			{Role: "tool", ToolCallID: "c", Content: providers.TextContent("ok")},
		}, `"arguments":"{\"a\":\"ä<é`},
		{"one message with too many parts", []gateway.Message{{Role: "user", Content: providers.PartsContent(parts(500)...)}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSetup(t, gatewayotel.Options{Content: true, MaxContent: limit})
			req := ask("")
			req.Messages = tt.messages
			s.chat(t, req)
			got := content(t, s)["gen_ai.input.messages"]
			if len(got) > limit || !utf8.ValidString(got) || !strings.Contains(got, tt.want) {
				t.Errorf("%d bytes: %s", len(got), got)
			}
			if got != "" && !json.Valid([]byte(got)) {
				t.Errorf("no JSON: %s", got)
			}
			if v, ok := s.find(t, "chat gemini-2.5-flash", "gateway.content.truncated"); !ok || !v.AsBool() {
				t.Error("the span does not say that something is missing")
			}
			known(t, s)
		})
	}
}

func many(n int) []gateway.Message {
	var out []gateway.Message
	for range n {
		out = append(out, gateway.UserMessage("a"), gateway.Message{Role: "assistant", Content: providers.TextContent("b")})
	}
	return out
}

func parts(n int) []gateway.ContentPart {
	var out []gateway.ContentPart
	for range n {
		out = append(out, gateway.TextPart("a"))
	}
	return out
}

func TestContentStaysOutOfSilentCalls(t *testing.T) {
	s := newSetup(t, gatewayotel.Options{Content: true})
	s.chat(t, conversation(), gateway.WithDebug(false))
	if diff := cmp.Diff(map[string]string{}, content(t, s)); diff != "" {
		t.Error(diff)
	}
}

// TestNothingSecretIsTold looks for canaries in everything that is made of calls,
// failed ones included, without the content.
func TestNothingSecretIsTold(t *testing.T) {
	const canary = "canary-7f3a"
	s := newSetup(t, gatewayotel.Options{}, gateway.WithAccessToken("token-"+canary))
	req := conversation()
	req.User, req.Metadata = "user-"+canary, map[string]string{"note": canary}
	req.Messages = append(req.Messages, gateway.UserMessage(canary))
	s.platform.Script(
		vertextest.Text("answer "+canary),
		vertextest.Error(400, "INVALID_ARGUMENT", "the prompt "+canary+" is wrong"),
		vertextest.Blocked("SAFETY"),
		vertextest.Raw(200, "application/json", `{"`+canary),
	)
	for range 4 {
		_, _ = s.client.Chat.Completions.Create(t.Context(), req)
	}
	if all := s.tree() + s.sums(t); strings.Contains(all, canary) {
		t.Error(all)
	}
}

func FuzzContent(f *testing.F) {
	for _, seed := range []string{`{"messages":[{"role":"user","content":"a"}]}`, `{"choices":[{"message":{"content":null}}]}`, `[]`, ``, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"://@?#"}}]}]}`} {
		f.Add(seed, seed, 100)
	}
	f.Fuzz(func(t *testing.T, request, response string, limit int) {
		if limit <= 0 || limit > 1<<12 {
			return
		}
		for _, a := range gatewayotel.ContentAttributes(limit, []byte(request), []byte(response)) {
			if a.Value.Type() == attribute.STRING && (len(a.Value.AsString()) > limit || !json.Valid([]byte(a.Value.AsString()))) {
				t.Errorf("%s within %d: %q", a.Key, limit, a.Value.AsString())
			}
		}
	})
}
