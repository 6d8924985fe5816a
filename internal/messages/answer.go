package messages

import (
	"cmp"
	"crypto/rand"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// head is what a content block begins with.
type head struct {
	kind string
	// id and name are those of a tool call.
	id, name string
	// data is the content of a redacted_thinking block.
	data string
	// url is that of an image.
	url string
	// raw holds further members, or all those of a block in a form of its own.
	raw []byte
	// input is the input of a call that the platform made, nil for none. It is
	// no part of raw.
	input []byte
}

// delta is the kind of a piece of a block.
type delta uint8

const (
	textDelta delta = iota
	thinkingDelta
	signatureDelta
	inputDelta
)

// sink takes the blocks of an answer, one after the other.
type sink interface {
	begin(h *head)
	piece(d delta, s string)
	cite(citation []byte)
	end() error
}

// answer turns the pieces of a choice into blocks. Blocks come one after the
// other: a piece of another block ends the one before.
type answer struct {
	to sink
	// own says that thinking goes out with its own signature: a Claude model's.
	own bool

	id, model string
	usage     *providers.Usage
	finish    string
	native    string // the platform's own word for finish
	extra     providers.Extra

	open     openBlock
	trailing []carrier // for behind the open block
	sources  []providers.Annotation
	calls    int   // of the calls, how many have begun
	closed   []int // the calls that ended without arguments, and were given {}
	texts    bool  // there is text
	refusal  []byte
}

// openBlock is the block that is being written.
type openBlock struct {
	kind   string // "" when none is
	from   int    // its index among the content blocks, or the calls
	said   bool   // a call's arguments have begun
	signed bool   // it has its signature
	// held is the head of a call that waits for its name, and early what has come
	// of its arguments.
	held  *head
	early []byte
}

// add takes one chunk in.
func (a *answer) add(c *providers.ChatCompletionChunk) error {
	a.id, a.model = cmp.Or(a.id, c.ID), cmp.Or(c.Model, a.model)
	if c.Usage != nil {
		a.usage = c.Usage
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // one answer is all that the schema has
		}
		if err := a.delta(&choice.Delta); err != nil {
			return err
		}
		a.finish = cmp.Or(choice.FinishReason, a.finish)
		a.native = cmp.Or(choice.NativeFinishReason, a.native)
		if len(choice.Extra) > 0 {
			a.extra = choice.Extra
		}
	}
	return nil
}

func (a *answer) delta(d *providers.Delta) error {
	if d.Audio != nil {
		return answerError("the model answers with speech, which a Message can't hold: use POST /v1/chat/completions")
	}
	for i := range d.ContentBlocks {
		b := &d.ContentBlocks[i]
		if err := a.block(b.Index, &b.Delta); err != nil {
			return err
		}
	}
	if d.Content != "" && isApart(d) {
		if err := a.block(-1, &providers.ContentPart{Type: providers.PartText, Text: d.Content}); err != nil {
			return err
		}
	}
	for i := range d.ToolCalls {
		if err := a.call(&d.ToolCalls[i]); err != nil {
			return err
		}
	}
	a.sources = append(a.sources, d.Annotations...)
	if len(d.Extra) > 0 {
		a.refusal = append(a.refusal, jsonx.LookupString(d.Extra, "refusal")...)
	}
	return nil
}

// isApart reports whether the content says what no block of the delta does. Of
// models whose thoughts stand in the content, blocks have both.
func isApart(d *providers.Delta) bool {
	rest := d.Content
	for i := range d.ContentBlocks {
		p := &d.ContentBlocks[i].Delta
		if p.Text != "" {
			return false
		}
		rest = strings.TrimPrefix(rest, p.Thinking)
	}
	return rest != ""
}

// block takes a piece of a content block in.
func (a *answer) block(index int, p *providers.ContentPart) error {
	switch a.kindOf(index, p) {
	case providers.PartThinking:
		return a.thinking(index, p)
	case providers.PartText:
		return a.text(index, p)
	case providers.PartRedactedThinking:
		return a.whole(&head{kind: p.Type, data: p.Data})
	case providers.PartImageURL:
		if p.ImageURL == nil {
			return nil
		}
		if err := a.sign(onOther, p.Signature); err != nil {
			return err
		}
		return a.whole(&head{kind: "image", url: p.ImageURL.URL})
	}
	if p.Type == "audio" && len(p.Extra) == 0 {
		return nil // the signature of speech, of which an error tells
	}
	if err := a.sign(onOther, p.Signature); err != nil {
		return err
	}
	h := head{kind: p.Type, raw: p.Extra}
	if input, ok := jsonx.Lookup(p.Extra, "input"); ok {
		h.raw, h.input = jsonx.DeleteMember(p.Extra, "input"), input
	}
	return a.whole(&h)
}

// kindOf returns the type of a piece. One that has none is of the open block, or
// tells it by what it holds.
func (a *answer) kindOf(index int, p *providers.ContentPart) string {
	switch {
	case p.Type != "":
		return p.Type
	case a.open.kind != "" && a.open.kind != "tool_use" && a.open.from == index:
		return a.open.kind
	case p.Text != "":
		return providers.PartText
	case p.Data != "":
		return providers.PartRedactedThinking
	}
	return providers.PartThinking
}

func (a *answer) thinking(index int, p *providers.ContentPart) error {
	signature := p.Signature
	if !a.own {
		signature = "" // it is not sent back to the model that gave it
	}
	if p.Thinking == "" && signature == "" {
		return nil
	}
	if a.open.kind != providers.PartThinking || a.open.from != index || a.open.signed {
		if err := a.begin(&head{kind: providers.PartThinking}, index); err != nil {
			return err
		}
	}
	if p.Thinking != "" {
		a.to.piece(thinkingDelta, p.Thinking)
	}
	if signature != "" {
		a.to.piece(signatureDelta, signature)
		a.open.signed = true
	}
	return nil
}

