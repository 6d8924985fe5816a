package vertex

import (
	"bytes"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/internal/wire/gemini"
	"github.com/b650d4bf/gateway/providers"
)

func (f geminiFamily) newDecoder(in *request, _ *outgoing) decoder {
	m := &in.model
	if in.stream {
		return new(geminiDecoder).begin(m)
	}
	room := f.room()
	d := &room.decoder
	d.whole, d.spare, d.home = true, &room.chunk, f.rooms
	d.from = room
	return d.begin(m)
}

// geminiRoom is what a whole answer is decoded in. Its chunk is folded at once,
// so that all of it can serve the next answer.
type geminiRoom struct {
	decoder geminiDecoder
	chunk   chunkRoom
}

func (f geminiFamily) room() *geminiRoom {
	if f.rooms != nil {
		if room, ok := f.rooms.Get().(*geminiRoom); ok {
			return room
		}
	}
	return new(geminiRoom)
}

// begin readies the decoder for an answer of the model.
func (d *geminiDecoder) begin(m *model) *geminiDecoder {
	d.model, d.created = m.name, time.Now().Unix()
	d.choices = d.room[:0]
	d.res.ModelVersion = m.name // the likely one
	if d.model == "" {
		d.model = m.resource
	}
	return d
}

func (d *geminiDecoder) release() {
	if home, room := d.home, d.from; home != nil {
		*room = geminiRoom{}
		home.Put(room)
	}
}

// geminiDecoder turns generateContent answers into chunks. It holds the finish
// reasons and the usage back until the end: a tool call or a signature may
// still follow what looks like the last event, and the last usage counts.
type geminiDecoder struct {
	whole   bool // the answer comes in one piece
	id      string
	model   string
	created int64

	res     gemini.Response
	known   bool // something of an answer was seen
	usage   gemini.Usage
	choices []geminiChoice
	room    [1]geminiChoice
	out     []*providers.ChatCompletionChunk
	outRoom [2]*providers.ChatCompletionChunk
	held    *chunkRoom // a whole answer's chunk, until it is finished
	spare   *chunkRoom // room for the first chunk
	home    *sync.Pool // where the room of a whole answer goes back to
	from    *geminiRoom
}

// geminiChoice is one candidate in the making.
type geminiChoice struct {
	index   int
	started bool
	blocks  int    // content blocks begun
	open    string // type of the block that can be continued, "" when none can
	calls   int    // tool calls given out
	pending *pendingCall
	fault   bool   // streamed arguments made no sense
	visible bool   // there is more than thoughts
	finish  string // the platform's word
	message string
	extra   [4][]byte // by nativeMembers
}

// pendingCall is a tool call whose arguments are still coming.
type pendingCall struct {
	delta providers.ToolCallDelta
	args  argTree
	raw   []byte // whole args that came with it
}

// nativeMembers are the candidate's members that ride along in the platform's
// own form.
var nativeMembers = [4]string{"safetyRatings", "groundingMetadata", "citationMetadata", "urlContextMetadata"}

// chunkRoom is a chunk with room for what it usually holds, in one allocation.
type chunkRoom struct {
	chunk  providers.ChatCompletionChunk
	choice [1]providers.ChunkChoice
	block  [1]providers.ContentBlockDelta
}

func (d *geminiDecoder) push(e sse.Event) ([]*providers.ChatCompletionChunk, error) {
	d.out = d.outRoom[:0]
	if text := bytes.TrimSpace(e.Data); !d.whole && (len(text) == 0 || string(text) == sse.Done) {
		return nil, nil
	}
	r := jsonx.NewReader(e.Data)
	switch r.Kind() {
	case jsonx.Array: // a stream without event framing, or an error in a list
		for r.Array(); r.NextElem(); {
			if err := d.object(&r); err != nil {
				return d.out, err
			}
		}
	case jsonx.Object:
		if err := d.object(&r); err != nil {
			return d.out, err
		}
	default:
		return nil, unreadable(0, e.Data)
	}
	if err := r.End(); err != nil {
		e := answerError(providers.ErrBadResponse, "the platform's answer is not valid JSON")
		e.Err = err
		return d.out, e
	}
	return d.out, nil
}

// object decodes one GenerateContentResponse or error envelope.
func (d *geminiDecoder) object(r *jsonx.Reader) error {
	d.res.Decode(r)
	res := &d.res
	if r.Err() != nil {
		return nil //nolint:nilerr // push reports it when it ends the reader
	}
	if res.Error != nil {
		e := rawError(0, res.Error)
		e.Sent = true
		return e
	}
	d.known = d.known || res.Known
	if res.ResponseID != "" {
		d.id = res.ResponseID
	}
	if res.ModelVersion != "" {
		d.model = res.ModelVersion
	}
	if res.HasUsage && res.Usage.Counted {
		d.usage = res.Usage
	}
	if res.Feedback.BlockReason != "" && !d.answered() {
		return blocked(&res.Feedback)
	}
	return d.candidates(res.Candidates)
}

