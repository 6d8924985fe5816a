package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// Claude models by how they think.
const (
	haiku45  = "@vx/anthropic.claude-haiku-4-5@20251001"  // by budget
	sonnet45 = "@vx/anthropic.claude-sonnet-4-5-20250929" // the same, in Anthropic's spelling
	opus46   = "@vx/anthropic.claude-opus-4-6"            // by budget, or as it likes
	sonnet55 = "@vx/anthropic.claude-sonnet-5-5"          // as it likes, and keeps it to itself
)

func byBudget() anthropic.ThinkingConfigParamUnion {
	return anthropic.ThinkingConfigParamOfEnabled(2048)
}

func adaptive(display anthropic.ThinkingConfigAdaptiveDisplay) anthropic.ThinkingConfigParamUnion {
	return anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{Display: display}}
}

// claudes are models with a setting that makes them think aloud.
var claudes = []struct {
	model    string
	thinking anthropic.ThinkingConfigParamUnion
}{
	{haiku45, byBudget()}, {sonnet45, byBudget()}, {opus46, byBudget()}, {opus46, adaptive("")}, {sonnet55, adaptive("summarized")},
}

// kindsOf lists the types of the blocks.
func kindsOf(m *anthropic.Message) string {
	var kinds []string
	for _, b := range m.Content {
		kinds = append(kinds, b.Type)
	}
	return strings.Join(kinds, " ")
}

// sentMessages returns the messages that the platform was sent last, each as
// compact JSON.
func (s *stage) sentMessages(t *testing.T) (list []string) {
	t.Helper()
	var body struct{ Messages []any }
	s.sent(t, &body)
	for _, m := range body.Messages {
		list = append(list, sorted(t, m))
	}
	return list
}

// sorted is JSON with its members in order.
func sorted(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	if data, err = json.Marshal(plain(out)); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// plain writes the results of tools in the one way of two that the gateway
// writes them in: a text alone is a string, and no error is not mentioned.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = plain(v[name])
		}
		if list, ok := v["content"].([]any); ok && v["type"] == "tool_result" && len(list) == 1 {
			if block, ok := list[0].(map[string]any); ok && block["type"] == "text" && len(block) == 2 {
				v["content"] = block["text"]
			}
		}
		if failed, ok := v["is_error"].(bool); ok && !failed {
			delete(v, "is_error")
		}
	}
	return v
}

// A conversation of a Claude model reaches the platform as the client has it.
func (s *stage) wantSentAsIs(t *testing.T, params anthropic.MessageNewParams) {
	t.Helper()
	var want []string
	for _, m := range params.Messages {
		want = append(want, sorted(t, m))
	}
	if diff := cmp.Diff(want, s.sentMessages(t)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestClaudeThinks(t *testing.T) {
	const secret = "ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING_46C9A13E193C177646C7398A98432ECCCE4C1253D5E2D82641AC0E52CC2876CB"
	thinks, hides := byBudget(), adaptive("omitted")
	tests := []struct {
		name, model, text, kinds string
		thinking                 anthropic.ThinkingConfigParamUnion
		silent                   bool
	}{
		{"by budget", haiku45, "Why?", "thinking text", thinks, false},
		{"by budget, in Anthropic's spelling", sonnet45, "Why?", "thinking text", thinks, false},
		{"by budget, where it could adapt", opus46, "Why?", "thinking text", thinks, false},
		{"as it likes", opus46, "Why?", "thinking text", adaptive(""), false},
		{"and tells", sonnet55, "Why?", "thinking text", adaptive("summarized"), false},
		{"and does not tell", sonnet55, "Why?", "thinking text", hides, true},
		{"in secret", haiku45, secret, "redacted_thinking text", thinks, true},
		{"not at all", haiku45, "Why?", "text", anthropic.ThinkingConfigParamUnion{OfDisabled: &anthropic.ThinkingConfigDisabledParam{}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streamed bool) {
				s := start(t)
				params := ask(tt.model, tt.text)
				params.Thinking = tt.thinking
				got, warnings := s.answer(t, streamed, params)
				if kinds := kindsOf(got); kinds != tt.kinds || warnings != "" || textOf(got) == "" {
					t.Fatalf("%s, warnings %s: %s", kinds, warnings, sorted(t, got.ToParam()))
				}
				if first := got.Content[0]; first.Type == "thinking" && (first.Signature == "" || (first.Thinking == "") != tt.silent) {
					t.Errorf("block %+v", first)
				}
				if n := got.Usage.OutputTokensDetails.ThinkingTokens; (n > 0) != (tt.name != "not at all") {
					t.Errorf("%d tokens of thinking", n)
				}
				params.Messages = append(params.Messages, got.ToParam(), anthropic.NewUserMessage(anthropic.NewTextBlock("And then?")))
				if _, warnings := s.answer(t, !streamed, params); warnings != "" {
					t.Errorf("warnings %s", warnings)
				}
				s.wantSentAsIs(t, params)
			})
		})
	}
}

