package vertex

import (
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// sentinelSignature stands in for a thought signature that the client lost.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures
const sentinelSignature = "skip_thought_signature_validator"

// geminiFamily speaks generateContent.
type geminiFamily struct{}

func (geminiFamily) verb(stream bool) (verb, query string) {
	if stream {
		return "streamGenerateContent", "alt=sse"
	}
	return "generateContent", ""
}

func (geminiFamily) encode(m *model, q *providers.ChatCompletionRequest, buf []byte) ([]byte, []providers.Warning, error) {
	e := geminiEncoder{q: q, m: m}
	e.w.Reset(buf)
	err := e.request()
	return e.w.Bytes(), e.warnings, err
}

// geminiEncoder writes one generateContent body straight from the request: the
// messages, which are the bulk of it, are read once and copied once.
type geminiEncoder struct {
	w        jsonx.Writer
	q        *providers.ChatCompletionRequest
	m        *model
	warnings []providers.Warning

	role    string               // of the open turn, "" when none is open
	calls   []providers.ToolCall // of the last assistant turn
	turn    int                  // index of the last user message, where the current turn begins
	systems int                  // number of system messages
}

func (e *geminiEncoder) warn(w providers.Warning) { e.warnings = append(e.warnings, w) }

func (e *geminiEncoder) warnf(code, param, message string) {
	e.warn(providers.Warning{Code: code, Param: param, Message: message})
}

func (e *geminiEncoder) request() error {
	e.w.BeginObject()
	if err := e.contents(); err != nil {
		return err
	}
	if err := e.system(); err != nil {
		return err
	}
	if err := e.tools(); err != nil {
		return err
	}
	if err := e.generationConfig(); err != nil {
		return err
	}
	if err := e.labels(); err != nil {
		return err
	}
	if err := e.extras(); err != nil {
		return err
	}
	e.w.EndObject()
	return e.w.Err()
}

// contents writes the turns. Messages of the same role merge into one turn,
// and a turn without any part is not written.
func (e *geminiEncoder) contents() error {
	msgs := e.q.Messages
	for i := range msgs {
		if msgs[i].Role == providers.RoleUser {
			e.turn = i
		}
	}
	e.w.Key("contents")
	start := e.w.Len()
	e.w.BeginArray()
	open := e.w.Len()
	for i := 0; i < len(msgs); i++ {
		m := &msgs[i]
		var err error
		switch m.Role {
		case providers.RoleSystem, providers.RoleDeveloper:
			e.systems++
		case providers.RoleUser:
			err = e.parts("user", i, m)
		case providers.RoleAssistant:
			err = e.assistant(i, m)
		case providers.RoleTool:
			last := i
			for last+1 < len(msgs) && msgs[last+1].Role == providers.RoleTool {
				last++
			}
			err = e.results(i, msgs[i:last+1])
			i = last
		}
		if err != nil {
			return err
		}
	}
	e.endTurn()
	if e.w.Len() == open {
		e.w.Truncate(start)
		return providers.Invalid("messages", "no message has any content")
	}
	e.w.EndArray()
	return e.checkPrefill()
}

// checkPrefill refuses a conversation that ends with the assistant where the
// model would.
func (e *geminiEncoder) checkPrefill() error {
	last := len(e.q.Messages) - 1
	if e.m.facts.NoPrefill && e.q.Messages[last].Role == providers.RoleAssistant {
		return providers.Invalid(messagePath(last, "role"),
			"this model does not continue an assistant message: end the conversation with a user or tool message")
	}
	return nil
}

// part begins a part in a turn of the given role; endPart ends it.
func (e *geminiEncoder) part(role string) {
	if e.role != role {
		e.endTurn()
		e.role = role
		e.w.BeginObject()
		e.w.Key("role")
		e.w.String(role)
		e.w.Key("parts")
		e.w.BeginArray()
	}
	e.w.BeginObject()
}

func (e *geminiEncoder) endPart(signature string) {
	if signature != "" {
		e.w.Key("thoughtSignature")
		e.w.String(signature)
	}
	e.w.EndObject()
}

func (e *geminiEncoder) endTurn() {
	if e.role != "" {
		e.w.EndArray()
		e.w.EndObject()
		e.role = ""
	}
}

// textPart writes text. Empty text is left out, unless a signature rides on it.
func (e *geminiEncoder) textPart(role, text, signature string) {
	if text == "" && signature == "" {
		return
	}
	e.part(role)
	e.w.Key("text")
	e.w.String(text)
	e.endPart(signature)
}

// parts writes a message's content.
func (e *geminiEncoder) parts(role string, i int, m *providers.Message) error {
	parts := m.Content.Parts()
	if parts == nil {
		e.textPart(role, m.Content.Text(), "")
		return nil
	}
	for j := range parts {
		if err := e.contentPart(role, i, j, &parts[j]); err != nil {
			return err
		}
	}
	return nil
}

func (e *geminiEncoder) contentPart(role string, i, j int, p *providers.ContentPart) error {
	switch p.Type {
	case providers.PartText, "refusal":
		e.textPart(role, p.Text, p.Signature)
		return nil
	case providers.PartImageURL:
		if p.ImageURL == nil || p.ImageURL.URL == "" {
			return providers.Invalid(partPath(i, j, "image_url.url"), "a URL is required")
		}
		md, fault := parseMedia(p.ImageURL.URL, p.ImageURL.MimeType)
		if fault != "" {
			return providers.Invalid(partPath(i, j, "image_url.url"), fault)
		}
		e.part(role)
		e.media(md)
		e.endPart(p.Signature)
		return nil
	case providers.PartThinking, providers.PartRedactedThinking:
		e.warnf(providers.WarnDroppedBlock, partPath(i, j, ""), "thinking is not sent back to this family of models")
		return nil
	}
	return providers.Invalid(partPath(i, j, "type"), "content parts of type "+strconv.Quote(p.Type)+" are not supported for this model: use text or image_url")
}

// media writes inlineData or fileData.
func (e *geminiEncoder) media(md media) {
	if md.uri != "" {
		e.w.Key("fileData")
		e.w.BeginObject()
		e.w.Key("mimeType")
		e.w.String(md.mime)
		e.w.Key("fileUri")
		e.w.String(md.uri)
		e.w.EndObject()
		return
	}
	e.w.Key("inlineData")
	e.w.BeginObject()
	e.w.Key("mimeType")
	e.w.String(md.mime)
	e.w.Key("data")
	e.w.Verbatim(md.base64)
	e.w.EndObject()
}

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
	if len(m.ContentBlocks) == 0 || !m.Content.IsAbsent() && !sameText(m) {
		return e.parts("model", i, m)
	}
	for j := range m.ContentBlocks {
		p := &m.ContentBlocks[j]
		if p.Type == providers.PartThinking || p.Type == providers.PartRedactedThinking {
			continue // reasoning is the model's own; it is not sent back
		}
		if err := e.contentPart("model", i, j, p); err != nil {
			return err
		}
	}
	return nil
}

