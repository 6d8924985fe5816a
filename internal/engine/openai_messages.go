package engine

import (
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// openWait is a tool call that waits for its result: the id that the caller has
// for it and the one that is sent.
type openWait struct {
	id, sent string
	answered bool
}

// messages takes out of the messages what is ours, and says the rest in the
// words that the family knows. A message that needs nothing is not copied.
func (e *openEncoder) messages() error {
	list := e.q.Messages
	owned := false
	for i := range list {
		m := list[i]
		changed, err := e.message(i, &m)
		if err != nil {
			return err
		}
		if !changed {
			continue
		}
		if !owned {
			list, owned = slices.Clone(list), true
		}
		list[i] = m
	}
	e.q.Messages = e.order(list)
	return nil
}

// message settles one message, whose lists must not be changed in place.
func (e *openEncoder) message(i int, m *providers.Message) (changed bool, err error) {
	if m.Role == providers.RoleDeveloper && e.family != FamilyOpenAI {
		m.Role, changed = providers.RoleSystem, true
	}
	if len(m.ContentBlocks) > 0 {
		e.blocks(i, m)
		changed = true
	}
	if m.Content.Parts() != nil {
		kept, err := e.parts(i, m.Content.Parts())
		if err != nil {
			return false, err
		}
		if kept != nil {
			changed = true
			if m.Content = providers.PartsContent(kept...); len(kept) == 0 {
				m.Content = providers.TextContent("")
			}
		}
	}
	if len(m.ToolCalls) > 0 {
		changed = e.toolCalls(i, m) || changed
	}
	if m.Role == providers.RoleTool {
		changed = e.result(m) || changed
		told, err := e.failed(i, m)
		if err != nil {
			return false, err
		}
		changed = told || changed
	}
	return e.leftovers(i, m) || changed, nil
}

// blocks takes the content blocks off a message. Their text counts when the
// message has no other.
func (e *openEncoder) blocks(i int, m *providers.Message) {
	if m.Content.Text() == "" && m.Content.Parts() == nil {
		if text := providers.PartsContent(m.ContentBlocks...).Text(); text != "" {
			m.Content = providers.TextContent(text)
		}
	}
	for j := range m.ContentBlocks {
		switch b := &m.ContentBlocks[j]; b.Type {
		case providers.PartText:
			if b.Signature != "" {
				e.dropSignature(messagePath(i, "content_blocks["+strconv.Itoa(j)+"]"))
			}
		case providers.PartThinking, providers.PartRedactedThinking:
			e.dropThought(messagePath(i, "content_blocks["+strconv.Itoa(j)+"]"))
		default:
			e.out.warnOnce("block", providers.WarnDroppedBlock, messagePath(i, "content_blocks["+strconv.Itoa(j)+"]"),
				"what the model gave besides text is not sent back to this family of models")
		}
	}
	m.ContentBlocks = nil
}

func (e *openEncoder) dropThought(path string) {
	e.out.warnOnce("thought", providers.WarnDroppedBlock, path, "thinking is not sent back to this family of models")
}

func (e *openEncoder) dropSignature(path string) {
	e.out.warnOnce("signature", providers.WarnDroppedBlock, path, "thought signatures are not sent to this family of models")
}

// parts returns the parts as they are sent, or nil when nothing changes.
func (e *openEncoder) parts(i int, parts []providers.ContentPart) ([]providers.ContentPart, error) {
	var kept []providers.ContentPart
	for j := range parts {
		p := parts[j]
		keep, changed, err := e.part(i, j, &p)
		if err != nil {
			return nil, err
		}
		if (!keep || changed) && kept == nil {
			kept = append(make([]providers.ContentPart, 0, len(parts)), parts[:j]...)
		}
		if keep && kept != nil {
			kept = append(kept, p)
		}
	}
	return kept, nil
}

// part settles one part.
func (e *openEncoder) part(i, j int, p *providers.ContentPart) (keep, changed bool, err error) {
	switch p.Type {
	case providers.PartThinking, providers.PartRedactedThinking:
		e.dropThought(partPath(i, j, ""))
		return false, true, nil
	case providers.PartImageURL:
		if p.ImageURL == nil || p.ImageURL.URL == "" {
			return false, false, providers.Invalid(partPath(i, j, "image_url.url"), "a URL is required: gs://, https or a data URI")
		}
	}
	if p.Signature != "" {
		p.Signature, changed = "", true
		e.dropSignature(partPath(i, j, ""))
	}
	if p.ImageURL != nil && p.ImageURL.MimeType != "" {
		own := *p.ImageURL
		own.MimeType = ""
		p.ImageURL, changed = &own, true
		e.out.warnOnce("mime_type", providers.WarnUnsupported, partPath(i, j, "image_url.mime_type"),
			"left out: these models take the type that the URL or its server says")
	}
	if e.family != FamilyMistral {
		return true, e.foreignToPart(i, j, p) || changed, nil
	}
	more, err := e.mistralPart(i, j, p)
	return true, changed || more, err
}

// mistralPart settles a part for Mistral's API, which refuses what it does not
// know.
//
// Source: https://docs.mistral.ai/api/endpoint/chat
func (e *openEncoder) mistralPart(i, j int, p *providers.ContentPart) (changed bool, err error) {
	switch p.Type {
	case providers.PartText, providers.PartImageURL:
	case "refusal":
		raw, _ := p.Extra.Get("refusal")
		r := jsonx.NewReader(raw)
		*p = providers.TextPart(r.String())
		return true, nil
	default:
		return false, providers.Invalid(partPath(i, j, "type"), "content parts of type "+strconv.Quote(p.Type)+
			" are not supported for this model: use text or image_url")
	}
	if len(p.Extra) > 0 {
		e.unknown(partPath(i, j, ""), &p.Extra)
		changed = true
	}
	if p.ImageURL != nil && len(p.ImageURL.Extra) > 0 {
		own := *p.ImageURL
		e.unknown(partPath(i, j, "image_url"), &own.Extra)
		p.ImageURL, changed = &own, true
	}
	return changed, nil
}

// toolCalls settles the calls of an assistant message.
func (e *openEncoder) toolCalls(i int, m *providers.Message) (changed bool) {
	e.calls = e.calls[:0]
	for j := range m.ToolCalls {
		c := m.ToolCalls[j]
		wait := openWait{id: c.ID, sent: e.sentID(c.ID, i, j)}
		e.calls = append(e.calls, wait)
		own := c
		own.ID = wait.sent
		if own.Type == "" {
			own.Type = "function"
		}
		if own.Function.Arguments == "" {
			own.Function.Arguments = "{}"
		}
		if own.Function.ThoughtSignature != "" {
			own.Function.ThoughtSignature = ""
			e.dropSignature(messagePath(i, "tool_calls["+strconv.Itoa(j)+"].function.thought_signature"))
		}
		at := spot{i, "tool_calls", j}
		switch {
		case len(own.Extra)+len(own.Function.Extra) == 0:
		case e.family != FamilyMistral:
			e.foreign(at.path(""), inCall, &own.Extra)
		default:
			e.unknown(at.path(""), &own.Extra)
			e.unknown(at.path("function"), &own.Function.Extra)
		}
		if own.ID == c.ID && own.Type == c.Type && own.Function.Arguments == c.Function.Arguments &&
			own.Function.ThoughtSignature == c.Function.ThoughtSignature &&
			len(own.Extra) == len(c.Extra) && len(own.Function.Extra) == len(c.Function.Extra) {
			continue
		}
		if !changed {
			m.ToolCalls, changed = slices.Clone(m.ToolCalls), true
		}
		m.ToolCalls[j] = own
	}
	return changed
}

// result gives a tool message the id that its call was sent with.
func (e *openEncoder) result(m *providers.Message) (changed bool) {
	for j := range e.calls {
		c := &e.calls[j]
		if !c.answered && (c.id == m.ToolCallID || m.ToolCallID == "") {
			c.answered = true
			changed = m.ToolCallID != c.sent
			m.ToolCallID = c.sent
			return changed
		}
	}
	return false
}

// leftovers takes off a message what the family does not take.
func (e *openEncoder) leftovers(i int, m *providers.Message) (changed bool) {
	if m.Annotations != nil { // remarks on the text, which is sent
		m.Annotations, changed = nil, true
	}
	if m.Audio != nil {
		m.Audio, changed = nil, true
		e.out.warnOnce("audio", providers.WarnDroppedBlock, messagePath(i, "audio"), "what a model spoke is not sent back to this family of models")
	}
	if e.family != FamilyMistral {
		return len(m.Extra) > 0 && e.foreign(messagePath(i, ""), inMessage, &m.Extra) || changed
	}
	if m.Name != "" && m.Role != providers.RoleTool {
		m.Name, changed = "", true
		e.out.warnOnce("name", providers.WarnUnknown, messagePath(i, "name"), "left out: Mistral's API does not know it")
	}
	if len(m.Extra) > 0 {
		e.unknown(messagePath(i, ""), &m.Extra, "prefix")
		changed = true
	}
	return changed
}

// unknown takes members out that Mistral's API refuses, but for the known ones.
func (e *openEncoder) unknown(path string, extra *providers.Extra, known ...string) {
	var kept providers.Extra
	for name, value := range jsonx.Members(*extra) {
		if slices.Contains(known, name) {
			kept = jsonx.AppendMember(kept, name, value)
		} else if !saysNothing(value) {
			e.out.warnOnce("unknown "+name, providers.WarnUnknown, below(path, name), "left out: Mistral's API does not know it")
		}
	}
	*extra = kept
}
