package engine

import (
	"strconv"

	"github.com/b650d4bf/gateway/providers"
)

// leftovers warns of members within messages and tools that have no counterpart
// on the platform. Each member name is told once, with the first place it was
// found at: a habit of the caller repeats in every message.
func (e *geminiEncoder) leftovers() {
	l := leftovers{&e.out.remarks}
	for i := range e.q.Messages {
		l.message(i, &e.q.Messages[i])
	}
	for i := range e.q.Tools {
		l.tool(i, &e.q.Tools[i])
	}
	l.settings(e.q)
}

// settings looks into the objects of the request that have fields of their own.
func (l leftovers) settings(q *providers.ChatCompletionRequest) {
	if q.StreamOptions != nil {
		l.unknown("stream_options", q.StreamOptions.Extra)
	}
	if q.Thinking != nil {
		l.unknown("thinking", q.Thinking.Extra, "display")
	}
	if q.ToolChoice != nil {
		l.unknown("tool_choice", q.ToolChoice.Extra)
	}
	f := q.ResponseFormat
	if f == nil {
		return
	}
	l.unknown("response_format", f.Extra)
	s := f.JSONSchema
	if s == nil {
		return
	}
	if s.Description != "" {
		l.leftOut("response_format.json_schema", "description")
	}
	if len(s.Schema) > 0 { // else the members are the schema
		l.unknown("response_format.json_schema", s.Extra)
	}
}

type leftovers struct{ *remarks }

func (l leftovers) message(i int, m *providers.Message) {
	if len(m.Extra) > 0 {
		l.messageExtra(i, m)
	}
	if m.Audio != nil { // annotations are remarks on the text, which is sent
		l.leftOut(messagePath(i, ""), "audio")
	}
	if m.Name != "" && m.Role != providers.RoleTool { // a result has its call's name
		l.leftOut(messagePath(i, ""), "name")
	}
	parts := m.Content.Parts()
	for j := range parts {
		l.part(i, j, &parts[j])
	}
	for j := range m.ToolCalls {
		c := &m.ToolCalls[j]
		if len(c.Extra)+len(c.Function.Extra) > 0 {
			path := messagePath(i, "tool_calls["+strconv.Itoa(j)+"]")
			l.unknown(path, c.Extra, "extra_content", "index") // an index is left from a stream
			l.native(path, c.Extra, "thought_signature")
			l.unknown(below(path, "function"), c.Function.Extra)
		}
	}
}

// messageExtra knows what the role's messages may have beyond the schema.
func (l leftovers) messageExtra(i int, m *providers.Message) {
	path := messagePath(i, "")
	switch m.Role {
	case providers.RoleAssistant:
		l.unknown(path, m.Extra, "extra_content")
		l.native(path, m.Extra, "thought_signature", "thought")
	case providers.RoleTool:
		l.unknown(path, m.Extra, "extra_content", "is_error")
		l.native(path, m.Extra, "parts")
	default:
		l.unknown(path, m.Extra)
	}
}

// native looks into extra_content, of which the platform's own object is known.
func (l leftovers) native(path string, extra providers.Extra, known ...string) {
	raw, ok := extra.Get("extra_content")
	if !ok {
		return
	}
	path = below(path, "extra_content")
	l.unknown(path, providers.Extra(raw), "google")
	l.unknown(below(path, "google"), googleExtra(extra), known...)
}

func (l leftovers) part(i, j int, p *providers.ContentPart) {
	if len(p.Extra) > 0 {
		known := partMembers
		switch {
		case isQuote(p.Type):
			known = quoteMembers
		case !isMediaPart(p.Type):
			known = []string{"refusal"}
		}
		l.unknown(partPath(i, j, ""), p.Extra, known...)
	}
	if inner := innerExtra(p); len(inner) > 0 {
		known := fileMembers
		if p.Type == providers.PartInputAudio {
			known = audioMembers
		}
		l.unknown(partPath(i, j, p.Type), inner, known...)
	}
}

func (l leftovers) tool(i int, t *providers.Tool) {
	f := &t.Function
	if f.Strict != nil && *f.Strict {
		l.leftOut(toolPath(i, ""), "strict")
	}
	if len(t.Extra) > 0 && namesFunction(t) { // else options of a platform tool
		l.unknown("tools["+strconv.Itoa(i)+"]", t.Extra)
	}
	if len(f.Extra) > 0 {
		l.unknown(toolPath(i, ""), f.Extra)
	}
}
