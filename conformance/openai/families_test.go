package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// Models of other families than Gemini's.
const (
	haiku45  = "@vx/anthropic.claude-haiku-4-5@20251001" // thinks by budget
	opus46   = "@vx/anthropic.claude-opus-4-6"
	sonnet55 = "@vx/anthropic.claude-sonnet-5-5" // thinks as it likes
	llama4   = "@vx/meta.llama-4-maverick-17b-128e-instruct-maas"
	deepseek = "@vx/deepseek-ai.deepseek-v3.2-maas" // shows thinking that nobody signed
	mistral3 = "@vx/mistralai.mistral-medium-3"
)

func TestToolLoopOfEveryFamily(t *testing.T) {
	clients := []struct {
		name     string
		streamed []bool
		back     sendBack
		opts     []option.RequestOption
	}{
		{"known members", []bool{false, true}, knownMembers, nil},
		{"as it came", []bool{false}, asItCame, []option.RequestOption{relaxed()}}, // of a stream, the client keeps no more than it knows
		{"arguments spelled anew", []bool{false, true}, spelledAnew, nil},
	}
	for _, model := range []string{haiku45, opus46, sonnet55, llama4, deepseek, mistral3} {
		for _, client := range clients {
			for _, streamed := range client.streamed {
				t.Run(fmt.Sprintf("%s %s streamed=%v", model, client.name, streamed), func(t *testing.T) {
					s := start(t)
					params := askWeather(model, "What is the weather?")
					for turn, steps := range loop {
						if turn > 0 {
							params.Messages = append(params.Messages, openai.UserMessage("And elsewhere?"))
						}
						w := s.take(t, steps, streamed, &params, client.back, client.opts...)
						if told := model == deepseek && client.opts != nil; w != "" && !told { // whose thinking never goes back
							t.Errorf("turn %d warns: %s", turn+1, w)
						}
					}
					last := params.Messages[len(params.Messages)-1].GetContent().AsAny()
					if text, ok := last.(*string); client.name == "known members" && (!ok || !strings.Contains(*text, "get_weather answered")) {
						t.Errorf("the last answer is %v", last)
					}
				})
			}
		}
	}
}

