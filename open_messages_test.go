package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
)

// openBlock is a content block of a Message.
type openBlock struct {
	Type, Text, Name string
	Input            any
}

// tellOpen asks an open model in Anthropic's schema, and returns the blocks of the
// answer and why it ended.
func tellOpen(t *testing.T, answer string, stream bool) (blocks []openBlock, reason string, warnings []gateway.Warning) {
	t.Helper()
	client := openClient(t, &replies{text: answer})
	body := []byte(`{"model":"qwen.qwen3-next-80b-a3b-instruct-maas","max_tokens":64,"messages":[{"role":"user","content":"hi"}]}`)
	if !stream {
		out, err := client.Messages.Create(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Content []openBlock
			Reason  string `json:"stop_reason"`
		}
		if err := json.Unmarshal(out.Body, &m); err != nil {
			t.Fatal(err)
		}
		return m.Content, m.Reason, out.Meta.Warnings
	}
	s, err := client.Messages.CreateStream(t.Context(), body)
	if err != nil {
		t.Fatal(err)
	}
	input := ""
	for event, err := range s.Events() {
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Block openBlock `json:"content_block"`
			Delta struct {
				Text   string
				JSON   string `json:"partial_json"`
				Reason string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal(event.Data, &e); err != nil {
			t.Fatal(err)
		}
		switch event.Type {
		case "content_block_start":
			blocks, input = append(blocks, e.Block), ""
		case "content_block_delta":
			blocks[len(blocks)-1].Text += e.Delta.Text
			input += e.Delta.JSON
		case "content_block_stop":
			if input != "" {
				if err := json.Unmarshal([]byte(input), &blocks[len(blocks)-1].Input); err != nil {
					t.Fatal(err)
				}
			}
		case "message_delta":
			reason = e.Delta.Reason
		}
	}
	return blocks, reason, s.Meta().Warnings
}

// openEvents makes a stream of the deltas, of which the last one comes with why the
// answer ended.
func openEvents(reason string, deltas ...string) string {
	var b strings.Builder
	for i, d := range deltas {
		end := "null"
		if i == len(deltas)-1 {
			end = `"` + reason + `"`
		}
		b.WriteString(`data: {"id":"i","model":"m","choices":[{"index":0,"delta":` + d + `,"finish_reason":` + end + "}]}\n\n")
	}
	return b.String() + "data: [DONE]\n\n"
}

func TestCallsOfAnOpenModelAreToolUse(t *testing.T) {
	none, x := map[string]any{}, map[string]any{"x": 1.0}
	for _, tt := range []struct {
		name   string
		deltas []string
		want   []openBlock
	}{
		{"a new id in each piece", []string{
			`{"tool_calls":[{"index":0,"id":"t-1","type":"function","function":{"name":"f","arguments":"{\"x\""}}]}`,
			`{"tool_calls":[{"index":0,"id":"t-2","type":"function","function":{"name":"f","arguments":":1}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"t-3","type":"function","function":{"name":"f","arguments":""}}]}`,
		}, []openBlock{{"tool_use", "", "f", x}}},
		{"a call without arguments before another", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`,
			`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":""}}]}`,
			`{"content":"and text"}`, `{}`,
		}, []openBlock{{"tool_use", "", "f", none}, {"tool_use", "", "g", none}, {"text", "and text", "", nil}}},
		{"a name after its id", []string{
			`{"tool_calls":[{"index":0,"id":"a"}]}`, `{"tool_calls":[{"index":0,"function":{"name":"f"}}]}`, `{}`,
		}, []openBlock{{"tool_use", "", "f", none}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, reason, _ := tellOpen(t, openEvents("tool_calls", tt.deltas...), true)
			if diff := cmp.Diff(tt.want, got); diff != "" || reason != "tool_use" {
				t.Errorf("ended by %s (-want +got)\n%s", reason, diff)
			}
		})
	}
}

func TestACallThatWasCutLeavesTheRestOfTheMessage(t *testing.T) {
	const answer = `{"id":"i","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"text","tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":"}}]},"finish_reason":"length"}]}`
	got, reason, warnings := tellOpen(t, answer, false)
	want := []openBlock{{"text", "text", "", nil}, {"tool_use", "", "f", map[string]any{}}}
	if diff := cmp.Diff(want, got); diff != "" || reason != "max_tokens" {
		t.Errorf("ended by %s (-want +got)\n%s", reason, diff)
	}
	if len(warnings) != 1 || warnings[0].Param != "content[1].input" {
		t.Errorf("warnings %+v", warnings)
	}
}

func TestARefusalOfAnOpenModelIsTold(t *testing.T) {
	const (
		said  = `I can't do that.`
		whole = `{"id":"i","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"` + said + `"},"finish_reason":"stop"}]}`
	)
	stream := openEvents("stop", `{"role":"assistant","content":"","refusal":null}`, `{"refusal":"I can't "}`, `{"refusal":"do that."}`, `{}`)
	for form, answer := range map[bool]string{false: whole, true: stream} {
		got, reason, _ := tellOpen(t, answer, form)
		if diff := cmp.Diff([]openBlock{{"text", said, "", nil}}, got); diff != "" || reason != "refusal" {
			t.Errorf("stream %v ended by %s (-want +got)\n%s", form, reason, diff)
		}
	}
	q := gateway.CompletionRequest{Model: "qwen.qwen3-next-80b-a3b-instruct-maas", Prompt: gateway.PromptText("hi")}
	out, err := openClient(t, &replies{text: whole}).Completions.Create(t.Context(), &q)
	if err != nil || out.Choices[0].Text != said {
		t.Errorf("%+v %v", out, err)
	}
	s, err := openClient(t, &replies{text: stream}).Completions.CreateStream(t.Context(), &q)
	if err != nil {
		t.Fatal(err)
	}
	if out, err = s.Collect(); err != nil || out.Choices[0].Text != said {
		t.Errorf("stream: %+v %v", out, err)
	}
}

func TestAnOpenModelIsSentNothingOfAnthropicsSchema(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral"}`
	rt := &replies{text: `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`}
	out, err := openClient(t, rt).Messages.Create(t.Context(), []byte(`{"model":"openai.gpt-oss-120b-maas","max_tokens":64,`+mark+`,`+
		`"context_management":{"edits":[]},"output_config":{"effort":"low"},"system":[{"type":"text","text":"s",`+mark+`}],`+
		`"tools":[{"name":"f","input_schema":{"type":"object"},`+mark+`},{"type":"web_search_20250305","name":"web_search"}],`+
		`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{},`+mark+`}]},`+
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"no","is_error":true,`+mark+`}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"model":"openai/gpt-oss-120b-maas","messages":[{"role":"system","content":[{"type":"text","text":"s"}]},{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","content":"{\"error\":\"no\"}","tool_call_id":"a"}],"max_tokens":64,` +
		`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`
	if diff := cmp.Diff(want, rt.sent); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var params []string
	for _, w := range out.Meta.Warnings {
		params = append(params, w.Param)
	}
	if diff := cmp.Diff([]string{"system[0].cache_control", "tools[1].type", "cache_control", "context_management", "output_config"}, params); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
}
