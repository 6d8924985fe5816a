package front

import (
	"errors"
	"io"
	"net/http"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/messages"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// MessageAnswer is a whole answer in the Anthropic schema.
type MessageAnswer struct {
	// Body is JSON.
	Body []byte
	// Meta says what the gateway did.
	Meta providers.Meta
}

// MessageStream is a streamed answer in the Anthropic schema. It belongs to the
// goroutine that serves the request.
type MessageStream interface {
	// Recv returns the next event, which is valid until the next call, or io.EOF
	// after the last one of a whole answer.
	Recv() (messages.Event, error)
	// Meta says what the gateway did, as far as it is known.
	Meta() providers.Meta
	// Close releases the stream. It is called once, whether or not the stream
	// has ended.
	Close() error
}

// messages serves POST /v1/messages, in the form the body asks for.
func (c *call) messages() error {
	req, err := c.readMessages(messages.Decode)
	if err != nil {
		return err
	}
	if req.Chat.Stream {
		return c.messageStream(req)
	}
	out, err := c.backend.Messages(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	c.setMessageMeta(&out.Meta)
	writeJSON(c.w, http.StatusOK, out.Body)
	return nil
}

// countTokens serves POST /v1/messages/count_tokens.
func (c *call) countTokens() error {
	req, err := c.readMessages(messages.DecodeCount)
	if err != nil {
		return err
	}
	out, err := c.backend.MessagesTokens(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	var w jsonx.Writer
	w.BeginObject()
	w.Key("input_tokens")
	w.Int(out.TotalTokens)
	w.EndObject()
	c.setMessageMeta(&out.Meta)
	writeJSON(c.w, http.StatusOK, w.Bytes())
	return nil
}

// readMessages reads and decodes the body.
func (c *call) readMessages(decode func([]byte) (*messages.Request, error)) (*messages.Request, error) {
	buf := jsonx.GetBuffer()
	defer buf.Free() // decoding copies what it keeps
	if err := c.readBody(buf); err != nil {
		return nil, err
	}
	return decode(buf.B)
}

// setMessageMeta tells in headers what the gateway did.
func (c *call) setMessageMeta(m *providers.Meta) {
	h := c.w.Header()
	setMeta(h, m)
	if m.RequestID != "" {
		h.Set(headerAnthropicID, headerText(m.RequestID))
	}
}

// messageStream answers with an event stream.
func (c *call) messageStream(req *messages.Request) error {
	s, err := c.backend.MessagesStream(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	meta := s.Meta()
	c.setMessageMeta(&meta)
	c.sendEvents(&messageEvents{s, meta.RequestID})
	return nil
}

// messageEvents are the events of a message. An error is an event of its own,
// after which nothing comes.
type messageEvents struct {
	stream    MessageStream
	requestID string
}

func (m *messageEvents) next(dst []byte) ([]byte, bool) {
	event, err := m.stream.Recv()
	var fault *providers.Error // which may have io.EOF for a cause
	switch {
	case errors.Is(err, io.EOF) && !errors.As(err, &fault):
		return dst, false
	case err != nil:
		return sse.AppendNamedEvent(dst, "error", sse.LineSafe(messages.AppendError(nil, publicError(err), m.requestID))), false
	}
	return sse.AppendNamedEvent(dst, event.Type, sse.LineSafe(event.Data)), true
}

func (m *messageEvents) close() { _ = m.stream.Close() }
func (m *messageEvents) free()  {}
