package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// spelledAnew is what a client sends back that keeps arguments as a value, not
// as a text: unknown members are lost, and the spelling of the arguments too.
func spelledAnew(m openai.ChatCompletionMessage) openai.ChatCompletionMessageParamUnion {
	p := m.ToAssistantMessageParam()
	for i := range p.ToolCalls {
		f := &p.ToolCalls[i].OfFunction.Function
		var v any
		if json.Unmarshal([]byte(f.Arguments), &v) == nil {
			b, _ := json.MarshalIndent(v, "", "    ")
			f.Arguments = string(b)
		}
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &p}
}

// weatherOf is a call of the tool. Its members are not in alphabetical order.
func weatherOf(city string) vertextest.FunctionCall {
	return vertextest.FunctionCall{Name: "get_weather", Args: json.RawMessage(`{"when":{"to":2.0,"from":1},"city":"` + city + `"}`)}
}

// loopStep is what the model does on one request: it calls the tool for these
// cities, or sums up when there are none.
type loopStep []string

// loop is a conversation of three turns: one call, two parallel calls, and two
// calls one after the other, of which one is as in the first turn.
var loop = [][]loopStep{
	{{"Paris"}, nil},
	{{"Rome", "Oslo"}, nil},
	{{"Paris"}, {"Bern"}, nil},
}

func scriptOf(turn []loopStep) []vertextest.Reply {
	var replies []vertextest.Reply
	for _, step := range turn {
		var calls []vertextest.FunctionCall
		for _, city := range step {
			calls = append(calls, weatherOf(city))
		}
		if calls == nil {
			replies = append(replies, vertextest.Auto())
		} else {
			replies = append(replies, vertextest.Calls(calls...))
		}
	}
	return replies
}

// answer returns the message of one answer, streamed or whole, and the warnings.
func (s *stage) answer(t *testing.T, streamed bool, params openai.ChatCompletionNewParams, opts ...option.RequestOption) (openai.ChatCompletionMessage, string) {
	t.Helper()
	var (
		response *http.Response
		got      *openai.ChatCompletion
	)
	opts = append(opts, option.WithResponseInto(&response))
	if streamed {
		got, _ = s.stream(t, params, opts...)
	} else {
		got = s.complete(t, params, opts...)
	}
	return got.Choices[0].Message, response.Header.Get("X-Gateway-Warnings")
}

// take runs one turn of the loop and returns the warnings on the way.
func (s *stage) take(t *testing.T, turn []loopStep, streamed bool, params *openai.ChatCompletionNewParams, back sendBack, opts ...option.RequestOption) string {
	t.Helper()
	var warnings strings.Builder
	s.platform.Script(scriptOf(turn)...)
	for i, step := range turn {
		message, w := s.answer(t, streamed, *params, opts...)
		warnings.WriteString(w)
		if len(message.ToolCalls) != len(step) {
			t.Fatalf("step %d has %d calls, want %d", i+1, len(message.ToolCalls), len(step))
		}
		params.Messages = append(params.Messages, back(message))
		for _, c := range message.ToolCalls {
			params.Messages = append(params.Messages, openai.ToolMessage(`{"sky":"clear"}`, c.ID))
		}
	}
	return warnings.String()
}

// signatures lists, for each call that the last request sent back in its current
// turn, the city and whether its signature is the one that was given out.
func (s *stage) signatures(t *testing.T) []string {
	t.Helper()
	requests := s.platform.Requests()
	last := requests[len(requests)-1]
	var body struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text         *string
				FunctionCall *struct {
					Name string
					Args json.RawMessage
				}
				ThoughtSignature string
			}
		}
	}
	if err := json.Unmarshal(last.Body, &body); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, c := range body.Contents {
		for _, p := range c.Parts {
			if c.Role == "user" && p.Text != nil {
				list = nil // a new turn
			}
			if p.FunctionCall == nil {
				continue
			}
			var args struct{ City string }
			if err := json.Unmarshal(p.FunctionCall.Args, &args); err != nil {
				t.Fatal(err)
			}
			state := "given back" // the emulator refuses a forged one where the model does
			switch p.ThoughtSignature {
			case "":
				state = "none"
			case "skip_thought_signature_validator":
				state = "stood in for"
			}
			list = append(list, args.City+" "+state)
		}
	}
	return list
}

