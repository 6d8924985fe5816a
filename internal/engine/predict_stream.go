package engine

import (
	"bytes"
	"time"

	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// predictStream reads the events of a server behind an endpoint by the caller's
// own function. What is no event is gathered, as an answer of one piece.
type predictStream struct {
	whole   *predictDecoder
	id      string // of the chunks, "" before the first event
	created int64
	begun   bool   // the role was told
	reason  string // the finish reason, "" before it was told
	done    bool   // the stream said that it was over
	usage   *providers.Usage
}

func (d *predictStream) push(e sse.Event) ([]*providers.ChatCompletionChunk, error) {
	data := bytes.TrimSpace(e.Data)
	switch {
	case e.Stray:
		return d.whole.push(e)
	case len(data) == 0:
		return nil, nil
	case string(data) == sse.Done:
		d.done = true
		return nil, nil
	}
	if err := predictError(data); err != nil {
		return nil, err
	}
	p, err := d.whole.own.Chunk(e.Data)
	if err != nil {
		e := answerError(providers.ErrBadResponse, "the endpoint's predictor can't read the event")
		e.Err = err
		return nil, e
	}
	if d.id == "" {
		d.id, d.created = "chatcmpl-"+randomID(), time.Now().Unix()
	}
	if p.Usage != nil {
		d.usage = p.Usage
	}
	if p.Text == "" && p.FinishReason == "" {
		return nil, nil
	}
	return []*providers.ChatCompletionChunk{d.chunk(p.Text, p.FinishReason)}, nil
}

// chunk returns the next piece of the answer, the last one with why it ended.
func (d *predictStream) chunk(text, reason string) *providers.ChatCompletionChunk {
	choice := providers.ChunkChoice{Delta: providers.Delta{Content: text}}
	if !d.begun {
		d.begun = true
		choice.Delta.Role = providers.RoleAssistant
	}
	if text != "" {
		choice.Delta.ContentBlocks = []providers.ContentBlockDelta{{Delta: providers.TextPart(text)}}
	}
	if reason != "" {
		d.reason = reason
		choice.FinishReason, choice.NativeFinishReason = openFinish(reason), reason
	}
	return &providers.ChatCompletionChunk{ID: d.id, Created: d.created, Model: d.whole.model, Choices: []providers.ChunkChoice{choice}}
}

// predictError returns the error that an object tells of, nil for none.
func predictError(data []byte) error {
	raw, ok := errorMember(data)
	if !ok {
		return nil
	}
	e := rawError(0, raw)
	e.Sent = true
	return e
}

func (d *predictStream) finish() ([]*providers.ChatCompletionChunk, error) {
	if d.id == "" && len(d.whole.body) > 0 {
		return d.whole.finish()
	}
	if err := predictError(bytes.TrimSpace(d.whole.body)); err != nil { // behind the events
		return nil, err
	}
	if d.id == "" || d.reason == "" && !d.done {
		return nil, cutError()
	}
	var last []*providers.ChatCompletionChunk
	if d.reason == "" {
		last = append(last, d.chunk("", providers.FinishStop))
	}
	if d.usage != nil {
		last = append(last, &providers.ChatCompletionChunk{ID: d.id, Created: d.created, Model: d.whole.model, Usage: d.usage})
	}
	return last, nil
}

func (*predictStream) release() {}
