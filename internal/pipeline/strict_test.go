package pipeline

import (
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

func TestStrictIsTheDefault(t *testing.T) {
	set := func(v bool) *Settings { return &Settings{Strict: &v} }
	for name, tt := range map[string]struct {
		client, call *Settings
		want         bool
	}{
		"neither":              {&Settings{}, &Settings{}, true},
		"the client's":         {set(false), &Settings{}, false},
		"the call's":           {&Settings{}, set(false), false},
		"the call undoes true": {set(true), set(false), false},
		"the call undoes it":   {set(false), set(true), true},
	} {
		t.Run(name, func(t *testing.T) { wantEqual(t, tt.want, strict(tt.client, tt.call)) })
	}
}

// rich is an answer with all that strict compliance hides.
func rich() providers.ChatCompletion {
	return providers.ChatCompletion{
		ID: "i", Created: 1, Model: "m", Provider: "fake",
		Choices: []providers.Choice{{
			FinishReason: "stop", NativeFinishReason: "STOP",
			Message: providers.Message{
				Role: "assistant", Content: providers.TextContent("x"),
				ContentBlocks: []providers.ContentPart{providers.ThinkingPart("hm", "s"), providers.TextPart("x")},
				ToolCalls: []providers.ToolCall{{ID: "c", Type: "function", Extra: providers.Extra(`{"caller":{"type":"direct"}}`),
					Function: providers.FunctionCall{Name: "f", Arguments: "{}", ThoughtSignature: "s"}}},
				Audio:       &providers.Audio{ID: "a", Data: "YQ==", MimeType: "audio/wav", Extra: providers.Extra(`{"x":1}`)},
				Annotations: []providers.Annotation{{Type: "url_citation"}},
				Extra:       providers.Extra(`{"refusal":null}`),
			},
			Logprobs: &providers.Logprobs{Content: []providers.TokenLogprob{{Token: "x"}}},
			Extra:    providers.Extra(`{"safetyRatings":[],"groundingMetadata":{}}`),
		}},
		Usage: richUsage(),
		Extra: providers.Extra(`{"system_fingerprint":"fp"}`),
	}
}

func richUsage() *providers.Usage {
	return &providers.Usage{
		PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3,
		PromptTokensDetails:     providers.PromptTokensDetails{CachedTokens: 1, Extra: providers.Extra(`{"image_tokens":1}`)},
		CompletionTokensDetails: providers.CompletionTokensDetails{ReasoningTokens: 1, Extra: providers.Extra(`{"image_tokens":2}`)},
		Extra:                   providers.Extra(`{"traffic_type":"ON_DEMAND"}`),
	}
}

const strictUsage = `{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":1,"audio_tokens":0},` +
	`"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0}}`

func TestProjectCompletion(t *testing.T) {
	c := rich()
	projectCompletion(&c)
	got, err := c.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, `{"id":"i","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"x",`+
		`"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"audio":{"id":"a","data":"YQ=="},"refusal":null},`+
		`"logprobs":{"content":[{"token":"x","logprob":0,"bytes":[120],"top_logprobs":[]}]},"finish_reason":"stop"}],`+
		`"usage":`+strictUsage+`,"provider":"fake","system_fingerprint":"fp"}`, string(got))

	empty := providers.ChatCompletion{}
	projectCompletion(&empty)
	wantEqual(t, providers.ChatCompletion{}, empty)
}

// part is a chunk of one choice with the delta.
func part(d providers.Delta) providers.ChatCompletionChunk {
	return providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Delta: d}}}
}

