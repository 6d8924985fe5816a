package engine

import (
	"strconv"
	"strings"
	"sync"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/schema"
	"github.com/b650d4bf/gateway/providers"
)

// geminiFamily speaks generateContent.
type geminiFamily struct {
	rooms     *sync.Pool // of *geminiRoom, empty; nil keeps none
	encoders  *sync.Pool // of *geminiEncoder, empty; nil keeps none
	maxInline int        // Config.MaxInlineBytes
	schemas   *schema.Cache
}

func (geminiFamily) verb(stream bool) (verb, query string) {
	if stream {
		return "streamGenerateContent", "alt=sse"
	}
	return "generateContent", ""
}

func (f geminiFamily) encode(in *request, out *outgoing, buf []byte) ([]byte, error) {
	e := f.spare()
	*e = f.encoder(in, out)
	defer f.keep(e)
	e.w.Reset(buf)
	err := e.request()
	return e.w.Bytes(), err
}

// spare returns an encoder that is used again, if there is one, and keep has it
// used again.
func (f geminiFamily) spare() *geminiEncoder {
	if f.encoders != nil {
		if e, ok := f.encoders.Get().(*geminiEncoder); ok {
			return e
		}
	}
	return new(geminiEncoder)
}

func (f geminiFamily) keep(e *geminiEncoder) {
	if f.encoders != nil {
		*e = geminiEncoder{} // it holds the request
		f.encoders.Put(e)
	}
}

func (f geminiFamily) encoder(in *request, out *outgoing) geminiEncoder {
	return geminiEncoder{q: in.chat, m: &in.model, in: in, out: out, maxInline: f.maxInline, schemas: f.schemas}
}

// purpose is what a body is written for. Bodies for the other purposes are made
// of the same members, but not of all.
type purpose uint8

const (
	toAnswer purpose = iota // generateContent
	toCount                 // countTokens
	toCache                 // cachedContents
)

// geminiEncoder writes one generateContent body straight from the request: the
// messages, which are the bulk of it, are read once and copied once.
type geminiEncoder struct {
	w   jsonx.Writer
	q   *providers.ChatCompletionRequest
	m   *Model
	in  *request
	out *outgoing

	purpose purpose

	role    string               // of the open turn, "" when none is open
	calls   []providers.ToolCall // of the last assistant turn
	turn    int                  // index of the message where the current turn begins, or -1
	at      int                  // index of the message being written
	last    int                  // index of the message that wrote the last part
	spoke   string               // role of the last part
	thought bool                 // the parts being written are thoughts
	systems int                  // number of system messages
	extra   []member             // members beyond the schema
	tooled  bool                 // tools were written

	schemas   *schema.Cache
	maxInline int        // Config.MaxInlineBytes
	tally     mediaTally // of the media so far
}

func (e *geminiEncoder) warnf(code, param, message string) {
	e.out.warn(code, param, message)
}

func (e *geminiEncoder) request() error {
	if err := e.collect(); err != nil {
		return err
	}
	e.w.BeginObject()
	for _, stage := range [...]func(*geminiEncoder) error{
		(*geminiEncoder).contents,
		(*geminiEncoder).system,
		(*geminiEncoder).tools,
		(*geminiEncoder).generationConfig,
		(*geminiEncoder).labels,
		(*geminiEncoder).cachedContent,
		(*geminiEncoder).serviceTier,
		(*geminiEncoder).extras,
	} {
		if err := stage(e); err != nil {
			return err
		}
	}
	e.leftovers()
	e.out.countUntold()
	e.w.EndObject()
	return e.w.Err()
}

// contents writes the turns. Messages of the same role merge into one turn,
// and a turn without any part is not written.
func (e *geminiEncoder) contents() error {
	msgs := e.q.Messages
	e.turn = currentTurn(msgs, e.speaks)
	start := e.w.Len()
	e.w.Key("contents")
	e.w.BeginArray()
	open := e.w.Len()
	for i := 0; i < len(msgs); i++ {
		m := &msgs[i]
		e.at = i
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
		if e.purpose == toCache { // which may keep a system message or tools alone
			return nil
		}
		return errNoContent()
	}
	e.w.EndArray()
	return e.checkPrefill()
}

