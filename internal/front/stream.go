package front

import (
	"errors"
	"io"
	"net/http"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// chatStream answers with an event stream.
func (c *call) chatStream(req *providers.ChatCompletionRequest) error {
	s, err := c.backend.ChatStream(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	return c.writeStream(s)
}

// writeStream answers with the chunks of a stream, and closes it.
func (c *call) writeStream(s Stream) error {
	meta := s.Meta()
	setMeta(c.w.Header(), &meta)
	c.sendEvents(newPieces(s))
	return nil
}

// events is an event stream that is sent as it is read.
type events interface {
	// next appends the next event to dst, and reports whether another one may
	// follow.
	next(dst []byte) (event []byte, more bool)
	// close ends the stream, read to its end or not. It is called once, perhaps
	// while next waits.
	close()
	// free gives back what next has used, after which it is not called.
	free()
}

// puller is a response whose body is read by its receiver, rather than written
// by the one who serves. The receiver closes it.
type puller interface{ pull(body io.ReadCloser) }

// sendEvents answers with the events, and closes them.
func (c *call) sendEvents(ev events) {
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	c.w.WriteHeader(http.StatusOK)
	if p, ok := c.w.(puller); ok {
		p.pull(newEventBody(c.r.Context(), ev))
		return
	}
	defer ev.free()
	defer ev.close()
	buf, flush := jsonx.GetBuffer(), http.NewResponseController(c.w)
	defer buf.Free()
	for more := true; more; {
		buf.B, more = ev.next(buf.B[:0])
		if _, err := c.w.Write(buf.B); err != nil {
			return // the client can't be reached
		}
		// A writer that can't flush sends when it likes, which is a loss of pace
		// and not of data.
		if err := flush.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return
		}
	}
	if isBroken(ev) {
		breakOff(flush)
	}
}

// piece is what an event of the OpenAI schema holds.
type piece interface {
	AppendJSON(dst []byte) ([]byte, error)
}

// pieces are the events of a stream in the OpenAI schema. Without the event that
// ends a whole answer, a client knows that this one is not.
type pieces[T piece] struct {
	stream source[T]
	json   *jsonx.Buffer // of one piece
}

// source is where the pieces come from.
type source[T piece] interface {
	Recv() (T, error)
	Close() error
}

func newPieces[T piece](s source[T]) *pieces[T] { return &pieces[T]{s, jsonx.GetBuffer()} }

func (p *pieces[T]) next(dst []byte) ([]byte, bool) {
	one, err := p.stream.Recv()
	if err == nil {
		p.json.B, err = one.AppendJSON(p.json.B[:0])
	}
	switch {
	case errors.Is(err, io.EOF):
		return sse.AppendDone(dst), false
	case err != nil:
		p.json.B = publicError(err).AppendJSON(p.json.B[:0])
		return sse.AppendEvent(dst, sse.LineSafe(p.json.B)), false
	}
	return sse.AppendEvent(dst, sse.LineSafe(p.json.B)), true
}

func (p *pieces[T]) close() { _ = p.stream.Close() }
func (p *pieces[T]) free()  { p.json.Free() }

// sendBytes answers with bytes as they come, and closes their source. One that
// breaks off ends the connection, so that no client takes it for whole.
func (c *call) sendBytes(s io.ReadCloser) {
	c.w.Header().Set("X-Accel-Buffering", "no") // nginx would hold bytes back
	c.w.WriteHeader(http.StatusOK)
	if p, ok := c.w.(puller); ok {
		p.pull(s)
		return
	}
	defer func() { _ = s.Close() }()
	flush := http.NewResponseController(c.w)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.Read(buf)
		if n > 0 {
			if _, err := c.w.Write(buf[:n]); err != nil {
				return // the client is gone, and nothing can be told
			}
			if err := flush.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				breakOff(flush)
			}
			return
		}
	}
}
