package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// messages writes the turns. Messages of the same role merge into one turn, and
// a turn without any block is not written.
func (e *claudeEncoder) messages() error {
	msgs := e.q.Messages
	e.w.Key("messages")
	start := e.w.Len()
	e.w.BeginArray()
	open := e.w.Len()
	for i := 0; i < len(msgs); i++ {
		m := &msgs[i]
		var err error
		switch m.Role {
		case providers.RoleUser:
			err = e.userParts(i, m)
		case providers.RoleAssistant:
			err = e.assistant(i, m)
		case providers.RoleTool:
			first := i
			for i+1 < len(msgs) && msgs[i+1].Role == providers.RoleTool {
				i++
			}
			err = e.results(first, msgs[first:i+1])
		}
		if err != nil {
			return err
		}
		e.markMessage(i, m)
	}
	e.endTurn()
	if e.w.Len() == open {
		e.w.Truncate(start)
		return providers.Invalid("messages", "no message has any content")
	}
	e.w.EndArray()
	return e.checkPrefill()
}

// checkPrefill refuses a conversation that ends with words of the assistant
// where the model would. One that ends with a tool of the platform goes on, and
// any may be counted.
func (e *claudeEncoder) checkPrefill() error {
	if !e.counting && e.m.facts.NoPrefill && e.spoke == providers.RoleAssistant && e.block != "native" {
		return providers.Invalid(messagePath(e.last, "role"),
			"this model does not continue an assistant message: end the conversation with a user or tool message")
	}
	return nil
}

// begin begins a block in a turn of the role. The block's type is written.
func (e *claudeEncoder) begin(role string, i int, kind string) {
	e.turn(role, i, kind)
	e.w.BeginObject()
	e.w.Key("type")
	e.w.String(kind)
}

// turn sees to it that a turn of the role is open, for a block of message i.
func (e *claudeEncoder) turn(role string, i int, kind string) {
	if e.role != role {
		e.endTurn()
		e.role = role
		e.w.BeginObject()
		e.w.Key("role")
		e.w.String(role)
		e.w.Key("content")
		e.w.BeginArray()
	}
	e.spoke, e.last, e.block = role, i, kind
}

func (e *claudeEncoder) endTurn() {
	if e.role != "" {
		e.w.EndArray()
		e.w.EndObject()
		e.role = ""
	}
}

// markMessage puts a message's own breakpoint on its last block.
func (e *claudeEncoder) markMessage(i int, m *providers.Message) {
	raw, ok := m.Extra.Get("cache_control")
	if !ok || e.last != i || m.Role != providers.RoleUser && m.Role != providers.RoleAssistant {
		return // that of a tool message is on its result already
	}
	switch {
	case e.role == "" || e.marked():
	case markable(e.block):
		e.mark(messagePath(i, "cache_control"), raw, true)
	default:
		e.warnf(providers.WarnUnsupported, messagePath(i, "cache_control"), "left out: the last block of the message takes none")
	}
}

// markable reports whether a block of the type takes a breakpoint.
func markable(kind string) bool {
	return kind != providers.PartThinking && kind != providers.PartRedactedThinking && kind != "native"
}

// text writes text with its breakpoint. The platform refuses blank blocks.
func (e *claudeEncoder) text(role string, at spot, text string, extra providers.Extra) {
	if strings.TrimSpace(text) == "" {
		if text != "" {
			e.warnf(providers.WarnDroppedBlock, at.path(""), "left out: the platform takes no blank text")
		}
		return
	}
	if role == providers.RoleAssistant && e.isLast(at.message) {
		if trimmed := strings.TrimRight(text, " \t\r\n"); trimmed != text {
			text = trimmed
			e.warnf(providers.WarnAdjusted, at.path(""), "the white space at the end was taken off: the platform refuses it there")
		}
	}
	e.begin(role, at.message, providers.PartText)
	e.w.Key("text")
	e.w.String(text)
	if raw, ok := extra.Get("citations"); ok && role == providers.RoleAssistant {
		e.w.Key("citations")
		e.w.Raw(raw)
	}
	e.w.EndObject()
	if raw, ok := extra.Get("cache_control"); ok {
		e.mark(at.path("cache_control"), raw, true)
	}
}

