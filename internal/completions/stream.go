package completions

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Source is the streamed answer to one prompt.
type Source interface {
	Recv() (*providers.ChatCompletionChunk, error)
	Meta() providers.Meta
	Close() error
	// Strict reports whether what the schema does not have is left out.
	Strict() bool
}

// Opener opens the stream of one prompt. What it returns ends with the context.
type Opener func(context.Context, *providers.ChatCompletionRequest) (Source, error)

// Stream is a streamed text completion. It belongs to one goroutine at a time;
// only Close may be called from any.
type Stream struct {
	*job
	feed   feed
	choice map[int]*tracker
	usages []*providers.Usage // of each prompt
	head   providers.Completion
	strict bool
	asked  bool // for the usage

	ahead  *piece // the first one
	err    error
	ending bool // the choices are whole
}

// piece is a chunk of the answer to a prompt; the last of all is an error.
type piece struct {
	prompt int
	chunk  *providers.ChatCompletionChunk
	strict bool
	err    error
}

// feed gives the pieces of all prompts, io.EOF after the last one of the last.
type feed interface {
	next() piece
	metas() []providers.Meta
	close() error
}

// Open opens the streams of all prompts, some of them at a time, and returns
// when the first piece is there. A total above 0 limits the time for all of
// several.
func Open(ctx context.Context, q *providers.CompletionRequest, total time.Duration, open Opener) (*Stream, error) {
	j, err := newJob(q)
	if err != nil {
		return nil, err
	}
	for _, c := range j.chats {
		c.Stream, c.StreamOptions = true, &providers.StreamOptions{IncludeUsage: true}
		if q.StreamOptions != nil {
			c.StreamOptions.Extra = q.StreamOptions.Extra
		}
	}
	s := &Stream{
		job: j, choice: map[int]*tracker{}, usages: make([]*providers.Usage, len(j.chats)),
		asked: q.StreamOptions != nil && q.StreamOptions.IncludeUsage, strict: true,
	}
	if len(j.chats) == 1 {
		one, err := open(ctx, j.chats[0])
		if err != nil {
			return nil, j.restate(0, err)
		}
		s.feed = single{j, one}
		return s, nil
	}
	s.feed = newCrowd(ctx, j, total, open)
	first := s.feed.next()
	if first.err != nil {
		_ = s.feed.close()
		return nil, first.err
	}
	s.ahead = &first
	return s, nil
}

// Recv returns the next piece, or io.EOF after the last one of a whole answer.
// After the first error each further call repeats it.
func (s *Stream) Recv() (*providers.Completion, error) {
	for s.err == nil {
		out, usage := s.step()
		if out != nil && (!usage || s.asked || !s.strict) {
			return out, nil
		}
	}
	return nil, s.err
}

// step takes one piece, and returns what it says, nil for nothing, and whether
// that is the usage.
func (s *Stream) step() (out *providers.Completion, usage bool) {
	if s.ending {
		s.err = io.EOF
		return nil, false
	}
	p := s.ahead
	if s.ahead = nil; p == nil {
		p = new(s.feed.next())
	}
	switch {
	case isEnd(p.err):
		s.ending = true
		_ = s.feed.close()
		return s.last(), true
	case p.err != nil:
		s.err = p.err
		_ = s.feed.close()
		return nil, false
	}
	s.strict = s.strict && p.strict
	return s.piece(p), false
}

// isEnd reports whether err is the end of a whole stream.
func isEnd(err error) bool {
	var e *providers.Error
	return errors.Is(err, io.EOF) && !errors.As(err, &e)
}

