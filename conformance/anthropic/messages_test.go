package anthropic_test

import (
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// counted is an answer of the platform with every count that it knows.
const counted = `{"responseId":"response-1","modelVersion":"gemini-2.5-flash",` +
	`"candidates":[{"finishReason":"%s","content":{"role":"model","parts":[{"text":"Good morning."}]}}],` +
	`"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":5,"thoughtsTokenCount":7,` +
	`"cachedContentTokenCount":8,"totalTokenCount":32}}`

// whole is what an answer says.
type whole struct {
	ID, Type, Role, Model, Text, Stop    string
	Input, CacheRead, CacheWrite, Output int64
	Thinking                             int64
}

func wholeOf(m *anthropic.Message) whole {
	u := m.Usage
	return whole{
		ID: m.ID, Type: string(m.Type), Role: string(m.Role), Model: m.Model, Text: textOf(m), Stop: string(m.StopReason),
		Input: u.InputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens, Output: u.OutputTokens,
		Thinking: u.OutputTokensDetails.ThinkingTokens,
	}
}

func TestMessage(t *testing.T) {
	tests := []struct{ platform, want string }{
		{"STOP", "end_turn"}, {"MAX_TOKENS", "max_tokens"}, {"SAFETY", "refusal"}, {"PROHIBITED_CONTENT", "refusal"},
	}
	for _, tt := range tests {
		t.Run(tt.platform, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streamed bool) {
				s := start(t)
				body := fill(counted, tt.platform)
				if streamed {
					s.platform.Script(vertextest.SSE(body))
				} else {
					s.platform.Script(vertextest.JSON(200, body))
				}
				got, _ := s.answer(t, streamed, ask(flash25, "Good morning!"))
				want := whole{
					ID: "response-1", Type: "message", Role: "assistant", Model: "gemini-2.5-flash", Text: "Good morning.", Stop: tt.want,
					Input: 12, CacheRead: 8, Output: 12, Thinking: 7,
				}
				if diff := cmp.Diff(want, wholeOf(got)); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				if len(got.Content) != 1 || got.Content[0].Type != "text" {
					t.Errorf("content %s", got.RawJSON())
				}
			})
		})
	}
}

func TestParameters(t *testing.T) {
	s := start(t)
	params := ask(flash25, "Hello!")
	params.System = []anthropic.TextBlockParam{
		{Text: "Be brief.", CacheControl: anthropic.NewCacheControlEphemeralParam()}, {Text: "Be kind."},
	}
	params.Temperature, params.TopP, params.TopK = anthropic.Float(0.5), anthropic.Float(0.9), anthropic.Int(7)
	params.StopSequences = []string{"END"}
	params.Metadata = anthropic.MetadataParam{UserID: anthropic.String("u-1")}
	params.ServiceTier = anthropic.MessageNewParamsServiceTierStandardOnly
	params.OutputConfig = anthropic.OutputConfigParam{Format: anthropic.JSONOutputFormatParam{Schema: map[string]any{
		"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}},
	}}}
	_, warnings := s.answer(t, false, params)
	var got struct {
		SystemInstruction, GenerationConfig any
	}
	s.sent(t, &got)
	want := map[string]any{
		"maxOutputTokens": 4096.0, "temperature": 0.5, "topP": 0.9, "topK": 7.0, "stopSequences": []any{"END"},
		"responseMimeType":   "application/json",
		"responseJsonSchema": map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}},
	}
	if diff := cmp.Diff(any(want), got.GenerationConfig); diff != "" {
		t.Errorf("generationConfig (-want +got):\n%s", diff)
	}
	system := map[string]any{"parts": []any{map[string]any{"text": "Be brief."}, map[string]any{"text": "Be kind."}}}
	if diff := cmp.Diff(any(system), got.SystemInstruction); diff != "" {
		t.Errorf("systemInstruction (-want +got):\n%s", diff)
	}
	const warned = `[{"code":"unknown_parameter","param":"system[0].cache_control","message":"left out: the platform does not know it"}]`
	if warnings != warned {
		t.Errorf("warnings %s", warnings)
	}
}

