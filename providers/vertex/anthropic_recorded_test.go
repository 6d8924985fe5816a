package vertex_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/b650d4bf/gateway/providers"
)

// TestCutsOfRecordedClaudeStreamsChangeNothing does for Claude models what
// TestCutsOfRecordedStreamsChangeNothing does for Gemini.
func TestCutsOfRecordedClaudeStreamsChangeNothing(t *testing.T) {
	dir := os.Getenv("GATEWAY_RECORDED_DIR")
	if dir == "" {
		t.Skip("GATEWAY_RECORDED_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, file := range files {
		data, err := os.ReadFile(file) // the directory is the caller's
		if err != nil {
			t.Fatal(err)
		}
		var x struct {
			ID, Kind string
			Stream   bool
			Response struct{ SSE string }
		}
		if err := json.Unmarshal(data, &x); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if x.Kind != "anthropic" || !x.Stream || x.Response.SSE == "" {
			continue
		}
		ran++
		t.Run(x.ID, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				checkCuts(t, []byte(x.Response.SSE), func(r io.Reader) string {
					chunks, whole, err := claudeStreams(t, r)
					return outcome(t, chunks, whole, err)
				})
			})
		})
	}
	if t.Logf("%d streams", ran); ran == 0 {
		t.Errorf("no recorded stream in %s", dir)
	}
}

// claudeStreams reads the stream that body answers a Claude request with.
func claudeStreams(t *testing.T, body io.Reader) ([]*providers.ChatCompletionChunk, *providers.ChatCompletion, error) {
	t.Helper()
	const model = "anthropic.claude-sonnet-5"
	r, err := newProvider(t, &player{body: func() io.Reader { return body }}).ChatCompletionStream(t.Context(), target(model), hello(t, model))
	if err != nil {
		return nil, nil, err
	}
	return read(r)
}
