package growth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/b650d4bf/gateway"
)

// streamChunks is the number of chunks of each of many streams.
const streamChunks = 50

func parallelSeries() Series {
	return Series{
		Name: "parallel", Title: "Streams that are open at once", Axis: "open streams",
		Metrics: []Metric{
			{Name: "time per chunk", Unit: Nanoseconds, Rule: Rule{Rise: 2, From: 1}, Plotted: true, Flat: true},
			{Name: "allocations per chunk", Unit: Count, Rule: level},
			{Name: "heap per open stream", Unit: Bytes, Rule: level, Plotted: true, Flat: true},
			{Name: "goroutines per open stream", Unit: Count, Rule: Rule{Rise: 1, From: 1}},
		},
		measure: measureParallel,
	}
}

// measureParallel reads streams in turn, one chunk of each, and with a goroutine
// for each. Opening them, with the first chunk, is not on the clock.
func measureParallel(ctx context.Context, r *Run) ([]Line, error) {
	p := &platform{stream: &script{streamChunks, textEvent}}
	client, err := newClient(p)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	lines := []Line{{Name: "read in turn"}, {Name: "a goroutine for each"}}
	for i, read := range []func([]*gateway.ChatStream) error{inTurn, atOnce} {
		l, before := &lines[i], p.asked.Load()
		for _, n := range r.sizes(10_000, 50) {
			row, err := openAtOnce(ctx, r, l, client, n, read)
			if err != nil {
				return nil, fmt.Errorf("%s, %d: %w", l.Name, n, err)
			}
			if i > 0 { // what is open does not depend on who reads it
				row.Values[2], row.Values[3] = math.NaN(), math.NaN()
			}
			l.Rows = append(l.Rows, row)
		}
		l.Asked = p.asked.Load() - before
	}
	return lines, nil
}

func openAtOnce(ctx context.Context, r *Run, l *Line, client *gateway.Client, n int, read func([]*gateway.ChatStream) error) (Row, error) {
	paid, err := r.measure(func(c *clock) error {
		c.stop()
		list, err := open(ctx, client, n)
		if err != nil {
			return err
		}
		c.start()
		if err := read(list); err != nil {
			return err
		}
		l.Answered += int64(n)
		return nil
	})
	if err != nil {
		return Row{}, err
	}
	heap, goroutines := liveHeap(), runtime.NumGoroutine()
	list, err := open(ctx, client, n)
	if err != nil {
		return Row{}, err
	}
	held, running := liveHeap()-heap, runtime.NumGoroutine()-goroutines
	if err := read(list); err != nil {
		return Row{}, err
	}
	l.Answered += int64(n)
	chunks, each := float64(n*(streamChunks-1)), float64(n)
	r.say("  %s, %d: %.0f ns/chunk, %.0f B and %d goroutines", l.Name, n, paid.ns/chunks, held/each, running)
	return Row{n, []float64{paid.ns / chunks, paid.allocs / chunks, held / each, float64(running) / each}}, nil
}

// open opens streams and reads the first chunk of each.
func open(ctx context.Context, client *gateway.Client, n int) ([]*gateway.ChatStream, error) {
	list := make([]*gateway.ChatStream, n)
	for i := range list {
		var err error
		if list[i], err = client.Chat.Completions.CreateStream(ctx, request(gemini)); err != nil {
			return nil, err
		}
		chunk, err := list[i].Recv()
		if err != nil {
			return nil, err
		}
		if len(chunk.Choices) != 1 || len(chunk.Choices[0].Delta.Content) != pieceBytes {
			return nil, errAnswer
		}
	}
	return list, nil
}

// rest is the length of what follows a stream's first chunk.
const rest = (streamChunks - 1) * pieceBytes

// inTurn reads a chunk of each stream, again and again until all have ended.
func inTurn(list []*gateway.ChatStream) error {
	tallies := make([]tally, len(list))
	for left := len(list); left > 0; {
		for i, stream := range list {
			if stream == nil {
				continue
			}
			if err := tallies[i].next(stream); err != nil {
				if err := tallies[i].end(err, rest); err != nil {
					return err
				}
				list[i] = nil
				left--
			}
		}
	}
	return nil
}

// atOnce has a goroutine read each stream, which lets others go on after each
// chunk, and waits for all.
func atOnce(list []*gateway.ChatStream) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, stream := range list {
		wg.Go(func() {
			var t tally
			var err error
			for err == nil {
				err = t.next(stream)
				runtime.Gosched()
			}
			errs[i] = t.end(err, rest)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
