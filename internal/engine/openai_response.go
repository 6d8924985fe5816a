package engine

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/internal/wire/openai"
	"github.com/b650d4bf/gateway/providers"
)

func (openFamily) newDecoder(in *request, out *outgoing) decoder {
	d := &openDecoder{whole: !in.stream, model: in.model.Name, created: time.Now().Unix()}
	switch tags := in.model.facts.Thinking.Tags; {
	case tags == thoughtOpen:
		d.tags = tagAwaited
	case tags == thoughtClose && out.thinks:
		d.tags = tagInside
	}
	d.choices = d.room[:0]
	return d
}

// openDecoder turns answers of the OpenAI schema into chunks. It holds the finish
// reasons and the usage back until the end, as some servers give them early or
// more than once.
type openDecoder struct {
	whole bool // the answer comes in one piece
	done  bool // the stream said that it is whole
	tags  tagState

	id, model string
	named     bool // the answer has named its model
	created   int64
	dated     bool // the answer has its own date

	res     openai.Response
	texts   jsonx.Texts // of a stream
	known   bool        // something of an answer was seen
	usage   *providers.Usage
	extra   providers.Extra // to come with the last chunk
	choices []openChoice
	room    [1]openChoice

	spare *chunkRoom // room for a chunk that came to nothing before
	out   [1]*providers.ChatCompletionChunk
}

// openChoice is one choice in the making.
type openChoice struct {
	index   int
	started bool
	visible bool   // there is more than thoughts
	blocks  int    // content blocks begun
	open    string // type of the block that can be continued, "" when none can
	calls   []openCall
	finish  string // the server's word
	tags    tagState
	held    string // the beginning of what may be a tag
}

func (d *openDecoder) push(e sse.Event) ([]*providers.ChatCompletionChunk, error) {
	if !d.whole {
		switch text := bytes.TrimSpace(e.Data); {
		case len(text) == 0 || d.done:
			return nil, nil
		case string(text) == sse.Done:
			list, err := d.end(true)
			d.done = err == nil
			return list, err
		}
	}
	r := jsonx.NewReader(e.Data)
	if !d.whole {
		r.Pack(&d.texts)
	}
	switch r.Kind() {
	case jsonx.Object:
		d.res.Decode(&r)
	case jsonx.Array: // an error in a list
		return nil, inStream(bodyError(0, e.Data))
	default:
		return nil, unreadable(0, e.Data)
	}
	if err := r.End(); err != nil {
		bad := answerError(providers.ErrBadResponse, "the answer is not valid JSON")
		bad.Err = err
		return nil, bad
	}
	if d.res.Error != nil || !d.res.Known && isFlatError(e.Data) {
		return nil, inStream(bodyError(0, e.Data))
	}
	return d.response()
}

// inStream marks an error that came in an answer which had begun well.
func inStream(e *providers.Error) error {
	e.Sent = true
	return e
}

// ended reports whether the stream has said that it is whole.
func (d *openDecoder) ended() bool { return d.done }

func (d *openDecoder) release() {}

// response decodes one object of the answer.
func (d *openDecoder) response() ([]*providers.ChatCompletionChunk, error) {
	res := &d.res
	d.known = d.known || res.Known
	if d.id == "" {
		d.id = res.ID
	}
	if res.Model != "" && !d.named {
		d.model, d.named = res.Model, true
	}
	if res.Created > 0 && !d.dated {
		d.created, d.dated = res.Created, true
	}
	if res.HasUsage {
		d.usage = openUsage(&res.Usage)
	}
	room := d.spare
	if d.spare = nil; room == nil {
		room = new(chunkRoom)
	}
	for i := range res.Choices {
		if err := d.piece(room, &res.Choices[i]); err != nil {
			return nil, err
		}
	}
	if len(room.chunk.Choices) == 0 {
		d.spare = room
		d.keep(res.Extra)
		return nil, nil
	}
	d.head(&room.chunk)
	room.chunk.Extra = res.Extra
	d.out[0] = &room.chunk
	return d.out[:], nil
}

// piece decodes a choice into the chunk, unless it comes to nothing.
func (d *openDecoder) piece(room *chunkRoom, w *openai.Choice) error {
	s, err := d.choice(w.Index)
	if err != nil {
		return err
	}
	if w.FinishReason != "" {
		s.finish = w.FinishReason
	}
	out := room.addChoice(s.index)
	if len(room.chunk.Choices) == 1 {
		out.Delta.ContentBlocks = room.block[:0]
	}
	if err := s.add(d, w, out); err != nil {
		return err
	}
	if isEmptyPiece(out) {
		*out = providers.ChunkChoice{}
		room.chunk.Choices = room.chunk.Choices[:len(room.chunk.Choices)-1]
		return nil
	}
	if !s.started {
		s.started, out.Delta.Role = true, providers.RoleAssistant
	}
	return nil
}

