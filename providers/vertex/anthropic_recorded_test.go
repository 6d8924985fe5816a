package vertex_test

import (
	"io"
	"testing"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
)

// TestCutsOfRecordedClaudeStreamsChangeNothing does for Claude models what
// TestCutsOfRecordedStreamsChangeNothing does for Gemini.
func TestCutsOfRecordedClaudeStreamsChangeNothing(t *testing.T) {
	cutRecorded(t, "anthropic", func(t *testing.T, r io.Reader) string {
		chunks, whole, err := claudeStreams(t, r)
		return seenAs(t, chunks, whole, err)
	})
}

// claudeStreams reads the stream that body answers a Claude request with.
func claudeStreams(t *testing.T, body io.Reader) ([]*providers.ChatCompletionChunk, *providers.ChatCompletion, error) {
	t.Helper()
	const model = "anthropic.claude-sonnet-5"
	r, err := newProvider(t, &player{body: func() io.Reader { return body }}).ChatCompletionStream(t.Context(), target(model), hello(t, model))
	if err != nil {
		return nil, nil, err
	}
	return outcome.Read(r)
}
