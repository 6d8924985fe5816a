package messages_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/messages"
	"github.com/b650d4bf/gateway/providers"
)

// piece is a chunk of a text.
func piece(text string) *providers.ChatCompletionChunk {
	return &providers.ChatCompletionChunk{ID: "r", Model: "m", Choices: []providers.ChunkChoice{{Delta: providers.Delta{
		Content: text, ContentBlocks: []providers.ContentBlockDelta{{Delta: providers.TextPart(text)}},
	}}}}
}

func TestAPieceOfTextAllocatesNothing(t *testing.T) {
	enc, chunk := messages.NewEncoder(false), piece("a few words")
	add := func() {
		if events, err := enc.Add(chunk); err != nil || len(events) == 0 {
			t.Fatal(err)
		}
	}
	add()
	if n := testing.AllocsPerRun(100, add); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkEncoder(b *testing.B) {
	enc, chunk := messages.NewEncoder(false), piece(strings.Repeat("a few words ", 8))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := enc.Add(chunk); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, content := range map[string]string{
		"small":   `"Hello"`,
		"history": `"` + strings.Repeat("a few words ", 5000) + `"`,
		"image":   `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("iVBORw0KGgo=", 90_000) + `"}}]`,
	} {
		b.Run(name, func(b *testing.B) {
			in := fmt.Appendf(nil, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":%s}]}`, content)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := messages.Decode(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