// A client that drops unknown members loses the signatures. The gateway that
// gave them out puts them back.
func TestLostSignaturesAreGivenBack(t *testing.T) {
	const flash38 = "@vx/gemini-3.8-flash" // refuses a signature that was changed
	clients := []struct {
		name string
		back sendBack
	}{
		{"known members", knownMembers}, {"arguments spelled anew", spelledAnew},
	}
	for _, model := range []string{"@vx/gemini-3-flash", flash38} {
		for _, client := range clients {
			for i := range 4 {
				strict, streamed := i&1 == 0, i&2 == 0
				t.Run(fmt.Sprintf("%s %s strict=%v streamed=%v", model, client.name, strict, streamed), func(t *testing.T) {
					s := start(t)
					opts := []option.RequestOption{option.WithHeader("x-gateway-strict-compliance", fmt.Sprint(strict))}
					want := [][]string{{"Paris given back"}, {"Rome given back", "Oslo none"}, {"Paris given back", "Bern given back"}}
					params := askWeather(model, "What is the weather?")
					for turn, steps := range loop {
						if turn > 0 {
							params.Messages = append(params.Messages, openai.UserMessage("And elsewhere?"))
						}
						if w := s.take(t, steps, streamed, &params, client.back, opts...); strings.Contains(w, "signature") {
							t.Errorf("turn %d warns: %s", turn+1, w)
						}
						if diff := cmp.Diff(want[turn], s.signatures(t)); diff != "" {
							t.Errorf("signatures of turn %d (-want +got):\n%s", turn+1, diff)
						}
					}
					if n := s.platform.SentinelUses(); n != 0 {
						t.Errorf("%d sentinels, want none", n)
					}
				})
			}
		}
	}
}

// What one gateway gave out, another one does not know: the lost signature is
// stood in for, and the caller is told.
func TestLostSignaturesOfAnotherGateway(t *testing.T) {
	s := start(t)
	params := askWeather("@vx/gemini-3.8-flash", "What is the weather?")
	s.platform.Script(vertextest.Calls(weatherOf("Paris")))
	message, _ := s.answer(t, false, params)
	params.Messages = append(params.Messages, knownMembers(message), openai.ToolMessage(`{"sky":"clear"}`, message.ToolCalls[0].ID))

	other := &stage{connect(t, "https://platform.example", s.platform.Transport()), s.platform}
	_, warnings := other.answer(t, false, params)
	if n := s.platform.SentinelUses(); n != 1 {
		t.Errorf("%d sentinels, want 1", n)
	}
	if n := strings.Count(warnings, "thought_signature"); n != 1 {
		t.Errorf("warnings %s, want one of the lost signature", warnings)
	}
}

// A call that the client changed is not the one that was signed: its signature
// does not go with it.
func TestSignatureOfAChangedCall(t *testing.T) {
	s := start(t)
	params := askWeather("@vx/gemini-3.8-flash", "What is the weather?")
	s.platform.Script(vertextest.Calls(weatherOf("Paris")))
	message, _ := s.answer(t, false, params)
	changed := message.ToAssistantMessageParam()
	changed.ToolCalls[0].OfFunction.Function.Arguments = `{"city":"Rome"}`
	params.Messages = append(params.Messages, openai.ChatCompletionMessageParamUnion{OfAssistant: &changed},
		openai.ToolMessage(`{"sky":"clear"}`, message.ToolCalls[0].ID))
	if _, warnings := s.answer(t, false, params); strings.Count(warnings, "thought_signature") != 1 {
		t.Errorf("warnings %s, want one of the lost signature", warnings)
	}
	if n := s.platform.SentinelUses(); n != 1 {
		t.Errorf("%d sentinels, want 1", n)
	}
}
