package answers

import (
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// Pieces of texts are about pieceSize bytes long, at the ends of words, and of long
// texts more, so that there are about maxPieces at most.
const (
	pieceSize = 24
	maxPieces = 256
)

// Chunks returns the stream of a whole answer, in natural pieces: for each choice
// its role, thinking, text, media and tool calls in the order of the answer, and
// how it ended; then the usage. Folded they are the answer again. The answer must
// not be changed while they are in use.
func Chunks(a *providers.ChatCompletion) []*providers.ChatCompletionChunk {
	r := replayer{answer: a}
	for i := range a.Choices {
		c := &a.Choices[i]
		r.choice, r.first = c, true
		r.message(&c.Message)
		r.finish()
	}
	if a.Usage != nil || len(r.list) == 0 {
		r.add().Usage = a.Usage
	}
	r.list[0].Extra, r.list[0].Meta, r.list[0].PromptUsage = a.Extra, &a.Meta, promptUsage(a.Usage)
	return r.list
}

// promptUsage is what is known of the usage when a stream begins.
func promptUsage(u *providers.Usage) *providers.Usage {
	if u == nil {
		return nil
	}
	own := *u
	own.CompletionTokens, own.TotalTokens, own.CompletionTokensDetails = 0, u.PromptTokens, providers.CompletionTokensDetails{}
	return &own
}

// replayer makes the chunks of an answer.
type replayer struct {
	answer *providers.ChatCompletion
	choice *providers.Choice
	first  bool // nothing of the choice was said yet
	list   []*providers.ChatCompletionChunk
}

// add appends a chunk of no choice.
func (r *replayer) add() *providers.ChatCompletionChunk {
	a := r.answer
	c := &providers.ChatCompletionChunk{ID: a.ID, Created: a.Created, Model: a.Model, Provider: a.Provider}
	r.list = append(r.list, c)
	return c
}

// say appends a chunk of the choice. The first one has its role, what belongs to no
// piece, and the log probabilities.
func (r *replayer) say(d providers.Delta) *providers.ChunkChoice {
	room := new(struct {
		chunk  providers.ChatCompletionChunk
		choice [1]providers.ChunkChoice
	})
	a := r.answer
	room.chunk = providers.ChatCompletionChunk{ID: a.ID, Created: a.Created, Model: a.Model, Provider: a.Provider}
	c := &room.choice[0]
	c.Index, c.Delta = r.choice.Index, d
	if r.first {
		r.first = false
		c.Delta.Role, c.Delta.Extra, c.Logprobs = providers.RoleAssistant, r.choice.Message.Extra, r.choice.Logprobs
	}
	room.chunk.Choices = room.choice[:]
	r.list = append(r.list, &room.chunk)
	return c
}

func (r *replayer) message(m *providers.Message) {
	text := m.Content.Text()
	if spoken, ok := r.aligned(m, text); ok {
		r.blocks(m, spoken)
	} else { // the order of the two is not known
		r.blocks(m, nil)
		for size := pieceOf(text); text != ""; {
			var piece string
			piece, text = cutAt(text, size)
			r.say(providers.Delta{Content: piece})
		}
	}
	for i := range m.ToolCalls {
		r.call(i, &m.ToolCalls[i])
	}
	if m.Audio != nil {
		r.say(providers.Delta{Audio: new(*m.Audio)})
	}
	if r.first {
		r.say(providers.Delta{})
	}
}

// thoughtEnd stands between thought and answer in the content of models whose
// thoughts are in it.
const thoughtEnd = "\r\n\r\n"

// aligned returns, for each block of the message, what stands before its text in
// the content, and "-" for a block that is not in the content at all. It reports
// whether the content is made of the blocks.
func (*replayer) aligned(m *providers.Message, content string) ([]string, bool) {
	if len(m.ContentBlocks) == 0 {
		return nil, content == ""
	}
	thoughts := false
	if n := len(content); n > 0 {
		for i := range m.ContentBlocks {
			n -= len(m.ContentBlocks[i].Text)
		}
		thoughts = n > 0 // there is more than the text
	}
	before := make([]string, len(m.ContentBlocks))
	rest := content
	for i := range m.ContentBlocks {
		b := &m.ContentBlocks[i]
		switch {
		case b.Type == providers.PartText && b.Text != "":
			if thoughts && strings.HasPrefix(rest, thoughtEnd+b.Text) {
				before[i], rest = thoughtEnd, rest[len(thoughtEnd):]
			}
			after, ok := strings.CutPrefix(rest, b.Text)
			if !ok {
				return nil, false
			}
			rest = after
		case thoughts && b.Thinking != "" && strings.HasPrefix(rest, b.Thinking):
			rest = rest[len(b.Thinking):]
		default:
			before[i] = unspoken
		}
	}
	return before, rest == ""
}

// unspoken marks a block that is not in the content.
const unspoken = "-"

// blocks says the blocks, with what of the content stands for each; before is nil
// when the content is said apart.
func (r *replayer) blocks(m *providers.Message, before []string) {
	for i := range m.ContentBlocks {
		b := &m.ContentBlocks[i]
		lead, spoken := "", before != nil && before[i] != unspoken
		if spoken {
			lead = before[i]
		}
		switch {
		case b.Type == providers.PartText && b.Text != "":
			r.pieces(i, b, b.Text, lead, spoken)
		case b.Type == providers.PartThinking && b.Thinking != "":
			r.pieces(i, b, b.Thinking, lead, spoken)
		default:
			r.say(providers.Delta{ContentBlocks: []providers.ContentBlockDelta{{Index: i, Delta: *b}}})
		}
	}
}

// pieces says a block of text or thinking. What else it has comes with its last
// piece.
func (r *replayer) pieces(index int, b *providers.ContentPart, text, lead string, spoken bool) {
	size := pieceOf(text)
	for text != "" {
		var piece string
		piece, text = cutAt(text, size)
		part := providers.ContentPart{Type: b.Type}
		if text == "" {
			part = *b
			part.Text, part.Thinking = "", ""
		}
		if b.Type == providers.PartThinking {
			part.Thinking = piece
		} else {
			part.Text = piece
		}
		d := providers.Delta{ContentBlocks: []providers.ContentBlockDelta{{Index: index, Delta: part}}}
		if spoken {
			d.Content, lead = lead+piece, ""
		}
		r.say(d)
	}
}

// call says a tool call: who is called first, and then the arguments.
func (r *replayer) call(index int, c *providers.ToolCall) {
	arguments := c.Function.Arguments
	size := pieceOf(arguments)
	d := providers.ToolCallDelta{Index: index, ID: c.ID, Type: c.Type, Function: c.Function, Extra: c.Extra}
	for {
		d.Function.Arguments, arguments = cutAt(arguments, size)
		r.say(providers.Delta{ToolCalls: []providers.ToolCallDelta{d}})
		if arguments == "" {
			return
		}
		d = providers.ToolCallDelta{Index: index}
	}
}

// finish says how the choice ended.
func (r *replayer) finish() {
	c := r.say(providers.Delta{Annotations: r.choice.Message.Annotations})
	c.FinishReason, c.NativeFinishReason, c.Extra = r.choice.FinishReason, r.choice.NativeFinishReason, r.choice.Extra
}

// pieceOf is the size of the pieces of a text.
func pieceOf(text string) int { return max(pieceSize, len(text)/maxPieces) }

// cutAt cuts a text behind the first word that ends at size or later; where there
// is none soon, between two characters.
func cutAt(text string, size int) (piece, rest string) {
	if len(text) <= size {
		return text, ""
	}
	window := text[size:min(len(text), 2*size)]
	if i := strings.IndexAny(window, " \n\t"); i >= 0 {
		return text[:size+i+1], text[size+i+1:]
	}
	end := size
	for end < len(text) && text[end]&0xC0 == 0x80 { // within a character
		end++
	}
	return text[:end], text[end:]
}

// Clone returns a chunk of its own for one of several readers: what callers and
// projections change of it is not shared.
func Clone(c *providers.ChatCompletionChunk) *providers.ChatCompletionChunk {
	room := new(struct {
		chunk  providers.ChatCompletionChunk
		choice [1]providers.ChunkChoice
	})
	room.chunk = *c
	own := &room.chunk
	own.Usage, own.PromptUsage = cloned(c.Usage), cloned(c.PromptUsage)
	own.Meta = cloned(c.Meta)
	if len(c.Choices) == 0 {
		return own
	}
	own.Choices = append(room.choice[:0], c.Choices...)
	for i := range own.Choices {
		ch := &own.Choices[i]
		ch.Logprobs = cloned(ch.Logprobs)
		d := &ch.Delta
		d.Audio = cloned(d.Audio)
		d.ToolCalls = append([]providers.ToolCallDelta(nil), d.ToolCalls...)
		d.ContentBlocks = append([]providers.ContentBlockDelta(nil), d.ContentBlocks...)
		d.Annotations = append([]providers.Annotation(nil), d.Annotations...)
		for j := range d.ContentBlocks {
			p := &d.ContentBlocks[j].Delta
			p.ImageURL, p.InputAudio, p.File = cloned(p.ImageURL), cloned(p.InputAudio), cloned(p.File)
		}
	}
	return own
}

func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