// blocks are the content blocks of an answer.
func blocks(t *testing.T, m openai.ChatCompletionMessage) (list []struct{ Type, Thinking, Signature, Text, Data string }) {
	t.Helper()
	raw := m.JSON.ExtraFields["content_blocks"].Raw()
	if raw == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(raw), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// Thinking of Claude models is shown beside the answer, goes back with it, and
// reaches the model first and to the byte.
func TestThinkingOfClaudeGoesBack(t *testing.T) {
	for _, model := range []string{haiku45, opus46, sonnet55} {
		s := start(t)
		params := askWeather(model, "What is the weather in Paris and Rome?")
		params.ReasoningEffort = shared.ReasoningEffortLow
		var want []string
		for range 3 {
			message, warnings := s.answer(t, false, params, relaxed())
			if strings.Contains(warnings, "signature") || strings.Contains(warnings, "dropped") {
				t.Errorf("%s warns: %s", model, warnings)
			}
			if diff := cmp.Diff(want, s.thinking(t)); diff != "" {
				t.Errorf("%s: thinking (-want +got):\n%s", model, diff)
			}
			shown := blocks(t, message)
			if len(shown) == 0 || shown[0].Type != "thinking" || shown[0].Signature == "" || strings.Contains(message.Content, shown[0].Thinking) {
				t.Fatalf("%s: message %s", model, message.RawJSON())
			}
			want = append(want, shown[0].Thinking+" "+shown[0].Signature)
			params.Messages = append(params.Messages, asItCame(message))
			for _, c := range message.ToolCalls {
				params.Messages = append(params.Messages, openai.ToolMessage("sunny", c.ID))
			}
			if len(message.ToolCalls) == 0 {
				params.Messages = append(params.Messages, openai.UserMessage("What is the weather in Oslo?"))
			}
		}
	}
}

// thinking lists the thinking in the body that was sent last. It is the first
// thing in its message.
func (s *stage) thinking(t *testing.T) (list []string) {
	t.Helper()
	var body struct {
		Messages []struct {
			Content []struct{ Type, Thinking, Signature string }
		}
	}
	s.sent(t, &body)
	for _, m := range body.Messages {
		for i, b := range m.Content {
			if b.Type == "thinking" {
				list = append(list, b.Thinking+" "+b.Signature)
				if i > 0 {
					t.Errorf("thinking after %s", m.Content[i-1].Type)
				}
			}
		}
	}
	return list
}

// sent decodes the body that the platform was sent last.
func (s *stage) sent(t *testing.T, into any) {
	t.Helper()
	requests := s.platform.Requests()
	if err := json.Unmarshal(requests[len(requests)-1].Body, into); err != nil {
		t.Fatal(err)
	}
}

// The pieces of a stream's content blocks add up to those of the whole answer.
func TestStreamedThinking(t *testing.T) {
	for _, model := range []string{haiku45, sonnet55, deepseek} {
		s := start(t)
		params := ask(model, "Why?")
		if model != deepseek { // which thinks by itself
			params.ReasoningEffort = shared.ReasoningEffortLow
		}
		whole := blocks(t, s.complete(t, params, relaxed()).Choices[0].Message)
		_, chunks := s.stream(t, params, relaxed())
		var thinking, signature, text string
		for _, c := range chunks {
			if len(c.Choices) == 0 {
				continue
			}
			var pieces []struct {
				Delta struct{ Thinking, Signature, Text string }
			}
			if raw := c.Choices[0].Delta.JSON.ExtraFields["content_blocks"].Raw(); raw != "" {
				if err := json.Unmarshal([]byte(raw), &pieces); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range pieces {
				thinking, signature, text = thinking+p.Delta.Thinking, signature+p.Delta.Signature, text+p.Delta.Text
			}
		}
		if len(whole) != 2 || whole[0].Thinking != thinking || whole[0].Signature != signature || whole[1].Text != text || thinking == "" {
			t.Errorf("%s: whole %+v, streamed %q, %q, %q", model, whole, thinking, signature, text)
		}
	}
}

// One conversation goes through all families, and nothing that one of them
// needs gets lost, whether or not the client keeps what it does not know.
func TestFamiliesTakeTurns(t *testing.T) {
	const flash38 = "@vx/gemini-3.8-flash" // refuses a signature that was changed
	tour := []string{flash38, opus46, flash38, llama4, mistral3, haiku45, deepseek, flash38, sonnet55}
	for _, c := range []struct {
		name     string
		back     sendBack
		streamed bool
		signed   int // of Gemini's four steps that call, and three that sum up
	}{
		{"known members", knownMembers, false, 4}, {"known members of a stream", knownMembers, true, 4}, {"as it came", asItCame, false, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t)
			params := askWeather("", "What is the weather?")
			for i, model := range tour {
				params.Model = model
				if i > 0 {
					params.Messages = append(params.Messages, openai.UserMessage("And elsewhere?"))
				}
				if w := s.take(t, loop[i%len(loop)], c.streamed, &params, c.back, relaxed()); strings.Contains(w, "signature_missing") {
					t.Errorf("%s warns: %s", model, w)
				}
			}
			params.Model = flash38
			params.Messages = append(params.Messages, openai.UserMessage("Thank you."))
			s.answer(t, c.streamed, params)
			if n := s.platform.SentinelUses(); n != 0 {
				t.Errorf("%d sentinels, want none", n)
			}
			requests := s.platform.Requests()
			if n := strings.Count(string(requests[len(requests)-1].Body), `"thoughtSignature"`); n != c.signed {
				t.Errorf("%d signatures went back, want %d", n, c.signed)
			}
		})
	}
}

func TestDocumentsOfEveryFamily(t *testing.T) {
	const (
		pdf   = "data:application/pdf;base64,JVBERi0xLjQKJSVFT0YK"
		pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	)
	image := openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: pixel})
	file := openai.FileContentPart(openai.ChatCompletionContentPartFileFileParam{FileData: openai.String(pdf), Filename: openai.String("report.pdf")})
	tests := []struct {
		model string
		part  openai.ChatCompletionContentPartUnionParam
		sent  string // "" when it is refused
	}{
		{haiku45, file, `"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjQKJSVFT0YK"}`},
		{opus46, image, `"type":"image","source":{"type":"base64","media_type":"image/png"`},
		{llama4, image, `"type":"image_url","image_url":{"url":"data:image/png;base64,`},
		{mistral3, image, `"type":"image_url","image_url":{"url":"data:image/png;base64,`},
		{mistral3, file, ""},
		{llama4, file, ""},
		{deepseek, image, ""},
	}
	for _, tt := range tests {
		s := start(t)
		params := ask(tt.model, "Hello!")
		params.Messages = append(params.Messages, openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart("Look!"), tt.part}))
		_, err := s.Chat.Completions.New(t.Context(), params)
		switch {
		case tt.sent == "" && (err == nil || failureOf(t, err).Code != "invalid_request"):
			t.Errorf("%s: error %v", tt.model, err)
		case tt.sent != "" && err != nil:
			t.Errorf("%s: %v", tt.model, explain(err))
		case tt.sent != "":
			if body := string(s.platform.Requests()[0].Body); !strings.Contains(body, tt.sent) {
				t.Errorf("%s: sent %s", tt.model, body)
			}
		}
	}
}