// answered reports whether any choice has begun.
func (d *geminiDecoder) answered() bool { return len(d.choices) > 0 || len(d.res.Candidates) > 0 }

// blocked is the error for a prompt that the platform would not answer.
func blocked(f *gemini.Feedback) error {
	message := "the prompt was blocked: " + f.BlockReason
	if f.Message != "" {
		message += ": " + f.Message
	}
	e := answerError(providers.ErrContentFilter, message)
	e.StatusCode, e.NativeStatus, e.Details = 400, f.BlockReason, bytes.Clone(f.Ratings)
	return e
}

func (d *geminiDecoder) candidates(list []gemini.Candidate) error {
	var room *chunkRoom
	for i := range list {
		c := &list[i]
		s, err := d.choice(c.Index)
		if err != nil {
			return err
		}
		s.note(c)
		if len(c.Parts) == 0 && c.LogprobsResult == nil {
			continue
		}
		if room == nil {
			room = d.chunk()
		}
		room.add(s, c)
		if s.fault {
			return badArguments()
		}
	}
	if room == nil || len(room.chunk.Choices) == 0 {
		return nil
	}
	if d.whole {
		d.emit()
		d.held = room // its end goes into the same chunk
		return nil
	}
	d.out = append(d.out, &room.chunk)
	return nil
}

// emit gives the held chunk out.
func (d *geminiDecoder) emit() {
	if d.held != nil {
		d.out = append(d.out, &d.held.chunk)
		d.held = nil
	}
}

// maxCandidates bounds the candidate index that is believed.
const maxCandidates = 128

func (d *geminiDecoder) choice(index int) (*geminiChoice, error) {
	for i := range d.choices {
		if d.choices[i].index == index {
			return &d.choices[i], nil
		}
	}
	if index < 0 || index >= maxCandidates {
		return nil, answerError(providers.ErrBadResponse, "a candidate's index is out of range")
	}
	d.choices = append(d.choices, geminiChoice{index: index})
	return &d.choices[len(d.choices)-1], nil
}

// note keeps what is given out at the end.
func (s *geminiChoice) note(c *gemini.Candidate) {
	if c.FinishReason != "" && c.FinishReason != "FINISH_REASON_UNSPECIFIED" {
		s.finish = c.FinishReason
	}
	if c.FinishMessage != "" {
		s.message = c.FinishMessage
	}
	for i, raw := range [4][]byte{c.SafetyRatings, c.GroundingMetadata, c.CitationMetadata, c.URLContextMetadata} {
		if len(raw) > 0 {
			s.extra[i] = append(s.extra[i][:0], raw...)
		}
	}
}

// chunk returns a new chunk without choices.
func (d *geminiDecoder) chunk() *chunkRoom {
	if d.id == "" {
		d.id = "chatcmpl-" + randomID()
	}
	room := d.spare
	if d.spare = nil; room == nil {
		room = &chunkRoom{}
	}
	c := &room.chunk // member by member: a chunk is large, and the rest is zero
	c.ID, c.Created, c.Model, c.Provider = d.id, d.created, d.model, providerName
	c.Choices = room.choice[:0]
	return room
}

// addChoice adds a choice without anything.
func (room *chunkRoom) addChoice(index int) *providers.ChunkChoice {
	list := &room.chunk.Choices
	if len(*list) == 0 {
		*list = room.choice[:1] // new, or emptied by add
	} else {
		*list = append(*list, providers.ChunkChoice{})
	}
	c := &(*list)[len(*list)-1]
	c.Index = index
	return c
}

// add decodes a candidate's parts into the chunk, unless they come to nothing.
func (room *chunkRoom) add(s *geminiChoice, c *gemini.Candidate) {
	choice := room.addChoice(s.index)
	if len(room.chunk.Choices) == 1 {
		choice.Delta.ContentBlocks = room.block[:0]
	}
	for i := range c.Parts {
		s.part(&choice.Delta, &c.Parts[i])
	}
	choice.Logprobs = decodeLogprobs(c.LogprobsResult)
	delta := &choice.Delta
	if len(delta.ContentBlocks) == 0 && len(delta.ToolCalls) == 0 && choice.Logprobs == nil {
		room.chunk.Choices = room.chunk.Choices[:len(room.chunk.Choices)-1]
		return
	}
	if !s.started {
		s.started = true
		delta.Role = providers.RoleAssistant
	}
}

