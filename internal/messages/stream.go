package messages

import (
	"errors"
	"io"

	"github.com/b650d4bf/gateway/providers"
)

// Source is a stream of chunks.
type Source interface {
	Recv() (*providers.ChatCompletionChunk, error)
	Meta() providers.Meta
	Close() error
}

// Stream is a streamed answer in events. Like its source it belongs to one
// goroutine at a time; only Close may be called from any.
type Stream struct {
	from   Source
	req    *Request
	enc    *Encoder
	events []Event // that are left of the last chunk
	ended  bool
	err    error
}

// NewStream returns the events of the answer to req. own is that of
// [AppendMessage].
func NewStream(from Source, req *Request, own bool) *Stream {
	return &Stream{from: from, req: req, enc: NewEncoder(own)}
}

// Recv returns the next event, which is valid until the next call, io.EOF after
// message_stop, or an error of the source. After the first error each further
// call repeats it.
func (s *Stream) Recv() (Event, error) {
	for len(s.events) == 0 {
		if s.err != nil {
			return Event{}, s.err
		}
		if s.ended {
			return Event{}, io.EOF
		}
		s.next()
	}
	e := s.events[0]
	s.events = s.events[1:]
	return e, nil
}

// next reads a chunk.
func (s *Stream) next() {
	chunk, err := s.from.Recv()
	var e *providers.Error
	switch {
	case err == nil:
		s.events, s.err = s.enc.Add(chunk)
	case errors.Is(err, io.EOF) && !errors.As(err, &e):
		s.ended = true
		s.events, s.err = s.enc.End()
	default:
		s.err = s.req.Restate(err)
		return
	}
	if s.err != nil {
		_ = s.from.Close() // what it would still say is of no use
	}
}

// Meta says what the gateway did, as far as it is known.
func (s *Stream) Meta() providers.Meta {
	m := s.from.Meta()
	m.Warnings = s.req.RestateWarnings(m.Warnings)
	return m
}

// Close releases the stream.
func (s *Stream) Close() error { return s.from.Close() }