func TestThinking(t *testing.T) {
	for _, model := range []string{flash25, flash3} {
		t.Run(model, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streamed bool) {
				s := start(t)
				s.platform.Script(vertextest.Thought("Let me see.", "It is four."))
				params := ask(model, "Two and two?")
				params.Thinking = anthropic.ThinkingConfigParamOfEnabled(2048)
				got, _ := s.answer(t, streamed, params)
				if len(got.Content) < 2 {
					t.Fatalf("content %s", got.RawJSON())
				}
				thinking, ok := got.Content[0].AsAny().(anthropic.ThinkingBlock)
				if !ok || thinking.Thinking != "Let me see." {
					t.Errorf("first block %s", got.Content[0].RawJSON())
				}
				if textOf(got) != "It is four." || got.Usage.OutputTokensDetails.ThinkingTokens == 0 {
					t.Errorf("answer %s", got.RawJSON())
				}
			})
		})
	}
}

// An answer that nobody asked to think out loud begins with its text, also where
// the text is signed.
func TestTheFirstBlockIsTheText(t *testing.T) {
	for _, model := range []string{flash25, flash3, flash38} {
		bothWays(t, func(t *testing.T, streamed bool) {
			got, _ := start(t).answer(t, streamed, ask(model, "Hello!"))
			if got.Content[0].Type != "text" || got.Content[0].Text == "" {
				t.Errorf("%s: content %s", model, got.RawJSON())
			}
		})
	}
}

func TestCountTokens(t *testing.T) {
	s := start(t)
	got, err := s.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{
		Model:    flash25,
		System:   anthropic.MessageCountTokensParamsSystemUnion{OfString: anthropic.String("Be brief.")},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("How are you today?"))},
	})
	if err != nil || got.InputTokens == 0 {
		t.Fatalf("%v tokens, error %v", got, err)
	}
	requests := s.platform.Requests()
	if path := requests[len(requests)-1].Path; path != "/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:countTokens" {
		t.Errorf("path %s", path)
	}
}

func TestCountTokensOfClaude(t *testing.T) {
	s := start(t)
	got, err := s.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{
		Model:    "@vx/anthropic.claude-sonnet-4-5@20250929",
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("How are you today?"))},
	})
	if err != nil || got.InputTokens == 0 {
		t.Fatalf("%v tokens, error %v", got, err)
	}
	requests := s.platform.Requests()
	if last := requests[len(requests)-1]; last.Model != "count-tokens" || last.Verb != "rawPredict" {
		t.Errorf("%s of %s", last.Verb, last.Model)
	}
}

func TestGrounding(t *testing.T) {
	bothWays(t, func(t *testing.T, streamed bool) {
		s := start(t)
		params := ask(flash3, "What is new?")
		params.Tools = []anthropic.ToolUnionParam{{OfWebSearchTool20250305: &anthropic.WebSearchTool20250305Param{}}}
		got, warnings := s.answer(t, streamed, params)
		if len(got.Content) == 0 || len(got.Content[0].Citations) == 0 || warnings != "" {
			t.Fatalf("content %s, warnings %s", got.RawJSON(), warnings)
		}
		for _, c := range got.Content[0].Citations {
			if _, ok := c.AsAny().(anthropic.CitationsWebSearchResultLocation); !ok || c.URL == "" {
				t.Errorf("citation %s", c.RawJSON())
			}
		}
		params.Messages = append(params.Messages, got.ToParam(), anthropic.NewUserMessage(anthropic.NewTextBlock("And then?")))
		if _, warnings := s.answer(t, streamed, params); warnings != "" {
			t.Errorf("warnings %s", warnings)
		}
	})
}

// The key that the client sends, in either form, is the gateway's.
func TestKeys(t *testing.T) {
	s := start(t)
	for name, opt := range map[string]option.RequestOption{
		"x-api-key": option.WithAPIKey(apiKey), "bearer": option.WithAuthToken(apiKey),
	} {
		t.Run(name, func(t *testing.T) {
			client := clientOf(s.url, opt)
			if _, err := client.Messages.New(t.Context(), ask(flash25, "Hello!")); err != nil {
				t.Error(err)
			}
		})
	}
	for _, r := range s.platform.Requests() {
		for _, name := range []string{"X-Api-Key", "Anthropic-Version"} {
			if v := r.Header.Get(name); v != "" {
				t.Errorf("%s: %s reached the platform", name, v)
			}
		}
	}
}