// sameText reports whether the content is the text of the content blocks.
func sameText(m *providers.Message) bool {
	text := m.Content.Text()
	for i := range m.ContentBlocks {
		if p := &m.ContentBlocks[i]; p.Type == providers.PartText {
			rest, ok := strings.CutPrefix(text, p.Text)
			if !ok {
				return false
			}
			text = rest
		}
	}
	return text == ""
}

// call writes a functionCall with its signature. The first call of a step of
// the current turn must have one: a lost one is stood in for.
func (e *geminiEncoder) call(i, j int, c *providers.ToolCall) {
	signature := callSignature(c)
	if signature == "" && j == 0 && i > e.turn && e.m.facts.NeedsSignatures {
		signature = sentinelSignature
		e.warnf(providers.WarnSignature, messagePath(i, "tool_calls[0].function.thought_signature"),
			"the thought signature is missing, and the answer may suffer: send the assistant message back as it came")
	}
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

// callSignature finds the signature where this schema, or the platform's own
// OpenAI surface, puts it.
func callSignature(c *providers.ToolCall) string {
	if c.Function.ThoughtSignature != "" || len(c.Extra) == 0 {
		return c.Function.ThoughtSignature
	}
	extra, _ := c.Extra.Get("extra_content")
	google, _ := jsonx.Lookup(extra, "google")
	raw, _ := jsonx.Lookup(google, "thought_signature")
	r := jsonx.NewReader(raw)
	return r.String()
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

// results writes the tool messages run, which answer the calls of the turn
// before, in the order of the calls.
func (e *geminiEncoder) results(first int, run []providers.Message) error {
	done := make([]bool, len(run))
	for i := range e.calls {
		c := &e.calls[i]
		for j := range run {
			if done[j] || run[j].ToolCallID != c.ID && run[j].ToolCallID != "" {
				continue
			}
			done[j] = true
			if err := e.result(first+j, c, &run[j]); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// result writes a functionResponse: an object as it is, anything else as
// {"output":…}, an error as {"error":…}.
func (e *geminiEncoder) result(i int, c *providers.ToolCall, m *providers.Message) error {
	e.part("user")
	e.w.Key("functionResponse")
	e.w.BeginObject()
	e.callID(c.ID)
	e.w.Key("name")
	e.w.String(c.Function.Name)
	e.w.Key("response")
	text := m.Content.Text()
	failed, _ := m.Extra.Get("is_error")
	if s := strings.TrimSpace(text); string(failed) != "true" && s != "" && s[0] == '{' && jsonx.ValidString(s) {
		e.w.RawString(s)
	} else {
		e.w.BeginObject()
		if string(failed) == "true" {
			e.w.Key("error")
		} else {
			e.w.Key("output")
		}
		e.w.String(text)
		e.w.EndObject()
	}
	err := e.resultMedia(i, m.Content.Parts())
	e.w.EndObject()
	e.endPart("")
	return err
}

// resultMedia writes what a tool returned beside text.
func (e *geminiEncoder) resultMedia(i int, parts []providers.ContentPart) error {
	open := false
	for j := range parts {
		p := &parts[j]
		if p.Type == providers.PartText {
			continue
		}
		if p.Type != providers.PartImageURL || p.ImageURL == nil || !e.m.facts.CallIDs {
			return providers.Invalid(partPath(i, j, "type"), "this model takes only text in a tool result")
		}
		md, fault := parseMedia(p.ImageURL.URL, p.ImageURL.MimeType)
		if fault != "" {
			return providers.Invalid(partPath(i, j, "image_url.url"), fault)
		}
		if !open {
			e.w.Key("parts")
			e.w.BeginArray()
			open = true
		}
		e.w.BeginObject()
		e.media(md)
		e.w.EndObject()
	}
	if open {
		e.w.EndArray()
	}
	return nil
}

// system writes the system messages, from any position, as one instruction.
func (e *geminiEncoder) system() error {
	if e.systems == 0 {
		return nil
	}
	start := e.w.Len()
	e.w.Key("systemInstruction")
	e.w.BeginObject()
	e.w.Key("parts")
	e.w.BeginArray()
	open := e.w.Len()
	for i := range e.q.Messages {
		m := &e.q.Messages[i]
		if m.Role != providers.RoleSystem && m.Role != providers.RoleDeveloper {
			continue
		}
		if m.Content.Parts() == nil {
			e.systemText(m.Content.Text())
		}
		for j, p := range m.Content.Parts() {
			if p.Type != providers.PartText {
				return providers.Invalid(partPath(i, j, "type"), "a system message takes only text")
			}
			e.systemText(p.Text)
		}
	}
	if e.w.Len() == open {
		e.w.Truncate(start)
		return nil
	}
	e.w.EndArray()
	e.w.EndObject()
	return nil
}

func (e *geminiEncoder) systemText(text string) {
	if text == "" {
		return
	}
	e.w.BeginObject()
	e.w.Key("text")
	e.w.String(text)
	e.w.EndObject()
}

func messagePath(i int, member string) string {
	return "messages[" + strconv.Itoa(i) + "]." + member
}

func partPath(i, j int, member string) string {
	path := messagePath(i, "content["+strconv.Itoa(j)+"]")
	if member != "" {
		path += "." + member
	}
	return path
}