// Each step of a tool loop sends back what the model said, to the byte: thinking
// with its signature first, then the calls.
func TestClaudeToolLoop(t *testing.T) {
	steps := []struct {
		text string
		then []vertextest.Reply
	}{
		{"What is the weather in Paris?", []vertextest.Reply{vertextest.Auto(), vertextest.Auto()}},
		{"What is the weather in Paris and Rome?", []vertextest.Reply{vertextest.Auto(), vertextest.Auto()}},
		{"What is the weather in Paris, and then elsewhere?", []vertextest.Reply{
			vertextest.Auto(), vertextest.Calls(vertextest.FunctionCall{Name: "get_weather", Args: json.RawMessage(`{"when":{"to":2,"from":1},"city":"Bern"}`)}), vertextest.Auto(),
		}},
	}
	for _, c := range claudes {
		bothWays(t, func(t *testing.T, streamed bool) {
			s := start(t)
			params := askWeather(c.model, "")
			params.Messages, params.Thinking = nil, c.thinking
			for _, step := range steps {
				params.Messages = append(params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(step.text)))
				s.platform.Script(step.then...)
				for i := range step.then {
					got, warnings := s.answer(t, streamed, params)
					s.wantSentAsIs(t, params)
					last := i == len(step.then)-1
					if calls := callsOf(got); (len(calls) == 0) != last || warnings != "" || (got.StopReason == "tool_use") == last {
						t.Fatalf("%s: step %d stops with %s, calls %q, warnings %s", c.model, i, got.StopReason, calls, warnings)
					}
					params.Messages = append(params.Messages, got.ToParam())
					var results []anthropic.ContentBlockParamUnion
					for _, b := range got.Content {
						if b.Type == "tool_use" {
							results = append(results, anthropic.NewToolResultBlock(b.ID, "sunny", false))
						}
					}
					if results != nil {
						params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
					}
				}
			}
		})
	}
}

func TestClaudeStops(t *testing.T) {
	const refusal = "ANTHROPIC_MAGIC_STRING_TRIGGER_REFUSAL_1FAEFB6177B4672DEE07F9D3AFC62588CCD2631EDCF22E8CCC1FB35B501C9C86"
	tests := []struct {
		name, model string
		change      func(*anthropic.MessageNewParams)
		stop        anthropic.StopReason
		sequence    string
	}{
		{"the end", haiku45, func(*anthropic.MessageNewParams) {}, "end_turn", ""},
		{"a sequence", haiku45, func(p *anthropic.MessageNewParams) { p.StopSequences = []string{"said"} }, "stop_sequence", "said"},
		{"the limit", haiku45, func(p *anthropic.MessageNewParams) { p.MaxTokens = 1 }, "max_tokens", ""},
		{"a refusal", opus46, func(p *anthropic.MessageNewParams) {
			p.Messages = ask(opus46, refusal).Messages
		}, "refusal", ""},
		{"a beginning", haiku45, func(p *anthropic.MessageNewParams) {
			p.Messages = append(p.Messages, anthropic.NewAssistantMessage(anthropic.NewTextBlock("You")))
		}, "end_turn", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streamed bool) {
				s := start(t)
				params := ask(tt.model, "Say so.")
				tt.change(&params)
				got, warnings := s.answer(t, streamed, params)
				if got.StopReason != tt.stop || got.StopSequence != tt.sequence || warnings != "" {
					t.Errorf("stops with %s at %q, warnings %s", got.StopReason, got.StopSequence, warnings)
				}
				if (got.StopDetails.Type == "refusal") != (tt.stop == "refusal") {
					t.Errorf("details %s", got.StopDetails.RawJSON())
				}
			})
		})
	}
}

