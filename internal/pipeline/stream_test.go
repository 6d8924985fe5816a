package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// talk is a streamed answer with a bit of everything.
func talk() []providers.ChatCompletionChunk {
	deltas := []providers.Delta{
		{Role: "assistant", ContentBlocks: []providers.ContentBlockDelta{{Delta: providers.ThinkingPart("hm", "")}}},
		{ContentBlocks: []providers.ContentBlockDelta{{Delta: providers.ThinkingPart("m", "s")}}},
		{Content: "He", ContentBlocks: []providers.ContentBlockDelta{{Index: 1, Delta: providers.TextPart("He")}}},
		{Content: "llo", ContentBlocks: []providers.ContentBlockDelta{{Index: 1, Delta: providers.TextPart("llo")}}},
	}
	var out []providers.ChatCompletionChunk
	for _, d := range deltas {
		out = append(out, part(d))
	}
	out = append(out, providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{
		FinishReason: "stop", NativeFinishReason: "STOP", Extra: providers.Extra(`{"safetyRatings":[]}`),
	}}}, providers.ChatCompletionChunk{Usage: richUsage()})
	for i := range out {
		out[i].ID, out[i].Model, out[i].Created, out[i].Provider = "i", "m-001", 7, "fake"
	}
	out[0].Meta = &providers.Meta{Warnings: []providers.Warning{{Code: providers.WarnUnknown}}}
	return out
}

func open(t *testing.T, p *fake, client *Settings, usage bool) *Stream {
	t.Helper()
	req := ask("m")
	if usage {
		req.StreamOptions = &providers.StreamOptions{IncludeUsage: true}
	}
	s, err := New(p).ChatStream(t.Context(), client, &Settings{}, req)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func loose(w ...providers.Observer) *Settings {
	s := watched(w...)
	s.Strict = new(bool)
	return s
}

func TestStreamShowsWhatComplianceAllows(t *testing.T) {
	tests := []struct {
		name   string
		client *Settings
		usage  bool
		want   []string // the deltas, "finish" or "usage"
	}{
		{"strict", here(), false, []string{`{"role":"assistant","content":""}`, `{"content":"He"}`, `{"content":"llo"}`, "finish"}},
		{"strict with usage", here(), true, []string{`{"role":"assistant","content":""}`, `{"content":"He"}`, `{"content":"llo"}`, "finish", "usage"}},
		{"loose", loose(), false, []string{
			`{"role":"assistant","content":"","content_blocks":[{"index":0,"delta":{"thinking":"hm"}}]}`,
			`{"content_blocks":[{"index":0,"delta":{"thinking":"m","signature":"s"}}]}`,
			`{"content":"He","content_blocks":[{"index":1,"delta":{"text":"He"}}]}`,
			`{"content":"llo","content_blocks":[{"index":1,"delta":{"text":"llo"}}]}`, "finish", "usage",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunks, err := read(open(t, streaming(io.EOF, talk()...), tt.client, tt.usage))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range chunks {
				got = append(got, gist(t, c))
			}
			wantEqual(t, tt.want, got)
		})
	}
}

func gist(t *testing.T, c *providers.ChatCompletionChunk) string {
	t.Helper()
	switch {
	case c.Usage != nil:
		return "usage"
	case c.Choices[0].FinishReason != "":
		return "finish"
	}
	data, err := c.Choices[0].Delta.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Collect gives what folding the chunks gives, under either compliance.
func TestCollectEqualsTheFold(t *testing.T) {
	for name, client := range map[string]*Settings{"strict": here(), "loose": loose()} {
		t.Run(name, func(t *testing.T) {
			var acc providers.Accumulator
			for _, c := range talk() {
				if err := acc.Add(&c); err != nil {
					t.Fatal(err)
				}
			}
			want := acc.Completion()
			if name == "strict" {
				projectCompletion(want)
			}
			s := open(t, streaming(io.EOF, talk()...), client, false)
			got, err := s.Collect()
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, s.Meta(), got.Meta)
			wantEqual(t, "", cmp.Diff(want.Meta.Warnings, got.Meta.Warnings))
			want.Meta, got.Meta = providers.Meta{}, providers.Meta{}
			wantEqual(t, want, got)
		})
	}
}

// A part of an answer is never given out as the whole.
func TestCollectIsRefusedOnceAChunkWasTaken(t *testing.T) {
	s := open(t, streaming(io.EOF, talk()...), here(), false)
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		out, err := s.Collect()
		if out != nil || !errors.Is(err, providers.ErrInvalidRequest) {
			t.Errorf("got %v, %v", out, err)
		}
	}
	refused()
	rest, err := read(s)
	if err != nil {
		t.Fatalf("the refusal ended the stream: %v", err)
	}
	wantEqual(t, 3, len(rest))
	refused()

	s = open(t, streaming(io.EOF, talk()...), here(), false)
	if _, err := s.Collect(); err != nil {
		t.Fatal(err)
	}
	refused()
}

func TestStreamRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watcher{}
		p := &fake{name: "fake", stream: func(context.Context) (providers.ChunkReader, error) {
			time.Sleep(time.Second)
			return &slow{script{chunks: talk(), err: io.EOF}}, nil
		}}
		s := open(t, p, watched(w), false)
		wantEqual(t, [2]int{1, 0}, w.counts())
		if _, err := read(s); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, [2]int{1, 1}, w.counts())
		got := w.last()
		wantEqual(t, true, got.Stream)
		wantEqual(t, 2*time.Second, got.FirstChunk)
		wantEqual(t, 8*time.Second, got.Duration) // one to open, six chunks, the end
		wantEqual(t, []string{"i", "m-001", "stop"}, []string{got.ResponseID, got.ResponseModel, got.FinishReason})
		wantEqual(t, richUsage(), got.Usage)
		wantEqual(t, []providers.Attempt{{Provider: "fake", Model: "m", StatusCode: 200, Start: got.Start, Duration: 2 * time.Second}}, got.Meta.Attempts)
		wantEqual(t, []providers.Warning{{Code: providers.WarnUnknown}}, got.Meta.Warnings)
		if got.Err != nil {
			t.Errorf("got %v", got.Err)
		}
		wantEqual(t, got.Meta, s.Meta())
	})
}

// The finish reason of the record is the first choice's, whichever ends last.
func TestStreamRecordsTheFirstChoicesFinish(t *testing.T) {
	w := &watcher{}
	finish := func(index int, reason string) providers.ChatCompletionChunk {
		return providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Index: index, FinishReason: reason}}}
	}
	chunks := append(talk()[:1], finish(1, "length"), finish(0, "tool_calls"), finish(2, "stop"), part(providers.Delta{}))
	if _, err := read(open(t, streaming(io.EOF, chunks...), watched(w), false)); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "tool_calls", w.last().FinishReason)
}

// slow takes a second for each chunk.
type slow struct{ script }

func (s *slow) Recv() (*providers.ChatCompletionChunk, error) {
	time.Sleep(time.Second)
	return s.script.Recv()
}

// The first chunk carries the meta of the call, as the stream has it.
func TestFirstChunkCarriesTheMeta(t *testing.T) {
	s := open(t, streaming(io.EOF, talk()...), here(), false)
	c, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, new(s.Meta()), c.Meta)
	if len(c.Meta.RequestID) < 20 || len(c.Meta.Warnings) != 1 {
		t.Errorf("got %+v", c.Meta)
	}
	if c, err = s.Recv(); err != nil || c.Meta != nil {
		t.Errorf("got %v, %v", c.Meta, err)
	}
}