// isLast reports whether message i is the conversation's last one.
func (e *claudeEncoder) isLast(i int) bool { return i == len(e.q.Messages)-1 }

// userParts writes a user message.
func (e *claudeEncoder) userParts(i int, m *providers.Message) error {
	parts := m.Content.Parts()
	if parts == nil {
		e.text(providers.RoleUser, contentSpot(i, -1), m.Content.Text(), nil)
		return nil
	}
	for j := range parts {
		if err := e.userPart(i, j, &parts[j], func(kind string) { e.turn(providers.RoleUser, i, kind) }); err != nil {
			return err
		}
	}
	return nil
}

// assistant writes an assistant turn: its thinking, its text and then its calls.
func (e *claudeEncoder) assistant(i int, m *providers.Message) error {
	if err := e.assistantBlocks(i, m); err != nil {
		return err
	}
	if !e.goesOn(i) {
		e.calls = e.calls[:0]
	}
	for j := range m.ToolCalls {
		e.call(i, j, &m.ToolCalls[j])
	}
	return nil
}

// assistantBlocks prefers the content blocks, which carry signatures. Where the
// caller has changed the text beside them, it is the text that counts.
func (e *claudeEncoder) assistantBlocks(i int, m *providers.Message) error {
	blocks, own := m.ContentBlocks, ownBlocks(m)
	e.foreign = isGemini(m)
	follows := len(m.ToolCalls) > 0 || !own && saysMore(&m.Content)
	last := lastSpoken(blocks, own)
	for j := range blocks {
		p := &blocks[j]
		if p.Type == providers.PartText && !own {
			continue
		}
		e.mute = !follows && j > last
		if err := e.assistantPart(spot{i, "content_blocks", j}, p); err != nil {
			return err
		}
	}
	if own {
		return nil
	}
	parts := m.Content.Parts()
	if parts == nil {
		e.text(providers.RoleAssistant, contentSpot(i, -1), m.Content.Text(), nil)
		return nil
	}
	return e.assistantParts(i, parts, slices.ContainsFunc(blocks, isSigned), len(m.ToolCalls) > 0)
}

