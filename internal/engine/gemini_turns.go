package engine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// assistant writes an assistant turn: its text, with the signatures that came
// with it, and then its calls.
func (e *geminiEncoder) assistant(i int, m *providers.Message) error {
	e.calls = m.ToolCalls
	if err := e.assistantText(i, m); err != nil {
		return err
	}
	for j := range m.ToolCalls {
		e.call(i, j, &m.ToolCalls[j])
	}
	return nil
}

// assistantText prefers the content blocks, which carry signatures, as long as
// the caller has not changed the text beside them.
func (e *geminiEncoder) assistantText(i int, m *providers.Message) error {
	if len(m.ContentBlocks) == 0 {
		return e.spoken(i, m)
	}
	if !m.Content.IsAbsent() && !sameText(m) {
		if slices.ContainsFunc(m.ContentBlocks, isMore) {
			e.warnf(providers.WarnDroppedBlock, messagePath(i, "content_blocks"),
				"left out, with what it holds beside text: content says something else, and wins")
		}
		return e.spoken(i, m)
	}
	for j := range m.ContentBlocks {
		p := &m.ContentBlocks[j]
		switch p.Type {
		case providers.PartThinking, providers.PartRedactedThinking:
			e.leaveThought(i, j, m)
		case providers.PartText, providers.PartImageURL:
			if err := e.contentPart("model", i, j, p); err != nil {
				return err
			}
		default:
			e.nativePart(i, j, p)
		}
	}
	return nil
}

// speaks reports whether anything of an assistant message is sent.
func (e *geminiEncoder) speaks(m *providers.Message) bool {
	if len(m.ToolCalls) > 0 || hasContent(&m.Content) {
		return true
	}
	return slices.ContainsFunc(m.ContentBlocks, func(p providers.ContentPart) bool {
		return isMore(p) || p.Type == providers.PartText && (p.Text != "" || p.Signature != "" && !e.in.distrust)
	}) || googleExtra(m.Extra) != nil && !e.in.distrust
}

// leaveThought leaves out the thought in the content block j. That of Gemini is
// its own and never goes back; that of a Claude model is missed when the
// conversation returns to it.
func (e *geminiEncoder) leaveThought(i, j int, m *providers.Message) {
	if isSigned(m.ContentBlocks[j]) && !isGemini(m) {
		e.out.warnOnce("thought", providers.WarnDroppedBlock, messagePath(i, "content_blocks["+strconv.Itoa(j)+"]"),
			"left out: it is the thinking of a model of another family")
	}
}

// isMore reports whether a content block holds more than text and reasoning.
func isMore(p providers.ContentPart) bool {
	return p.Type != providers.PartText && p.Type != providers.PartThinking && p.Type != providers.PartRedactedThinking
}

// spoken writes an assistant's content. The platform's own OpenAI surface puts
// the signature of the text, and the mark of a thought, on the message.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/start/openai
func (e *geminiEncoder) spoken(i int, m *providers.Message) error {
	google := googleExtra(m.Extra)
	if google == nil {
		return e.parts("model", i, m)
	}
	thought, _ := jsonx.Lookup(google, "thought")
	e.thought = string(thought) == "true"
	defer func() { e.thought = false }()
	signature := memberText(google, "thought_signature")
	parts := m.Content.Parts()
	if parts == nil {
		e.textPart("model", m.Content.Text(), signature)
		return nil
	}
	last := len(parts) - 1
	for last >= 0 && parts[last].Type != providers.PartText {
		last--
	}
	for j := range parts {
		p := parts[j]
		if j == last {
			p.Signature = cmp.Or(p.Signature, signature)
		}
		if err := e.contentPart("model", i, j, &p); err != nil {
			return err
		}
	}
	if last < 0 {
		e.textPart("model", "", signature)
	}
	return nil
}

// googleExtra returns the platform's own object among the members beyond the
// schema, nil for none.
func googleExtra(extra providers.Extra) []byte {
	if len(extra) == 0 {
		return nil
	}
	raw, _ := extra.Get("extra_content")
	google, _ := jsonx.Lookup(raw, "google")
	return google
}

// memberText returns a member that is text, "" for anything else.
func memberText(obj []byte, name string) string {
	raw, _ := jsonx.Lookup(obj, name)
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.String {
		return ""
	}
	return r.String()
}

