package providers_test

import (
	"math"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

func TestCompletionEnvelope(t *testing.T) {
	c := completion{
		ID: "resp-1", Created: 1700000000, Model: "gemini-2.5-flash", Provider: "vertex-ai",
		Choices: []providers.Choice{{
			Message:            providers.AssistantMessage("Hi"),
			FinishReason:       providers.FinishStop,
			NativeFinishReason: "STOP",
			Extra:              providers.Extra(`{"safetyRatings":[]}`),
		}},
		Usage: &providers.Usage{
			PromptTokens: 5, CompletionTokens: 7, TotalTokens: 12,
			PromptTokensDetails:     providers.PromptTokensDetails{CachedTokens: 2},
			CompletionTokensDetails: providers.CompletionTokensDetails{ReasoningTokens: 4},
		},
		Extra: providers.Extra(`{"system_fingerprint":"fp"}`),
		Meta:  providers.Meta{RequestID: "never shown"},
	}
	const want = `{"id":"resp-1","object":"chat.completion","created":1700000000,"model":"gemini-2.5-flash",` +
		`"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"logprobs":null,"finish_reason":"stop",` +
		`"native_finish_reason":"STOP","safetyRatings":[]}],` +
		`"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12,` +
		`"prompt_tokens_details":{"cached_tokens":2,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":4,"audio_tokens":0}},` +
		`"provider":"vertex-ai","system_fingerprint":"fp"}`
	wantEqual(t, want, encode(t, c))
	wantEqual(t, "Hi", c.Text())
	wantEqual(t, "", new(completion).Text())

	const empty = `{"id":"","object":"chat.completion","created":0,"model":"","choices":[]}`
	wantEqual(t, empty, encode(t, completion{}))
}

func TestChunkEnvelope(t *testing.T) {
	tests := []struct {
		name  string
		chunk chunk
		want  string
	}{
		{"role and text", chunk{Choices: []providers.ChunkChoice{{Delta: providers.Delta{Role: "assistant", Content: "Hi"}}}},
			`"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"logprobs":null,"finish_reason":null}]}`},
		{"text", chunk{Choices: []providers.ChunkChoice{{Index: 2, Delta: providers.Delta{Content: "!"}}}},
			`"choices":[{"index":2,"delta":{"content":"!"},"logprobs":null,"finish_reason":null}]}`},
		{"role alone has a content", chunk{Choices: []providers.ChunkChoice{{Delta: providers.Delta{Role: "assistant"}}}},
			`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`},
		{"role and call have none", chunk{Choices: []providers.ChunkChoice{{Delta: providers.Delta{
			Role: "assistant", ToolCalls: []providers.ToolCallDelta{{
				ID: "c", Type: "function", Function: providers.FunctionCall{Name: "f", Arguments: "{}", ThoughtSignature: "sig"},
			}},
		}}}}, `"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"c","type":"function",` +
			`"function":{"name":"f","arguments":"{}","thought_signature":"sig"}}]},"logprobs":null,"finish_reason":null}]}`},
		{"piece of arguments", chunk{Choices: []providers.ChunkChoice{{Delta: providers.Delta{
			ToolCalls: []providers.ToolCallDelta{{Index: 1, Function: providers.FunctionCall{Arguments: `"}`}}},
		}}}}, `"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"}"}}]},"logprobs":null,"finish_reason":null}]}`},
		{"finish", chunk{Choices: []providers.ChunkChoice{{FinishReason: "length", NativeFinishReason: "MAX_TOKENS"}}},
			`"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length","native_finish_reason":"MAX_TOKENS"}]}`},
		{"usage", chunk{Usage: &providers.Usage{TotalTokens: 3}},
			`"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":3,"prompt_tokens_details":` +
				`{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.chunk.ID, tt.chunk.Created, tt.chunk.Model = "i", 1, "m"
			tt.chunk.Meta = &providers.Meta{RequestID: "never shown"}
			got := encode(t, tt.chunk)
			wantEqual(t, `{"id":"i","object":"chat.completion.chunk","created":1,"model":"m",`+tt.want, got)
			wantEqual(t, got, encode(t, decode[chunk](t, got)))
		})
	}
}

// A streamed block says its type only when its members do not tell it.
func TestContentBlockDeltaShapes(t *testing.T) {
	part := func(p providers.ContentPart) providers.ContentBlockDelta {
		return providers.ContentBlockDelta{Index: 4, Delta: p}
	}
	tests := []struct {
		name  string
		delta providers.ContentBlockDelta
		want  string
	}{
		{"text", part(providers.TextPart("x")), `{"text":"x"}`},
		{"thinking", part(providers.ThinkingPart("x", "")), `{"thinking":"x"}`},
		{"thinking with its signature", part(providers.ThinkingPart("x", "s")), `{"thinking":"x","signature":"s"}`},
		{"empty thinking with a signature", part(providers.ThinkingPart("", "s")), `{"thinking":"","signature":"s"}`},
		{"empty text with a signature", part(providers.ContentPart{Type: "text", Signature: "s"}), `{"text":"","signature":"s"}`},
		{"signature alone", part(providers.ContentPart{Signature: "s"}), `{"signature":"s"}`},
		{"redacted", part(providers.ContentPart{Type: "redacted_thinking", Data: "d"}), `{"data":"d"}`},
		{"image", part(providers.ImagePart("data:image/png;base64,AA==")),
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}`},
		{"audio", part(providers.ContentPart{Type: "input_audio", InputAudio: &providers.InputAudio{Data: "AA==", Format: "wav"}}),
			`{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}`},
		{"native", part(providers.ContentPart{Type: "executable_code", Extra: providers.Extra(`{"executableCode":{"code":"1"}}`)}),
			`{"type":"executable_code","executableCode":{"code":"1"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := encode(t, tt.delta)
			wantEqual(t, `{"index":4,"delta":`+tt.want+`}`, got)
			wantEqual(t, tt.delta, decode[providers.ContentBlockDelta](t, got))
		})
	}
}

func TestContentBlockDeltaTypeIsToldByItsMembers(t *testing.T) {
	for doc, want := range map[string]string{
		`{"delta":{"signature":"s","text":"x"}}`:                        "text",
		`{"delta":{"\u0074hinking":"x"}}`:                               "thinking",
		`{"delta":{"data":"x"}}`:                                        "redacted_thinking",
		`{"delta":{"type":"image_url","image_url":{"url":"u"}}}`:        "image_url",
		`{"delta":{"x":{"text":"nested"},"signature":"s"}}`:             "",
		`{"delta":null,"index":1}`:                                      "",
		`{"delta":{"type":"thinking","thinking":"x"},"type":"ignored"}`: "thinking",
	} {
		wantEqual(t, want, decode[providers.ContentBlockDelta](t, doc).Delta.Type)
	}
}

func TestLogprobBytesAreUTF8(t *testing.T) {
	lp := providers.Logprobs{Content: []providers.TokenLogprob{{
		Token: "é€", Logprob: -0.5,
		TopLogprobs: []providers.TokenLogprob{{Token: "", Logprob: -2, TopLogprobs: []providers.TokenLogprob{{Token: "dropped"}}}},
	}}}
	wantEqual(t, `{"content":[{"token":"é€","logprob":-0.5,"bytes":[195,169,226,130,172],`+
		`"top_logprobs":[{"token":"","logprob":-2,"bytes":[]}]}]}`, encode(t, lp))
	wantEqual(t, `{"content":[]}`, encode(t, providers.Logprobs{}))
}

// Infinity has no JSON: a broken answer must not become a broken document.
func TestNumbersThatHaveNoJSONAreErrors(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if data, err := (request{Temperature: &f}).MarshalJSON(); err == nil {
			t.Errorf("%v: got %s", f, data)
		}
		if data, err := (providers.TokenLogprob{Logprob: f}).MarshalJSON(); err == nil {
			t.Errorf("%v: got %s", f, data)
		}
	}
}

func TestAppendJSONAppends(t *testing.T) {
	c, k := completion{ID: "i"}, chunk{ID: "i"}
	e := &providers.Error{Code: providers.ErrTimeout}
	for name, room := range map[string]int{"enough room": 1 << 12, "too little": 12, "none": 0} {
		t.Run(name, func(t *testing.T) {
			prefix := append(make([]byte, 0, room), "data: "...)
			got, err := c.AppendJSON(prefix)
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "data: "+encode(t, c), string(got))
			if got, err = k.AppendJSON(prefix); err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "data: "+encode(t, k), string(got))
			wantEqual(t, "data: "+encode(t, e), string(e.AppendJSON(prefix)))
		})
	}
	got, err := c.AppendJSON(nil)
	if err != nil || !strings.HasPrefix(string(got), `{"id":"i"`) {
		t.Errorf("got %s, %v", got, err)
	}
}

// Serving a chunk from a buffer with room costs no memory of its own.
func TestAppendJSONIntoRoomDoesNotAllocateTheText(t *testing.T) {
	k := chunk{ID: "i", Choices: []providers.ChunkChoice{{Delta: providers.Delta{Content: strings.Repeat("x", 1000)}}}}
	buf := make([]byte, 0, 4096)
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := k.AppendJSON(buf); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 1 {
		t.Errorf("got %v allocations, want at most the writer", allocs)
	}
}