func errNoContent() error { return providers.Invalid("messages", "no message has any content") }

// currentTurn returns the index of the message where the current turn begins:
// the last user message that has a turn to itself. One that follows tool
// results is written into their turn, and an empty one is not written; nor is an
// assistant message that does not speak. Without any, it begins before the first
// message.
func currentTurn(msgs []providers.Message, speaks func(*providers.Message) bool) int {
	turn, afterTool := -1, false
	for i := range msgs {
		switch m := &msgs[i]; m.Role {
		case providers.RoleTool:
			afterTool = true
		case providers.RoleAssistant:
			afterTool = afterTool && !speaks(m)
		case providers.RoleUser:
			if !afterTool && hasContent(&m.Content) {
				turn = i
			}
		}
	}
	return turn
}

// hasContent reports whether the content comes to any part.
func hasContent(c *providers.Content) bool {
	parts := c.Parts()
	for i := range parts {
		switch p := &parts[i]; p.Type {
		case providers.PartThinking, providers.PartRedactedThinking:
		case providers.PartText:
			if p.Text != "" {
				return true
			}
		default:
			return true
		}
	}
	return parts == nil && c.Text() != ""
}

// checkPrefill refuses a conversation that ends with the assistant where the
// model would. One that is kept or counted may go on.
func (e *geminiEncoder) checkPrefill() error {
	if e.purpose == toAnswer && e.m.facts.NoPrefill && e.spoke == "model" {
		return providers.Invalid(messagePath(e.last, "role"),
			"this model does not continue an assistant message: end the conversation with a user or tool message")
	}
	return nil
}

// part begins a part in a turn of the given role; endPart ends it.
func (e *geminiEncoder) part(role string) {
	if e.spoke == "" && role == "model" && e.m.userFirst {
		e.blankTurn()
	}
	if e.role != role {
		e.endTurn()
		e.role = role
		e.w.BeginObject()
		e.w.Key("role")
		e.w.String(role)
		e.w.Key("parts")
		e.w.BeginArray()
	}
	e.spoke, e.last = role, e.at
	e.w.BeginObject()
}

// blankTurn has the user begin a conversation that the assistant begins. It has
// a space, since text must not be empty.
func (e *geminiEncoder) blankTurn() {
	e.warnf(providers.WarnAdjusted, messagePath(e.at, ""), "a blank user turn was put before it: this model wants the user to begin")
	e.part("user")
	e.w.Key("text")
	e.w.String(" ")
	e.w.EndObject()
}

// endPart ends the part with its signature, unless the platform has refused
// those of the request.
func (e *geminiEncoder) endPart(signature string) {
	if e.thought {
		e.w.Key("thought")
		e.w.Bool(true)
	}
	if signature != "" && (!e.in.distrust || signature == sentinelSignature) {
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
	if text == "" && (signature == "" || e.in.distrust) {
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
	case providers.PartText:
		e.textPart(role, p.Text, p.Signature)
		return nil
	case "refusal":
		raw, _ := p.Extra.Get("refusal")
		r := jsonx.NewReader(raw)
		e.textPart(role, r.String(), p.Signature)
		return nil
	case providers.PartImageURL, providers.PartInputAudio, providers.PartFile:
		return e.mediaPart(role, i, j, p)
	case "search_result", "document":
		return e.quote(role, i, j, p)
	case providers.PartThinking, providers.PartRedactedThinking:
		e.warnf(providers.WarnDroppedBlock, partPath(i, j, ""), "thinking is not sent back to this family of models")
		return nil
	}
	return providers.Invalid(partPath(i, j, "type"), "content parts of type "+strconv.Quote(clip(p.Type))+" are not supported for this model: use text, image_url, input_audio or file")
}

// system writes the system messages, from any position, as one instruction.
func (e *geminiEncoder) system() error {
	switch {
	case e.systems == 0:
		return nil
	case e.m.facts.SpeaksOnly():
		return providers.Invalid("messages", "this model speaks the text of the user message and takes no system message: say there how to speak")
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

// clip shortens a word of the caller's for an error message.
func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
