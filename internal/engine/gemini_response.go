package engine

import (
	"bytes"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/internal/wire/gemini"
	"github.com/b650d4bf/gateway/providers"
)

func (f geminiFamily) newDecoder(in *request, out *outgoing) decoder {
	var d *geminiDecoder
	if in.stream {
		d = new(geminiDecoder)
	} else {
		room := f.room()
		d = &room.decoder
		d.whole, d.spare, d.home = true, &room.chunk, f.rooms
		d.from = room
	}
	if d.audioFormat = out.audio; in.signatures != nil {
		d.signed = in
	}
	return d.begin(&in.model)
}

// rememberer is told of each finished call that has a thought signature.
type rememberer interface{ remember(c *providers.ToolCall) }

// geminiRoom is what a whole answer is decoded in. Its chunk is folded at once,
// so that all of it can serve the next answer.
type geminiRoom struct {
	decoder geminiDecoder
	chunk   chunkRoom
	usage   providers.Usage
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
func (d *geminiDecoder) begin(m *Model) *geminiDecoder {
	d.model, d.created = m.Name, time.Now().Unix()
	d.chained = m.facts != nil && m.facts.ChainOfThought
	d.choices = d.room[:0]
	d.res.ModelVersion = m.Name // the likely one
	if d.model == "" {
		d.model = m.Resource
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
	chained bool // the thoughts stand in the content, before the answer
	// audioFormat is what spoken answers come in: "wav", or "" and "pcm16" for
	// the samples alone, as the platform sends them.
	audioFormat string
	signed      rememberer // nil when nobody asks

	id      string
	model   string
	created int64

	res     gemini.Response
	texts   jsonx.Texts // of a stream
	known   bool        // something of an answer was seen
	usage   gemini.Usage
	block   gemini.Feedback // of a prompt that was refused beside or behind an answer
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
	d       *geminiDecoder
	started bool
	blocks  int    // content blocks begun
	parts   int    // parts seen, or pieces of them
	open    string // type of the block that can be continued, "" when none can
	calls   int    // tool calls begun
	pending *pendingCall
	fault   error  // why the answer can't be given out
	visible bool   // there is more than thoughts
	thought bool   // the content so far ends with a thought
	finish  string // the platform's word
	message string
	text    textMap
	speech  *speech   // nil until the model speaks
	extra   [5][]byte // by nativeMembers
}

// nativeMembers are the candidate's members that ride along in the platform's
// own form.
var nativeMembers = [5]string{
	"safetyRatings", "groundingMetadata", "citationMetadata", "urlContextMetadata", "continuationToken",
}

// The places of members that are read as well.
const (
	nativeGrounding = 1
	nativeCitations = 2
)

// chunkRoom is a chunk with room for what it usually holds, in one allocation.
type chunkRoom struct {
	chunk  providers.ChatCompletionChunk
	choice [1]providers.ChunkChoice
	block  [1]providers.ContentBlockDelta
}

func (d *geminiDecoder) push(e sse.Event) ([]*providers.ChatCompletionChunk, error) {
	d.out = d.outRoom[:0]
	if !d.whole && isDone(e.Data) {
		return nil, nil
	}
	r := jsonx.NewReader(e.Data)
	if !d.whole {
		r.Pack(&d.texts)
	}
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

// isDone reports whether an event says nothing, or that it is the last.
func isDone(data []byte) bool {
	if len(data) > 0 && data[0] == '{' {
		return false
	}
	text := bytes.TrimSpace(data)
	return len(text) == 0 || string(text) == sse.Done
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
		cached := d.usage.Cached
		d.usage = res.Usage
		if d.usage.Cached == 0 { // what was read from a cache stays so
			d.usage.Cached = cached
		}
	}
	if res.Feedback.BlockReason != "" {
		if !d.answered() {
			return blocked(&res.Feedback)
		}
		d.block = res.Feedback
		d.block.Ratings = bytes.Clone(d.block.Ratings)
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
		if s.fault != nil {
			return s.fault
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
	d.choices = append(d.choices, geminiChoice{index: index, d: d})
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
	for i, raw := range [5][]byte{
		c.SafetyRatings, c.GroundingMetadata, c.CitationMetadata, c.URLContextMetadata, c.ContinuationToken,
	} {
		if len(raw) > 2 || len(raw) > 0 && s.extra[i] == nil { // an empty one says nothing new
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
	c.ID, c.Created, c.Model = d.id, d.created, d.model
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
	s.chain(c.Parts)
	for i := range c.Parts {
		s.part(&choice.Delta, &c.Parts[i])
		s.parts++
	}
	delta := &choice.Delta
	s.speak(delta)
	choice.Logprobs = decodeLogprobs(c.LogprobsResult)
	if len(delta.ContentBlocks) == 0 && len(delta.ToolCalls) == 0 && delta.Audio == nil && choice.Logprobs == nil {
		room.chunk.Choices = room.chunk.Choices[:len(room.chunk.Choices)-1]
		return
	}
	if !s.started {
		s.started = true
		delta.Role = providers.RoleAssistant
	}
}
