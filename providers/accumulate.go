package providers

import (
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// maxChoices bounds what an index in a chunk can make an [Accumulator] allocate.
const maxChoices = 128

// Accumulator folds the chunks of a stream into the whole answer. The zero
// value is ready. Its cost is linear in the chunks; an index beyond the next
// free one is an error, so a hostile stream cannot make it grow at will.
type Accumulator struct {
	answer  ChatCompletion
	choices []choiceFold
	room    [1]choiceFold // for the usual single choice
}

// choiceFold is one choice in the making.
type choiceFold struct {
	seen   bool
	choice Choice
	text   textFold
	calls  []callFold
	blocks []blockFold
	room   [2]blockFold // for the usual thinking and text
	audio  *audioFold
	// refusal is text that comes in pieces, though it is kept in Extra.
	refusal textFold
}

type callFold struct {
	call      ToolCall
	arguments textFold
}

type blockFold struct {
	part      ContentPart
	text      textFold
	signature textFold
}

// textFold joins strings; a single one is kept as it is, without a copy.
type textFold struct {
	first string
	rest  *strings.Builder // a pointer, since folds move when lists grow
}

func (t *textFold) add(s string) {
	switch {
	case s == "":
	case t.rest != nil:
		t.rest.WriteString(s)
	case t.first == "":
		t.first = s
	default:
		t.rest = new(strings.Builder)
		t.rest.WriteString(t.first)
		t.rest.WriteString(s)
	}
}

func (t *textFold) String() string {
	if t.rest != nil {
		return t.rest.String()
	}
	return t.first
}

// Add folds one chunk in. After an error the accumulator keeps what it had.
func (a *Accumulator) Add(c *ChatCompletionChunk) error {
	out := &a.answer
	if c.ID != "" {
		out.ID = c.ID
	}
	if c.Model != "" {
		out.Model = c.Model
	}
	if c.Created != 0 && out.Created == 0 {
		out.Created = c.Created
	}
	if c.Provider != "" {
		out.Provider = c.Provider
	}
	if c.Usage != nil {
		out.Usage = c.Usage
	}
	if c.Meta != nil {
		out.Meta = *c.Meta
	}
	if err := out.Extra.merge(c.Extra); err != nil {
		return err
	}
	for i := range c.Choices {
		if err := a.addChoice(&c.Choices[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *Accumulator) addChoice(c *ChunkChoice) error {
	if c.Index < 0 || c.Index >= maxChoices {
		return outOfRange("choices", c.Index)
	}
	if a.choices == nil {
		a.choices = a.room[:]
	}
	for len(a.choices) <= c.Index {
		a.choices = append(a.choices, choiceFold{})
	}
	f := &a.choices[c.Index]
	f.seen = true
	f.choice.Index = c.Index
	if c.FinishReason != "" {
		f.choice.FinishReason = c.FinishReason
	}
	if c.NativeFinishReason != "" {
		f.choice.NativeFinishReason = c.NativeFinishReason
	}
	f.addLogprobs(c.Logprobs)
	if err := f.choice.Extra.merge(c.Extra); err != nil {
		return err
	}
	return f.addDelta(&c.Delta)
}

func (f *choiceFold) addLogprobs(l *Logprobs) {
	if l == nil {
		return
	}
	if f.choice.Logprobs == nil {
		f.choice.Logprobs = &Logprobs{Extra: l.Extra}
	}
	f.choice.Logprobs.Content = append(f.choice.Logprobs.Content, l.Content...)
}

func (f *choiceFold) addDelta(d *Delta) error {
	f.text.add(d.Content)
	for i := range d.ToolCalls {
		if err := f.addCall(&d.ToolCalls[i]); err != nil {
			return err
		}
	}
	for i := range d.ContentBlocks {
		if err := f.addBlock(&d.ContentBlocks[i]); err != nil {
			return err
		}
	}
	if d.Audio != nil {
		if f.audio == nil {
			f.audio = new(audioFold)
		}
		if err := f.audio.add(d.Audio); err != nil {
			return err
		}
	}
	m := &f.choice.Message
	m.Annotations = append(m.Annotations, d.Annotations...)
	if len(d.Extra) > 0 {
		f.refusal.add(jsonx.LookupString(d.Extra, "refusal"))
	}
	return m.Extra.merge(d.Extra)
}

func (f *choiceFold) addCall(d *ToolCallDelta) error {
	if d.Index < 0 || d.Index > len(f.calls) {
		return outOfRange("tool_calls", d.Index)
	}
	if d.Index == len(f.calls) {
		f.calls = append(f.calls, callFold{call: ToolCall{Type: "function"}})
	}
	c := &f.calls[d.Index]
	if d.ID != "" {
		c.call.ID = d.ID
	}
	if d.Type != "" {
		c.call.Type = d.Type
	}
	if d.Function.Name != "" {
		c.call.Function.Name = d.Function.Name
	}
	if d.Function.ThoughtSignature != "" {
		c.call.Function.ThoughtSignature = d.Function.ThoughtSignature
	}
	c.arguments.add(d.Function.Arguments)
	if err := c.call.Function.Extra.merge(d.Function.Extra); err != nil {
		return err
	}
	return c.call.Extra.merge(d.Extra)
}

func (f *choiceFold) addBlock(d *ContentBlockDelta) error {
	if d.Index < 0 || d.Index > len(f.blocks) {
		return outOfRange("content_blocks", d.Index)
	}
	if f.blocks == nil {
		f.blocks = f.room[:0]
	}
	if d.Index == len(f.blocks) {
		f.blocks = append(f.blocks, blockFold{})
	}
	b := &f.blocks[d.Index]
	if d.Delta.Type != "" {
		b.part.Type = d.Delta.Type
	}
	b.text.add(d.Delta.Text)
	b.text.add(d.Delta.Thinking)
	b.text.add(d.Delta.Data)
	b.signature.add(d.Delta.Signature)
	if d.Delta.ImageURL != nil {
		b.part.ImageURL = d.Delta.ImageURL
	}
	if d.Delta.InputAudio != nil {
		b.part.InputAudio = d.Delta.InputAudio
	}
	if d.Delta.File != nil {
		b.part.File = d.Delta.File
	}
	return b.part.Extra.merge(d.Delta.Extra)
}

// Completion returns the answer as far as it has come. The accumulator must
// not be added to afterwards.
func (a *Accumulator) Completion() *ChatCompletion {
	room := &struct { // what the usual answer holds, in one allocation
		answer ChatCompletion
		choice [1]Choice
		blocks [1]ContentPart
		usage  Usage
	}{answer: a.answer}
	out := &room.answer
	if out.Usage != nil {
		room.usage = *out.Usage
		out.Usage = &room.usage
	}
	out.Choices = room.choice[:0]
	blocks := room.blocks[:]
	for i := range a.choices {
		f := &a.choices[i]
		if !f.seen {
			continue
		}
		if len(out.Choices) == 0 {
			out.Choices = room.choice[:1]
		} else {
			out.Choices, blocks = append(out.Choices, Choice{}), nil
		}
		f.finish(&out.Choices[len(out.Choices)-1], blocks)
	}
	return out
}

// finish fills c with the choice; its content blocks go into room when they
// fit.
func (f *choiceFold) finish(c *Choice, room []ContentPart) {
	*c = f.choice
	m := &c.Message
	m.Role = RoleAssistant
	text := f.text.String()
	if text != "" || len(f.calls) == 0 && f.audio == nil {
		m.Content = TextContent(text)
	}
	if f.audio != nil {
		m.Audio = f.audio.finish()
	}
	if f.refusal.rest != nil { // there are several pieces
		m.Extra.SetString("refusal", f.refusal.String())
	}
	if len(f.calls) > 0 {
		m.ToolCalls = make([]ToolCall, len(f.calls))
		for i := range f.calls {
			m.ToolCalls[i] = f.calls[i].call
			m.ToolCalls[i].Function.Arguments = f.calls[i].arguments.String()
		}
	}
	if len(f.blocks) > 0 {
		if len(f.blocks) <= len(room) {
			m.ContentBlocks = room[:len(f.blocks):len(f.blocks)]
		} else {
			m.ContentBlocks = make([]ContentPart, len(f.blocks))
		}
		for i := range f.blocks {
			f.blocks[i].finish(&m.ContentBlocks[i])
		}
	}
}

func (b *blockFold) finish(p *ContentPart) {
	*p = b.part
	p.Signature = b.signature.String()
	switch p.Type {
	case PartThinking, "":
		p.Type, p.Thinking = PartThinking, b.text.String()
	case PartRedactedThinking:
		p.Data = b.text.String()
	default:
		p.Text = b.text.String()
	}
}

func outOfRange(list string, index int) error {
	return &Error{
		Code:    ErrBadResponse,
		Message: "a chunk's " + list + " index " + strconv.Itoa(index) + " is out of range",
		Sent:    true,
	}
}
