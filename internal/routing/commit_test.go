package routing_test

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// spool is a stream of given chunks that ends with an error.
type spool struct {
	chunks []*providers.ChatCompletionChunk
	end    error
	read   int
	closed int
}

func (s *spool) Recv() (*providers.ChatCompletionChunk, error) {
	if s.read == len(s.chunks) {
		return nil, s.end
	}
	s.read++
	return s.chunks[s.read-1], nil
}

func (s *spool) Close() error {
	s.closed++
	return nil
}

func says(deltas ...providers.Delta) *spool {
	s := &spool{end: io.EOF}
	for i, d := range deltas {
		s.chunks = append(s.chunks, &providers.ChatCompletionChunk{ID: strconv.Itoa(i), Choices: []providers.ChunkChoice{{Delta: d}}})
	}
	return s
}

func (s *spool) ending(err error) *spool {
	s.end = err
	return s
}

func (s *spool) finished() *spool {
	s.chunks = append(s.chunks, &providers.ChatCompletionChunk{ID: "end", Choices: []providers.ChunkChoice{{FinishReason: "stop"}}})
	return s
}

func block(parts ...providers.ContentPart) providers.Delta {
	var d providers.Delta
	for i, p := range parts {
		d.ContentBlocks = append(d.ContentBlocks, providers.ContentBlockDelta{Index: i, Delta: p})
	}
	return d
}

func thought(text string) providers.Delta { return block(providers.ThinkingPart(text, "")) }

func TestWhatBeginsAStream(t *testing.T) {
	role := providers.Delta{Role: "assistant"}
	for _, tt := range []struct {
		name    string
		delta   providers.Delta
		options routing.CommitOptions
		want    bool
	}{
		{"nothing", providers.Delta{}, routing.CommitOptions{}, false},
		{"a role", role, routing.CommitOptions{}, false},
		{"text", providers.Delta{Content: "a"}, routing.CommitOptions{}, true},
		{"text in a block", block(providers.TextPart("a")), routing.CommitOptions{}, true},
		{"an empty block of text", block(providers.TextPart("")), routing.CommitOptions{}, false},
		{"a tool call", providers.Delta{ToolCalls: []providers.ToolCallDelta{{ID: "c"}}}, routing.CommitOptions{}, true},
		{"an image", block(providers.ContentPart{Type: providers.PartImageURL, ImageURL: &providers.ImageURL{URL: "data:"}}), routing.CommitOptions{}, true},
		{"a block of another kind", block(providers.ContentPart{Type: "server_tool_use"}), routing.CommitOptions{}, true},
		{"audio", providers.Delta{Audio: &providers.Audio{}}, routing.CommitOptions{}, true},
		{"a citation", providers.Delta{Annotations: make([]providers.Annotation, 1)}, routing.CommitOptions{}, true},
		{"a refusal", providers.Delta{Extra: providers.Extra(`{"refusal":"no"}`)}, routing.CommitOptions{}, true},
		{"no refusal", providers.Delta{Extra: providers.Extra(`{"refusal":null}`)}, routing.CommitOptions{}, false},
		{"a thought", thought("hm"), routing.CommitOptions{}, false},
		{"a thought, as asked for", thought("hm"), routing.CommitOptions{Thinking: true}, true},
		{"a hidden thought", block(providers.ContentPart{Type: providers.PartRedactedThinking, Data: "x"}), routing.CommitOptions{}, false},
		{"a signature", block(providers.ContentPart{Signature: "s"}), routing.CommitOptions{}, false},
		{"a thought that is in the text as well", providers.Delta{Content: "hm", ContentBlocks: thought("hm").ContentBlocks}, routing.CommitOptions{}, false},
		{"the answer after it", providers.Delta{Content: "\r\n\r\na", ContentBlocks: block(providers.TextPart("a")).ContentBlocks}, routing.CommitOptions{}, true},
		{"a second choice's text", providers.Delta{Content: "b"}, routing.CommitOptions{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := says(role, thought("so"), tt.delta, role).finished()
			if tt.options.Thinking {
				s = says(role, tt.delta, role).finished()
			}
			r, err := routing.Commit(s, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			at := len(s.chunks)
			if tt.want {
				at -= 2
			}
			wantEqual(t, "chunks read", at, s.read)
			for i, want := range s.chunks {
				if got, err := r.Recv(); got != want || err != nil {
					t.Fatalf("chunk %d: %v, %v, want it unchanged", i, got, err)
				}
			}
			for range 2 {
				if _, err := r.Recv(); err != io.EOF {
					t.Errorf("%v, want io.EOF", err)
				}
			}
		})
	}
}

func TestAFailureBeforeAnyOutputIsTheOpenings(t *testing.T) {
	own := status(503)
	s := says(providers.Delta{Role: "assistant"}, thought("hm")).ending(own)
	if r, err := routing.Commit(s, routing.CommitOptions{}); r != nil || err != error(own) || s.closed != 1 {
		t.Errorf("%v, %v, closed %d times", r, err, s.closed)
	}
	s = says(providers.Delta{Role: "assistant"})
	s.chunks = append(s.chunks, &providers.ChatCompletionChunk{Usage: &providers.Usage{}})
	if _, err := routing.Commit(s, routing.CommitOptions{}); codeOf(err) != providers.ErrEmptyResponse || s.closed != 1 {
		t.Errorf("%v, closed %d times", err, s.closed)
	}
	cut := &providers.Error{Code: providers.ErrStreamCut, Err: io.EOF}
	if _, err := routing.Commit(says().ending(cut), routing.CommitOptions{}); err != error(cut) {
		t.Errorf("%v, want the cut", err)
	}
}

// A stream that fails before any output is tried elsewhere, and nothing is said
// twice.
func TestStreamsFallBackUntilTheyBegin(t *testing.T) {
	streams := map[string]*spool{
		"a": says(providers.Delta{Role: "assistant"}, thought("a thinks")).ending(&providers.Error{Code: providers.ErrStreamCut, Sent: true}),
		"b": says(providers.Delta{Role: "assistant"}, thought("b thinks"), providers.Delta{Content: "b"}).finished(),
	}
	r := routing.New(routing.Config{})
	root := group(routing.Fallback, leaf("a"), leaf("b"))
	var trail []providers.Attempt
	reader, err := routing.Run(t.Context(), r, compile(t, root), &routing.Call{Stream: true}, &trail, func(_ context.Context, x *routing.Try) (providers.ChunkReader, error) {
		return routing.Commit(streams[x.Leaf.Key], routing.CommitOptions{})
	})
	if err != nil {
		t.Fatal(err)
	}
	var acc providers.Accumulator
	for {
		chunk, err := reader.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = acc.Add(chunk)
	}
	out := acc.Completion()
	wantEqual(t, "answer", "b", out.Text())
	wantEqual(t, "thought", "b thinks", out.Choices[0].Message.ContentBlocks[0].Thinking)
	wantEqual(t, "closed", 1, streams["a"].closed)
}

func TestWhatIsHeldBackIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options routing.CommitOptions
		want    int
	}{
		{"by chunks", routing.CommitOptions{MaxChunks: 7}, 7},
		{"by bytes", routing.CommitOptions{MaxBytes: 35}, 4},
		{"by default, in bytes", routing.CommitOptions{}, routing.DefaultCommitChunks},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var deltas []providers.Delta
			for range 5000 {
				deltas = append(deltas, thought("ten bytes."))
			}
			s := says(deltas...).ending(status(500))
			if _, err := routing.Commit(s, tt.options); err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "chunks held", tt.want, s.read)
		})
	}
	s := says(thought(strings.Repeat("x", routing.DefaultCommitBytes)), thought("more"))
	if _, err := routing.Commit(s, routing.CommitOptions{}); err != nil || s.read != 1 {
		t.Errorf("%v after %d chunks", err, s.read)
	}
}

