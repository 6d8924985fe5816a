package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
)

// callsOf lists name and arguments of the calls. Each must have its own id.
func callsOf(t *testing.T, m openai.ChatCompletionMessage) []string {
	t.Helper()
	var calls []string
	ids := map[string]bool{}
	for _, c := range m.ToolCalls {
		if c.ID == "" || ids[c.ID] || c.Type != "function" {
			t.Errorf("call %+v, want an id of its own and the type function", c)
		}
		ids[c.ID] = true
		calls = append(calls, c.Function.Name+" "+c.Function.Arguments)
	}
	return calls
}

func TestToolCalls(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"one", "What is the weather in Paris?", []string{`get_weather {"city":"Paris"}`}},
		{"parallel", "What is the weather in Paris and Rome?", []string{`get_weather {"city":"Paris"}`, `get_weather {"city":"Rome"}`}},
	}
	for _, tt := range tests {
		for _, model := range []string{flash25, flash3} {
			t.Run(tt.name+" "+model, func(t *testing.T) {
				s := start(t)
				params := askWeather(model, tt.text)
				streamed, _ := s.stream(t, params)
				for _, got := range []*openai.ChatCompletion{s.complete(t, params), streamed} {
					choice := got.Choices[0]
					if diff := cmp.Diff(tt.want, callsOf(t, choice.Message)); diff != "" {
						t.Errorf("calls (-want +got):\n%s", diff)
					}
					if choice.FinishReason != "tool_calls" {
						t.Errorf("finish reason %q", choice.FinishReason)
					}
				}
			})
		}
	}
}

// sendBack makes of an answer the message that goes back.
type sendBack func(openai.ChatCompletionMessage) openai.ChatCompletionMessageParamUnion

// asItCame keeps every member.
func asItCame(m openai.ChatCompletionMessage) openai.ChatCompletionMessageParamUnion {
	p := param.Override[openai.ChatCompletionAssistantMessageParam](json.RawMessage(m.RawJSON()))
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &p}
}

// withSignatures copies the signatures into what the client makes of the answer.
func withSignatures(m openai.ChatCompletionMessage) openai.ChatCompletionMessageParamUnion {
	const member = "thought_signature"
	p := m.ToAssistantMessageParam()
	for i, c := range m.ToolCalls {
		if signature, ok := c.Function.JSON.ExtraFields[member]; ok {
			p.ToolCalls[i].OfFunction.Function.SetExtraFields(map[string]any{member: json.RawMessage(signature.Raw())})
		}
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &p}
}

// knownMembers is what the client makes of the answer: unknown members are lost.
func knownMembers(m openai.ChatCompletionMessage) openai.ChatCompletionMessageParamUnion {
	return m.ToParam()
}

// converse adds a question to the conversation, runs the tool as often as it is
// called, and returns the answer and the warnings on the way.
func (s *stage) converse(t *testing.T, params *openai.ChatCompletionNewParams, back sendBack, opts ...option.RequestOption) (text, warnings string) {
	t.Helper()
	for range 3 {
		var response *http.Response
		got := s.complete(t, *params, append(opts, option.WithResponseInto(&response))...)
		warnings += response.Header.Get("X-Gateway-Warnings")
		message := got.Choices[0].Message
		params.Messages = append(params.Messages, back(message))
		if len(message.ToolCalls) == 0 {
			return message.Content, warnings
		}
		for _, c := range message.ToolCalls {
			params.Messages = append(params.Messages, openai.ToolMessage(`{"of":`+c.Function.Arguments+`}`, c.ID))
		}
	}
	t.Fatal("the model calls tools again and again")
	return "", ""
}

func TestToolLoop(t *testing.T) {
	const flash38 = "@vx/gemini-3.8-flash" // refuses a signature that was changed
	tests := []struct {
		name, model string
		back        sendBack
		opts        []option.RequestOption
		sentinels   int // one for each turn whose signature is lost
	}{
		{"a model without signatures", flash25, knownMembers, nil, 0},
		{"raw JSON", flash3, asItCame, []option.RequestOption{relaxed()}, 0},
		{"raw JSON to a model that checks", flash38, asItCame, []option.RequestOption{relaxed()}, 0},
		{"extra members", flash3, withSignatures, []option.RequestOption{relaxed()}, 0},
		{"lost by the client", flash3, knownMembers, []option.RequestOption{relaxed()}, 0},
		{"lost by the client, of a model that checks", flash38, knownMembers, []option.RequestOption{relaxed()}, 0},
		{"hidden by strict compliance", flash3, asItCame, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			params := askWeather(tt.model, "What is the weather in Paris and Rome?")
			first, warnings := s.converse(t, &params, tt.back, tt.opts...)
			params.Messages = append(params.Messages, openai.UserMessage("And the weather in Oslo?"))
			second, more := s.converse(t, &params, tt.back, tt.opts...)

			const of = `get_weather answered: {"of":{"city":"`
			want := []string{of + `Paris"}}` + "\n" + of + `Rome"}}`, of + `Oslo"}}`}
			if diff := cmp.Diff(want, []string{first, second}); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			if n := s.platform.SentinelUses(); n != tt.sentinels {
				t.Errorf("%d sentinels, want %d", n, tt.sentinels)
			}
			if n := strings.Count(warnings+more, "thought_signature"); n != tt.sentinels {
				t.Errorf("%d warnings of lost signatures in %s%s, want %d", n, warnings, more, tt.sentinels)
			}
		})
	}
}
