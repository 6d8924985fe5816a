package engine

import (
	"strconv"

	"github.com/b650d4bf/gateway/providers"
)

// leftovers warns of members within messages and tools that have no counterpart
// on the platform. Each member name is told once, with the first place it was
// found at.
func (e *claudeEncoder) leftovers() {
	l := claudeLeftovers{&e.out.remarks}
	for i := range e.q.Messages {
		l.message(i, &e.q.Messages[i])
	}
	for i := range e.q.Tools {
		l.tool(i, &e.q.Tools[i])
	}
	if q := e.q; q.Thinking != nil {
		l.unknown("thinking", q.Thinking.Extra, "display")
	}
	if c := e.q.ToolChoice; c != nil {
		l.unknown("tool_choice", c.Extra)
	}
	if f := e.q.ResponseFormat; f != nil {
		l.unknown("response_format", f.Extra)
	}
}

type claudeLeftovers struct{ *remarks }

func (l claudeLeftovers) message(i int, m *providers.Message) {
	if len(m.Extra) > 0 {
		l.unknown(messagePath(i, ""), m.Extra, "is_error", "cache_control")
	}
	if m.Name != "" && m.Role != providers.RoleTool { // a result has its call's name
		l.leftOut(messagePath(i, ""), "name")
	}
	parts := m.Content.Parts()
	for j := range parts {
		l.part(i, j, &parts[j])
	}
	for j := range m.ToolCalls {
		if c := &m.ToolCalls[j]; len(c.Extra)+len(c.Function.Extra) > 0 {
			path := messagePath(i, "tool_calls["+strconv.Itoa(j)+"]")
			l.unknown(path, c.Extra, "cache_control", "caller", "extra_content")
			l.unknown(below(path, "function"), c.Function.Extra)
		}
	}
}

func (l claudeLeftovers) part(i, j int, p *providers.ContentPart) {
	at := contentSpot(i, j)
	if len(p.Extra) > 0 {
		switch p.Type {
		case providers.PartText, "refusal":
			l.unknown(at.path(""), p.Extra, "cache_control", "citations", "refusal")
		case providers.PartImageURL, providers.PartFile:
			l.unknown(at.path(""), p.Extra, "cache_control", "title", "context", "citations")
		}
	}
	if u := p.ImageURL; u != nil {
		if u.Detail != "" && u.Detail != "auto" {
			l.leftOut(at.path("image_url"), "detail")
		}
		l.unknown(at.path("image_url"), u.Extra)
	}
	if p.File != nil {
		l.unknown(at.path("file"), p.File.Extra)
	}
}

func (l claudeLeftovers) tool(i int, t *providers.Tool) {
	if t.Type != "function" {
		return // its members are the platform's
	}
	if len(t.Extra)+len(t.Function.Extra) == 0 {
		return
	}
	known := append([]string{"cache_control"}, toolMembers...)
	l.unknown("tools["+strconv.Itoa(i)+"]", t.Extra, known...)
	l.unknown(toolPath(i, ""), t.Function.Extra, known...)
}
