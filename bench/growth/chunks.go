package growth

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/b650d4bf/gateway"
)

// streaming is a way of reading a stream.
type streaming struct {
	name, model string
	event       func(dst []byte, i, n int) []byte
	// length is that of the answer's text and arguments together.
	length func(n int) int
	// collect has the answer made whole, cached keeps it in the response cache.
	collect, cached bool
	// grows says that more is in use the longer the answer is.
	grows bool
}

const pieceBytes = len("piece of the answer ")

func textLength(n int) int { return n * pieceBytes }

// mixedLength is what mixedEvent writes, without the thoughts.
func mixedLength(n int) int {
	const call = len(`{"days":[]}`) + 8*len(`{"name":"day"}`) + 7*len(`,`)
	return (n-n/4-n/20*10)*pieceBytes + n/20*call
}

// callLength is what callEvent writes.
func callLength(n int) int {
	switch n {
	case 1:
		return len(`{"text":"piece"}`)
	case 2:
		return len(`{}`)
	}
	return len(`{"text":""}`) + (n-2)*len("piece of the text ")
}

func streamings() []streaming {
	return []streaming{
		{name: "text", model: gemini, event: textEvent, length: textLength},
		{name: "thoughts, text, calls", model: signed, event: mixedEvent, length: mixedLength},
		{name: "one long call", model: signed, event: callEvent, length: callLength, grows: true},
		{name: "text, Claude", model: claude, event: claudeEvent, length: textLength},
		{name: "text, cached", model: gemini, event: textEvent, length: textLength, cached: true, grows: true},
		{name: "text, collected", model: gemini, event: textEvent, length: textLength, collect: true, grows: true},
	}
}

func chunksSeries() Series {
	return Series{
		Name: "chunks", Title: "A stream by the number of its chunks", Axis: "chunks",
		Metrics: []Metric{
			{Name: "time per stream", Unit: Nanoseconds, Rule: linear, Plotted: true},
			{Name: "time per chunk", Unit: Nanoseconds, Rule: level, Plotted: true, Flat: true},
			{Name: "allocated per chunk", Unit: Bytes, Rule: level},
			{Name: "allocations per chunk", Unit: Count, Rule: level},
			{Name: "peak of live heap", Unit: Bytes, Rule: level, Plotted: true},
		},
		measure: func(ctx context.Context, r *Run) ([]Line, error) {
			var lines []Line
			for _, s := range streamings() {
				l, err := s.measure(ctx, r)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", s.name, err)
				}
				lines = append(lines, l)
			}
			return lines, nil
		},
	}
}

func (s *streaming) measure(ctx context.Context, r *Run) (Line, error) {
	l := Line{Name: s.name}
	var more []gateway.ClientOption
	if s.cached {
		more = append(more, gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}))
	}
	if s.grows {
		l.Rules = map[string]Rule{"peak of live heap": linear}
	}
	p := new(platform)
	client, err := newClient(p, more...)
	if err != nil {
		return l, err
	}
	defer client.Close()
	for _, n := range r.sizes(100_000, 100) {
		p.stream = &script{n, s.event}
		one := func(*clock) error {
			err := s.read(ctx, client, n)
			if err == nil {
				l.Answered++
			}
			return err
		}
		paid, err := r.measure(one)
		if err != nil {
			return l, fmt.Errorf("of %d: %w", n, err)
		}
		peak, err := s.peak(p, n, r.looks(), func() error { return one(nil) })
		if err != nil {
			return l, fmt.Errorf("of %d: %w", n, err)
		}
		f := float64(n)
		r.say("  %s, %d: %.0f ns/chunk", s.name, n, paid.ns/f)
		l.Rows = append(l.Rows, Row{n, []float64{paid.ns, paid.ns / f, paid.bytes / f, paid.allocs / f, peak}})
	}
	l.Asked = p.asked.Load()
	return l, nil
}

// request asks for a stream.
func request(model string) *gateway.ChatCompletionRequest {
	maxTokens := 100
	return &gateway.ChatCompletionRequest{Model: model, MaxTokens: &maxTokens, Messages: []gateway.Message{gateway.UserMessage("Hello")}}
}

// read asks for a stream and reads it to its end.
func (s *streaming) read(ctx context.Context, client *gateway.Client, n int) error {
	var opts []gateway.RequestOption
	if s.cached {
		opts = append(opts, gateway.WithCacheForceRefresh())
	}
	stream, err := client.Chat.Completions.CreateStream(ctx, request(s.model), opts...)
	if err != nil {
		return err
	}
	defer stream.Close()
	if s.collect {
		out, err := stream.Collect()
		if err == nil && (len(out.Choices) != 1 || len(out.Choices[0].Message.Content.Text()) != s.length(n)) {
			err = errAnswer
		}
		return err
	}
	var t tally
	for err == nil {
		err = t.next(stream)
	}
	return t.end(err, s.length(n))
}

// tally adds up what a stream gives.
type tally struct {
	length   int
	finished bool
}

// next reads one chunk.
func (t *tally) next(stream *gateway.ChatStream) error {
	chunk, err := stream.Recv()
	if err != nil {
		return err
	}
	for i := range chunk.Choices {
		c := &chunk.Choices[i]
		t.length += len(c.Delta.Content)
		for j := range c.Delta.ToolCalls {
			t.length += len(c.Delta.ToolCalls[j].Function.Arguments)
		}
		t.finished = t.finished || c.FinishReason != ""
	}
	return nil
}

// end judges the whole stream by the error that ended it.
func (t *tally) end(err error, length int) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	if t.length != length || !t.finished {
		return fmt.Errorf("%w: it has %d bytes and not %d", errAnswer, t.length, length)
	}
	return nil
}

// looks is how often memory is looked at while a stream is read.
func (r *Run) looks() int {
	if r.Quick {
		return 2
	}
	return 16
}

// peak returns the most memory that is in use while a stream is read, over what
// was before it, looked at so many times on the way and at the end.
func (s *streaming) peak(p *platform, n, looks int, read func() error) (float64, error) {
	if err := read(); err != nil {
		return 0, err
	}
	before, most := liveHeap(), 0.0
	p.stream = &script{n, func(b []byte, i, n int) []byte {
		if i%(n/looks+1) == 0 || i == n-1 {
			most = max(most, liveHeap())
		}
		return s.event(b, i, n)
	}}
	err := read()
	return max(most-before, 0), err
}