func TestAFailureAfterwardsHasThePartialAnswer(t *testing.T) {
	own := &providers.Error{Code: providers.ErrUnavailable, StatusCode: 503, Message: "overloaded", Err: io.ErrUnexpectedEOF}
	for _, tt := range []struct {
		name    string
		end     error
		options routing.CommitOptions
		want    *providers.Error
		text    string
	}{
		{"the platform's", own, routing.CommitOptions{}, &providers.Error{Code: providers.ErrUnavailable, StatusCode: 503, Message: "overloaded", Err: own.Err, Sent: true}, "Hello"},
		{"without the answer", own, routing.CommitOptions{NoPartial: true}, &providers.Error{Code: providers.ErrUnavailable, StatusCode: 503, Message: "overloaded", Err: own.Err, Sent: true}, ""},
		{"one of another type", io.ErrUnexpectedEOF, routing.CommitOptions{}, &providers.Error{Code: providers.ErrStreamCut, Err: io.ErrUnexpectedEOF, Sent: true}, "Hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := says(thought("hm"), providers.Delta{Content: "Hel"}, providers.Delta{Content: "lo"}).ending(tt.end)
			r, err := routing.Commit(s, tt.options)
			for err == nil {
				_, err = r.Recv()
			}
			e, ok := errors.AsType[*providers.Error](err)
			if !ok {
				t.Fatalf("%T", err)
			}
			if _, again := r.Recv(); again != err {
				t.Errorf("%v, want the same again", again)
			}
			text := ""
			if e.Partial != nil {
				text = e.Partial.Text()
			}
			wantEqual(t, "partial answer", tt.text, text)
			if e == own || own.Sent || own.Partial != nil {
				t.Error("the provider's error was changed")
			}
			bare := *e
			bare.Partial = nil
			if bare.Err != tt.want.Err { // the others can be compared deeply
				t.Errorf("cause %v, want %v", bare.Err, tt.want.Err)
			}
			bare.Err, tt.want.Err = nil, nil
			wantEqual(t, "error", *tt.want, bare)
		})
	}
}

func TestAClosedStreamGivesNothingMore(t *testing.T) {
	s := says(thought("hm"), providers.Delta{Content: "a"})
	r, err := routing.Commit(s, routing.CommitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.end = &providers.Error{Code: providers.ErrCanceled}
	_ = r.Close()
	_ = r.Close()
	if _, err := r.Recv(); codeOf(err) != providers.ErrCanceled {
		t.Errorf("%v, want it closed", err)
	}
}
