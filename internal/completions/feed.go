package completions

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// single is the feed of one prompt.
type single struct {
	*job
	from Source
}

func (f single) next() piece {
	chunk, err := f.from.Recv()
	if err != nil && !isEnd(err) {
		err = f.restate(0, err)
	}
	return piece{chunk: chunk, strict: f.from.Strict(), err: err}
}

func (f single) metas() []providers.Meta { return []providers.Meta{f.from.Meta()} }
func (f single) close() error            { return f.from.Close() }

// crowd is the feed of several prompts. Its goroutines end with close, which
// waits for them, or when there is nothing left to read.
type crowd struct {
	*job
	ctx    context.Context
	cancel context.CancelFunc
	open   Opener
	pieces chan piece
	ended  chan struct{} // closed when no goroutine is left

	mu    sync.Mutex
	asked int              // prompts that were taken up
	whole int              // prompts whose answer is
	sent  bool             // some answer has begun
	told  []providers.Meta // of each prompt; zero before it was opened
}

func newCrowd(ctx context.Context, j *job, total time.Duration, open Opener) *crowd {
	c := &crowd{
		job: j, open: open, pieces: make(chan piece), ended: make(chan struct{}),
		told: make([]providers.Meta, len(j.chats)),
	}
	c.ctx, c.cancel = limited(ctx, total)
	var wg sync.WaitGroup
	for range min(maxAtOnce, len(j.chats)) {
		wg.Go(c.work)
	}
	go func() {
		wg.Wait()
		close(c.ended)
	}()
	return c
}

// work reads the answers to prompts, one after the other, until none is left.
func (c *crowd) work() {
	for {
		c.mu.Lock()
		i := c.asked
		c.asked++
		c.mu.Unlock()
		if i >= len(c.chats) || !c.read(i) {
			return
		}
	}
}

// read hands the answer to one prompt on, and reports whether it was whole.
func (c *crowd) read(i int) bool {
	s, err := c.open(c.ctx, c.chats[i])
	if err != nil {
		c.hand(piece{prompt: i, err: c.failed(i, err)})
		return false
	}
	defer func() {
		_ = s.Close()
		c.note(i, s)
	}()
	c.note(i, s)
	for {
		chunk, err := s.Recv()
		switch {
		case err == nil:
			if !c.hand(piece{prompt: i, chunk: chunk, strict: s.Strict()}) {
				return false
			}
		case isEnd(err):
			c.mu.Lock()
			c.whole++
			c.mu.Unlock()
			return true
		default:
			c.hand(piece{prompt: i, err: c.failed(i, err)})
			return false
		}
	}
}

// failed is the error of one prompt, in words of the request.
func (c *crowd) failed(i int, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return spent(c.restate(i, err), c.sent)
}

// hand gives a piece to the reader, unless there is none any more.
func (c *crowd) hand(p piece) bool {
	select {
	case c.pieces <- p:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// note keeps what is known of an answer.
func (c *crowd) note(i int, s Source) {
	m := s.Meta()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told[i], c.sent = m, true
}

// next waits for a piece, or for the end of all.
func (c *crowd) next() piece {
	select {
	case p := <-c.pieces:
		return p
	case <-c.ended:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.whole == len(c.chats) {
		return piece{err: io.EOF}
	}
	e := &providers.Error{Code: providers.ErrCanceled, Message: "the stream was closed before its end", Sent: c.sent, Err: context.Cause(c.ctx)}
	if errors.Is(c.ctx.Err(), context.DeadlineExceeded) {
		e.Code, e.Message = providers.ErrTimeout, "the time for all prompts ran out"
	}
	return piece{err: e}
}

// metas are those of all prompts.
func (c *crowd) metas() []providers.Meta {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.told)
}

func (c *crowd) close() error {
	c.cancel()
	<-c.ended
	return nil
}
