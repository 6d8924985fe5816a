package providers_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// scene is an answer with a bit of everything, as few chunks.
func scene(t *testing.T) []chunk {
	t.Helper()
	var out []chunk
	for _, doc := range []string{
		`{"id":"i","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content_blocks":[{"index":0,"delta":{"thinking":"Let me see — é€😀"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"It is ","content_blocks":[{"index":1,"delta":{"text":"It is "}}]}},` +
			`{"index":1,"delta":{"role":"assistant","content":"Zwölf Grad, 😀"}}]}`,
		`{"choices":[{"index":1,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"city\":\"Köln\"}","thought_signature":"s"}},` +
			`{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{\"n\":[1,2,3]}"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"twelve.","content_blocks":[{"index":1,"delta":{"text":"twelve."}},{"index":2,"delta":{"text":"","signature":"sig"}}]},"finish_reason":"stop"}]}`,
		`{"choices":[{"index":1,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`,
	} {
		out = append(out, decode[chunk](t, doc))
	}
	return out
}

// pieces splits a chunk into chunks that hold one thing each, with every text
// cut at a random byte, also within a character.
func pieces(rng *rand.Rand, c chunk) []chunk {
	out := []chunk{{ID: c.ID, Created: c.Created, Model: c.Model, Usage: c.Usage}}
	for _, ch := range c.Choices {
		one := func(d providers.Delta) {
			out = append(out, chunk{Choices: []providers.ChunkChoice{{Index: ch.Index, Delta: d}}})
		}
		one(providers.Delta{Role: ch.Delta.Role})
		for _, s := range cut(rng, ch.Delta.Content) {
			one(providers.Delta{Content: s})
		}
		for _, call := range ch.Delta.ToolCalls {
			arguments := cut(rng, call.Function.Arguments)
			call.Function.Arguments = ""
			one(providers.Delta{ToolCalls: []providers.ToolCallDelta{call}})
			for _, s := range arguments {
				one(providers.Delta{ToolCalls: []providers.ToolCallDelta{{Index: call.Index, Function: providers.FunctionCall{Arguments: s}}}})
			}
		}
		for _, b := range ch.Delta.ContentBlocks {
			for _, p := range cutPart(rng, b.Delta) {
				one(providers.Delta{ContentBlocks: []providers.ContentBlockDelta{{Index: b.Index, Delta: p}}})
			}
		}
		if ch.FinishReason != "" {
			out = append(out, chunk{Choices: []providers.ChunkChoice{{Index: ch.Index, FinishReason: ch.FinishReason}}})
		}
	}
	return out
}

// cut splits s into up to four pieces at any bytes; some may be empty.
func cut(rng *rand.Rand, s string) []string {
	at := []int{0, rng.IntN(len(s) + 1), rng.IntN(len(s) + 1), rng.IntN(len(s) + 1), len(s)}
	slices.Sort(at)
	var out []string
	for i := range at[1:] {
		out = append(out, s[at[i]:at[i+1]])
	}
	return out
}

func cutPart(rng *rand.Rand, p providers.ContentPart) []providers.ContentPart {
	out := []providers.ContentPart{{Type: p.Type}}
	for _, s := range cut(rng, p.Text) {
		out = append(out, providers.ContentPart{Type: p.Type, Text: s})
	}
	for _, s := range cut(rng, p.Thinking) {
		out = append(out, providers.ContentPart{Type: p.Type, Thinking: s})
	}
	for _, s := range cut(rng, p.Signature) {
		out = append(out, providers.ContentPart{Signature: s})
	}
	return out
}

// Wherever a stream is cut into pieces, the answer is the same.
func TestSplittingAnywhereGivesTheSameAnswer(t *testing.T) {
	chunks := scene(t)
	want := foldChunks(t, chunks)
	if len(want.Choices) != 2 || want.Choices[0].Message.Content.Text() != "It is twelve." {
		t.Fatalf("the scene is not what it should be: %s", encode(t, want))
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var small []chunk
		for _, c := range chunks {
			small = append(small, pieces(rng, c)...)
		}
		wantEqual(t, want, foldChunks(t, small))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func foldChunks(t *testing.T, chunks []chunk) *completion {
	t.Helper()
	var acc providers.Accumulator
	for i := range chunks {
		if err := acc.Add(&chunks[i]); err != nil {
			t.Fatal(err)
		}
	}
	return acc.Completion()
}
