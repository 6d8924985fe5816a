package providers_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

func pieceOf(c providers.ChunkChoice) *chunk { return &chunk{Choices: []providers.ChunkChoice{c}} }

func callAt(index int) *chunk {
	return pieceOf(providers.ChunkChoice{Delta: providers.Delta{ToolCalls: []providers.ToolCallDelta{{Index: index}}}})
}

func blockAt(index int) *chunk {
	return pieceOf(providers.ChunkChoice{Delta: providers.Delta{ContentBlocks: []providers.ContentBlockDelta{{Index: index}}}})
}

// An index that a stream has no right to is an error, and makes room for
// nothing.
func TestAccumulatorRefusesHostileIndices(t *testing.T) {
	for _, index := range []int{math.MinInt, -1, 128, 1 << 20, math.MaxInt} {
		refuse(t, "choices", pieceOf(providers.ChunkChoice{Index: index}))
	}
	for _, index := range []int{math.MinInt, -1, 1, 7, 1 << 30, math.MaxInt} {
		refuse(t, "tool_calls", callAt(index))
		refuse(t, "content_blocks", blockAt(index))
	}
}

func refuse(t *testing.T, list string, c *chunk) {
	t.Helper()
	var acc providers.Accumulator
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := acc.Add(c)
	runtime.ReadMemStats(&after)
	var known *providers.Error
	if !errors.As(err, &known) || known.Code != providers.ErrBadResponse || !known.Sent || !strings.Contains(known.Message, list) {
		t.Errorf("%s: got %v", list, err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<10 {
		t.Errorf("%s: the refusal allocated %d bytes", list, grown)
	}
}

func TestAccumulatorTakesTheLargestChoiceIndex(t *testing.T) {
	var acc providers.Accumulator
	if err := acc.Add(pieceOf(providers.ChunkChoice{Index: 127, Delta: providers.Delta{Content: "x"}})); err != nil {
		t.Fatal(err)
	}
	got := acc.Completion().Choices
	if len(got) != 1 || got[0].Index != 127 {
		t.Errorf("got %d choices, want only the one that was there", len(got))
	}
}

func TestAccumulatorKeepsWhatItHadAfterAnError(t *testing.T) {
	var acc providers.Accumulator
	if err := acc.Add(pieceOf(providers.ChunkChoice{Delta: providers.Delta{Content: "kept"}})); err != nil {
		t.Fatal(err)
	}
	if err := acc.Add(callAt(3)); err == nil {
		t.Fatal("no error")
	}
	wantEqual(t, "kept", acc.Completion().Text())
}

// foldMany folds n chunks that each add to text, arguments, a block and its
// signature.
func foldMany(n int) *completion {
	c := pieceOf(providers.ChunkChoice{
		Delta: providers.Delta{
			Content:       "0123456789",
			ToolCalls:     []providers.ToolCallDelta{{Function: providers.FunctionCall{Arguments: "0123456789"}}},
			ContentBlocks: []providers.ContentBlockDelta{{Delta: providers.ContentPart{Type: "thinking", Thinking: "0123456789", Signature: "0123456789"}}},
			Extra:         providers.Extra(`{"same":1}`),
		},
		Logprobs: &providers.Logprobs{Content: []providers.TokenLogprob{{Token: "x"}}},
		Extra:    providers.Extra(`{"same":1}`),
	})
	c.Extra = providers.Extra(`{"system_fingerprint":"fp"}`)
	var acc providers.Accumulator
	for range n {
		_ = acc.Add(c)
	}
	return acc.Completion()
}

// bytesOf is what a call allocates.
func bytesOf(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// Ten times the chunks cost about ten times as much: no text is copied for
// each piece of it.
func TestAccumulatorCostIsLinear(t *testing.T) {
	got := foldMany(1000).Choices[0].Message
	for name, n := range map[string]int{
		"content": len(got.Content.Text()), "arguments": len(got.ToolCalls[0].Function.Arguments),
		"thinking": len(got.ContentBlocks[0].Thinking), "signature": len(got.ContentBlocks[0].Signature),
	} {
		if n != 10000 {
			t.Errorf("%s has %d bytes, want 10000", name, n)
		}
	}
	few, many := bytesOf(func() { foldMany(1000) }), bytesOf(func() { foldMany(10000) })
	if many > 20*few { // slices that grow overshoot, and a square would be 100
		t.Errorf("1000 chunks allocate %.0f bytes and 10000 allocate %.0f", few, many)
	}
	fewTimes := testing.AllocsPerRun(5, func() { foldMany(1000) })
	manyTimes := testing.AllocsPerRun(5, func() { foldMany(10000) })
	if manyTimes > 12*fewTimes {
		t.Errorf("1000 chunks take %.0f allocations and 10000 take %.0f", fewTimes, manyTimes)
	}
}
