package messages

import (
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// origin is where a message of the chat request came from.
type origin struct {
	path   string // of the message, or of the one block it was made of
	parts  []int  // the block of each part; nil when they are the same
	calls  []int  // the block of each tool call
	system bool   // its parts are elements of path itself
}

// turn is a message of the body in the making. The tool results of a user's
// turn become messages of their own, before the rest of it.
type turn struct {
	*decoder
	path    string
	role    string
	rest    providers.Message
	from    origin
	parts   []providers.ContentPart
	results bool // there was a tool result
	// carried is the signature that belongs to the next block.
	carried carrier
	// signed is what a signature that comes behind its block goes to.
	signed func(string)
}

func (d *decoder) messages() {
	r, i := &d.r, 0
	for r.Array(); r.NextElem(); i++ {
		d.said = true
		t := turn{decoder: d, path: "messages[" + strconv.Itoa(i) + "]", role: peek(r, "role")}
		t.read()
	}
}

func (t *turn) read() {
	r := &t.r
	if r.Kind() != jsonx.Object {
		r.Failf("expected an object: a message")
	}
	if t.role == "" {
		r.Failf(`"role" is required: user or assistant`)
	}
	given := false
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "role":
			if !slices.Contains([]string{providers.RoleUser, providers.RoleAssistant, providers.RoleSystem}, r.String()) {
				r.Failf("must be user or assistant")
			}
		case "content":
			given = true
			t.content()
		default:
			keep(r, &t.rest.Extra)
		}
	}
	if !given {
		r.Failf(`"content" is required: a string or a list of blocks`)
	}
	if r.Err() == nil {
		t.finish()
	}
}

// content reads a string or a list of blocks.
func (t *turn) content() {
	r := &t.r
	switch r.Kind() {
	case jsonx.String:
		t.rest.Content = providers.TextContent(r.String())
	case jsonx.Array:
		j := 0
		for r.Array(); r.NextElem(); j++ {
			t.block(j)
		}
	default:
		r.Failf("expected a string or a list of content blocks")
	}
}

// finish adds what is left of the turn to the request.
func (t *turn) finish() {
	m := &t.rest
	if m.Role = t.role; t.parts == nil && m.Content.IsAbsent() && t.results {
		return
	}
	switch {
	case !m.Content.IsAbsent():
	case t.role != providers.RoleAssistant:
		m.Content = providers.PartsContent(t.parts...)
	case t.parts != nil: // which hold signatures; the text is for who reads no blocks
		m.ContentBlocks = t.parts
		if text := providers.PartsContent(t.parts...).Text(); text != "" {
			m.Content = providers.TextContent(text)
		}
	}
	t.from.path = t.path
	t.add(*m, t.from)
}

func (d *decoder) add(m providers.Message, from origin) {
	d.req.Chat.Messages = append(d.req.Chat.Messages, m)
	d.req.origins = append(d.req.origins, from)
}

// systemMessage reads a string or a list of texts.
func (d *decoder) systemMessage() {
	r := &d.r
	switch r.Kind() {
	case jsonx.Null:
		r.Skip()
		return
	case jsonx.String:
		d.system.Content = providers.TextContent(r.String())
	case jsonx.Array:
		var parts []providers.ContentPart
		for r.Array(); r.NextElem(); {
			if kind := typeOf(r); kind != providers.PartText {
				r.Failf("must be a text block: the system prompt takes no others")
			}
			parts = append(parts, text(r))
		}
		d.system.Content = providers.PartsContent(parts...)
	default:
		r.Failf("expected a string or a list of text blocks")
	}
	d.system.Role = providers.RoleSystem
	d.systemFrom = origin{path: "system", system: true}
}

// block reads one block of the turn.
func (t *turn) block(j int) {
	r := &t.r
	if r.Kind() != jsonx.Object {
		r.Failf("expected an object: a content block")
	}
	switch kind := typeOf(r); {
	case kind == "":
		r.Failf(`"type" is required, such as text`)
	case t.role == providers.RoleSystem && kind != providers.PartText:
		r.Failf("must be a text block: the system prompt takes no others")
	case kind == "tool_use" && t.role != providers.RoleAssistant:
		r.Failf("tool_use belongs into an assistant message")
	case kind == "tool_result" && t.role != providers.RoleUser:
		r.Failf("tool_result belongs into a user message")
	case kind == "tool_use":
		t.call(j)
	case kind == "tool_result":
		t.results = true
		t.result(j)
	case kind == providers.PartThinking:
		t.thought(j)
	default:
		t.part(j, part(r, kind))
	}
}

