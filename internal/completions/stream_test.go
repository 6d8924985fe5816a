package completions

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// source streams a prompt back in pieces.
type source struct {
	ctx    context.Context
	chunks []*providers.ChatCompletionChunk
	pause  time.Duration
	end    error
	strict bool
	closed *atomic.Int32
	once   sync.Once
}

func (s *source) Recv() (*providers.ChatCompletionChunk, error) {
	select {
	case <-time.After(s.pause):
	case <-s.ctx.Done():
		return nil, &providers.Error{Code: providers.ErrCanceled, Err: s.ctx.Err()}
	}
	if len(s.chunks) == 0 {
		return nil, s.end
	}
	c := s.chunks[0]
	s.chunks = s.chunks[1:]
	return c, nil
}

func (s *source) Meta() providers.Meta {
	return providers.Meta{RequestID: "r", Attempts: make([]providers.Attempt, 1)}
}
func (s *source) Strict() bool { return s.strict }

func (s *source) Close() error {
	s.once.Do(func() { s.closed.Add(1) })
	return nil
}

// streaming opens such streams, with a word, an empty chunk, one more word, the
// end and the usage.
func streaming(end error, strict bool, closed *atomic.Int32) Opener {
	return func(ctx context.Context, q *providers.ChatCompletionRequest) (Source, error) {
		s := &source{ctx: ctx, pause: time.Second, end: end, strict: strict, closed: closed}
		n := 1
		if q.N != nil {
			n = *q.N
		}
		add := func(c providers.ChatCompletionChunk) {
			c.ID, c.Created, c.Model, c.Provider = "id-"+prompt(q), 7, "m-1", "p"
			s.chunks = append(s.chunks, &c)
		}
		for i := range n {
			for _, word := range []string{"<", "", prompt(q)} {
				add(providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Index: i, Delta: providers.Delta{Content: word}}}})
			}
			add(providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Index: i, Delta: providers.Delta{Content: ">"}, FinishReason: "stop"}}})
		}
		add(providers.ChatCompletionChunk{Usage: &providers.Usage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3}})
		return s, nil
	}
}

// drain reads a stream, and returns the texts of the choices, the pieces and the
// usage.
func drain(s *Stream) (texts map[int]string, pieces int, usage *providers.Usage, err error) {
	texts = map[int]string{}
	for {
		p, err := s.Recv()
		if err != nil {
			return texts, pieces, usage, err
		}
		pieces++
		if p.Usage != nil {
			usage = p.Usage
		}
		for _, c := range p.Choices {
			texts[c.Index] += c.Text
			if c.FinishReason != "" {
				texts[c.Index] += "."
			}
		}
	}
}

func TestStreams(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		strict     bool
		want       map[int]string
		pieces     int
		usage      bool
	}{
		{"one prompt", `{"model":"m","prompt":"a"}`, true, map[int]string{0: "<a>."}, 3, false},
		{"one prompt, echoed", `{"model":"m","prompt":"a","echo":true,"n":2}`, true, map[int]string{0: "a<a>.", 1: "a<a>."}, 6, false},
		{"the usage", `{"model":"m","prompt":"a","stream_options":{"include_usage":true}}`, true, map[int]string{0: "<a>."}, 4, true},
		{"the usage when all is shown", `{"model":"m","prompt":"a"}`, false, map[int]string{0: "<a>."}, 4, true},
		{"several", `{"model":"m","prompt":["a","b","c"],"n":2,"stream_options":{"include_usage":true}}`, true,
			map[int]string{0: "<a>.", 1: "<a>.", 2: "<b>.", 3: "<b>.", 4: "<c>.", 5: "<c>."}, 19, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var closed atomic.Int32
				q := request(t, tt.body)
				s, err := Open(t.Context(), q, 0, streaming(io.EOF, tt.strict, &closed))
				if err != nil {
					t.Fatal(err)
				}
				texts, pieces, usage, err := drain(s)
				if d := cmp.Diff(tt.want, texts); d != "" || !errors.Is(err, io.EOF) || pieces != tt.pieces {
					t.Errorf("%v after %d pieces (-want +got)\n%s", err, pieces, d)
				}
				if n := int64(len(q.Prompt.Texts)); (usage != nil) != tt.usage || tt.usage && usage.TotalTokens != 3*n {
					t.Errorf("usage %+v", usage)
				}
				if m := s.Meta(); len(m.Attempts) != len(q.Prompt.Texts) || closed.Load() != int32(len(q.Prompt.Texts)) {
					t.Errorf("%+v, %d closed", m, closed.Load())
				}
				if _, err := s.Recv(); !errors.Is(err, io.EOF) {
					t.Errorf("%v after the end", err)
				}
			})
		})
	}
}

