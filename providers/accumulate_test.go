package providers_test

import (
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// fold folds chunks that are given as JSON, as a client sees them.
func fold(t *testing.T, chunks ...string) *completion {
	t.Helper()
	var acc providers.Accumulator
	for _, doc := range chunks {
		c := decode[chunk](t, doc)
		if err := acc.Add(&c); err != nil {
			t.Fatalf("add %s: %v", doc, err)
		}
	}
	return acc.Completion()
}

// choice is a chunk of one choice with the given members.
func choice(members string) string { return `{"choices":[{"index":0,` + members + `}]}` }

// answer is the JSON of a completion of one choice.
func answer(message, end string) string {
	return `{"id":"","object":"chat.completion","created":0,"model":"","choices":[{"index":0,"message":` + message + `,` + end + `}]}`
}

const open = `"logprobs":null,"finish_reason":null`

func TestAccumulatorFolds(t *testing.T) {
	tests := []struct {
		name   string
		chunks []string
		want   string
	}{
		{"nothing", nil, `{"id":"","object":"chat.completion","created":0,"model":"","choices":[]}`},
		{"text in pieces", []string{
			choice(`"delta":{"role":"assistant","content":"Hel"}`), choice(`"delta":{"content":"l"}`), choice(`"delta":{"content":""}`),
			choice(`"delta":{"content":"o"}`), choice(`"delta":{},"finish_reason":"stop","native_finish_reason":"STOP"`),
		}, answer(`{"role":"assistant","content":"Hello"}`, `"logprobs":null,"finish_reason":"stop","native_finish_reason":"STOP"`)},
		{"no text at all", []string{choice(`"delta":{"role":"assistant"},"finish_reason":"length"`)},
			answer(`{"role":"assistant","content":""}`, `"logprobs":null,"finish_reason":"length"`)},
		{"calls without text", []string{
			choice(`"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}","thought_signature":"s0"}}]}`),
			choice(`"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"`),
		}, answer(`{"role":"assistant","content":null,"tool_calls":[`+
			`{"id":"a","type":"function","function":{"name":"f","arguments":"{}","thought_signature":"s0"}},`+
			`{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`, `"logprobs":null,"finish_reason":"tool_calls"`)},
		{"call fragments, interleaved", []string{
			choice(`"delta":{"content":"So: ","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}},` +
				`{"index":1,"id":"b","type":"custom","function":{"name":"g","arguments":"{"}}]}`),
			choice(`"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":"}}]}`),
			choice(`"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":2,"id":"c","function":{"name":"h"}}]}`),
			choice(`"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}","x":1},"y":2}]}`),
		}, answer(`{"role":"assistant","content":"So: ","tool_calls":[`+
			`{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}","x":1},"y":2},`+
			`{"id":"b","type":"custom","function":{"name":"g","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"h","arguments":""}}]}`, open)},
		{"logprobs", []string{
			choice(`"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-1}],"x":1}`),
			choice(`"delta":{"content":"b"},"logprobs":{"content":[{"token":"b","logprob":-2}]}`),
		}, answer(`{"role":"assistant","content":"ab"}`, `"logprobs":{"content":[{"token":"a","logprob":-1,"bytes":[97],"top_logprobs":[]},`+
			`{"token":"b","logprob":-2,"bytes":[98],"top_logprobs":[]}],"x":1},"finish_reason":null`)},
		{"unknown members, the last wins", []string{
			choice(`"delta":{"content":"a","refusal":null,"m":1},"safetyRatings":[1],"citations":[]`),
			choice(`"delta":{"refusal":null,"m":2},"safetyRatings":[1,2]`),
		}, answer(`{"role":"assistant","content":"a","refusal":null,"m":2}`, open+`,"citations":[],"safetyRatings":[1,2]`)},
		{"a refusal in pieces", []string{
			choice(`"delta":{"refusal":"I "}`), choice(`"delta":{"refusal":"can't."}`), choice(`"delta":{"refusal":null}`),
		}, answer(`{"role":"assistant","content":"","refusal":"I can't."}`, open)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantEqual(t, tt.want, encode(t, fold(t, tt.chunks...)))
		})
	}
}

// block is a chunk with one piece of a content block.
func block(index, delta string) string {
	return choice(`"delta":{"content_blocks":[{"index":` + index + `,"delta":` + delta + `}]}`)
}