// keep holds members back that came with nothing to show: clients look at the
// first choice of each chunk.
func (d *openDecoder) keep(extra providers.Extra) {
	for name, value := range extra.All() {
		_ = d.extra.Set(name, value) // it was decoded, so it is valid
	}
}

func isEmptyPiece(c *providers.ChunkChoice) bool {
	d := &c.Delta
	return len(d.ContentBlocks) == 0 && len(d.ToolCalls) == 0 && d.Audio == nil && len(d.Annotations) == 0 &&
		len(d.Extra) == 0 && len(c.Extra) == 0 && c.Logprobs == nil
}

func (d *openDecoder) choice(index int) (*openChoice, error) {
	for i := range d.choices {
		if d.choices[i].index == index {
			return &d.choices[i], nil
		}
	}
	if index < 0 || index >= maxCandidates {
		return nil, answerError(providers.ErrBadResponse, "a choice's index is out of range")
	}
	d.choices = append(d.choices, openChoice{index: index, tags: d.tags})
	return &d.choices[len(d.choices)-1], nil
}

// chunk returns a new chunk without choices.
func (d *openDecoder) chunk() *providers.ChatCompletionChunk {
	c := new(providers.ChatCompletionChunk)
	d.head(c)
	return c
}

// head fills in what all chunks of an answer have in common.
func (d *openDecoder) head(c *providers.ChatCompletionChunk) {
	if d.id == "" {
		d.id = "chatcmpl-" + randomID()
	}
	c.ID, c.Created, c.Model = d.id, d.created, d.model
}

// add decodes a choice, or a piece of it.
func (s *openChoice) add(d *openDecoder, w *openai.Choice, out *providers.ChunkChoice) error {
	delta := &out.Delta
	if w.Thought != "" { // then it is not in the content
		s.tags = tagNone
		s.say(delta, providers.PartThinking, w.Thought)
	}
	for i := range w.Pieces {
		switch p := &w.Pieces[i]; p.Kind {
		case openai.KindText:
			s.text(delta, p.Text)
		case openai.KindThought:
			s.say(delta, providers.PartThinking, p.Text)
		case openai.KindOther:
			s.other(delta, p.Raw)
		}
	}
	closing := w.FinishReason != "" && len(w.Calls) == 1
	for i := range w.Calls {
		if err := s.call(delta, &w.Calls[i], d.whole, closing); err != nil {
			return err
		}
	}
	delta.Extra, out.Extra = w.MessageExtra, w.Extra
	return decodeRest(w, out)
}

// decodeRest decodes what has types of the schema's own.
func decodeRest(w *openai.Choice, out *providers.ChunkChoice) error {
	var err error
	if len(w.Logprobs) > 0 && w.Logprobs[0] == '{' {
		out.Logprobs = new(providers.Logprobs)
		err = out.Logprobs.UnmarshalJSON(w.Logprobs)
	}
	if w.Audio != nil && err == nil {
		out.Delta.Audio = new(providers.Audio)
		if err = out.Delta.Audio.UnmarshalJSON(w.Audio); err == nil && !isBase64(out.Delta.Audio.Data) {
			out.Delta.Audio = nil
		}
	}
	if w.Annotations != nil && err == nil {
		r := jsonx.NewReader(w.Annotations)
		for r.Array(); err == nil && r.NextElem(); {
			var a providers.Annotation
			err = a.UnmarshalJSON(r.Raw())
			out.Delta.Annotations = append(out.Delta.Annotations, a)
		}
	}
	if err != nil {
		e := answerError(providers.ErrBadResponse, "the answer has a member of the wrong type")
		e.Err = err
		return e
	}
	return nil
}

// isBase64 reports whether audio can be put together from its pieces.
func isBase64(data string) bool {
	_, err := base64.StdEncoding.DecodeString(data)
	return err == nil
}

// say adds text or a thought, to the open block or to a new one.
func (s *openChoice) say(delta *providers.Delta, kind, text string) {
	if text == "" {
		return
	}
	if s.open != kind {
		s.blocks++
		s.open = kind
	}
	part := providers.TextPart(text)
	if kind == providers.PartThinking {
		part = providers.ThinkingPart(text, "")
	} else {
		delta.Content += text
		s.visible = true
	}
	delta.ContentBlocks = append(delta.ContentBlocks, providers.ContentBlockDelta{Index: s.blocks - 1, Delta: part})
}

