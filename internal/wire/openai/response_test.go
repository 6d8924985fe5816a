package openai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/openai"
)

func read(t *testing.T, p *openai.Response, data string) {
	t.Helper()
	r := jsonx.NewReader([]byte(data))
	p.Decode(&r)
	if err := r.End(); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

func shape() cmp.Options {
	return cmp.Options{cmpopts.IgnoreUnexported(openai.Choice{}, openai.Usage{}), cmpopts.EquateEmpty()}
}

const full = `{"id":"i","object":"chat.completion","created":3.0,"model":"m","system_fingerprint":"","x":null,"choices":[{"index":2,
"message":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"thinking","thinking":[{"text":"t"},7]},"b",{"type":"odd","n":1}],
"reasoning":"r","refusal":null,"note":[1, 2],"audio":{"id":"x"},"annotations":[],"tool_calls":[{"index":1,"id":"null","type":"function","function":{"name":"f","arguments":{"z": 1},"x":1},"extra":1}]},
"finish_reason":"length","logprobs":{"content":null},"matched_stop":1}],
"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":1,"x":1},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":2},"reasoning_tokens":2,"y":{}}}`

func TestDecodeReadsEachMember(t *testing.T) {
	var got openai.Response
	read(t, &got, full)
	want := openai.Response{
		ID: "i", Model: "m", Created: 3, Known: true, HasUsage: true, Extra: []byte(`{"system_fingerprint":""}`),
		Choices: []openai.Choice{{
			Index: 2, FinishReason: "length", Thought: "r",
			Pieces: []openai.Piece{{Text: "a"}, {Kind: openai.KindThought, Text: "t"}, {Text: "b"}, {Kind: openai.KindOther, Raw: []byte(`{"type":"odd","n":1}`)}},
			Calls:  []openai.Call{{Index: 1, HasIndex: true, Name: "f", Arguments: `{"z": 1}`, Extra: []byte(`{"extra":1}`)}},
			Audio:  []byte(`{"id":"x"}`), Annotations: []byte(`[]`), Logprobs: []byte(`{"content":null}`),
			Extra: []byte(`{"matched_stop":1}`), MessageExtra: []byte(`{"note":[1, 2]}`),
		}},
		Usage: openai.Usage{
			Prompt: 1, Completion: 2, Total: 3, HasTotal: true, Cached: 1, Reasoning: 2, CompletionAudio: 2,
			Extra: []byte(`{"y":{}}`), PromptExtra: []byte(`{"x":1}`),
		},
	}
	if diff := cmp.Diff(want, got, shape()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecodeLeavesNothingOfTheFormerEvent(t *testing.T) {
	var got, want openai.Response
	read(t, &got, full)
	const next = `{"choices":[{"delta":{"content":"c"}},{"delta":{}}]}`
	read(t, &got, next)
	read(t, &want, next)
	if diff := cmp.Diff(want, got, shape()); diff != "" {
		t.Errorf("(-fresh +reused)\n%s", diff)
	}
}

func TestReasoningHasTwoNames(t *testing.T) {
	for data, want := range map[string]string{
		`{"reasoning_content":"a","reasoning":"b"}`: "a",
		`{"reasoning":"b","reasoning_content":""}`:  "b",
		`{"reasoning":{"effort":"x"}}`:              "",
	} {
		var got openai.Response
		read(t, &got, `{"choices":[{"delta":`+data+`}]}`)
		if got.Choices[0].Thought != want {
			t.Errorf("%s: %q, want %q", data, got.Choices[0].Thought, want)
		}
	}
}
