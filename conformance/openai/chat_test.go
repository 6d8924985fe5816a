package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// counted is an answer of the platform with every count that it knows.
const counted = `{"responseId":"response-1","modelVersion":"gemini-2.5-flash",
	"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[{"text":"Good morning."}]}}],
	"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":5,"thoughtsTokenCount":7,
		"cachedContentTokenCount":8,"totalTokenCount":32}}`

// whole is what an answer says.
type whole struct {
	ID, Object, Model, Role, Content, Finish     string
	Prompt, Cached, Completion, Reasoning, Total int64
}

func wholeOf(c *openai.ChatCompletion) whole {
	choice, usage := c.Choices[0], c.Usage
	return whole{
		ID: c.ID, Object: string(c.Object), Model: c.Model,
		Role: string(choice.Message.Role), Content: choice.Message.Content, Finish: choice.FinishReason,
		Prompt: usage.PromptTokens, Cached: usage.PromptTokensDetails.CachedTokens, Total: usage.TotalTokens,
		Completion: usage.CompletionTokens, Reasoning: usage.CompletionTokensDetails.ReasoningTokens,
	}
}

func wholeOfCounted() whole {
	return whole{
		ID: "response-1", Object: "chat.completion", Model: "gemini-2.5-flash",
		Role: "assistant", Content: "Good morning.", Finish: "stop",
		Prompt: 20, Cached: 8, Completion: 12, Reasoning: 7, Total: 32,
	}
}

func TestChat(t *testing.T) {
	s := start(t)
	s.platform.Script(vertextest.JSON(200, counted))
	got := s.complete(t, ask(flash25, "Good morning!"))
	if diff := cmp.Diff(wholeOfCounted(), wholeOf(got)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if got.Created == 0 {
		t.Error("created is 0")
	}
}

func TestFinishReasons(t *testing.T) {
	tests := []struct{ platform, want string }{
		{"STOP", "stop"}, {"MAX_TOKENS", "length"}, {"SAFETY", "content_filter"},
	}
	for _, tt := range tests {
		t.Run(tt.platform, func(t *testing.T) {
			s := start(t)
			reply := vertextest.Finish(tt.platform, "As far as it goes")
			s.platform.Script(reply, reply)
			if got := s.complete(t, ask(flash25, "Tell me.")).Choices[0].FinishReason; got != tt.want {
				t.Errorf("finish reason %q, want %q", got, tt.want)
			}
			streamed, _ := s.stream(t, ask(flash25, "Tell me."))
			if got := streamed.Choices[0].FinishReason; got != tt.want {
				t.Errorf("finish reason %q of the stream, want %q", got, tt.want)
			}
		})
	}
}

// Strict compliance is the default: nothing is shown that the client's types
// don't have, but for the provider.
func TestStrictCompliance(t *testing.T) {
	tests := []struct {
		name        string
		opts        []option.RequestOption
		extra       []string
		extraChunks []string
	}{
		{"by default", nil, []string{"provider"}, []string{"provider"}},
		{"on", []option.RequestOption{option.WithHeader("x-gateway-strict-compliance", "true")}, []string{"provider"}, []string{"provider"}},
		{
			"off", []option.RequestOption{relaxed()},
			[]string{
				"choices[].message.content_blocks", "choices[].message.tool_calls[].function.thought_signature",
				"choices[].native_finish_reason", "provider", "usage.traffic_type",
			},
			[]string{
				"choices[].delta.content_blocks", "choices[].delta.tool_calls[].function.thought_signature",
				"choices[].native_finish_reason", "provider", "usage.traffic_type",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			params := askWeather(flash3, "What is the weather in Paris?")
			params.ReasoningEffort = shared.ReasoningEffortLow
			params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
			_, chunks := s.stream(t, params, tt.opts...)
			var raw []string
			for _, c := range chunks {
				raw = append(raw, c.RawJSON())
			}
			list := `[` + strings.Join(raw, ",") + `]`
			if diff := cmp.Diff(prefixed("[].", tt.extraChunks), extraMembers[[]openai.ChatCompletionChunk](t, list)); diff != "" {
				t.Errorf("extra members of the chunks (-want +got):\n%s", diff)
			}
			params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
			got := s.complete(t, params, tt.opts...)
			if diff := cmp.Diff(tt.extra, extraMembers[openai.ChatCompletion](t, got.RawJSON())); diff != "" {
				t.Errorf("extra members (-want +got):\n%s", diff)
			}
		})
	}
}

func prefixed(prefix string, list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, prefix+s)
	}
	return out
}

func TestStructuredOutput(t *testing.T) {
	s := start(t)
	params := ask(flash25, "How many people live in Oslo?")
	params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "population", Strict: openai.Bool(true),
			Schema: map[string]any{
				"type": "object", "required": []string{"city", "people"}, "additionalProperties": false,
				"properties": map[string]any{
					"city": map[string]any{"type": "string"}, "people": map[string]any{"type": "integer", "minimum": 1000},
				},
			},
		},
	}
	type population struct {
		City   string
		People int
	}
	var got population
	text := s.complete(t, params).Choices[0].Message.Content
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if diff := cmp.Diff(population{"Oslo", 1000}, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestImage(t *testing.T) {
	s := start(t)
	params := openai.ChatCompletionNewParams{Model: flash25, Messages: []openai.ChatCompletionMessageParamUnion{
		openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
			openai.TextContentPart("What is this?"),
			openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64,iVBORw0KGgo="}),
		}),
	}}
	const want = `You sent image/png and said: "What is this?".`
	if got := s.complete(t, params).Choices[0].Message.Content; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
}

func TestReasoningEffort(t *testing.T) {
	tests := []struct {
		model  string
		effort shared.ReasoningEffort
		want   string
		thinks bool
	}{
		{flash25, shared.ReasoningEffortLow, `"thinkingBudget":1024`, true},
		{flash25, shared.ReasoningEffortNone, `"thinkingBudget":0`, false},
		{flash3, shared.ReasoningEffortMinimal, `"thinkingLevel":"MINIMAL"`, true},
		{flash3, shared.ReasoningEffortHigh, `"thinkingLevel":"HIGH"`, true},
	}
	for _, tt := range tests {
		t.Run(tt.model+" "+string(tt.effort), func(t *testing.T) {
			s := start(t)
			params := ask(tt.model, "Hello!")
			params.ReasoningEffort = tt.effort
			usage := s.complete(t, params).Usage
			if thinks := usage.CompletionTokensDetails.ReasoningTokens > 0; thinks != tt.thinks {
				t.Errorf("reasoning tokens in %s, want any: %v", usage.RawJSON(), tt.thinks)
			}
			if sent := string(s.platform.Requests()[0].Body); !strings.Contains(sent, tt.want) {
				t.Errorf("sent %s, want %s", sent, tt.want)
			}
		})
	}
}