// part adds a part, with the signature that was carried for it.
func (t *turn) part(j int, p providers.ContentPart) {
	switch c := t.carried; {
	case p.Type == providers.PartText && c.place == onText, p.Type != providers.PartText && c.place == onOther:
		p.Signature = c.signature
	}
	t.carried = carrier{}
	t.parts = append(t.parts, p)
	t.from.parts = append(t.from.parts, j)
	i := len(t.parts) - 1
	t.signed = func(s string) { t.parts[i].Signature = s }
}

// thought reads a thinking block, and takes the signature that it carries for
// another.
func (t *turn) thought(j int) {
	r := &t.r
	p := providers.ContentPart{Type: providers.PartThinking}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			r.Skip()
		case "thinking":
			p.Thinking = r.String()
		case "signature":
			p.Signature = r.String()
		default:
			keep(r, &p.Extra)
		}
	}
	c, carries := readCarrier(p.Signature)
	if carries {
		p.Signature = ""
	}
	if !carries || p.Thinking != "" {
		behind := t.signed
		t.part(j, p)
		t.signed = behind
	}
	switch {
	case c.place == onEmpty:
		t.part(j, providers.ContentPart{Type: providers.PartText, Signature: c.signature})
	case c.place == onBefore && t.signed != nil:
		t.signed(c.signature)
	case c.place != onBefore:
		t.carried = c
	}
}

// call reads a tool_use.
func (t *turn) call(j int) {
	r := &t.r
	c := providers.ToolCall{Type: "function"}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			r.Skip()
		case "id":
			c.ID = r.String()
		case "name":
			c.Function.Name = r.String()
		case "input":
			if k := r.Kind(); k != jsonx.Object && k != jsonx.Null {
				r.Failf("must be an object: the arguments of the call")
			}
			if !r.Null() {
				c.Function.Arguments = string(r.Raw())
			}
		default:
			keep(r, &c.Extra)
		}
	}
	switch {
	case c.ID == "":
		r.Failf(`"id" is required: repeat it as it was given`)
	case c.Function.Name == "":
		r.Failf(`"name" is required: repeat it as it was given`)
	case c.Function.Arguments == "":
		c.Function.Arguments = "{}"
	}
	if t.carried.place == onCall {
		c.Function.ThoughtSignature = t.carried.signature
	}
	t.carried = carrier{}
	t.rest.ToolCalls = append(t.rest.ToolCalls, c)
	t.from.calls = append(t.from.calls, j)
	i := len(t.rest.ToolCalls) - 1
	t.signed = func(s string) { t.rest.ToolCalls[i].Function.ThoughtSignature = s }
}

// result reads a tool_result into a message of its own.
func (t *turn) result(j int) {
	r := &t.r
	m := providers.Message{Role: providers.RoleTool}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			r.Skip()
		case "tool_use_id":
			m.ToolCallID = r.String()
		case "content":
			m.Content = resultContent(r)
		case "is_error":
			if r.Bool() {
				m.Extra = jsonx.AppendMember(m.Extra, "is_error", []byte("true"))
			}
		default:
			keep(r, &m.Extra)
		}
	}
	if m.ToolCallID == "" {
		r.Failf(`"tool_use_id" is required: the id of the tool_use that it answers`)
	}
	t.add(m, origin{path: t.path + ".content[" + strconv.Itoa(j) + "]"})
}

func resultContent(r *jsonx.Reader) providers.Content {
	switch r.Kind() {
	case jsonx.Null:
		r.Skip()
	case jsonx.String:
		return providers.TextContent(r.String())
	case jsonx.Array:
		var parts []providers.ContentPart
		for r.Array(); r.NextElem(); {
			kind := typeOf(r)
			if kind == "" {
				r.Failf(`expected a content block with a "type", such as text`)
			}
			parts = append(parts, part(r, kind))
		}
		return providers.PartsContent(parts...)
	default:
		r.Failf("expected a string or a list of content blocks")
	}
	return providers.Content{}
}
