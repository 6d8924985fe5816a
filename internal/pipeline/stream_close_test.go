package pipeline

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

func TestCollectReturnsTheError(t *testing.T) {
	cut := &providers.Error{Code: providers.ErrStreamCut, Message: "broken", Provider: "fake", Sent: true}
	w := &watcher{}
	r := &script{chunks: talk()[:3], err: cut, fail: errors.New("of closing")}
	p := &fake{name: "fake", stream: func(context.Context) (providers.ChunkReader, error) { return r, nil }}
	s := open(t, p, watched(w), false)
	out, err := s.Collect()
	if out != nil {
		t.Errorf("got %+v", out)
	}
	wantEqual(t, "stream_interrupted: fake: broken", err.Error())
	if _, ok := err.(*providers.Error); !ok { // callers may assert it
		t.Errorf("got a %T", err)
	}
	wantEqual(t, 1, r.closed)
	if _, again := s.Collect(); again != err { // the very same
		t.Errorf("got %v", again)
	}
	wantEqual(t, [2]int{1, 1}, w.counts())
	if !errors.Is(w.last().Err, providers.ErrStreamCut) {
		t.Errorf("the record has %v", w.last().Err)
	}
}

// A stream that was read to its end needs no Close.
func TestRecvReleasesTheReaderAtTheEnd(t *testing.T) {
	r := &script{chunks: talk(), err: io.EOF}
	p := &fake{name: "fake", stream: func(context.Context) (providers.ChunkReader, error) { return r, nil }}
	s := open(t, p, here(), false)
	for {
		if _, err := s.Recv(); err != nil {
			wantEqual(t, true, errors.Is(err, io.EOF))
			break
		}
	}
	wantEqual(t, 1, r.closed)
	wantEqual(t, nil, s.Close())
	wantEqual(t, 1, r.closed)
}

// An answer that cannot be folded is a bad answer, not a stream that the caller
// closed.
func TestCollectOfChunksThatDoNotFit(t *testing.T) {
	w := &watcher{}
	r := &script{chunks: []providers.ChatCompletionChunk{{Choices: []providers.ChunkChoice{{Index: -1}}}}, err: io.EOF}
	p := &fake{name: "fake", stream: func(context.Context) (providers.ChunkReader, error) { return r, nil }}
	_, err := open(t, p, watched(w), false).Collect()
	e := known(t, err)
	wantEqual(t, []string{string(providers.ErrBadResponse), w.last().ID, "fake"}, []string{string(e.Code), e.RequestID, e.Provider})
	if !errors.Is(w.last().Err, providers.ErrBadResponse) {
		t.Errorf("the record has %v", w.last().Err)
	}
	wantEqual(t, 1, r.closed)
}

func TestStreamClosedEarly(t *testing.T) {
	w := &watcher{}
	r := &script{chunks: talk(), err: io.EOF, fail: errors.New("of closing")}
	p := &fake{name: "fake", stream: func(context.Context) (providers.ChunkReader, error) { return r, nil }}
	s := open(t, p, watched(w), false)
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Close(); !errors.Is(err, r.fail) {
			t.Errorf("got %v, want what the reader says", err)
		}
	}
	wantEqual(t, [2]int{1, 1}, w.counts())
	got := w.last()
	if !errors.Is(got.Err, providers.ErrCanceled) {
		t.Errorf("the record has %v", got.Err)
	}
	wantEqual(t, []string{"i", "m-001"}, []string{got.ResponseID, got.ResponseModel})
	wantEqual(t, []any{true, "fake"}, []any{known(t, got.Err).Sent, known(t, got.Err).Provider})
	wantEqual(t, providers.Code(""), got.Meta.Attempts[0].Code) // the attempt did not fail
	if _, err := s.Recv(); !errors.Is(err, providers.ErrCanceled) || known(t, err).RequestID != got.ID {
		t.Errorf("got %v from a closed stream", err)
	}
	if _, err := s.Collect(); !errors.Is(err, providers.ErrCanceled) {
		t.Errorf("got %v from a closed stream", err)
	}
}

func TestStreamClosedBeforeTheFirstRecv(t *testing.T) {
	s := open(t, streaming(io.EOF, talk()...), here(), false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Recv(); !errors.Is(err, providers.ErrCanceled) {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestCloseAfterTheEndIsNoFailure(t *testing.T) {
	w := &watcher{}
	s := open(t, streaming(io.EOF, talk()...), watched(w), false)
	if _, err := s.Collect(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantEqual(t, [2]int{1, 1}, w.counts())
	if w.last().Err != nil {
		t.Errorf("the record has %v", w.last().Err)
	}
	if _, err := s.Recv(); err != io.EOF { // io.EOF itself
		t.Errorf("got %v after the end", err)
	}
}

// silent is a reader that gives one chunk and then nothing until it is closed.
type silent struct {
	script
	done chan struct{}
	once sync.Once
}

func (s *silent) Recv() (*providers.ChatCompletionChunk, error) {
	if len(s.chunks) > 0 {
		return s.script.Recv()
	}
	<-s.done
	return nil, &providers.Error{Code: providers.ErrConnection, Message: "use of closed connection", Provider: "fake"}
}

func (s *silent) Close() error {
	s.once.Do(func() { close(s.done) })
	return nil
}

// Close from elsewhere ends a Recv that waits, and it is the closing that both
// the caller and the record see, not the broken connection it made.
func TestCloseWhileRecvWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watcher{}
		p := &fake{name: "fake", stream: func(context.Context) (providers.ChunkReader, error) {
			return &silent{script: script{chunks: talk()[:1]}, done: make(chan struct{})}, nil
		}}
		s := open(t, p, watched(w), false)
		if _, err := s.Recv(); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			go func() {
				time.Sleep(time.Second)
				_ = s.Close()
				_ = s.Meta()
			}()
		}
		if _, err := s.Recv(); !errors.Is(err, providers.ErrCanceled) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		wantEqual(t, [2]int{1, 1}, w.counts())
		wantEqual(t, time.Second, w.last().Duration)
		if !errors.Is(w.last().Err, providers.ErrCanceled) {
			t.Errorf("the record has %v", w.last().Err)
		}
	})
}

// Close may come at any moment of a stream that is being read.
func TestCloseRace(t *testing.T) {
	for range 200 {
		w := &watcher{}
		s := open(t, streaming(io.EOF, talk()...), watched(w), false)
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.Meta() })
		wg.Go(func() {
			if _, err := read(s); err != nil && !errors.Is(err, providers.ErrCanceled) {
				t.Error(err)
			}
		})
		_ = s.end(&providers.Error{Code: providers.ErrCanceled}) // Close without its reader, which is not made for a race
		wg.Wait()
		wantEqual(t, [2]int{1, 1}, w.counts())
	}
}

func TestObserversDoNotSeeThePartialAnswer(t *testing.T) {
	part := &providers.ChatCompletion{ID: "i"}
	w := &watcher{}
	_, err := New(refusing(&providers.Error{Code: providers.ErrStreamCut, Partial: part, Sent: true})).Chat(t.Context(), watched(w), &Settings{}, ask("m"))
	if e := known(t, err); e.Partial != part {
		t.Errorf("partial answer %v, want the provider's", e.Partial)
	}
	if e := known(t, w.last().Err); e.Partial != nil || e.Code != providers.ErrStreamCut {
		t.Errorf("the observer sees %v with %v", e, e.Partial)
	}
}
