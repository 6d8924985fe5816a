package pipeline

import (
	"context"
	"errors"
	"io"

	"github.com/b650d4bf/gateway/providers"
)

const (
	// maxHeld bounds what of a streamed answer is kept for guards, in bytes: as
	// much as a whole answer may have by default.
	maxHeld = 64 << 20
	// chunkSize is about what a chunk takes beside what it says.
	chunkSize = 512
)

// stream has a stream judged: before anything is shown when a guard denies, else
// at its end. The answer is there when the error is a verdict on it.
func (p *panel) stream(ctx context.Context, req *providers.ChatCompletionRequest, o opened) (opened, *providers.ChatCompletion, error) {
	switch some, deny := p.answers(); {
	case deny:
		return p.held(ctx, req, o)
	case some:
		w := &observed{reader: o.reader, judge: func(f *fold) {
			if f.err != nil {
				p.unjudged(f.err)
				return
			}
			_, _ = p.answer(ctx, req, f.answer.Completion()) // who observes refuses nothing
		}}
		w.seen.add(o.first)
		o.reader = w
	}
	return o, nil, nil
}

// held reads a stream to its end and has it judged. The chunks go out as they
// came, or as others when a guard changed the answer.
func (p *panel) held(ctx context.Context, req *providers.ChatCompletionRequest, o opened) (opened, *providers.ChatCompletion, error) {
	defer func() { _ = o.reader.Close() }()
	var f fold
	var chunks []*providers.ChatCompletionChunk
	chunk, err := o.first, error(nil)
	for ; err == nil; chunk, err = o.reader.Recv() {
		chunks = append(chunks, chunk)
		if f.add(chunk); f.err != nil {
			err = f.err
			break
		}
	}
	if !isEnd(err) {
		err = withoutPartial(err)
		o.lease.Done(0, err)
		return opened{}, nil, err
	}
	whole := f.answer.Completion()
	tokens := int64(0)
	if whole.Usage != nil {
		tokens = whole.Usage.TotalTokens
	}
	o.lease.Done(tokens, nil)
	shown, err := p.answer(ctx, req, whole)
	if err != nil {
		return opened{}, whole, err
	}
	if shown != whole {
		chunks = chunksOf(shown)
	}
	return opened{first: chunks[0], reader: &replay{chunks[1:]}, lease: o.lease}, whole, nil
}

// withoutPartial takes what nobody has judged out of an error.
func withoutPartial(err error) error {
	if e, ok := errors.AsType[*providers.Error](err); ok && e.Partial != nil {
		own := *e
		own.Partial = nil
		return &own
	}
	return err
}

// unjudged notes that an answer could not be shown to the guards.
func (p *panel) unjudged(err error) {
	for i := range p.list {
		if g := &p.list[i]; g.Answer != nil {
			v := p.verdict(g, providers.GuardAnswer)
			v.Err = err
			p.log.add(&v)
		}
	}
}

// fold makes the whole answer of chunks, which are shown to others too.
type fold struct {
	answer providers.Accumulator
	size   int
	tokens int64 // that were used, as far as that was told
	err    error // why there is no whole answer
}

func (f *fold) add(c *providers.ChatCompletionChunk) {
	if f.err != nil {
		return
	}
	if f.size += sizeOf(c); f.size > maxHeld {
		f.err = &providers.Error{Code: providers.ErrBadResponse, Sent: true, Message: "the answer is larger than 64 MiB, which is more than is kept for guards"}
		return
	}
	own := *c
	if own.Usage != nil {
		own.Usage = new(*own.Usage) // the other is projected
		f.tokens = own.Usage.TotalTokens
	}
	f.err = f.answer.Add(&own)
}

// replay is a stream of chunks that are there.
type replay struct {
	chunks []*providers.ChatCompletionChunk
}

func (r *replay) Recv() (*providers.ChatCompletionChunk, error) {
	if len(r.chunks) == 0 {
		return nil, io.EOF
	}
	chunk := r.chunks[0]
	r.chunks[0] = nil
	r.chunks = r.chunks[1:]
	return chunk, nil
}

func (*replay) Close() error { return nil }

// observed is a stream that is judged when it has been shown. One that breaks off
// is not.
type observed struct {
	reader providers.ChunkReader
	seen   fold
	judge  func(*fold)
}

func (w *observed) Recv() (*providers.ChatCompletionChunk, error) {
	chunk, err := w.reader.Recv()
	if err == nil {
		w.seen.add(chunk)
	} else if judge := w.judge; judge != nil {
		if w.judge = nil; isEnd(err) {
			judge(&w.seen)
		}
	}
	return chunk, err
}

// Close ends the stream. It may be called from another goroutine.
func (w *observed) Close() error { return w.reader.Close() }

// sizeOf is about what a chunk holds, in bytes.
func sizeOf(chunk *providers.ChatCompletionChunk) int {
	n := chunkSize + len(chunk.Extra)
	for i := range chunk.Choices {
		c := &chunk.Choices[i]
		d := &c.Delta
		n += len(d.Content) + len(d.Extra) + len(c.Extra)
		if d.Audio != nil {
			n += len(d.Audio.Data) + len(d.Audio.Transcript)
		}
		for j := range d.ToolCalls {
			f := &d.ToolCalls[j].Function
			n += chunkSize + len(f.Arguments) + len(f.ThoughtSignature)
		}
		for j := range d.ContentBlocks {
			n += partSize(&d.ContentBlocks[j].Delta)
		}
		if c.Logprobs != nil {
			n += chunkSize * len(c.Logprobs.Content)
		}
	}
	return n
}

func partSize(p *providers.ContentPart) int {
	n := chunkSize + len(p.Text) + len(p.Thinking) + len(p.Signature) + len(p.Data) + len(p.Extra)
	if p.ImageURL != nil {
		n += len(p.ImageURL.URL)
	}
	if p.InputAudio != nil {
		n += len(p.InputAudio.Data)
	}
	return n
}
