package anthropic

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

func decode(e *Event, doc string) error {
	r := jsonx.NewReader([]byte(doc))
	e.Decode(&r)
	return r.End()
}

func TestEventsAreDecoded(t *testing.T) {
	for doc, want := range map[string]Event{
		`{"type":"ping"}`:                 {Kind: KindPing},
		`{"type":"vertex_event","x":[1]}`: {},
		`{}`:                              {},
		`{"type":null,"index":null,"delta":null}`: {},
		`{"index":2,"type":"content_block_stop"}`: {Kind: KindBlockStop, Index: 2},
		`{"type":"message_stop"}`:                 {Kind: KindMessageStop},
		`{"type":"error","error":{"type":"a"}}`:   {Kind: KindError, Error: []byte(`{"type":"a"}`)},
		`{"error":{"code":1}}`:                    {Error: []byte(`{"code":1}`)},
		`{"delta":{"text":"a","type":"text_delta"},"type":"content_block_delta","index":1}`: {
			Kind: KindBlockDelta, Index: 1, Delta: Delta{Kind: DeltaText, Text: "a"},
		},
		`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\""}}`: {
			Kind: KindBlockDelta, Delta: Delta{Kind: DeltaInputJSON, Text: `{"`},
		},
		`{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"t"}}`: {
			Kind: KindBlockDelta, Delta: Delta{Kind: DeltaThinking, Text: "t"},
		},
		`{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"s"}}`: {
			Kind: KindBlockDelta, Delta: Delta{Kind: DeltaSignature, Text: "s"},
		},
		`{"type":"content_block_delta","delta":{"type":"citations_delta","citation":{"a": 1}}}`: {
			Kind: KindBlockDelta, Delta: Delta{Kind: DeltaCitations, Citation: []byte(`{"a": 1}`)},
		},
		`{"type":"content_block_delta","delta":{"type":"compaction_delta","content":"c","n":1}}`: {
			Kind: KindBlockDelta, Delta: Delta{Rest: []byte(`{"content":"c","n":1}`)},
		},
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"i","name":"n","input":{},"caller":{"type":"direct"}}}`: {
			Kind: KindBlockStart, Index: 1, Block: Block{
				Kind: BlockToolUse, Type: "tool_use", ID: "i", Name: "n", Input: []byte(`{}`), Extra: []byte(`{"caller":{"type":"direct"}}`),
				Raw: []byte(`{"type":"tool_use","id":"i","name":"n","input":{},"caller":{"type":"direct"}}`),
			},
		},
		`{"type":"content_block_start","content_block":{"type":"server_tool_use","id":1}}`: {
			Kind: KindBlockStart, Block: Block{Type: "server_tool_use", Raw: []byte(`{"type":"server_tool_use","id":1}`)},
		},
		`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"a":1}},"usage":{"output_tokens":1},"context_management":{"b":2}}`: {
			Kind: KindMessageDelta, Usage: []byte(`{"output_tokens":1}`),
			Stop: Stop{Reason: "refusal", Details: []byte(`{"a":1}`), ContextManagement: []byte(`{"b":2}`)},
		},
		`{"type":"message_start","message":{"id":"i","type":"message","model":"m","content":[],"usage":{"a":1}}}`: {
			Kind: KindMessageStart, Message: Message{ID: "i", Model: "m", Usage: []byte(`{"a":1}`)},
		},
		`{"type":"message","id":"i","model":"m","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"x","citations":[1]}],` +
			`"stop_reason":"end_turn","stop_sequence":"q","container":{"c":1},"usage":{"a":1},"context_management":{"b":2}}`: {
			Kind: KindMessage, Usage: []byte(`{"a":1}`), Stop: Stop{ContextManagement: []byte(`{"b":2}`)},
			Message: Message{
				ID: "i", Model: "m", Stop: Stop{Reason: "end_turn", Sequence: []byte(`"q"`), Container: []byte(`{"c":1}`)},
				Content: []Block{
					{Kind: BlockThinking, Type: "thinking", Thinking: "t", Signature: "s", Raw: []byte(`{"type":"thinking","thinking":"t","signature":"s"}`)},
					{Kind: BlockRedactedThinking, Type: "redacted_thinking", Data: "d", Raw: []byte(`{"type":"redacted_thinking","data":"d"}`)},
					{Kind: BlockText, Type: "text", Text: "x", Citations: []byte(`[1]`), Raw: []byte(`{"type":"text","text":"x","citations":[1]}`)},
				},
			},
		},
	} {
		t.Run(doc, func(t *testing.T) {
			var got Event
			if err := decode(&got, doc); err != nil {
				t.Fatal(err)
			}
			if len(got.Message.Content) == 0 {
				got.Message.Content = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWhatIsNoEventIsRefused(t *testing.T) {
	for _, doc := range []string{
		`[]`, `1`, `{`, `{"type":1}`, `{"index":"a"}`, `{"content":[1]}`, `{"content":{}}`, `{"content_block":1}`, `{"delta":1}`,
		`{"content_block":{"type":"text","text":1}}`, `{"content_block":{"type":"tool_use","name":[]}}`, `{"content_block":{"type":1}}x`,
	} {
		var e Event
		if err := decode(&e, doc); err == nil {
			t.Errorf("%s was taken", doc)
		}
	}
}

// A stream decodes all its events into one Event: what one held must not show
// in the next.
func TestReuseLeaksNothing(t *testing.T) {
	docs := []string{
		`{"type":"message","id":"i","model":"m","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"a","extra":1}],"stop_reason":"end_turn","usage":{"a":1}}`,
		`{"type":"message","content":[{"type":"tool_use","name":"n"}]}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}}`,
		`{"type":"content_block_start","content_block":{"type":"thinking","thinking":"t"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"x"},"usage":{}}`,
		`{"type":"content_block_delta","delta":{"content":"`, `{}`, `{"error":1}`,
	}
	for _, first := range docs {
		for _, second := range docs {
			var used, fresh Event
			_ = decode(&used, first)
			usedErr, freshErr := decode(&used, second), decode(&fresh, second)
			if fmt.Sprint(usedErr) != fmt.Sprint(freshErr) {
				t.Fatalf("%s after %s: %v instead of %v", second, first, usedErr, freshErr)
			}
			if len(used.Message.Content) == 0 {
				used.Message.Content = nil
			}
			if diff := cmp.Diff(fresh, used); freshErr == nil && diff != "" {
				t.Fatalf("%s after %s (-fresh +reused)\n%s", second, first, diff)
			}
		}
	}
}

func TestUsageIsOverwrittenMemberByMember(t *testing.T) {
	var u Usage
	for _, raw := range []string{
		`{"input_tokens":5,"cache_read_input_tokens":7,"cache_creation_input_tokens":1,"output_tokens":1,"service_tier":"standard","new_member":1}`,
		`{"output_tokens":9,"input_tokens":null,"output_tokens_details":{"thinking_tokens":4,"x":1}}`,
	} {
		if err := u.Decode([]byte(raw)); err != nil {
			t.Fatal(err)
		}
	}
	want := Usage{Input: 5, Output: 9, CacheRead: 7, CacheCreation: 1, Thinking: 4, Counted: true}
	for i, name := range NativeUsage {
		want.Native[i] = map[string][]byte{
			"cache_creation_input_tokens": []byte("1"), "cache_read_input_tokens": []byte("7"), "service_tier": []byte(`"standard"`),
			"output_tokens_details": []byte(`{"thinking_tokens":4,"x":1}`),
		}[name]
	}
	if diff := cmp.Diff(want, u); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, raw := range []string{`{"input_tokens":"5"}`, `{"output_tokens_details":1}`, `[]`, `{`} {
		if err := new(Usage).Decode([]byte(raw)); err == nil {
			t.Errorf("%s was taken", raw)
		}
	}
}
