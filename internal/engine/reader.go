package engine

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// reader reads the chunks of a streamed answer as the caller pulls them: no
// goroutine, nothing buffered beyond one event.
type reader struct {
	call   call
	events *sse.Decoder // nil after the end, with its buffer
	queue  []*providers.ChatCompletionChunk
	meta   bool    // the first chunk has carried the meta
	counts counter // the decoder, once a chunk was given out, if it is one
	last   head    // of the chunk that was given out last, for counts
	err    error   // the end, once the queue is empty
	closed atomic.Bool
}

// head is what the chunks of an answer have in common.
type head struct {
	id, model string
	created   int64
}

// Recv returns the next chunk.
func (r *reader) Recv() (*providers.ChatCompletionChunk, error) {
	for len(r.queue) == 0 {
		if r.err != nil {
			return nil, r.err
		}
		if r.closed.Load() {
			r.err = r.call.named(closedError())
			return nil, r.err
		}
		r.fill()
	}
	chunk := r.queue[0]
	r.queue = r.queue[1:]
	chunk.Provider = r.call.in.site.Name()
	if !r.meta {
		r.meta = true
		chunk.Meta = &providers.Meta{Warnings: r.call.warnings()}
		if d, ok := r.call.decoder.(counter); ok {
			r.counts = d
			chunk.PromptUsage = d.counted()
		}
	}
	if r.counts != nil {
		r.last = head{chunk.ID, chunk.Model, chunk.Created}
	}
	return chunk, nil
}

// counter is a decoder that may know the usage of the prompt before the end.
type counter interface {
	// counted returns what is counted so far, nil for nothing.
	counted() *providers.Usage
}

// fill decodes the next event into the queue, or sets the end.
func (r *reader) fill() {
	if d, ok := r.call.decoder.(ender); ok && d.ended() {
		r.drain()
		return
	}
	event, err := r.events.Next()
	switch {
	case err == nil:
		if r.queue, r.err = r.call.decoder.push(event); r.err != nil && r.isCut(event) {
			r.err = cutError()
		}
	case errors.Is(err, io.EOF):
		if r.queue, r.err = r.call.decoder.finish(); r.err == nil {
			r.err = io.EOF
		}
	case errors.Is(err, sse.ErrTooLong):
		e := answerError(providers.ErrBadResponse, "")
		e.Err = err
		r.err = e
	case r.closed.Load():
		r.err = closedError()
	default:
		r.err = cutBy(err)
	}
	if r.err != nil {
		r.settle()
		r.err = r.call.named(r.err)
		_ = r.Close()
		r.events = nil
	}
}

// settle adds what was counted so far to an answer that failed within, since it was
// billed: as a last chunk, as at the end of one that did not.
func (r *reader) settle() {
	if r.counts == nil || errors.Is(r.err, io.EOF) || r.closed.Load() {
		return
	}
	if used := r.counts.counted(); used != nil {
		last := providers.ChatCompletionChunk{ID: r.last.id, Created: r.last.created, Model: r.last.model, Usage: used}
		r.queue = append(r.queue, &last)
	}
}

// ender is a decoder that knows when its stream is whole.
type ender interface{ ended() bool }

// lingerLimit is how long the end of a connection is waited for once the answer
// is whole.
const lingerLimit = time.Second

// drain waits for the end of a stream that is whole, so that its connection can
// be used again. What else comes does not count.
func (r *reader) drain() {
	timer := time.AfterFunc(lingerLimit, func() { _ = r.call.res.Close() })
	_, _ = r.events.Next()
	timer.Stop()
	r.err = io.EOF
	_ = r.Close()
	r.events = nil
}

// isCut reports whether an event that could not be decoded is the rest of a
// stream that ended within it: the last event, with JSON or a field's name begun.
func (r *reader) isCut(e sse.Event) bool {
	if !errors.Is(r.err, providers.ErrBadResponse) || !r.call.res.Ended() || jsonx.Valid(e.Data) {
		return false
	}
	begun := len(e.Data) > 0 && (e.Data[0] == '{' || e.Data[0] == '[') ||
		e.Stray && slices.ContainsFunc(fieldNames, func(f string) bool { return strings.HasPrefix(f, string(e.Data)) })
	if !begun {
		return false
	}
	_, err := r.events.Next()
	return err != nil
}

// fieldNames are the fields that a line of an event stream can begin with.
var fieldNames = []string{"data", "event", "id", "retry"}

func closedError() error {
	return answerError(providers.ErrCanceled, "the stream was closed")
}

// cutBy says that a connection broke within the answer, unless a limit or the
// caller ended it.
func cutBy(err error) error {
	var e *providers.Error
	if !errors.As(err, &e) {
		e = &providers.Error{Code: providers.ErrStreamCut, Err: err}
	}
	if e.Code == providers.ErrConnection {
		e.Code = providers.ErrStreamCut
	}
	e.Sent = true
	return e
}

// Close releases the connection. It may be called from another goroutine.
func (r *reader) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	return r.call.res.Close()
}