// nativeParts are the types of content blocks that hold a part in the platform's
// own form, with its name there. They go back as they came.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Content#Part
var nativeParts = map[string]string{
	"executable_code": "executableCode", "code_execution_result": "codeExecutionResult",
}

// ownNativeParts are further ones, of calls that the platform made itself: only
// the vendor's own service takes them.
//
// Source: https://ai.google.dev/gemini-api/docs/tool-combination
var ownNativeParts = map[string]string{"tool_call": "toolCall", "tool_response": "toolResponse"}

func (e *geminiEncoder) nativePart(i, j int, p *providers.ContentPart) {
	name := nativeParts[p.Type]
	if name == "" && e.m.Own {
		name = ownNativeParts[p.Type]
	}
	raw, ok := p.Extra.Get(name)
	if !ok {
		e.warnf(providers.WarnDroppedBlock, messagePath(i, "content_blocks["+strconv.Itoa(j)+"]"),
			"left out: blocks of this type can't be sent back")
		return
	}
	e.part("model")
	e.w.Key(name)
	e.w.Raw(raw)
	if thought, _ := p.Extra.Get("thought"); string(thought) == "true" {
		e.w.Key("thought")
		e.w.Bool(true)
	}
	e.endPart(p.Signature)
}

// sameText reports whether the content is the text of the content blocks, or
// that text with the thoughts before it, as models give it whose thoughts stand
// in the content.
func sameText(m *providers.Message) bool {
	text := m.Content.Text()
	return isTextOf(m.ContentBlocks, text, false) || isTextOf(m.ContentBlocks, text, true)
}

func isTextOf(blocks []providers.ContentPart, text string, thoughts bool) bool {
	ok, thought := true, false
	for i := range blocks {
		switch p := &blocks[i]; {
		case thoughts && p.Type == providers.PartThinking && p.Thinking != "":
			text, ok = strings.CutPrefix(text, p.Thinking)
			thought = true
		case p.Type == providers.PartText && p.Text != "":
			if thought {
				text, ok = strings.CutPrefix(text, thoughtEnd)
				thought = false
			}
			if ok {
				text, ok = strings.CutPrefix(text, p.Text)
			}
		}
		if !ok {
			return false
		}
	}
	return text == ""
}

// call writes a functionCall with its signature.
func (e *geminiEncoder) call(i, j int, c *providers.ToolCall) {
	signature := e.signatureOf(i, j, c)
	e.part("model")
	e.w.Key("functionCall")
	e.w.BeginObject()
	e.callID(c.ID)
	e.w.Key("name")
	e.w.String(c.Function.Name)
	e.w.Key("args")
	e.objectText(c.Function.Arguments)
	e.w.EndObject()
	e.endPart(signature)
}

// signatureOf returns the signature of the j-th call of the message i. Of a step,
// the first call has one and the others do not. A lost one is looked for in
// memory; the first call of a step of the current turn must have one where the
// model insists, so that the sentinel stands in as the last resort.
func (e *geminiEncoder) signatureOf(i, j int, c *providers.ToolCall) string {
	signature := callSignature(c)
	switch {
	case e.in.distrust:
		signature = ""
	case signature != "" || j > 0:
		return signature
	default:
		signature = e.in.recall(c)
	}
	if signature != "" || j > 0 || i <= e.turn || !e.m.facts.NeedsSignatures {
		return signature
	}
	if e.in.signatures != nil {
		e.in.signatures.sentinels.Add(1)
	}
	e.warnf(providers.WarnSignature, messagePath(i, "tool_calls[0].function.thought_signature"),
		"the thought signature is missing, and the answer may suffer: send the assistant message back as it came")
	return sentinelSignature
}

// callSignature finds the signature where this schema, or the platform's own
// OpenAI surface, puts it.
func callSignature(c *providers.ToolCall) string {
	if c.Function.ThoughtSignature != "" || len(c.Extra) == 0 {
		return c.Function.ThoughtSignature
	}
	return memberText(googleExtra(c.Extra), "thought_signature")
}

func (e *geminiEncoder) callID(id string) {
	if id != "" && e.m.facts.CallIDs {
		e.w.Key("id")
		e.w.String(id)
	}
}

// objectText writes the text of a JSON object as that object.
func (e *geminiEncoder) objectText(s string) {
	if s = strings.TrimSpace(s); s == "" {
		s = "{}"
	}
	e.w.RawString(s)
}