func TestAccumulatorFoldsBlocks(t *testing.T) {
	tests := []struct {
		name   string
		chunks []string
		want   string
	}{
		{"thinking, its signature and text", []string{
			block("0", `{"thinking":"Let "}`), block("0", `{"thinking":"me"}`), block("0", `{"signature":"AA"}`), block("0", `{"signature":"=="}`),
			block("1", `{"text":"Hi"}`), block("1", `{"text":"!"}`),
		}, `{"type":"thinking","thinking":"Let me","signature":"AA=="},{"type":"text","text":"Hi!"}`},
		{"signature on empty text", []string{block("0", `{"text":"x"}`), block("1", `{"text":"","signature":"s"}`)},
			`{"type":"text","text":"x"},{"type":"text","text":"","signature":"s"}`},
		{"signature alone is thinking", []string{block("0", `{"signature":"s"}`)}, `{"type":"thinking","thinking":"","signature":"s"}`},
		{"redacted", []string{block("0", `{"data":"ab"}`), block("0", `{"data":"cd"}`)}, `{"type":"redacted_thinking","data":"abcd"}`},
		{"media", []string{
			block("0", `{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="},"signature":"s"}`),
			block("1", `{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}`),
			block("2", `{"type":"file","file":{"file_id":"f"}}`),
		}, `{"type":"image_url","signature":"s","image_url":{"url":"data:image/png;base64,AA=="}},` +
			`{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}},{"type":"file","file":{"file_id":"f"}}`},
		{"native, its members merged", []string{
			block("0", `{"type":"executable_code","executableCode":{"code":"1"},"a":1}`), block("0", `{"a":2,"b":3}`),
		}, `{"type":"executable_code","text":"","executableCode":{"code":"1"},"a":2,"b":3}`},
		{"pieces of an earlier block", []string{
			block("0", `{"text":"a"}`), block("0", `{"text":"b"}`), block("1", `{"text":"c"}`), block("1", `{"text":"d"}`),
			block("2", `{"text":"e"}`), block("3", `{"text":"f"}`), block("0", `{"text":"g"}`), block("1", `{"text":"h"}`),
		}, `{"type":"text","text":"abg"},{"type":"text","text":"cdh"},{"type":"text","text":"e"},{"type":"text","text":"f"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := answer(`{"role":"assistant","content":"","content_blocks":[`+tt.want+`]}`, open)
			wantEqual(t, encode(t, decode[completion](t, want)), encode(t, fold(t, tt.chunks...)))
		})
	}
}

func TestAccumulatorFoldsTheHead(t *testing.T) {
	got := fold(t,
		`{"id":"first","created":5,"model":"asked","provider":"p","choices":[],"system_fingerprint":"a","service_tier":"flex"}`,
		`{"created":6,"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
		`{"id":"second","model":"answered","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":5,"total_tokens":6},"system_fingerprint":"b"}`,
		`{"choices":[]}`)
	wantEqual(t, &completion{
		ID: "second", Created: 5, Model: "answered", Provider: "p", Choices: []providers.Choice{},
		Usage: &providers.Usage{PromptTokens: 1, CompletionTokens: 5, TotalTokens: 6},
		Extra: providers.Extra(`{"service_tier":"flex","system_fingerprint":"b"}`),
	}, got)
}

func TestAccumulatorKeepsTheMeta(t *testing.T) {
	var acc providers.Accumulator
	warned := providers.Meta{Warnings: []providers.Warning{{Code: providers.WarnAdjusted, Param: "n", Message: "m"}}}
	for _, c := range []chunk{{Meta: &warned}, {}} {
		if err := acc.Add(&c); err != nil {
			t.Fatal(err)
		}
	}
	wantEqual(t, warned, acc.Completion().Meta)
}

// Choices interleave and begin out of order; the answer has them in order.
func TestAccumulatorFoldsSeveralChoices(t *testing.T) {
	got := fold(t,
		`{"choices":[{"index":2,"delta":{"content":"c"}}]}`,
		`{"choices":[{"index":2,"delta":{"content":"C"}},{"index":0,"delta":{"content":"a"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"A"}}]}`,
		`{"choices":[{"index":5,"delta":{"content":"f"},"finish_reason":"length"}]}`,
		`{"choices":[{"index":0,"delta":{"content":"!","tool_calls":[{"index":0,"id":"x","function":{"name":"f"}}]}}]}`,
		`{"choices":[{"index":2,"delta":{"content":"!"},"finish_reason":"stop"},{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`)
	type row struct {
		Index        int
		Text, Finish string
		Calls        int
	}
	var rows []row
	for i := range got.Choices {
		c := &got.Choices[i]
		rows = append(rows, row{c.Index, c.Message.Content.Text(), c.FinishReason, len(c.Message.ToolCalls)})
	}
	if got.Choices[1].Message.ToolCalls != nil || got.Choices[0].Message.ContentBlocks != nil {
		t.Error("there are lists where nothing is in them")
	}
	wantEqual(t, []row{{0, "aA!", "tool_calls", 1}, {2, "cC!", "stop", 0}, {5, "f", "length", 0}}, rows)
}

// The chunks belong to the caller: folding them changes none.
func TestAccumulatorDoesNotChangeItsChunks(t *testing.T) {
	docs := []string{
		choice(`"delta":{"content":"a","x":1},"logprobs":{"content":[{"token":"a","logprob":0}]},"y":1`),
		choice(`"delta":{"content":"b","x":2,"z":3},"logprobs":{"content":[{"token":"b","logprob":0}]},"y":2,"w":3`),
	}
	var acc providers.Accumulator
	var kept []chunk
	for _, doc := range docs {
		kept = append(kept, decode[chunk](t, doc))
		if err := acc.Add(&kept[len(kept)-1]); err != nil {
			t.Fatal(err)
		}
	}
	_ = acc.Completion()
	for i, doc := range docs {
		wantEqual(t, decode[chunk](t, doc), kept[i])
	}
}

// TestCompletionHasUsageOfItsOwn: whoever makes chunks may use their memory again.
func TestCompletionHasUsageOfItsOwn(t *testing.T) {
	var acc providers.Accumulator
	usage := &providers.Usage{PromptTokens: 3, CompletionTokens: 4, TotalTokens: 7}
	if err := acc.Add(&providers.ChatCompletionChunk{Usage: usage}); err != nil {
		t.Fatal(err)
	}
	out := acc.Completion()
	*usage = providers.Usage{}
	if out.Usage == nil || out.Usage.TotalTokens != 7 {
		t.Errorf("the usage became %+v", out.Usage)
	}
}