// other adds a content part that is neither text nor a thought as a block.
func (s *openChoice) other(delta *providers.Delta, raw []byte) {
	var part providers.ContentPart
	if part.UnmarshalJSON(raw) != nil || part.Type == "" || part.Text+part.Thinking+part.Data != "" {
		return
	}
	part.Signature = ""
	s.blocks++
	s.open, s.visible = "", true
	delta.ContentBlocks = append(delta.ContentBlocks, providers.ContentBlockDelta{Index: s.blocks - 1, Delta: part})
}

// finish ends the answer.
func (d *openDecoder) finish() ([]*providers.ChatCompletionChunk, error) {
	if d.done {
		return nil, nil
	}
	return d.end(d.whole)
}

// end returns one chunk with the finish reasons and one with the usage. An answer
// that is known to be whole may lack a finish reason.
func (d *openDecoder) end(whole bool) ([]*providers.ChatCompletionChunk, error) {
	if len(d.choices) == 0 {
		return nil, d.nothing(whole)
	}
	if d.failed() {
		return nil, brokenError("the model gave no answer", providers.ErrEmptyResponse, "error")
	}
	last := d.chunk()
	last.Extra = d.extra
	for i := range d.choices {
		s := &d.choices[i]
		if s.finish == "" && !whole {
			return nil, cutError()
		}
		last.Choices = append(last.Choices, s.end())
	}
	list := []*providers.ChatCompletionChunk{last}
	if d.usage != nil {
		c := d.chunk()
		c.Usage = d.usage
		list = append(list, c)
	}
	return list, nil
}

// nothing is the error for an answer without any choice.
func (d *openDecoder) nothing(whole bool) error {
	switch {
	case !whole:
		return cutError()
	case d.known || !d.whole:
		return answerError(providers.ErrEmptyResponse, "the platform answered without a choice")
	}
	return answerError(providers.ErrBadResponse, "the answer is not a chat completion")
}

// failed reports whether every choice ended in an error with nothing to show.
func (d *openDecoder) failed() bool {
	return !slices.ContainsFunc(d.choices, func(s openChoice) bool {
		return s.visible || len(s.calls) > 0 || s.finish != "error"
	})
}

// end returns what ends the choice.
func (s *openChoice) end() providers.ChunkChoice {
	c := providers.ChunkChoice{Index: s.index, NativeFinishReason: s.finish}
	s.flush(&c.Delta)
	s.closeCalls(&c.Delta)
	if !s.started {
		s.started, c.Delta.Role = true, providers.RoleAssistant
	}
	c.FinishReason = openFinish(s.finish)
	switch {
	case c.FinishReason == providers.FinishStop && len(s.calls) > 0:
		c.FinishReason = providers.FinishToolCalls
	case c.FinishReason == providers.FinishToolCalls && len(s.calls) == 0:
		c.FinishReason = providers.FinishStop
	}
	return c
}

// openFinishes maps the words for finish reasons that servers have, in lower
// case; every word that is not here is "stop".
//
// Source: https://platform.openai.com/docs/api-reference/chat/object and
// https://docs.mistral.ai/api/endpoint/chat
var openFinishes = map[string]string{
	"length":             providers.FinishLength,
	"model_length":       providers.FinishLength,
	"max_tokens":         providers.FinishLength,
	"tool_calls":         providers.FinishToolCalls,
	"tool_use":           providers.FinishToolCalls,
	"function_call":      providers.FinishToolCalls,
	"content_filter":     providers.FinishContentFilter,
	"safety":             providers.FinishContentFilter,
	"recitation":         providers.FinishContentFilter,
	"prohibited_content": providers.FinishContentFilter,
	"model_armor":        providers.FinishContentFilter,
}

func openFinish(word string) string {
	if f, ok := openFinishes[strings.ToLower(word)]; ok {
		return f
	}
	return providers.FinishStop
}

// openUsage counts as the OpenAI schema does. A server that leaves the reasoning
// out of the completion, which its total gives away, is put right.
func openUsage(u *openai.Usage) *providers.Usage {
	out := &providers.Usage{
		PromptTokens: u.Prompt, CompletionTokens: u.Completion, TotalTokens: u.Total, Extra: u.Extra,
		PromptTokensDetails:     providers.PromptTokensDetails{CachedTokens: u.Cached, AudioTokens: u.PromptAudio, Extra: u.PromptExtra},
		CompletionTokensDetails: providers.CompletionTokensDetails{ReasoningTokens: u.Reasoning, AudioTokens: u.CompletionAudio, Extra: u.AnswerExtra},
	}
	switch {
	case !u.HasTotal:
		out.TotalTokens = u.Prompt + u.Completion
	case u.Reasoning > 0 && u.Total == u.Prompt+u.Completion+u.Reasoning:
		out.CompletionTokens += u.Reasoning
	}
	return out
}