func TestErrorsOfEveryFamily(t *testing.T) {
	full := failure{Status: 429, Code: "rate_limit_exceeded", Type: "rate_limit_error", RetryAfter: "34"}
	tests := []struct {
		name, model string
		reply       vertextest.Reply
		want        failure
	}{
		{"Claude's limit", haiku45, vertextest.Error(429, "rate_limit_error", "Slow down").WithHeader("Retry-After", "34"), full},
		{"no room for Claude", haiku45, vertextest.Overloaded(), failure{Status: 529, Code: "service_unavailable", Type: "api_error"}},
		{"what Claude refuses", haiku45, vertextest.Error(400, "invalid_request_error", "No"), failure{Status: 400, Code: "invalid_request", Type: "invalid_request_error"}},
		{"Llama's limit", llama4, vertextest.Error(429, "RESOURCE_EXHAUSTED", "No").WithHeader("Retry-After", "34"), full},
		{"no room for Llama", llama4, vertextest.Overloaded(), failure{Status: 503, Code: "service_unavailable", Type: "api_error"}},
		{"Mistral's limit", mistral3, vertextest.Error(429, "rate_limited", "Slow down").WithHeader("Retry-After", "34"), full},
		{"what Mistral refuses", mistral3, vertextest.Error(400, "invalid_request_message_order", "Unexpected role"), failure{Status: 400, Code: "invalid_request", Type: "invalid_request_error"}},
		{"no such Claude", "@vx/anthropic.claude-0", vertextest.Auto(), failure{Status: 404, Code: "model_not_found", Type: "invalid_request_error"}},
		{"no such Llama", "@vx/meta.llama-0", vertextest.Auto(), failure{Status: 404, Code: "model_not_found", Type: "invalid_request_error"}},
		{"no such Mistral", "@vx/mistralai.mistral-0", vertextest.Auto(), failure{Status: 404, Code: "model_not_found", Type: "invalid_request_error"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			s.platform.Script(tt.reply, tt.reply)
			_, err := s.Chat.Completions.New(t.Context(), ask(tt.model, "Hello!"))
			if diff := cmp.Diff(tt.want, failureOf(t, err)); diff != "" {
				t.Errorf("whole answer (-want +got):\n%s", diff)
			}
			_, _, err = accumulate(s.Chat.Completions.NewStreaming(t.Context(), ask(tt.model, "Hello!")))
			if diff := cmp.Diff(tt.want, failureOf(t, err)); diff != "" {
				t.Errorf("stream (-want +got):\n%s", diff)
			}
		})
	}
}

// A stream that fails or is cut is an error, whoever answers.
func TestBrokenStreamsOfEveryFamily(t *testing.T) {
	for _, model := range []string{haiku45, llama4, mistral3} {
		for name, reply := range map[string]vertextest.Reply{
			"cut":    vertextest.Text("one two three four five six").CutAfterEvents(4),
			"failed": vertextest.Text("one two three four five six").FailAfterEvents(4, 503, "UNAVAILABLE", "Later"),
		} {
			s := start(t)
			s.platform.Script(reply)
			got, _, err := accumulate(s.Chat.Completions.NewStreaming(t.Context(), ask(model, "Count!")))
			if err == nil || !strings.HasPrefix(got.Choices[0].Message.Content, "one") || got.Choices[0].FinishReason != "" {
				t.Errorf("%s, %s: error %v after %q", model, name, err, got.Choices[0].Message.Content)
			}
		}
	}
}

// What the families have in common works with each of them: limits, stops, JSON.
func TestParametersOfEveryFamily(t *testing.T) {
	for _, model := range []string{haiku45, opus46, sonnet55, llama4, mistral3} {
		s := start(t)
		params := ask(model, "Say it.")
		params.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "said", Strict: openai.Bool(true), Schema: map[string]any{
				"type": "object", "properties": map[string]any{"word": map[string]string{"type": "string"}}, "required": []string{"word"}, "additionalProperties": false,
			}},
		}}
		streamed, _ := s.stream(t, params)
		for _, got := range []*openai.ChatCompletion{s.complete(t, params), streamed} {
			var said struct{ Word *string }
			if err := json.Unmarshal([]byte(got.Choices[0].Message.Content), &said); err != nil || said.Word == nil {
				t.Errorf("%s: %q is no answer in the schema: %v", model, got.Choices[0].Message.Content, err)
			}
		}
		params = ask(model, "Say it.")
		params.MaxCompletionTokens = openai.Int(1)
		if got := s.complete(t, params); got.Choices[0].FinishReason != "length" || got.Usage.CompletionTokens == 0 || got.Usage.TotalTokens != got.Usage.PromptTokens+got.Usage.CompletionTokens {
			t.Errorf("%s: finish reason %s, usage %s", model, got.Choices[0].FinishReason, got.Usage.RawJSON())
		}
	}
}