func TestClaudeParameters(t *testing.T) {
	s := start(t)
	params := ask(haiku45, "Hello!")
	params.System = []anthropic.TextBlockParam{{Text: "Be brief.", CacheControl: anthropic.NewCacheControlEphemeralParam()}, {Text: "Be kind."}}
	params.Temperature, params.TopK = anthropic.Float(0.5), anthropic.Int(7)
	params.StopSequences = []string{"END"}
	params.Metadata = anthropic.MetadataParam{UserID: anthropic.String("u-1")}
	params.OutputConfig = anthropic.OutputConfigParam{Format: anthropic.JSONOutputFormatParam{Schema: map[string]any{
		"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}, "required": []string{"a"}, "additionalProperties": false,
	}}}
	got, warnings := s.answer(t, false, params)
	var said struct{ A *string }
	if err := json.Unmarshal([]byte(textOf(got)), &said); err != nil || said.A == nil || warnings != "" {
		t.Errorf("answer %q, error %v, warnings %s", textOf(got), err, warnings)
	}
	var body map[string]any
	s.sent(t, &body)
	want, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	var wanted map[string]any
	if err := json.Unmarshal(want, &wanted); err != nil {
		t.Fatal(err)
	}
	delete(wanted, "model") // which the path names
	wanted["anthropic_version"] = "vertex-2023-10-16"
	if diff := cmp.Diff(wanted, body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// What is cached is counted apart, by how long it lives.
func TestClaudePromptCache(t *testing.T) {
	bothWays(t, func(t *testing.T, streamed bool) {
		s := start(t)
		params := ask(opus46, "Hello!")
		params.System = []anthropic.TextBlockParam{{Text: strings.Repeat("All that there is to know. ", 1000), CacheControl: anthropic.CacheControlEphemeralParam{TTL: "1h"}}}
		first, _ := s.answer(t, streamed, params)
		second, _ := s.answer(t, streamed, params)
		a, b := first.Usage, second.Usage
		if a.CacheCreationInputTokens == 0 || a.CacheReadInputTokens != 0 || a.CacheCreation.Ephemeral1hInputTokens != a.CacheCreationInputTokens {
			t.Errorf("first usage %s", a.RawJSON())
		}
		if b.CacheReadInputTokens != a.CacheCreationInputTokens || b.CacheCreationInputTokens != 0 || b.InputTokens != a.InputTokens || b.InputTokens == 0 {
			t.Errorf("second usage %s, after %s", b.RawJSON(), a.RawJSON())
		}
	})
}

// A tool that the platform runs is part of the answer, and goes back as it came.
func TestClaudeSearchesTheWeb(t *testing.T) {
	bothWays(t, func(t *testing.T, streamed bool) {
		s := start(t)
		params := ask(opus46, "Who won the cup?")
		params.Tools = []anthropic.ToolUnionParam{{OfWebSearchTool20250305: &anthropic.WebSearchTool20250305Param{}}}
		got, warnings := s.answer(t, streamed, params)
		if kinds := kindsOf(got); !strings.HasPrefix(kinds, "server_tool_use web_search_tool_result text") || warnings != "" {
			t.Fatalf("%s, warnings %s", kinds, warnings)
		}
		if got.Usage.ServerToolUse.WebSearchRequests != 1 || len(got.Content[2].Citations) == 0 {
			t.Errorf("answer %s", sorted(t, got.ToParam()))
		}
		params.Messages = append(params.Messages, got.ToParam(), anthropic.NewUserMessage(anthropic.NewTextBlock("And then?")))
		if _, warnings := s.answer(t, streamed, params); warnings != "" {
			t.Errorf("warnings %s", warnings)
		}
		s.wantSentAsIs(t, params)
	})
}
