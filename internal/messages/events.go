package messages

import (
	"cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// Event is one event of a Messages stream.
type Event struct {
	// Type is the event's name, such as "content_block_delta"; Data has it too.
	Type string
	// Data is a JSON object, valid until the next chunk is encoded.
	Data []byte
}

// Encoder turns the chunks of a stream into the events of a Messages stream. Use
// [NewEncoder].
//
// Source: https://platform.claude.com/docs/en/build-with-claude/streaming
type Encoder struct {
	answer answer
	sink   eventSink
	begun  bool
}

// NewEncoder returns an encoder. own says that thinking goes out with the
// signature that it came with, as with [AppendMessage].
func NewEncoder(own bool) *Encoder {
	e := new(Encoder)
	e.answer.to, e.answer.own = &e.sink, own
	return e
}

// Add returns the events of a chunk, of which there may be none. They are valid
// until the next call.
func (e *Encoder) Add(c *providers.ChatCompletionChunk) ([]Event, error) {
	e.sink.reset()
	if !e.begun {
		e.begin(c)
	}
	err := e.answer.add(c)
	return e.sink.list(), err
}

// begin writes the events that every stream begins with.
func (e *Encoder) begin(c *providers.ChatCompletionChunk) {
	e.begun = true
	e.answer.id, e.answer.model = c.ID, c.Model
	w := e.sink.event("message_start")
	w.Key("message")
	w.BeginObject()
	e.answer.writeIdentity(w)
	w.Key("content")
	w.BeginArray()
	w.EndArray()
	w.Key("stop_reason")
	w.Null()
	w.Key("stop_sequence")
	w.Null()
	w.Key("usage")
	writeUsage(w, cmp.Or(c.Usage, c.PromptUsage))
	w.EndObject()
	e.sink.done()
	e.sink.event("ping")
	e.sink.done()
}

// End returns the events that end a whole answer. They are valid as those of
// Add.
func (e *Encoder) End() ([]Event, error) {
	e.sink.reset()
	if !e.begun {
		e.begin(&providers.ChatCompletionChunk{})
	}
	if err := e.answer.close(); err != nil {
		return nil, err
	}
	w := e.sink.event("message_delta")
	w.Key("delta")
	w.BeginObject()
	e.answer.writeStop(w)
	w.EndObject()
	w.Key("usage")
	writeUsage(w, e.answer.usage)
	e.sink.done()
	e.sink.event("message_stop")
	e.sink.done()
	return e.sink.list(), nil
}

// eventSink writes blocks as events, into one buffer.
type eventSink struct {
	w     jsonx.Writer // of the event in the making
	buf   []byte
	marks []mark
	out   []Event
	index int // of the open block
}

// mark is where an event ends.
type mark struct {
	kind string
	end  int
}

func (s *eventSink) reset() { s.buf, s.marks = s.buf[:0], s.marks[:0] }

// event begins an event; done ends it.
func (s *eventSink) event(kind string) *jsonx.Writer {
	s.marks = append(s.marks, mark{kind: kind})
	s.w.Reset(s.buf[len(s.buf):])
	s.w.BeginObject()
	s.w.Key("type")
	s.w.String(kind)
	return &s.w
}

func (s *eventSink) done() {
	s.w.EndObject()
	s.buf = append(s.buf, s.w.Bytes()...) // no copy when the room was enough
	s.marks[len(s.marks)-1].end = len(s.buf)
}

// list returns the events since reset.
func (s *eventSink) list() []Event {
	s.out = s.out[:0]
	start := 0
	for _, m := range s.marks {
		s.out = append(s.out, Event{Type: m.kind, Data: s.buf[start:m.end:m.end]})
		start = m.end
	}
	return s.out
}

// block begins an event about the open block.
func (s *eventSink) block(kind string) *jsonx.Writer {
	w := s.event(kind)
	w.Key("index")
	w.Int(int64(s.index))
	return w
}

func (s *eventSink) begin(h *head) {
	w := s.block("content_block_start")
	w.Key("content_block")
	w.BeginObject()
	h.write(w)
	switch h.kind {
	case providers.PartText:
		w.Key("text")
		w.String("")
	case providers.PartThinking:
		w.Key("thinking")
		w.String("")
		w.Key("signature")
		w.String("")
	}
	if h.kind == "tool_use" || h.input != nil {
		w.Key("input")
		w.BeginObject()
		w.EndObject()
	}
	w.EndObject()
	s.done()
}

// pieces are the types of deltas, and the members that hold them.
var pieces = [4]struct{ kind, member string }{
	textDelta:      {"text_delta", "text"},
	thinkingDelta:  {"thinking_delta", "thinking"},
	signatureDelta: {"signature_delta", "signature"},
	inputDelta:     {"input_json_delta", "partial_json"},
}

func (s *eventSink) piece(d delta, text string) {
	w := s.delta(pieces[d].kind)
	w.Key(pieces[d].member)
	w.String(text)
	w.EndObject()
	s.done()
}

func (s *eventSink) cite(citation []byte) {
	w := s.delta("citations_delta")
	w.Key("citation")
	w.Raw(citation)
	w.EndObject()
	s.done()
}

func (s *eventSink) delta(kind string) *jsonx.Writer {
	w := s.block("content_block_delta")
	w.Key("delta")
	w.BeginObject()
	w.Key("type")
	w.String(kind)
	return w
}

func (s *eventSink) end() error {
	s.block("content_block_stop")
	s.done()
	s.index++
	return nil
}