func TestProjectChunk(t *testing.T) {
	thinking := []providers.ContentBlockDelta{{Delta: providers.ThinkingPart("hm", "s")}}
	text := []providers.ContentBlockDelta{{Delta: providers.TextPart("x")}}
	call := providers.ToolCallDelta{
		ID: "c", Function: providers.FunctionCall{Name: "f", ThoughtSignature: "s"}, Extra: providers.Extra(`{"caller":{}}`),
	}
	bare := providers.ToolCallDelta{ID: "c", Function: providers.FunctionCall{Name: "f"}}
	finish := providers.ChunkChoice{FinishReason: "stop", NativeFinishReason: "STOP", Extra: providers.Extra(`{"safetyRatings":[]}`)}
	var none providers.ChatCompletionChunk
	tests := []struct {
		name  string
		usage bool // asked for
		chunk providers.ChatCompletionChunk
		shown bool
		want  providers.ChatCompletionChunk
	}{
		{"thinking vanishes", false, part(providers.Delta{ContentBlocks: thinking}), false, part(providers.Delta{})},
		{"the role stays", false, part(providers.Delta{Role: "assistant", ContentBlocks: thinking}), true, part(providers.Delta{Role: "assistant"})},
		{"text stays", false, part(providers.Delta{Content: "x", ContentBlocks: text}), true, part(providers.Delta{Content: "x"})},
		{"a signature vanishes", false, part(providers.Delta{ContentBlocks: []providers.ContentBlockDelta{{Delta: providers.ContentPart{Signature: "s"}}}}),
			false, part(providers.Delta{})},
		{"a call loses its signature and what is the platform's own", false, part(providers.Delta{ToolCalls: []providers.ToolCallDelta{call}}), true,
			part(providers.Delta{ToolCalls: []providers.ToolCallDelta{bare}})},
		{"unknown members of a delta stay", false, part(providers.Delta{Extra: providers.Extra(`{"refusal":"no"}`)}), true,
			part(providers.Delta{Extra: providers.Extra(`{"refusal":"no"}`)})},
		{"the finish reason stays", false, providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{finish}}, true,
			providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{FinishReason: "stop"}}}},
		{"logprobs stay", false, providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Logprobs: &providers.Logprobs{}}}}, true,
			providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Logprobs: &providers.Logprobs{}}}}},
		{"audio stays", false, part(providers.Delta{Audio: &providers.Audio{ID: "a", Data: "YQ==", MimeType: "audio/wav"}}), true,
			part(providers.Delta{Audio: &providers.Audio{ID: "a", Data: "YQ=="}})},
		{"annotations vanish", false, part(providers.Delta{Annotations: []providers.Annotation{{}}}), false, part(providers.Delta{})},
		{"a thought in the content vanishes", false, part(providers.Delta{Content: "hm", ContentBlocks: thinking}), false, part(providers.Delta{})},
		{"an answer behind a thought stays", false, part(providers.Delta{Content: "\r\n\r\nx", ContentBlocks: text}), true, part(providers.Delta{Content: "x"})},
		{"one of two choices says something", false, providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{
			{Delta: providers.Delta{ContentBlocks: thinking}}, {Index: 1, Delta: providers.Delta{Content: "x"}}}}, true,
			providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{}, {Index: 1, Delta: providers.Delta{Content: "x"}}}}},
		{"usage that was not asked for", false, providers.ChatCompletionChunk{Usage: richUsage()}, false, none},
		{"usage beside a choice that was not asked for", false,
			providers.ChatCompletionChunk{Usage: richUsage(), Choices: []providers.ChunkChoice{{FinishReason: "stop"}}}, true,
			providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{FinishReason: "stop"}}}},
		{"nothing but a head", false, providers.ChatCompletionChunk{ID: "i"}, true, providers.ChatCompletionChunk{ID: "i"}},
		{"nothing but a head, usage asked for", true, providers.ChatCompletionChunk{ID: "i"}, true, providers.ChatCompletionChunk{ID: "i"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantEqual(t, tt.shown, projectChunk(&tt.chunk, tt.usage))
			wantEqual(t, tt.want, tt.chunk)
		})
	}
}

func TestProjectChunkShowsTheUsageThatWasAskedFor(t *testing.T) {
	c := providers.ChatCompletionChunk{Usage: richUsage()}
	if !projectChunk(&c, true) {
		t.Fatal("it is not shown")
	}
	got, err := c.Usage.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, strictUsage, string(got))
}

func TestThoughtsInTheContentAreHidden(t *testing.T) {
	thinking, text := providers.ThinkingPart("hm", ""), providers.TextPart("x")
	image := providers.ImagePart("data:image/png;base64,AAAA")
	for _, tt := range []struct {
		name, content string
		blocks        []providers.ContentPart
		want          string
	}{
		{"none", "x", []providers.ContentPart{text}, "x"},
		{"no blocks", "hm\r\n\r\nx", nil, "hm\r\n\r\nx"},
		{"beside the content", "x", []providers.ContentPart{thinking, text}, "x"},
		{"beside a content without blocks", "long answer", []providers.ContentPart{thinking}, "long answer"},
		{"a thought alone", "hm", []providers.ContentPart{thinking}, ""},
		{"a thought and an answer", "hm\r\n\r\nx", []providers.ContentPart{thinking, text}, "x"},
		{"thoughts in turn", "hm\r\n\r\nxhm\r\n\r\nx", []providers.ContentPart{thinking, text, thinking, text}, "xx"},
		{"an answer in blocks", "hm\r\n\r\nxx", []providers.ContentPart{thinking, text, image, text}, "xx"},
		{"an answer that begins with a gap", "\r\n\r\nx", []providers.ContentPart{providers.TextPart("\r\n\r\nx")}, "\r\n\r\nx"},
		{"another text", "hm\r\n\r\ny and more", []providers.ContentPart{thinking, text}, "hm\r\n\r\ny and more"},
		{"more text", "hm\r\n\r\nxyz", []providers.ContentPart{thinking, text}, "hm\r\n\r\nxyz"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := providers.ChatCompletion{Choices: []providers.Choice{{Message: providers.Message{
				Content: providers.TextContent(tt.content), ContentBlocks: tt.blocks,
			}}}}
			projectCompletion(&c)
			wantEqual(t, tt.want, c.Choices[0].Message.Content.Text())
		})
	}
}
