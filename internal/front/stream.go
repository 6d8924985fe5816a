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
	defer func() { _ = s.Close() }()
	meta := s.Meta()
	setMeta(c.w.Header(), &meta)
	out := c.beginStream()
	defer out.free()
	copyEvents(&out, s.Recv)
	return nil
}

// beginStream writes the header of an event stream.
func (c *call) beginStream() eventWriter {
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	c.w.WriteHeader(http.StatusOK)
	return newEventWriter(c.w)
}

// eventWriter writes events and flushes each one.
type eventWriter struct {
	w     io.Writer
	flush *http.ResponseController
	json  *jsonx.Buffer // of one chunk
	event *jsonx.Buffer // the same as an event
}

func newEventWriter(w http.ResponseWriter) eventWriter {
	return eventWriter{w, http.NewResponseController(w), jsonx.GetBuffer(), jsonx.GetBuffer()}
}

func (e *eventWriter) free() {
	e.json.Free()
	e.event.Free()
}

// copyEvents writes a stream to its end, or until the client can't be reached.
func copyEvents[T interface{ AppendJSON([]byte) ([]byte, error) }](e *eventWriter, recv func() (T, error)) {
	for {
		chunk, err := recv()
		if err == nil {
			e.json.B, err = chunk.AppendJSON(e.json.B[:0])
		}
		switch {
		case errors.Is(err, io.EOF):
			_ = e.send(sse.AppendDone(e.event.B[:0]))
			return
		case err != nil:
			e.fail(err)
			return
		}
		if e.send(sse.AppendEvent(e.event.B[:0], e.json.B)) != nil {
			return
		}
	}
}

// fail ends the stream with an error event. Without the event that ends a
// whole answer, a client knows that this one is not.
func (e *eventWriter) fail(err error) {
	e.json.B = publicError(err).AppendJSON(e.json.B[:0])
	_ = e.send(sse.AppendEvent(e.event.B[:0], e.json.B))
}

// send writes one event. A writer that can't flush sends when it likes, which
// is a loss of pace and not of data.
func (e *eventWriter) send(event []byte) error {
	e.event.B = event
	if _, err := e.w.Write(event); err != nil {
		return err
	}
	if err := e.flush.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
