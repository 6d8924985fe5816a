package engine

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/internal/wire/anthropic"
	"github.com/b650d4bf/gateway/providers"
)

func (f claudeFamily) newDecoder(in *request, _ *outgoing) decoder {
	if in.stream {
		return new(claudeDecoder).begin(&in.model)
	}
	room := f.room()
	d := &room.decoder
	d.whole, d.spare, d.home, d.from = true, &room.chunk, f.rooms, room
	return d.begin(&in.model)
}

// claudeRoom is what a whole answer is decoded in. Its chunk is folded at once,
// so that all of it can serve the next answer.
type claudeRoom struct {
	decoder claudeDecoder
	chunk   chunkRoom
}

func (f claudeFamily) room() *claudeRoom {
	if f.rooms != nil {
		if room, ok := f.rooms.Get().(*claudeRoom); ok {
			return room
		}
	}
	return new(claudeRoom)
}

// begin readies the decoder for an answer of the model.
func (d *claudeDecoder) begin(m *Model) *claudeDecoder {
	d.model, d.created = m.Name, time.Now().Unix()
	d.open = d.openRoom[:0]
	return d
}

func (d *claudeDecoder) release() {
	if home, room := d.home, d.from; home != nil {
		*room = claudeRoom{}
		home.Put(room)
	}
}

// claudeDecoder turns the events of a Messages stream into chunks. A whole
// answer is decoded as if it were its events, into one chunk.
type claudeDecoder struct {
	whole   bool // the answer comes in one piece
	id      string
	model   string
	created int64

	ev      anthropic.Event
	texts   jsonx.Texts // of a stream
	usage   anthropic.Usage
	known   bool // something of an answer was seen
	started bool // the role was given out
	done    bool // the end was given out
	stop    claudeStop
	blocks  int // content blocks begun
	calls   int // tool calls given out

	open     []claudeBlock // the blocks that have begun and not ended
	openRoom [1]claudeBlock
	now      *chunkRoom // the chunk of this event, or of the whole answer
	out      []*providers.ChatCompletionChunk
	outRoom  [2]*providers.ChatCompletionChunk
	spare    *chunkRoom // room for the first chunk
	home     *sync.Pool // where the room of a whole answer goes back to
	from     *claudeRoom
}

// claudeBlock is a content block in the making.
type claudeBlock struct {
	index int // on the wire
	kind  anthropic.BlockKind
	at    int    // index of the content block given out, or of the call; -1 for none yet
	raw   []byte // the input of a call, or a whole block in the platform's own form
	json  []byte // pieces of JSON that belong into raw
	said  bool   // arguments were given out
	cites []byte // citations so far, a JSON array without its end
}

// maxOpenBlocks bounds how many blocks may be open at once. The platform
// streams one after the other.
const maxOpenBlocks = 64

func (d *claudeDecoder) push(e sse.Event) ([]*providers.ChatCompletionChunk, error) {
	d.out = d.outRoom[:0]
	if text := bytes.TrimSpace(e.Data); !d.whole && (len(text) == 0 || string(text) == sse.Done) {
		return nil, nil
	}
	r := jsonx.NewReader(e.Data)
	if !d.whole {
		r.Pack(&d.texts)
	}
	switch r.Kind() {
	case jsonx.Object:
	case jsonx.Array: // the platform's error in a list
		return nil, sentError(e.Data)
	default:
		return nil, unreadable(0, e.Data)
	}
	d.ev.Decode(&r)
	if err := r.End(); err != nil {
		return nil, badClaudeAnswer(err)
	}
	if d.ev.Error != nil || d.ev.Kind == anthropic.KindError {
		return nil, sentError(e.Data)
	}
	err := d.event()
	if d.now != nil && (!d.whole || d.done) {
		d.out = append(d.out, &d.now.chunk)
		d.now = nil
	}
	if d.done && err == nil {
		d.count()
	}
	return d.out, err
}

// sentError is the error in an answer that had begun well.
func sentError(body []byte) error {
	e := bodyError(0, body)
	e.Sent = true
	return e
}

func badClaudeAnswer(err error) error {
	e := answerError(providers.ErrBadResponse, "the platform's answer is not valid JSON")
	e.Err = err
	return e
}

