package pipeline

import (
	"context"
	"io"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// grounded is what a platform that searched says of a choice.
const grounded = `{"groundingMetadata":{"webSearchQueries":["a","b"],"groundingChunks":[{"web":{"uri":"u"}},{"maps":{"uri":"u"}}]}}`

func TestRecordsSayWhatIsBilledBesideTokens(t *testing.T) {
	want := providers.Billed{Region: "r", ServiceTier: "flex", Searches: 2, Maps: true}
	t.Run("of an answer", func(t *testing.T) {
		p, w := answering(rich), &watcher{}
		answer := p.answer
		p.answer = func(ctx context.Context) (*providers.ChatCompletion, error) {
			out, err := answer(ctx)
			out.Extra, out.Choices[0].Extra = providers.Extra(`{"service_tier":"flex"}`), providers.Extra(grounded)
			return out, err
		}
		if _, err := New(p).Chat(t.Context(), watched(w), &Settings{}, ask("m")); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, want, w.last().Billed)
	})
	t.Run("of a stream", func(t *testing.T) {
		last := part(providers.Delta{Content: "x"})
		last.Extra, last.Choices[0].Extra = providers.Extra(`{"service_tier":"flex"}`), providers.Extra(grounded)
		p, w := answering(rich), &watcher{}
		p.stream = streaming(io.EOF, part(providers.Delta{Content: "x"}), last).stream
		s, err := New(p).ChatStream(t.Context(), watched(w), &Settings{}, ask("m"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(s); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, want, w.last().Billed)
	})
}
