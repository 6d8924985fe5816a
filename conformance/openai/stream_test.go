package openai_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestStream(t *testing.T) {
	tests := []struct {
		name         string
		includeUsage bool
	}{
		{"without usage", false}, {"with usage", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			s.platform.Script(vertextest.SSE(strings.ReplaceAll(counted, "\n", "")))
			params, want := ask(flash25, "Good morning!"), wholeOfCounted()
			if tt.includeUsage {
				params.StreamOptions.IncludeUsage = openai.Bool(true)
			} else {
				want.Prompt, want.Cached, want.Completion, want.Reasoning, want.Total = 0, 0, 0, 0, 0
			}
			got, chunks := s.stream(t, params)
			if diff := cmp.Diff(want, wholeOf(got)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			checkUsageChunk(t, chunks, tt.includeUsage)
		})
	}
}

// checkUsageChunk wants the usage in one last chunk without choices, or nowhere.
func checkUsageChunk(t *testing.T, chunks []openai.ChatCompletionChunk, wanted bool) {
	t.Helper()
	for i, c := range chunks {
		want := wanted && i == len(chunks)-1
		if c.JSON.Usage.Valid() != want || len(c.Choices) == 0 != want {
			t.Errorf("chunk %d of %d is %s, want usage and no choices: %v", i+1, len(chunks), c.RawJSON(), want)
		}
	}
}

// A stream says the same as a whole answer, piece by piece.
func TestStreamEqualsWhole(t *testing.T) {
	s := start(t)
	params := ask(flash3, "Say this sentence back to me, word for word.")
	answer := s.complete(t, params)
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	streamed, chunks := s.stream(t, params)

	want, got := wholeOf(answer), wholeOf(streamed)
	want.ID, got.ID = "", "" // each answer has its own
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stream (-whole +stream):\n%s", diff)
	}
	if len(chunks) < 4 {
		t.Errorf("the answer came in %d chunks, want several", len(chunks))
	}
}

func TestStreamThatBreaksOff(t *testing.T) {
	s := start(t)
	s.platform.Script(vertextest.Text("This sentence is never heard to its end.").CutAfterEvents(2))
	got, _, err := accumulate(s.Chat.Completions.NewStreaming(t.Context(), ask(flash25, "Tell me.")))
	var e *ssestream.StreamError
	if !errors.As(err, &e) || !strings.Contains(string(e.Event.Data), `"code":"stream_interrupted"`) {
		t.Errorf("error %v, want a stream error with the code stream_interrupted", err)
	}
	if len(got.Choices) != 1 || !strings.HasPrefix(got.Choices[0].Message.Content, "This sentence") {
		t.Errorf("choices %+v, want the beginning", got.Choices)
	}
}

// A client that goes away ends the request at the platform.
func TestCancel(t *testing.T) {
	emulator := vertextest.New()
	t.Cleanup(emulator.Close)
	emulator.Script(vertextest.Text("This sentence takes its time.").Paced(time.Hour))
	ended := make(chan struct{})
	platform := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		context.AfterFunc(r.Context(), func() { close(ended) })
		emulator.ServeHTTP(w, r)
	}))
	t.Cleanup(platform.Close)
	client := connect(t, platform.URL, http.DefaultTransport)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := client.Chat.Completions.NewStreaming(ctx, ask(flash25, "Tell me."))
	if !stream.Next() {
		t.Fatalf("no first chunk: %v", stream.Err())
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(limit):
		emulator.Close() // or the servers wait for the hour
		t.Fatal("the request at the platform goes on")
	}
	if stream.Next() || !errors.Is(stream.Err(), context.Canceled) {
		t.Errorf("error %v, want %v", stream.Err(), context.Canceled)
	}
}