func TestStreamWithoutAChunkIsAnEmptyAnswer(t *testing.T) {
	w := &watcher{}
	r := &script{err: io.EOF}
	p := &fake{name: "fake", stream: func(context.Context) (providers.ChunkReader, error) { return r, nil }}
	_, err := New(p).ChatStream(t.Context(), watched(w), &Settings{}, ask("m"))
	e := known(t, err)
	wantEqual(t, providers.ErrEmptyResponse, e.Code)
	wantEqual(t, []any{"fake", true}, []any{e.Provider, e.Sent})
	wantEqual(t, [2]int{1, 1}, w.counts())
	wantEqual(t, 1, r.closed)
}

func TestStreamThatFailsAtOnceIsAnErrorOfTheCall(t *testing.T) {
	for name, cause := range map[string]error{
		"refused":        &providers.Error{Code: providers.ErrUnavailable, Provider: "fake"},
		"cut by the end": &providers.Error{Code: providers.ErrStreamCut, Provider: "fake", Err: io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			r := &script{err: cause}
			p := &fake{name: "fake", stream: func(context.Context) (providers.ChunkReader, error) { return r, nil }}
			_, err := New(p).ChatStream(t.Context(), here(), &Settings{}, ask("m"))
			wantEqual(t, known(t, cause).Code, known(t, err).Code)
			wantEqual(t, 1, r.closed)
		})
	}
}

// However a stream ends, it ends that way for good, and is recorded once.
func TestStreamEndsRepeat(t *testing.T) {
	cut := &providers.Error{Code: providers.ErrStreamCut, Provider: "fake", Err: io.ErrUnexpectedEOF, Sent: true}
	for name, tt := range map[string]struct {
		end  error
		code providers.Code // "" for the end of a whole answer
	}{
		"whole":                   {io.EOF, ""},
		"wrapped end":             {fmt.Errorf("reader: %w", io.EOF), ""},
		"cut":                     {cut, providers.ErrStreamCut},
		"cut, with the end in it": {&providers.Error{Code: providers.ErrConnection, Err: fmt.Errorf("read: %w", io.EOF)}, providers.ErrConnection},
		"wrapped, with the end":   {fmt.Errorf("x: %w", &providers.Error{Code: providers.ErrConnection, Err: io.EOF}), providers.ErrConnection},
		"something else":          {errors.New("odd"), providers.ErrServer},
		"the caller left":         {context.Canceled, providers.ErrCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			w := &watcher{}
			s := open(t, streaming(tt.end, talk()[:3]...), watched(w), false)
			begun, first := s.Recv()
			for first == nil {
				_, first = s.Recv()
			}
			for range 3 {
				if _, err := s.Recv(); err != first { // the very same
					t.Errorf("got %v after %v", err, first)
				}
			}
			_ = s.Close()
			if _, err := s.Recv(); err != first { // the very same
				t.Errorf("closing turned %v into %v", first, err)
			}
			wantEqual(t, [2]int{1, 1}, w.counts())
			checkEnd(t, tt.code, first, w.last())
			wantEqual(t, providers.Code(""), begun.Meta.Attempts[0].Code) // the caller's copy stays
		})
	}
}

func checkEnd(t *testing.T, code providers.Code, err error, r providers.Record) {
	t.Helper()
	if code == "" {
		if err != io.EOF || r.Err != nil { // callers compare with io.EOF
			t.Errorf("got %v, and %v in the record", err, r.Err)
		}
		return
	}
	e := known(t, err)
	wantEqual(t, []string{string(code), r.ID}, []string{string(e.Code), e.RequestID})
	if got := r.Meta.Attempts; len(got) != 1 || got[0].StatusCode != 200 || (got[0].Code != code) != (code == providers.ErrCanceled) {
		t.Errorf("the trail is %+v", got)
	}
	if errors.Is(err, io.EOF) {
		t.Errorf("%v can be taken for the end of a whole answer", err)
	}
	if !errors.Is(r.Err, code) {
		t.Errorf("the record has %v", r.Err)
	}
}