// event decodes one event. Those of a kind that is not known are passed over,
// as the platform's documentation asks.
func (d *claudeDecoder) event() error {
	ev := &d.ev
	if d.done {
		return nil
	}
	switch ev.Kind {
	case anthropic.KindMessage:
		return d.message(&ev.Message)
	case anthropic.KindMessageStart:
		return d.begun(&ev.Message)
	case anthropic.KindBlockStart:
		return d.startBlock(ev.Index, &ev.Block)
	case anthropic.KindBlockDelta:
		return d.addDelta(ev.Index, &ev.Delta)
	case anthropic.KindBlockStop:
		if b := d.block(ev.Index); b != nil {
			d.endBlock(b)
		}
	case anthropic.KindMessageDelta:
		d.known = true
		d.stop.note(&ev.Stop)
		return d.addUsage(ev.Usage)
	case anthropic.KindMessageStop:
		return d.end()
	default:
		if d.whole {
			return answerError(providers.ErrBadResponse, "the answer is not a Message")
		}
	}
	return nil
}

// message decodes a whole answer.
func (d *claudeDecoder) message(m *anthropic.Message) error {
	d.whole = true
	if err := d.begun(m); err != nil {
		return err
	}
	d.stop.note(&d.ev.Stop)
	if err := d.addUsage(d.ev.Usage); err != nil {
		return err
	}
	return d.end()
}

// begun reads what a stream begins with: a Message that has no content as a
// rule.
func (d *claudeDecoder) begun(m *anthropic.Message) error {
	d.known = true
	if m.ID != "" {
		d.id = m.ID
	}
	if m.Model != "" {
		d.model = m.Model
	}
	d.stop.note(&m.Stop)
	for i := range m.Content {
		if err := d.startBlock(i, &m.Content[i]); err != nil {
			return err
		}
		d.endBlock(d.block(i))
	}
	return d.addUsage(m.Usage)
}

func (d *claudeDecoder) addUsage(raw []byte) error {
	if raw == nil {
		return nil
	}
	if err := d.usage.Decode(raw); err != nil {
		return badClaudeAnswer(err)
	}
	return nil
}

// block returns the open block with the index, or nil.
func (d *claudeDecoder) block(index int) *claudeBlock {
	for i := len(d.open) - 1; i >= 0; i-- {
		if d.open[i].index == index {
			return &d.open[i]
		}
	}
	return nil
}

// openBlock opens a block.
func (d *claudeDecoder) openBlock(index int, kind anthropic.BlockKind) (*claudeBlock, error) {
	if d.block(index) != nil || len(d.open) >= maxOpenBlocks {
		return nil, answerError(providers.ErrBadResponse, "the content blocks of the answer can't be put together")
	}
	d.open = append(d.open, claudeBlock{index: index, kind: kind, at: -1})
	return &d.open[len(d.open)-1], nil
}

// startBlock gives out what a block begins with.
func (d *claudeDecoder) startBlock(index int, from *anthropic.Block) error {
	d.known = true
	if from.Type == "" {
		return answerError(providers.ErrBadResponse, "a content block of the answer has no type")
	}
	b, err := d.openBlock(index, from.Kind)
	if err != nil {
		return err
	}
	switch from.Kind {
	case anthropic.BlockText:
		d.text(b, from.Text)
		b.cite(from.Citations)
	case anthropic.BlockThinking:
		d.thinking(b, from.Thinking, from.Signature)
	case anthropic.BlockRedactedThinking:
		p := d.piece(b)
		p.Type, p.Data = providers.PartRedactedThinking, from.Data
	case anthropic.BlockToolUse:
		d.call(b, from)
	default:
		b.raw = bytes.Clone(from.Raw)
	}
	return nil
}

// text gives out a piece of text.
func (d *claudeDecoder) text(b *claudeBlock, text string) {
	if text == "" {
		return
	}
	p := d.piece(b)
	p.Type, p.Text = providers.PartText, text
	d.delta().Content += text // no copy when there was none before
}

// thinking gives out a piece of a thought, or the signature that follows it. A
// thought that is kept back has nothing but its signature.
func (d *claudeDecoder) thinking(b *claudeBlock, text, signature string) {
	if text == "" && signature == "" {
		return
	}
	first := b.at < 0
	p := d.piece(b)
	if p.Signature = signature; first || text != "" {
		p.Type, p.Thinking = providers.PartThinking, text
	}
}

// call gives out the head of a call. Its arguments follow.
func (d *claudeDecoder) call(b *claudeBlock, from *anthropic.Block) {
	b.at, b.raw = d.calls, bytes.Clone(from.Input)
	d.calls++
	c := providers.ToolCallDelta{Index: b.at, ID: from.ID, Type: "function", Extra: from.Extra}
	if c.ID == "" {
		c.ID = "call_" + randomID()
	}
	c.Function.Name = from.Name
	delta := d.delta()
	delta.ToolCalls = append(delta.ToolCalls, c)
}