// assistantParts writes a list of parts, thinking first. Where content blocks
// have said what the model thought, that of the parts is the same.
func (e *claudeEncoder) assistantParts(i int, parts []providers.ContentPart, thought, calls bool) error {
	isThought := func(p providers.ContentPart) bool {
		return p.Type == providers.PartThinking || p.Type == providers.PartRedactedThinking
	}
	inOrder := len(parts) > 0 && isThought(parts[0])
	last := lastSpoken(parts, true)
	for _, thoughts := range [2]bool{true, false} {
		for j := range parts {
			p := &parts[j]
			first := isThought(*p) && !inOrder
			if first != thoughts || isThought(*p) && thought {
				continue
			}
			e.mute = !calls && (last < 0 || inOrder && j > last)
			if err := e.assistantPart(contentSpot(i, j), p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *claudeEncoder) assistantPart(at spot, p *providers.ContentPart) error {
	const role = providers.RoleAssistant
	if p.Signature != "" && p.Type != providers.PartThinking {
		e.dropSignature(at.path(""))
	}
	switch p.Type {
	case providers.PartText:
		e.text(role, at, p.Text, p.Extra)
	case "refusal":
		raw, _ := p.Extra.Get("refusal")
		r := jsonx.NewReader(raw)
		e.text(role, at, r.String(), p.Extra)
	case providers.PartThinking:
		e.thought(at, p)
	case providers.PartRedactedThinking:
		if p.Data == "" || e.in.distrust || e.mute {
			e.dropThought(at)
			return nil
		}
		e.begin(role, at.message, p.Type)
		e.w.Key("data")
		e.w.String(p.Data)
		e.w.EndObject()
	case providers.PartImageURL, providers.PartInputAudio, providers.PartFile:
		e.warnf(providers.WarnDroppedBlock, at.path(""), "left out: these models take no media in an assistant message")
	default:
		return e.nativeBlock(at, p)
	}
	return nil
}

// thought writes thinking with its signature, as it came. A signature is valid
// wherever the models are, on Vertex AI and at the vendor's own service.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking#thinking-encryption
func (e *claudeEncoder) thought(at spot, p *providers.ContentPart) {
	if p.Signature == "" || e.in.distrust || e.foreign || e.mute {
		e.dropThought(at)
		return
	}
	e.begin(providers.RoleAssistant, at.message, p.Type)
	e.w.Key("thinking")
	e.w.String(p.Thinking)
	e.w.Key("signature")
	e.w.String(p.Signature)
	e.w.EndObject()
}

// dropThought warns of thinking that can't go back; when the platform has
// refused it, the caller is told once.
func (e *claudeEncoder) dropThought(at spot) {
	switch {
	case e.in.distrust:
	case e.foreign:
		e.warnf(providers.WarnDroppedBlock, at.path(""), "left out: it is the thinking of a model of another family")
	case e.mute:
		e.warnf(providers.WarnDroppedBlock, at.path(""), "left out: the platform takes no thinking that nothing follows")
	default:
		e.warnf(providers.WarnDroppedBlock, at.path(""), "left out: thinking goes back only with its signature")
	}
}

// dropSignature warns once of signatures that only Gemini can read.
func (e *claudeEncoder) dropSignature(path string) {
	e.out.warnOnce("signature", providers.WarnDroppedBlock, path, "thought signatures are not sent to this family of models")
}

// isGemini reports whether a message is signed where only Gemini signs: on a
// call, or on what is no thinking.
func isGemini(m *providers.Message) bool {
	signed := func(p providers.ContentPart) bool { return p.Signature != "" && p.Type != providers.PartThinking }
	return slices.ContainsFunc(m.ToolCalls, func(c providers.ToolCall) bool { return callSignature(&c) != "" }) ||
		slices.ContainsFunc(m.ContentBlocks, signed) || slices.ContainsFunc(m.Content.Parts(), signed)
}

// googleBlocks are the types of content blocks that only Gemini has.
var googleBlocks = []string{"executable_code", "code_execution_result"}

// nativeBlock writes a block in the platform's own form, such as a tool that it
// ran, as it came.
func (e *claudeEncoder) nativeBlock(at spot, p *providers.ContentPart) error {
	raw, err := p.MarshalJSON()
	if err != nil || p.Type == "" || slices.Contains(googleBlocks, p.Type) {
		e.warnf(providers.WarnDroppedBlock, at.path(""), "left out: blocks of this type can't be sent to this model")
		return nil //nolint:nilerr // the warning says it
	}
	if p.Type == "tool_use" || p.Type == "tool_result" {
		return providers.Invalid(at.path(""), "calls belong into tool_calls, and results into messages of the role tool")
	}
	if _, cut := p.Extra.Get(cutInput); cut {
		e.warnf(providers.WarnDroppedBlock, at.path(""), "left out: the answer ended within the input of this tool of the platform")
		return nil
	}
	e.turn(providers.RoleAssistant, at.message, "native")
	e.w.Raw(raw)
	return nil
}

// call writes a tool_use.
func (e *claudeEncoder) call(i, j int, c *providers.ToolCall) {
	id := e.callID(i, j, c.ID)
	e.calls = append(e.calls, id)
	e.begin(providers.RoleAssistant, i, "tool_use")
	e.w.Key("id")
	e.w.String(id)
	e.w.Key("name")
	e.w.String(c.Function.Name)
	e.w.Key("input")
	if args := strings.TrimSpace(c.Function.Arguments); args != "" {
		e.w.RawString(args)
	} else {
		e.w.RawString("{}")
	}
	if callSignature(c) != "" {
		e.dropSignature(messagePath(i, "tool_calls["+strconv.Itoa(j)+"].function.thought_signature"))
	}
	if raw, ok := c.Extra.Get("caller"); ok {
		e.w.Key("caller")
		e.w.Raw(raw)
	}
	e.w.EndObject()
	if raw, ok := c.Extra.Get("cache_control"); ok {
		e.mark(messagePath(i, "tool_calls["+strconv.Itoa(j)+"].cache_control"), raw, true)
	}
}