func (s *geminiChoice) part(delta *providers.Delta, p *gemini.Part) {
	switch p.Kind {
	case gemini.KindText, gemini.KindEmpty:
		s.text(delta, p)
	case gemini.KindFunctionCall:
		s.open = ""
		s.call(delta, p)
	case gemini.KindInlineData, gemini.KindFileData:
		s.open = ""
		s.visible = s.visible || !p.Thought
		s.addBlock(delta, mediaBlock(p))
	default:
		s.open = ""
		s.visible = true
		s.addBlock(delta, nativeBlock(p))
	}
}

// text adds text or a thought. It continues the open block, but a signed part
// stays by itself: merging would break its signature.
func (s *geminiChoice) text(delta *providers.Delta, p *gemini.Part) {
	if p.Text == "" && p.Signature == "" {
		return
	}
	kind := providers.PartText
	if p.Thought {
		kind = providers.PartThinking
	}
	if s.open != kind || p.Signature != "" {
		s.blocks++
	}
	if s.open = kind; p.Signature != "" {
		s.open = ""
	}
	block := piece(delta, s.blocks-1)
	block.Type, block.Signature = kind, p.Signature
	if p.Thought {
		block.Thinking = p.Text
		return
	}
	block.Text = p.Text
	delta.Content += p.Text // no copy when there was none before
	s.visible = s.visible || p.Text != ""
}

// piece adds an empty piece of the block with the index.
func piece(delta *providers.Delta, index int) *providers.ContentPart {
	list := append(delta.ContentBlocks, providers.ContentBlockDelta{})
	delta.ContentBlocks = list
	last := &list[len(list)-1]
	last.Index = index
	return &last.Delta
}

// addBlock adds a block that is whole.
func (s *geminiChoice) addBlock(delta *providers.Delta, block providers.ContentPart) {
	s.open = ""
	*piece(delta, s.blocks) = block
	s.blocks++
}

// mediaBlock is an image, audio or other data as a data URI, or by reference. A
// draft that belongs to the thoughts is kept apart from the answer.
func mediaBlock(p *gemini.Part) providers.ContentPart {
	var uri, mime string
	if p.Kind == gemini.KindInlineData {
		uri = "data:" + p.MimeType + ";base64," + string(p.Data)
	} else {
		uri, mime = string(p.Data), p.MimeType
	}
	if !p.Thought {
		return providers.ContentPart{
			Type: providers.PartImageURL, ImageURL: &providers.ImageURL{URL: uri, MimeType: mime}, Signature: p.Signature,
		}
	}
	var w jsonx.Writer
	w.BeginObject()
	w.Key("thought_image")
	w.BeginObject()
	w.Key("url")
	w.String(uri)
	w.EndObject()
	w.EndObject()
	return providers.ContentPart{Type: providers.PartThinking, Signature: p.Signature, Extra: w.Bytes()}
}

// nativeBlock keeps a part that has no counterpart in the schema, such as code
// that the platform ran, under its own name.
func nativeBlock(p *gemini.Part) providers.ContentPart {
	return providers.ContentPart{
		Type: snake(p.Name), Signature: p.Signature,
		Extra: jsonx.AppendMember(nil, p.Name, p.Raw),
	}
}

// call gives out a whole call, or collects one whose arguments are streamed.
func (s *geminiChoice) call(delta *providers.Delta, p *gemini.Part) {
	f := &p.Call
	if f.Name != "" {
		s.flush(delta)
		s.pending = &pendingCall{raw: bytes.Clone(f.Args), delta: providers.ToolCallDelta{
			ID: f.ID, Type: "function",
			Function: providers.FunctionCall{Name: f.Name, ThoughtSignature: p.Signature},
		}}
	}
	if s.pending == nil {
		return // a piece of no call
	}
	if s.pending.delta.Function.ThoughtSignature == "" {
		s.pending.delta.Function.ThoughtSignature = p.Signature
	}
	if len(f.PartialArgs) > 0 && !s.pending.args.apply(f.PartialArgs) {
		s.fault = true
	}
	if !f.WillContinue {
		s.flush(delta)
	}
}

// flush gives out the pending call.
func (s *geminiChoice) flush(delta *providers.Delta) {
	if s.pending == nil {
		return
	}
	c := s.pending
	s.pending = nil
	c.delta.Index = s.calls
	s.calls++
	if c.delta.ID == "" {
		c.delta.ID = "call_" + randomID()
	}
	if len(c.raw) > 0 {
		c.delta.Function.Arguments = string(jsonx.Compact(nil, c.raw))
	} else {
		c.delta.Function.Arguments = c.args.String()
	}
	delta.ToolCalls = append(delta.ToolCalls, c.delta)
}
