// Package anthropic holds the answer of the Messages method of Claude models as
// the platform writes it, without any meaning attached. An Event is decoded
// again and again by one stream; its raw fields alias the event they came from
// and are good until the next Decode.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/streaming and
// https://platform.claude.com/docs/en/api/messages
package anthropic

import "github.com/b650d4bf/gateway/internal/jsonx"

// Kind is the type of an event.
type Kind uint8

// The kinds of events. KindMessage is a whole answer, KindOther an event that
// this package does not model.
const (
	KindOther Kind = iota
	KindMessage
	KindMessageStart
	KindBlockStart
	KindBlockDelta
	KindBlockStop
	KindMessageDelta
	KindMessageStop
	KindPing
	KindError
)

// kindOf reads the type's word.
func kindOf(word []byte) Kind {
	switch string(word) {
	case "content_block_delta":
		return KindBlockDelta
	case "content_block_start":
		return KindBlockStart
	case "content_block_stop":
		return KindBlockStop
	case "message":
		return KindMessage
	case "message_start":
		return KindMessageStart
	case "message_delta":
		return KindMessageDelta
	case "message_stop":
		return KindMessageStop
	case "ping":
		return KindPing
	case "error":
		return KindError
	}
	return KindOther
}

// Event is one event of a stream, the whole answer, or an error envelope.
type Event struct {
	Kind Kind
	// Index is the block's.
	Index int
	// Message is a whole answer, or what message_start tells of it.
	Message Message
	// Block is what content_block_start begins.
	Block Block
	// Delta is what content_block_delta adds to a block.
	Delta Delta
	// Stop is what message_delta says of the end.
	Stop Stop
	// Usage is the raw usage of message_delta.
	Usage []byte
	// Error is the raw value of "error", of any vendor; nil for none.
	Error []byte
}

// Message is a Message, or the beginning of one.
type Message struct {
	ID, Model string
	Content   []Block
	Stop      Stop
	Usage     []byte // raw
}

// Stop says why the model stopped.
type Stop struct {
	Reason string
	// Raw members; nil when absent or null.
	Sequence          []byte
	Details           []byte
	Container         []byte
	ContextManagement []byte
}

// BlockKind is the type of a content block.
type BlockKind uint8

// The kinds of blocks. BlockOther is one in the platform's own form, such as a
// tool that it ran itself.
const (
	BlockOther BlockKind = iota
	BlockText
	BlockThinking
	BlockRedactedThinking
	BlockToolUse
)

// Block is a content block, whole or as it begins.
type Block struct {
	Kind BlockKind
	Type string
	// Raw is the whole block.
	Raw []byte

	Text      string
	Thinking  string
	Signature string
	Data      string
	ID, Name  string
	Input     []byte // raw
	Citations []byte // raw
	// Extra are the members of a tool_use that are not above, as an object.
	Extra []byte
}

// DeltaKind is the type of a delta.
type DeltaKind uint8

// The kinds of deltas.
const (
	DeltaOther DeltaKind = iota
	DeltaText
	DeltaInputJSON
	DeltaThinking
	DeltaSignature
	DeltaCitations
)

// Delta is a piece of a content block.
type Delta struct {
	Kind DeltaKind
	// Text is the piece: text, thinking, signature or JSON.
	Text string
	// Citation is one raw citation.
	Citation []byte
	// Rest are the members that are not above, as an object.
	Rest []byte
}

// Decode reads one object. It leaves nothing of the former one. A member that
// is null counts as not given.
func (e *Event) Decode(r *jsonx.Reader) {
	content := e.Message.Content[:0]
	*e = Event{Message: Message{Content: content}}
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "type":
			e.Kind = kindOf(r.Bytes())
		case "index":
			e.Index = int(r.Int())
		case "delta":
			e.decodeDelta(r)
		case "content_block":
			e.Block.decode(r)
		case "message":
			e.Message.decode(r)
		case "error":
			e.Error = r.Raw()
		default:
			e.member(r)
		}
	}
}

// member reads a member of a whole answer. Those of message_delta have the same
// names.
func (e *Event) member(r *jsonx.Reader) {
	switch string(r.Key()) {
	case "usage":
		e.Usage = r.Raw()
	case "context_management":
		e.Stop.ContextManagement = r.Raw()
	default:
		e.Message.member(r)
	}
}

func (m *Message) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		if string(r.Key()) == "usage" {
			m.Usage = r.Raw()
			continue
		}
		m.member(r)
	}
}

func (m *Message) member(r *jsonx.Reader) {
	switch string(r.Key()) {
	case "id":
		m.ID = r.String()
	case "model":
		m.Model = r.String()
	case "content":
		for r.Array(); r.NextElem(); {
			m.Content = append(m.Content, Block{})
			m.Content[len(m.Content)-1].decode(r)
		}
	default:
		m.Stop.member(r)
	}
}

func (s *Stop) member(r *jsonx.Reader) {
	switch string(r.Key()) {
	case "stop_reason":
		s.Reason = r.Intern("end_turn")
	case "stop_sequence":
		s.Sequence = r.Raw()
	case "stop_details":
		s.Details = r.Raw()
	case "container":
		s.Container = r.Raw()
	case "context_management":
		s.ContextManagement = r.Raw()
	default:
		r.Skip()
	}
}

// decodeDelta reads the delta of a block, or that of the message.
func (e *Event) decodeDelta(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "type":
			e.Delta.Kind = deltaKindOf(r.Bytes())
		case "text", "partial_json", "thinking", "signature":
			e.Delta.Text = r.String()
		case "citation":
			e.Delta.Citation = r.Raw()
		case "stop_reason", "stop_sequence", "stop_details", "container":
			e.Stop.member(r)
		default:
			name := string(r.Key())
			e.Delta.Rest = jsonx.AppendMember(e.Delta.Rest, name, r.Raw())
		}
	}
}

func deltaKindOf(word []byte) DeltaKind {
	switch string(word) {
	case "text_delta":
		return DeltaText
	case "input_json_delta":
		return DeltaInputJSON
	case "thinking_delta":
		return DeltaThinking
	case "signature_delta":
		return DeltaSignature
	case "citations_delta":
		return DeltaCitations
	}
	return DeltaOther
}

func (b *Block) decode(r *jsonx.Reader) {
	b.Raw = r.Raw()
	own := jsonx.NewReader(b.Raw)
	if own.Kind() != jsonx.Object {
		if r.Err() == nil {
			r.Failf("expected an object")
		}
		return
	}
	kind, _ := jsonx.Lookup(b.Raw, "type")
	word := jsonx.NewReader(kind)
	switch b.Type = word.Intern("text"); b.Type {
	case "text":
		b.Kind = BlockText
	case "thinking":
		b.Kind = BlockThinking
	case "redacted_thinking":
		b.Kind = BlockRedactedThinking
	case "tool_use":
		b.Kind = BlockToolUse
	default:
		return
	}
	b.members(&own)
	if own.Err() != nil {
		r.Failf("a content block is not of its type")
	}
}

func (b *Block) members(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "type":
			r.Skip()
		case "text":
			b.Text = r.String()
		case "thinking":
			b.Thinking = r.String()
		case "signature":
			b.Signature = r.String()
		case "data":
			b.Data = r.String()
		case "id":
			b.ID = r.String()
		case "name":
			b.Name = r.String()
		case "input":
			b.Input = r.Raw()
		case "citations":
			b.Citations = r.Raw()
		default:
			name := string(r.Key())
			b.Extra = jsonx.AppendMember(b.Extra, name, r.Raw())
		}
	}
}
