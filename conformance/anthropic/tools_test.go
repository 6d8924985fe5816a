package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// callsOf lists name and input of the calls.
func callsOf(m *anthropic.Message) (calls []string) {
	for _, b := range m.Content {
		if use, ok := b.AsAny().(anthropic.ToolUseBlock); ok {
			calls = append(calls, use.Name+" "+string(use.Input))
		}
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
				bothWays(t, func(t *testing.T, streamed bool) {
					got, _ := start(t).answer(t, streamed, askWeather(model, tt.text))
					if diff := cmp.Diff(tt.want, callsOf(got)); diff != "" || got.StopReason != "tool_use" {
						t.Errorf("stop reason %s, calls (-want +got):\n%s", got.StopReason, diff)
					}
				})
			})
		}
	}
}

func TestToolChoice(t *testing.T) {
	tests := []struct {
		name   string
		choice anthropic.ToolChoiceUnionParam
		want   string
	}{
		{"auto", anthropic.ToolChoiceUnionParam{OfAuto: &anthropic.ToolChoiceAutoParam{}}, `{"mode":"AUTO"}`},
		{"any", anthropic.ToolChoiceUnionParam{OfAny: &anthropic.ToolChoiceAnyParam{}}, `{"mode":"ANY"}`},
		{"tool", anthropic.ToolChoiceParamOfTool("get_weather"), `{"mode":"ANY","allowedFunctionNames":["get_weather"]}`},
		{"none", anthropic.ToolChoiceUnionParam{OfNone: &anthropic.ToolChoiceNoneParam{}}, `{"mode":"NONE"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			params := askWeather(flash25, "What is the weather in Paris?")
			params.ToolChoice = tt.choice
			s.answer(t, false, params)
			var got struct {
				ToolConfig struct{ FunctionCallingConfig json.RawMessage }
			}
			s.sent(t, &got)
			if string(got.ToolConfig.FunctionCallingConfig) != tt.want {
				t.Errorf("%s, want %s", got.ToolConfig.FunctionCallingConfig, tt.want)
			}
		})
	}
}

// step is what the model does on one request: it calls the tool for these
// cities, or sums up when there are none.
type step struct{ cities []string }

func (s step) reply() vertextest.Reply {
	var calls []vertextest.FunctionCall
	for _, city := range s.cities {
		calls = append(calls, vertextest.FunctionCall{
			Name: "get_weather", Args: json.RawMessage(`{"when":{"to":2.0,"from":1},"city":"` + city + `"}`),
		})
	}
	if calls == nil {
		return vertextest.Auto()
	}
	return vertextest.Calls(calls...)
}

// loop is a conversation of three turns: one call, two parallel calls, and two
// calls one after the other, of which one is as in the first turn.
var loop = [][]step{
	{{cities: []string{"Paris"}}, {}},
	{{cities: []string{"Rome", "Oslo"}}, {}},
	{{cities: []string{"Paris"}}, {cities: []string{"Bern"}}, {}},
}

// signatures lists, for each call and each text that the model said in the
// conversation that was sent last, whether its signature went back.
func (s *stage) signatures(t *testing.T) (list []string) {
	t.Helper()
	var body struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text             *string
				FunctionCall     *struct{ Args struct{ City string } }
				ThoughtSignature string
			}
		}
	}
	s.sent(t, &body)
	for _, c := range body.Contents {
		for _, p := range c.Parts {
			if c.Role != "model" {
				continue
			}
			what := "text"
			if p.FunctionCall != nil {
				what = p.FunctionCall.Args.City
			}
			switch p.ThoughtSignature {
			case "":
			case "skip_thought_signature_validator":
				what += " stood in for"
			default:
				what += " signed"
			}
			list = append(list, what)
		}
	}
	return list
}

// A client that sends answers back as they came keeps the signatures, also where
// the gateway remembers none: those of calls, and those of texts.
func TestToolLoop(t *testing.T) {
	want := []string{
		"Paris signed", "text signed",
		"Rome signed", "Oslo", "text signed",
		"Paris signed", "Bern signed",
	}
	for _, model := range []string{"@vx/gemini-3-flash", flash3, flash38} {
		for _, thinks := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s thinking=%v", model, thinks), func(t *testing.T) {
				bothWays(t, func(t *testing.T, streamed bool) {
					s := start(t, gateway.WithSignatureMemory(gateway.SignatureMemory{Off: true}))
					params := askWeather(model, "What is the weather?")
					if thinks {
						params.Thinking = anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{}}
						params.OutputConfig.Effort = anthropic.OutputConfigEffortLow
					}
					for i, turn := range loop {
						if i > 0 {
							params.Messages = append(params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock("And elsewhere?")))
						}
						s.take(t, turn, streamed, &params)
					}
					if diff := cmp.Diff(want, unsplit(s.signatures(t))); diff != "" {
						t.Errorf("signatures (-want +got):\n%s", diff)
					}
					if n := s.platform.SentinelUses(); n != 0 {
						t.Errorf("%d sentinels, want none", n)
					}
				})
			})
		}
	}
}

// unsplit joins a text with the empty one behind it, which carries the signature
// of a streamed text.
func unsplit(list []string) (out []string) {
	for _, s := range list {
		if n := len(out); n > 0 && out[n-1] == "text" && strings.HasPrefix(s, "text") {
			out[n-1] = s
			continue
		}
		out = append(out, s)
	}
	return out
}

// take runs one turn of the loop.
func (s *stage) take(t *testing.T, turn []step, streamed bool, params *anthropic.MessageNewParams) {
	t.Helper()
	for _, step := range turn {
		s.platform.Script(step.reply())
	}
	for i, step := range turn {
		message, warnings := s.answer(t, streamed, *params)
		if strings.Contains(warnings, "signature") {
			t.Errorf("step %d warns: %s", i+1, warnings)
		}
		if got := callsOf(message); len(got) != len(step.cities) {
			t.Fatalf("step %d has the calls %q, want %d", i+1, got, len(step.cities))
		}
		params.Messages = append(params.Messages, message.ToParam())
		var results []anthropic.ContentBlockParamUnion
		for _, b := range message.Content {
			if b.Type == "tool_use" {
				results = append(results, anthropic.NewToolResultBlock(b.ID, `{"sky":"clear"}`, false))
			}
		}
		if results != nil {
			params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
		}
	}
}

// A client that drops thinking blocks loses the signatures, which the gateway
// that gave them out remembers.
func TestToolLoopWithoutThinkingBlocks(t *testing.T) {
	s := start(t)
	params := askWeather(flash38, "What is the weather in Paris?")
	message, _ := s.answer(t, true, params)
	back := message.ToParam()
	var kept []anthropic.ContentBlockParamUnion
	for _, b := range back.Content {
		if b.OfThinking == nil {
			kept = append(kept, b)
		}
	}
	back.Content = kept
	params.Messages = append(params.Messages, back,
		anthropic.NewUserMessage(anthropic.NewToolResultBlock(kept[0].OfToolUse.ID, "sunny", false)))
	if got, warnings := s.answer(t, false, params); textOf(got) == "" || warnings != "" || s.platform.SentinelUses() != 0 {
		t.Errorf("answer %s, warnings %s, %d sentinels", got.RawJSON(), warnings, s.platform.SentinelUses())
	}
}

func TestToolResults(t *testing.T) {
	s := start(t)
	params := askWeather(flash3, "What is the weather in Paris and Rome?")
	message, _ := s.answer(t, false, params)
	var ids []string
	for _, b := range message.Content {
		if b.Type == "tool_use" {
			ids = append(ids, b.ID)
		}
	}
	picture := anthropic.ContentBlockParamUnion{OfToolResult: &anthropic.ToolResultBlockParam{
		ToolUseID: ids[1], Content: []anthropic.ToolResultBlockParamContentUnion{
			{OfText: &anthropic.TextBlockParam{Text: "as shown"}},
			{OfImage: anthropic.NewImageBlockBase64("image/png", pixel).OfImage},
		},
	}}
	params.Messages = append(params.Messages, message.ToParam(), anthropic.NewUserMessage(
		anthropic.NewToolResultBlock(ids[0], "no such city", true), picture, anthropic.NewTextBlock("Go on."),
	))
	s.answer(t, false, params)
	var got struct {
		Contents []struct {
			Parts []struct {
				Text             string
				FunctionResponse *struct {
					Response json.RawMessage
					Parts    []part
				}
			}
		}
	}
	s.sent(t, &got)
	last := got.Contents[len(got.Contents)-1].Parts
	if len(last) != 3 || last[2].Text != "Go on." {
		t.Fatalf("parts %+v", last)
	}
	for i, want := range []string{`{"error":"no such city"}`, `{"output":"as shown"}`} {
		if r := last[i].FunctionResponse; r == nil || string(r.Response) != want {
			t.Errorf("result %d: %+v, want %s", i, r, want)
		}
	}
	if r := last[1].FunctionResponse; r != nil && (len(r.Parts) != 1 || r.Parts[0].says() != "image/png "+pixel) {
		t.Errorf("media %+v", r.Parts)
	}
}
