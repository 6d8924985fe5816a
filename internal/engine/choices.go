package engine

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// maxChoicesAsked is the most choices of one call.
const maxChoicesAsked = 16

// shareChoices returns how many choices one request asks for and how many
// requests are needed: a model gives most of them in one request, and many
// models give one.
func shareChoices(n *int, most int) (each, shares int, err error) {
	if n == nil || *n == 1 {
		return 1, 1, nil
	}
	if *n < 1 || *n > maxChoicesAsked {
		return 0, 0, providers.Invalid("n", "must be 1 to "+strconv.Itoa(maxChoicesAsked))
	}
	most = max(1, most)
	if *n <= most {
		return *n, 1, nil
	}
	return most, (*n + most - 1) / most, nil
}

// share readies own as the i-th request of a call that takes several.
func (c *call) share(i int, own *call) {
	own.in, own.known = c.in, c.known
	if left := *c.in.chat.N - i*c.in.choices; left < own.in.choices {
		own.in.choices = left
	}
}

// eachShare runs f for each request at once and waits for all of them. The first
// failure is returned, and ends the others by cancel. It says that something was
// sent when another request was, so that what may be billed is not repeated unasked.
func eachShare(shares int, cancel context.CancelFunc, f func(i int) error) error {
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	var sent atomic.Bool // that a request was answered, or may be
	for i := range shares {
		wg.Go(func() {
			err := f(i)
			if e, ok := failure(err); err == nil || ok && e.Sent {
				sent.Store(true)
			}
			if err != nil {
				once.Do(func() { first = err }) // before the others fail by it
				cancel()
			}
		})
	}
	wg.Wait()
	return spent(first, sent.Load())
}

// completeShared sends several requests at once and returns one answer with the
// choices of all.
func (p *Engine) completeShared(ctx context.Context, c *call, shares int) (*providers.ChatCompletion, error) {
	answers := make([]*providers.ChatCompletion, shares)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := eachShare(shares, cancel, func(i int) (err error) {
		own := new(call)
		c.share(i, own)
		answers[i], err = p.complete(ctx, own)
		return err
	})
	if err != nil {
		return nil, err
	}
	whole := answers[0]
	for i, a := range answers[1:] {
		for j := range a.Choices {
			a.Choices[j].Index += (i + 1) * c.in.choices
		}
		whole.Choices = append(whole.Choices, a.Choices...)
		whole.Usage = addUsage(whole.Usage, a.Usage)
	}
	return whole, nil
}

// addUsage adds up what several requests used.
func addUsage(a, b *providers.Usage) *providers.Usage {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	a.PromptTokens += b.PromptTokens
	a.CompletionTokens += b.CompletionTokens
	a.TotalTokens += b.TotalTokens
	a.PromptTokensDetails.CachedTokens += b.PromptTokensDetails.CachedTokens
	a.PromptTokensDetails.AudioTokens += b.PromptTokensDetails.AudioTokens
	a.PromptTokensDetails.Extra = addCounters(a.PromptTokensDetails.Extra, b.PromptTokensDetails.Extra)
	a.CompletionTokensDetails.ReasoningTokens += b.CompletionTokensDetails.ReasoningTokens
	a.CompletionTokensDetails.AudioTokens += b.CompletionTokensDetails.AudioTokens
	a.CompletionTokensDetails.Extra = addCounters(a.CompletionTokensDetails.Extra, b.CompletionTokensDetails.Extra)
	a.Extra = addCounters(a.Extra, b.Extra)
	return a
}

// addCounters adds up the members that are whole numbers. Of others, the first
// set's stay.
func addCounters(a, b providers.Extra) providers.Extra {
	var sum providers.Extra
	for name, value := range a.All() {
		more, _ := b.Get(name)
		x, y := jsonx.NewReader(value), jsonx.NewReader(more)
		if n := x.Int() + y.Int(); x.Err() == nil && y.Err() == nil {
			value = strconv.AppendInt(nil, n, 10)
		}
		sum = jsonx.AppendMember(sum, name, value)
	}
	for name, value := range b.All() {
		if _, ok := a.Get(name); !ok {
			sum = jsonx.AppendMember(sum, name, value)
		}
	}
	return sum
}

// streamShared opens several streams at once and reads them by turns.
func (p *Engine) streamShared(ctx context.Context, c *call, shares int) (providers.ChunkReader, error) {
	s := &sharedReader{each: c.in.choices, open: make([]*reader, shares), ended: make([]bool, shares), left: shares}
	ctx, s.cancel = context.WithCancel(ctx)
	err := eachShare(shares, s.cancel, func(i int) error {
		r := new(reader)
		c.share(i, &r.call)
		if err := p.start(ctx, r); err != nil {
			return err
		}
		s.open[i] = r
		return nil
	})
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// sharedReader joins the streams of one call. It reads one chunk of each by
// turns, as the caller pulls them: no goroutine, nothing buffered.
type sharedReader struct {
	each   int       // choices of each stream
	open   []*reader // nil where a stream could not be opened
	ended  []bool    // by stream
	left   int       // streams that have not ended
	at     int       // whose turn it is
	first  *providers.ChatCompletionChunk
	usage  *providers.Usage
	err    error
	cancel context.CancelFunc
}

// Recv returns the next chunk.
func (s *sharedReader) Recv() (*providers.ChatCompletionChunk, error) {
	for s.err == nil && s.left > 0 {
		i := s.at
		s.at = (s.at + 1) % len(s.open)
		if s.ended[i] {
			continue
		}
		chunk, err := s.open[i].Recv()
		switch {
		case err == nil:
			if s.join(chunk, i) {
				return chunk, nil
			}
		case isStreamEnd(err):
			s.ended[i] = true
			s.left--
		default:
			s.err = err
			_ = s.Close()
		}
	}
	if s.err == nil && s.usage != nil {
		last := &providers.ChatCompletionChunk{
			ID: s.first.ID, Created: s.first.Created, Model: s.first.Model, Provider: s.first.Provider, Usage: s.usage,
		}
		s.usage = nil
		return last, nil
	}
	if s.err == nil {
		s.err = io.EOF
		s.cancel()
	}
	return nil, s.err
}

// join makes a stream's chunk one of the whole answer, and reports whether
// anything is left of it: the usage waits for the end.
func (s *sharedReader) join(c *providers.ChatCompletionChunk, stream int) bool {
	if s.first == nil {
		s.first = &providers.ChatCompletionChunk{ID: c.ID, Created: c.Created, Model: c.Model, Provider: c.Provider}
	} else {
		c.Meta = nil
	}
	c.ID, c.Created, c.Model = s.first.ID, s.first.Created, s.first.Model
	if c.Usage != nil {
		s.usage = addUsage(s.usage, c.Usage)
		c.Usage = nil
	}
	for i := range c.Choices {
		c.Choices[i].Index += stream * s.each
	}
	return len(c.Choices) > 0 || c.Meta != nil
}

// isStreamEnd reports whether err is the end of a whole stream.
func isStreamEnd(err error) bool {
	var e *providers.Error
	return errors.Is(err, io.EOF) && !errors.As(err, &e)
}

// Close releases every connection. It may be called from another goroutine.
func (s *sharedReader) Close() error {
	defer s.cancel() // behind them, since their readers say better why they end
	var errs []error
	for _, r := range s.open {
		if r != nil {
			errs = append(errs, r.Close())
		}
	}
	return errors.Join(errs...)
}