// arguments gives out a piece of the arguments of a call.
func (d *claudeDecoder) arguments(b *claudeBlock, text string) {
	if text == "" {
		return
	}
	b.said = true
	delta := d.delta()
	if n := len(delta.ToolCalls); n > 0 && delta.ToolCalls[n-1].Index == b.at {
		delta.ToolCalls[n-1].Function.Arguments += text
		return
	}
	delta.ToolCalls = append(delta.ToolCalls, providers.ToolCallDelta{
		Index: b.at, Function: providers.FunctionCall{Arguments: text},
	})
}

// addDelta gives out a piece of a block. Text of a block whose beginning did
// not come is still text.
func (d *claudeDecoder) addDelta(index int, from *anthropic.Delta) error {
	d.known = true
	b := d.block(index)
	if b == nil {
		kind, ok := deltaBlocks[from.Kind]
		if !ok {
			return answerError(providers.ErrBadResponse, "the answer has a piece of a content block that did not begin")
		}
		var err error
		if b, err = d.openBlock(index, kind); err != nil {
			return err
		}
	}
	switch {
	case from.Kind == anthropic.DeltaText && b.kind == anthropic.BlockText:
		d.text(b, from.Text)
	case from.Kind == anthropic.DeltaThinking && b.kind == anthropic.BlockThinking:
		d.thinking(b, from.Text, "")
	case from.Kind == anthropic.DeltaSignature && b.kind == anthropic.BlockThinking:
		d.thinking(b, "", from.Text)
	case from.Kind == anthropic.DeltaCitations:
		b.addCitation(from.Citation)
	case from.Kind == anthropic.DeltaInputJSON && b.kind == anthropic.BlockToolUse:
		d.arguments(b, from.Text)
	case from.Kind == anthropic.DeltaInputJSON:
		b.json = append(b.json, from.Text...)
	case b.kind == anthropic.BlockOther:
		b.merge(from.Rest)
	}
	return nil
}

// deltaBlocks are the kinds of blocks that a delta tells of by itself.
var deltaBlocks = map[anthropic.DeltaKind]anthropic.BlockKind{
	anthropic.DeltaText:      anthropic.BlockText,
	anthropic.DeltaThinking:  anthropic.BlockThinking,
	anthropic.DeltaSignature: anthropic.BlockThinking,
}

// endBlock gives out what waited for the end of the block, and closes it.
func (d *claudeDecoder) endBlock(b *claudeBlock) {
	switch b.kind {
	case anthropic.BlockToolUse:
		if !b.said {
			d.arguments(b, inputText(b.raw))
		}
	case anthropic.BlockOther:
		*d.piece(b) = b.native()
	default:
		if len(b.cites) > 0 {
			p := d.piece(b)
			p.Extra = jsonx.AppendMember(nil, "citations", append(b.cites, ']'))
		}
	}
	d.close(b.index)
}

// close forgets an open block.
func (d *claudeDecoder) close(index int) {
	d.open = slices.DeleteFunc(d.open, func(b claudeBlock) bool { return b.index == index })
}

// inputText is the text of a call's input.
func inputText(raw []byte) string {
	if len(raw) == 0 {
		return "{}"
	}
	return string(jsonx.Compact(nil, raw))
}

// piece adds a piece of the block to the chunk. Pieces that come in one chunk
// share one entry.
func (d *claudeDecoder) piece(b *claudeBlock) *providers.ContentPart {
	delta := d.delta()
	if b.at < 0 {
		b.at = d.blocks
		d.blocks++
	} else if n := len(delta.ContentBlocks); n > 0 && delta.ContentBlocks[n-1].Index == b.at {
		return &delta.ContentBlocks[n-1].Delta
	}
	return piece(delta, b.at)
}

// delta returns the delta of this event's chunk.
func (d *claudeDecoder) delta() *providers.Delta { return &d.choice().Delta }

// choice returns the choice of this event's chunk, making the chunk if need be.
func (d *claudeDecoder) choice() *providers.ChunkChoice {
	if d.now == nil {
		d.now = d.chunk()
		c := d.now.addChoice(0)
		c.Delta.ContentBlocks = d.now.block[:0]
		if !d.started {
			d.started = true
			c.Delta.Role = providers.RoleAssistant
		}
	}
	return &d.now.chunk.Choices[0]
}

// chunk returns a new chunk without choices.
func (d *claudeDecoder) chunk() *chunkRoom {
	if d.id == "" {
		d.id = "chatcmpl-" + randomID()
	}
	room := d.spare
	if d.spare = nil; room == nil {
		room = &chunkRoom{}
	}
	c := &room.chunk // member by member: a chunk is large, and the rest is zero
	c.ID, c.Created, c.Model = d.id, d.created, d.model
	c.Choices = room.choice[:0]
	return room
}