// piece turns a chunk into a piece, nil when it says nothing.
func (s *Stream) piece(p *piece) *providers.Completion {
	c := p.chunk
	if s.head.ID == "" && s.head.Created == 0 {
		s.head = providers.Completion{ID: c.ID, Created: c.Created, Model: c.Model, Provider: c.Provider}
	}
	if c.Usage != nil {
		s.usages[p.prompt] = c.Usage
	}
	out := s.head
	out.Extra = c.Extra
	for i := range c.Choices {
		from := &c.Choices[i]
		index := p.prompt*s.n + from.Index
		t := s.choice[index]
		if t == nil {
			t = new(s.tracker(p.prompt))
			s.choice[index] = t
		}
		one := providers.CompletionChoice{
			Index: index, Text: t.text(from.Delta.Content, from.Delta.Extra, from.FinishReason != ""), Logprobs: t.logprobs(s.q, from.Logprobs),
			FinishReason: finish(from.FinishReason), Extra: from.Extra,
		}
		if one.Text != "" || one.Logprobs != nil || one.FinishReason != "" || len(one.Extra) > 0 {
			out.Choices = append(out.Choices, one)
		}
	}
	if len(out.Choices) == 0 {
		return nil
	}
	return &out
}

// last is the piece with the usage, nil when there is none.
func (s *Stream) last() *providers.Completion {
	var sum *providers.Usage
	for _, u := range s.usages {
		sum = add(sum, u)
	}
	if sum == nil {
		return nil
	}
	out := s.head
	out.Choices, out.Usage = []providers.CompletionChoice{}, sum
	return &out
}

// Collect reads to the end and returns the whole answer. It is refused once a
// piece was taken, since the answer would lack it.
func (s *Stream) Collect() (*providers.Completion, error) {
	if len(s.choice) > 0 || s.ending {
		return nil, providers.Invalid("stream", "pieces were taken already: call Collect before Recv")
	}
	var all []*providers.Completion
	for s.err == nil {
		if out, _ := s.step(); out != nil {
			all = append(all, out)
		}
	}
	if !isEnd(s.err) {
		return nil, s.err
	}
	out := fold(s.head, all)
	out.Meta = s.Meta()
	return out, nil
}

// fold makes one answer of all pieces.
func fold(head providers.Completion, all []*providers.Completion) *providers.Completion {
	texts := map[int]*strings.Builder{}
	choices := map[int]*providers.CompletionChoice{}
	for _, p := range all {
		if p.Usage != nil {
			head.Usage = p.Usage
		}
		if len(head.Extra) == 0 {
			head.Extra = p.Extra
		}
		for i := range p.Choices {
			c := &p.Choices[i]
			if choices[c.Index] == nil {
				choices[c.Index], texts[c.Index] = &providers.CompletionChoice{Index: c.Index}, new(strings.Builder)
			}
			texts[c.Index].WriteString(c.Text)
			join(choices[c.Index], c)
		}
	}
	for _, index := range slices.Sorted(maps.Keys(choices)) {
		c := choices[index]
		c.Text = texts[index].String()
		head.Choices = append(head.Choices, *c)
	}
	return &head
}

// join adds a piece to a choice, but for its text.
func join(c, p *providers.CompletionChoice) {
	if p.FinishReason != "" {
		c.FinishReason = p.FinishReason
	}
	if len(p.Extra) > 0 {
		c.Extra = p.Extra
	}
	switch l := p.Logprobs; {
	case l == nil:
	case c.Logprobs == nil:
		c.Logprobs = l
	default:
		c.Logprobs.Tokens = append(c.Logprobs.Tokens, l.Tokens...)
		c.Logprobs.TokenLogprobs = append(c.Logprobs.TokenLogprobs, l.TokenLogprobs...)
		c.Logprobs.TopLogprobs = append(c.Logprobs.TopLogprobs, l.TopLogprobs...)
		c.Logprobs.TextOffset = append(c.Logprobs.TextOffset, l.TextOffset...)
	}
}

// Meta says what the gateway did, as far as it is known.
func (s *Stream) Meta() providers.Meta { return s.meta(s.feed.metas()) }

// Close ends the streams. It is idempotent.
func (s *Stream) Close() error { return s.feed.close() }
