package vertex_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
)

// richMessage is an answer with all that an answer can hold, each with the word.
func richMessage(word string) []byte {
	return fmt.Appendf(nil, `{"id":"msg_%[1]s","type":"message","role":"assistant","model":"m-%[1]s","content":[`+
		`{"type":"thinking","thinking":"%[1]s","signature":"%[1]s"},{"type":"redacted_thinking","data":"%[1]s"},`+
		`{"type":"text","text":"%[1]s","citations":[{"cited_text":"%[1]s"}]},`+
		`{"type":"server_tool_use","id":"%[1]s","name":"%[1]s","input":{"q":"%[1]s"}},`+
		`{"type":"tool_use","id":"%[1]s","name":"%[1]s","input":{"q":"%[1]s"},"caller":{"type":"%[1]s"}}],`+
		`"stop_reason":"%[1]s","stop_sequence":"%[1]s","stop_details":{"type":"%[1]s"},`+
		`"usage":{"input_tokens":1,"output_tokens":2,"service_tier":"%[1]s","cache_creation":{"%[1]s":1}}}`, word)
}

// TestAnswersOfClaudeShareNothing decodes answer after answer in the same room,
// and looks at the first ones again.
func TestAnswersOfClaudeShareNothing(t *testing.T) {
	words := []string{"first", "a-much-longer-second", "3"}
	rt := &player{}
	p := newProvider(t, rt)
	var answers []*providers.ChatCompletion
	for _, word := range words {
		rt.body = func() io.Reader { return bytes.NewReader(richMessage(word)) }
		answer, err := p.ChatCompletion(t.Context(), target("anthropic.claude-sonnet-5"), hello(t, "anthropic.claude-sonnet-5"))
		if err != nil {
			t.Fatal(err)
		}
		answer.Created = 0
		answers = append(answers, answer)
	}
	for i, word := range words {
		alone, err := newProvider(t, plays(richMessage(word))).ChatCompletion(t.Context(), target("anthropic.claude-sonnet-5"), hello(t, "anthropic.claude-sonnet-5"))
		if err != nil {
			t.Fatal(err)
		}
		alone.Created = 0
		if diff := cmp.Diff(outcome.Stable(t, alone), outcome.Stable(t, answers[i])); diff != "" {
			t.Errorf("%s (-alone +among others)\n%s", word, diff)
		}
	}
}

// claudeEvent is one piece of a text.
const claudeEvent = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello there, \"}}\n\n"

func BenchmarkClaude(b *testing.B) {
	const model = "anthropic.claude-sonnet-5"
	q := &providers.ChatCompletionRequest{Model: model, Messages: []providers.Message{providers.UserMessage("hi")}}
	b.Run("small", func(b *testing.B) {
		p := limited(1<<20, []byte(okMessage))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.ChatCompletion(b.Context(), target(model), q); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("stream1000", func(b *testing.B) {
		text := "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			string(bytes.Repeat([]byte(claudeEvent), 1000)) +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
		p := limited(1<<20, []byte(text))
		b.ReportAllocs()
		for b.Loop() {
			r, err := p.ChatCompletionStream(b.Context(), target(model), q)
			if err != nil {
				b.Fatal(err)
			}
			if n := drainChunks(b, r); n != 1002 {
				b.Fatalf("%d chunks", n)
			}
		}
	})
}

func drainChunks(b *testing.B, r providers.ChunkReader) int {
	b.Helper()
	defer func() { _ = r.Close() }()
	for n := 0; ; n++ {
		if _, err := r.Recv(); err != nil {
			return n
		}
	}
}