func (a *answer) text(index int, p *providers.ContentPart) error {
	isOpen := a.open.kind == providers.PartText && a.open.from == index
	thought := a.open.kind == providers.PartThinking && !a.open.signed
	if p.Signature != "" && p.Text != "" && thought {
		if err := a.sign(onText, p.Signature); err != nil {
			return err
		}
	}
	if p.Text != "" {
		if !isOpen {
			if err := a.begin(&head{kind: providers.PartText}, index); err != nil {
				return err
			}
		}
		a.to.piece(textDelta, p.Text)
		a.texts = true
	}
	switch {
	case p.Signature == "" || p.Text != "" && thought:
	case p.Text != "" || isOpen: // behind it, for who takes the first block for the text
		a.trailing = append(a.trailing, carrier{onBefore, p.Signature})
	default: // which waits: what cites the text before comes with it
		a.trailing = append(a.trailing, carrier{onEmpty, p.Signature})
		if a.open.kind == "" {
			return a.end()
		}
	}
	if cites, ok := p.Extra.Get("citations"); ok && a.open.kind == providers.PartText {
		r := jsonx.NewReader(cites)
		for r.Array(); r.NextElem(); {
			if raw := r.Raw(); raw != nil {
				a.to.cite(raw)
			}
		}
	}
	return nil
}

// sign sends a signature ahead of the block that it belongs to: on the thought
// that is being written, or on an empty one.
func (a *answer) sign(where place, signature string) error {
	if signature == "" {
		return nil
	}
	if a.open.kind != providers.PartThinking || a.open.signed {
		if err := a.begin(&head{kind: providers.PartThinking}, -1); err != nil {
			return err
		}
	}
	a.to.piece(signatureDelta, carrier{where, signature}.String())
	a.open.signed = true
	return nil
}

// begin begins a block, after the one that is open has ended. A call without its
// name waits for it, since a block's start can't be said again.
func (a *answer) begin(h *head, from int) error {
	if err := a.end(); err != nil {
		return err
	}
	a.open = openBlock{kind: h.kind, from: from}
	if h.kind == "tool_use" && h.name == "" {
		a.open.held = h
		return nil
	}
	a.to.begin(h)
	return nil
}

// whole gives out a block that comes in one piece.
func (a *answer) whole(h *head) error {
	if err := a.begin(h, -1); err != nil {
		return err
	}
	if h.input != nil {
		a.to.piece(inputDelta, string(h.input))
	}
	return a.end()
}

// end ends the open block, and gives out the signatures that wait for it.
func (a *answer) end() error {
	if a.open.kind != "" {
		if a.open.held != nil { // it has no name
			a.release()
		}
		if a.open.kind == "tool_use" && !a.open.said {
			a.to.piece(inputDelta, "{}")
			a.closed = append(a.closed, a.open.from)
		}
		a.open = openBlock{}
		if err := a.to.end(); err != nil {
			return err
		}
	}
	for _, c := range a.trailing {
		a.to.begin(&head{kind: providers.PartThinking})
		a.to.piece(signatureDelta, c.String())
		if err := a.to.end(); err != nil {
			return err
		}
	}
	a.trailing = a.trailing[:0]
	return nil
}

// close ends the content. A refusal is the text of an answer that has no other,
// which only its end tells. The sources of an answer belong to its last text.
func (a *answer) close() error {
	if len(a.refusal) > 0 && !a.texts {
		if err := a.text(-1, &providers.ContentPart{Type: providers.PartText, Text: string(a.refusal)}); err != nil {
			return err
		}
	}
	if a.open.kind == providers.PartText {
		var w jsonx.Writer
		for i := range a.sources {
			if c := a.sources[i].URLCitation; c != nil {
				w.Reset(w.Bytes())
				writeCitation(&w, c)
				a.to.cite(w.Bytes())
			}
		}
	}
	return a.end()
}

// writeCitation writes a source as the schema has the results of a web search.
// What the source says is not known, and not made up.
//
// Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
func writeCitation(w *jsonx.Writer, c *providers.URLCitation) {
	w.BeginObject()
	w.Key("type")
	w.String("web_search_result_location")
	w.Key("url")
	w.String(c.URL)
	w.Key("title")
	w.String(c.Title)
	w.Key("encrypted_index")
	w.String("")
	w.Key("cited_text")
	w.String("")
	w.EndObject()
}

// identity returns the message's id, which every message has.
func (a *answer) identity() string {
	if a.id == "" {
		a.id = "msg_" + rand.Text()
	}
	return a.id
}

func answerError(message string) error {
	return &providers.Error{Code: providers.ErrBadResponse, Message: message, Sent: true}
}

// write writes the members that a block begins with, of which those that
// come in pieces are empty.
func (h *head) write(w *jsonx.Writer) {
	w.Key("type")
	w.String(h.kind)
	switch h.kind {
	case providers.PartRedactedThinking:
		w.Key("data")
		w.String(h.data)
	case "tool_use":
		w.Key("id")
		w.String(h.id)
		w.Key("name")
		w.String(h.name)
	case "image":
		w.Key("source")
		writeSource(w, h.url)
	}
	w.Members(h.raw)
}

// writeSource writes where an image is, or what it is.
func writeSource(w *jsonx.Writer, url string) {
	w.BeginObject()
	w.Key("type")
	mime, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if ok && strings.HasPrefix(url, "data:") {
		w.String("base64")
		w.Key("media_type")
		w.String(mime)
		w.Key("data")
		w.String(data)
	} else {
		w.String("url")
		w.Key("url")
		w.String(url)
	}
	w.EndObject()
}