// What a stream gives, folded, is what the whole answer is.
func TestCollectedStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed atomic.Int32
		q := request(t, `{"model":"m","prompt":["a","b"],"n":2,"echo":true}`)
		s, err := Open(t.Context(), q, 0, streaming(io.EOF, true, &closed))
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Collect()
		if err != nil {
			t.Fatal(err)
		}
		want := []providers.CompletionChoice{
			{Text: "a<a>", FinishReason: "stop"}, {Text: "a<a>", Index: 1, FinishReason: "stop"},
			{Text: "b<b>", Index: 2, FinishReason: "stop"}, {Text: "b<b>", Index: 3, FinishReason: "stop"},
		}
		if d := cmp.Diff(want, got.Choices); d != "" || got.Usage.TotalTokens != 6 {
			t.Errorf("usage %+v (-want +got)\n%s", got.Usage, d)
		}
		if _, err := s.Collect(); err == nil {
			t.Error("collected twice")
		}
	})
}

func TestStreamsThatFail(t *testing.T) {
	cut := &providers.Error{Code: providers.ErrStreamCut, Message: "cut", Param: "messages"}
	for _, prompts := range []string{`"a"`, `["a","b","c"]`} {
		t.Run(prompts, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var closed atomic.Int32
				s, err := Open(t.Context(), request(t, `{"model":"m","prompt":`+prompts+`}`), 0, streaming(cut, true, &closed))
				if err != nil {
					t.Fatal(err)
				}
				_, _, _, err = drain(s)
				var e *providers.Error
				if !errors.As(err, &e) || e.Code != providers.ErrStreamCut || !strings.HasPrefix(e.Param, "prompt") {
					t.Errorf("%+v", err)
				}
				if _, again := s.Recv(); !errors.Is(again, err) {
					t.Errorf("%v after %v", again, err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
	t.Run("before they begin", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var closed atomic.Int32
			fine := streaming(io.EOF, true, &closed)
			for _, prompts := range []string{`"bad"`, `["a","bad"]`} {
				_, err := Open(t.Context(), request(t, `{"model":"m","prompt":`+prompts+`}`), 0, func(ctx context.Context, q *providers.ChatCompletionRequest) (Source, error) {
					if prompt(q) == "bad" {
						return nil, &providers.Error{Code: providers.ErrRateLimited, Param: "top_logprobs"}
					}
					return fine(ctx, q)
				})
				if e, ok := errors.AsType[*providers.Error](err); !ok || e.Code != providers.ErrRateLimited || e.Param != "logprobs" {
					t.Errorf("%s: %+v", prompts, err)
				}
			}
		})
	})
}

func TestStreamsThatAreLeft(t *testing.T) {
	for _, prompts := range []string{`"a"`, `["a","b","c","d","e","f","g","h","i","j"]`} {
		t.Run(prompts, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which finds a goroutine that is left behind
				var closed atomic.Int32
				s, err := Open(t.Context(), request(t, `{"model":"m","prompt":`+prompts+`}`), 0, streaming(io.EOF, true, &closed))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Recv(); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
	t.Run("by their context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var closed atomic.Int32
			s, err := Open(ctx, request(t, `{"model":"m","prompt":["a","b"]}`), 0, streaming(io.EOF, true, &closed))
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			if _, _, _, err = drain(s); !errors.Is(err, providers.ErrCanceled) {
				t.Errorf("%v", err)
			}
		})
	})
	t.Run("by their time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var closed atomic.Int32
			s, err := Open(t.Context(), request(t, `{"model":"m","prompt":["a","b"]}`), 2500*time.Millisecond, streaming(io.EOF, true, &closed))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, _, err = drain(s); !errors.Is(err, providers.ErrTimeout) && !errors.Is(err, providers.ErrCanceled) {
				t.Errorf("%v", err)
			}
		})
	})
}
