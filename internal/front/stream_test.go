package front

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// event is a chunk of textChunk on the wire.
func event(text string) string {
	return `data: {"id":"a","object":"chat.completion.chunk","created":7,"model":"m-1","choices":[{"index":0,"delta":{"content":"` +
		text + `"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
}

func TestStream(t *testing.T) {
	cut := &providers.Error{Code: providers.ErrStreamCut, Message: "cut", Provider: "vertex-ai"}
	tests := []struct {
		name   string
		stream *script
		want   string
	}{
		{"whole", newScript(io.EOF, "a", "b"), event("a") + event("b") + "data: [DONE]\n\n"},
		{"with ends of lines of others", newScript(io.EOF, "a\u2028b\u2029\u0085"), event(`a\u2028b\u2029\u0085`) + "data: [DONE]\n\n"},
		{"cut", newScript(cut, "a"), event("a") + `data: {"error":{"message":"cut","type":"api_error","param":null,"code":"stream_interrupted"},"provider":"vertex-ai"}` + "\n\n"},
		{"failed for a reason not to be shown", newScript(errors.New("secret"), "a"), event("a") + `data: {"error":{"message":"the gateway failed","type":"api_error","param":null,"code":"server_error"}}` + "\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.stream.meta = providers.Meta{RequestID: "r-1", Slug: "vx", Model: "m", Attempts: make([]providers.Attempt, 1)}
			res := ask(t, Config{}, &fake{stream: tt.stream}, "POST", chatPath, helloSSE)
			if diff := cmp.Diff(tt.want, readBody(t, res)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			want := http.Header{
				"Content-Type": {"text/event-stream; charset=utf-8"}, "Cache-Control": {"no-cache"}, "X-Accel-Buffering": {"no"},
				"X-Gateway-Cache-Status": {"disabled"}, "X-Gateway-Attempts": {"1"}, "X-Gateway-Provider": {"vx"},
				"X-Gateway-Model": {"m"}, "X-Gateway-Target": {"@vx/m"}, "X-Gateway-Request-Id": {"r-1"},
			}
			if diff := cmp.Diff(want, res.Header); diff != "" || res.StatusCode != 200 {
				t.Errorf("status %d, header (-want +got):\n%s", res.StatusCode, diff)
			}
			if !tt.stream.isClosed() {
				t.Error("the stream was not closed")
			}
		})
	}
}

// TestStreamOverASocket reads each event before the next one is made.
func TestStreamOverASocket(t *testing.T) {
	gate := make(chan string, 1)
	s := &gated{script: newScript(io.EOF), gate: gate}
	srv := httptest.NewServer(New(Config{}, &fake{stream: s}))
	defer srv.Close()
	gate <- "a" // the header comes with the first event
	res := post(t, t.Context(), srv.URL)
	defer func() { _ = res.Body.Close() }()
	in := bufio.NewReader(res.Body)
	for _, text := range []string{"a", "b", "c"} {
		if text != "a" {
			gate <- text
		}
		if diff := cmp.Diff(event(text), readEvent(t, in)); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	}
	close(gate)
	if got := readEvent(t, in); got != "data: [DONE]\n\n" {
		t.Errorf("last event %q", got)
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("after the end %q, %v", rest, err)
	}
}

// gated is a stream whose texts come through a channel.
type gated struct {
	*script
	gate chan string
}

func (g *gated) Recv() (*providers.ChatCompletionChunk, error) {
	text, ok := <-g.gate
	if !ok {
		return nil, io.EOF
	}
	return textChunk(text), nil
}

func post(t *testing.T, ctx context.Context, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", url+chatPath, strings.NewReader(helloSSE))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func readEvent(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", b.String(), err)
		}
		b.WriteString(line)
		if line == "\n" {
			return b.String()
		}
	}
}

func TestClientThatLeavesClosesTheStream(t *testing.T) {
	s := newScript(io.EOF, "a")
	s.hold = true
	srv := httptest.NewServer(New(Config{}, &fake{stream: s}))
	defer srv.Close()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	res := post(t, ctx, srv.URL)
	defer func() { _ = res.Body.Close() }()
	if got := readEvent(t, bufio.NewReader(res.Body)); got != event("a") {
		t.Fatalf("first event %q", got)
	}
	if s.isClosed() {
		t.Fatal("closed before the client left")
	}
	leave()
	select {
	case <-s.closed:
	case <-time.After(10 * time.Second):
		t.Error("the stream is still open")
	}
}

// brokenWriter fails at the given write or flush.
type brokenWriter struct {
	*httptest.ResponseRecorder
	writes, flushes int
	flushErr        error
}

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.writes--; w.writes < 0 {
		return 0, io.ErrClosedPipe
	}
	return w.ResponseRecorder.Write(b)
}

func (w *brokenWriter) FlushError() error {
	if w.flushes--; w.flushes < 0 {
		return w.flushErr
	}
	return nil
}

func TestStreamEndsWhenItCannotBeWritten(t *testing.T) {
	tests := []struct {
		name            string
		writes, flushes int
		flushErr        error
		left            int
	}{
		{"write", 1, 9, nil, 1},
		{"flush", 9, 1, io.ErrClosedPipe, 1},
		{"a writer that can't flush is no obstacle", 9, 0, http.ErrNotSupported, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(io.EOF, "a", "b", "c")
			w := &brokenWriter{httptest.NewRecorder(), tt.writes, tt.flushes, tt.flushErr}
			New(Config{}, &fake{stream: s}).ServeHTTP(w, httptest.NewRequest("POST", chatPath, strings.NewReader(helloSSE)))
			if len(s.texts) != tt.left || !s.isClosed() {
				t.Errorf("%d chunks left, closed %v", len(s.texts), s.isClosed())
			}
		})
	}
}
