// Package openai holds the answer of servers that speak the OpenAI schema, or
// nearly so, as they write it, without any meaning attached. It takes what such
// servers are known to get wrong: a member of another type than the schema's
// counts as not given. A Response is decoded again and again by one stream; its
// raw members that are not Extra alias the event they came from and are good
// until the next Decode.
//
// Source: https://platform.openai.com/docs/api-reference/chat/object
package openai

import (
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Response is one answer, whole or a stream's chunk, or the error that may stand
// in its place.
type Response struct {
	ID, Model string
	Created   int64
	Choices   []Choice
	Usage     Usage
	HasUsage  bool
	// Error is the raw value of {"error":…}, nil for an answer.
	Error []byte
	// Known says that the object had any member of an answer.
	Known bool
	// Extra holds the members that are not named here, without nulls.
	Extra []byte
}

// Choice is one choice, or a piece of it: a message and a delta are alike.
type Choice struct {
	Index        int // the position in the list when the wire gives none
	FinishReason string
	// Thought is the reasoning that has a member of its own.
	Thought string
	// Pieces are the content, in order.
	Pieces []Piece
	Calls  []Call
	// Raw members of the message.
	Audio, Annotations []byte
	// Logprobs is raw.
	Logprobs []byte
	// Extra and MessageExtra hold the members that are not named here, without
	// nulls.
	Extra, MessageExtra []byte

	other string // reasoning under its other name
}

// Kind says what a Piece is.
type Kind uint8

// The kinds of pieces.
const (
	KindText Kind = iota
	KindThought
	KindOther // a content part in Raw
)

// Piece is a part of the content.
type Piece struct {
	Kind Kind
	Text string
	Raw  []byte
}

// Call is a tool call, or a piece of one.
type Call struct {
	Index     int
	HasIndex  bool
	ID        string
	Name      string
	Arguments string
	// Extra holds the members that are not named here, without nulls.
	Extra []byte
}

// Decode reads one object. It reuses what the Response had allocated, and leaves
// nothing else of the former one.
func (p *Response) Decode(r *jsonx.Reader) {
	id, model := p.ID, p.Model
	*p = Response{Choices: p.Choices[:0]}
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "id":
			p.ID = intern(r, id)
		case "model":
			p.Model = intern(r, model)
		case "created":
			p.Created = number(r)
		case "choices":
			p.decodeChoices(r)
		case "usage":
			if p.HasUsage = r.Kind() == jsonx.Object; !p.HasUsage {
				r.Skip()
				continue
			}
			p.Known = true
			p.Usage.decode(r)
		case "error":
			p.Error = r.Raw()
		case "object", "provider":
			r.Skip()
		default:
			keep(&p.Extra, r)
		}
	}
}

func (p *Response) decodeChoices(r *jsonx.Reader) {
	if r.Kind() != jsonx.Array {
		r.Skip()
		return
	}
	p.Known = true
	for r.Array(); r.NextElem(); {
		n := len(p.Choices)
		if r.Kind() != jsonx.Object {
			r.Skip()
			continue
		}
		if n < cap(p.Choices) {
			p.Choices = p.Choices[:n+1]
		} else {
			p.Choices = append(p.Choices, Choice{})
		}
		c := &p.Choices[n]
		*c = Choice{Index: n, Pieces: c.Pieces[:0], Calls: c.Calls[:0]}
		c.decode(r)
	}
}

func (c *Choice) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "index":
			c.Index = int(number(r))
		case "message", "delta":
			if r.Kind() == jsonx.Object {
				c.decodeMessage(r)
			} else {
				r.Skip()
			}
		case "text": // of a server that answers as to a completion
			c.Pieces = append(c.Pieces, Piece{Text: text(r)})
		case "finish_reason":
			c.FinishReason = intern(r, "stop")
		case "logprobs":
			c.Logprobs = r.Raw()
		default:
			keep(&c.Extra, r)
		}
	}
	if c.Thought == "" {
		c.Thought = c.other
	}
}

func (c *Choice) decodeMessage(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "role", "content_blocks":
			r.Skip()
		case "content":
			c.decodeContent(r)
		case "reasoning_content":
			c.Thought = text(r)
		case "reasoning": // some servers give both names
			if r.Kind() == jsonx.String {
				c.other = r.String()
			} else {
				keep(&c.MessageExtra, r)
			}
		case "tool_calls":
			c.decodeCalls(r)
		case "audio":
			c.Audio = object(r)
		case "annotations":
			if r.Kind() == jsonx.Array {
				c.Annotations = r.Raw()
			} else {
				r.Skip()
			}
		default:
			keep(&c.MessageExtra, r)
		}
	}
}

// decodeContent reads a string or a list of parts.
func (c *Choice) decodeContent(r *jsonx.Reader) {
	switch r.Kind() {
	case jsonx.String:
		c.Pieces = append(c.Pieces, Piece{Text: r.String()})
	case jsonx.Array:
		for r.Array(); r.NextElem(); {
			c.decodePart(r)
		}
	default:
		r.Skip()
	}
}

// decodePart reads one part of a content: text, a thought, or another one.
func (c *Choice) decodePart(r *jsonx.Reader) {
	if r.Kind() == jsonx.String {
		c.Pieces = append(c.Pieces, Piece{Text: r.String()})
		return
	}
	raw := r.Raw()
	kind, _ := jsonx.Lookup(raw, "type")
	switch string(kind) {
	case `"text"`:
		c.Pieces = append(c.Pieces, Piece{Text: textOf(raw, "text")})
	case `"thinking"`:
		c.Pieces = append(c.Pieces, Piece{Kind: KindThought, Text: textOf(raw, "thinking")})
	default:
		if len(raw) > 0 && raw[0] == '{' {
			c.Pieces = append(c.Pieces, Piece{Kind: KindOther, Raw: raw})
		}
	}
}

// textOf returns the named member of a part: a string, or a list of text parts,
// as Mistral gives its thoughts.
func textOf(part []byte, name string) string {
	value, _ := jsonx.Lookup(part, name)
	r := jsonx.NewReader(value)
	if r.Kind() != jsonx.Array {
		return text(&r)
	}
	var all strings.Builder
	for r.Array(); r.NextElem(); {
		raw := r.Raw()
		inner, _ := jsonx.Lookup(raw, "text")
		l := jsonx.NewReader(inner)
		all.WriteString(text(&l))
	}
	return all.String()
}

func (c *Choice) decodeCalls(r *jsonx.Reader) {
	if r.Kind() != jsonx.Array {
		r.Skip()
		return
	}
	for r.Array(); r.NextElem(); {
		if r.Kind() != jsonx.Object {
			r.Skip()
			continue
		}
		var call Call
		call.decode(r)
		c.Calls = append(c.Calls, call)
	}
}

func (c *Call) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "index":
			c.HasIndex = r.Kind() == jsonx.Number
			c.Index = int(number(r))
		case "id":
			if c.ID = text(r); c.ID == "null" { // as Mistral spells it
				c.ID = ""
			}
		case "type":
			r.Skip()
		case "function":
			if r.Kind() == jsonx.Object {
				c.decodeFunction(r)
			} else {
				r.Skip()
			}
		default:
			keep(&c.Extra, r)
		}
	}
}

func (c *Call) decodeFunction(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "name":
			c.Name = text(r)
		case "arguments": // JSON text, or the object itself
			if r.Kind() == jsonx.Object {
				c.Arguments = string(r.Raw())
			} else {
				c.Arguments = text(r)
			}
		default:
			r.Skip()
		}
	}
}
