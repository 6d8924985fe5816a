package pipeline

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// tardyStream is a tardy provider whose streams take a second for each of four chunks, the
// last of which has the usage.
type tardyStream struct{ tardy }

func (s *tardyStream) ChatCompletionStream(ctx context.Context, t *providers.Target, _ *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	if err := s.wait(ctx, t); err != nil {
		return nil, err
	}
	return &slowReader{ctx: ctx, closed: make(chan struct{})}, nil
}

type slowReader struct {
	ctx    context.Context //nolint:containedctx // a stream's
	n      int
	once   sync.Once
	closed chan struct{}
}

func (r *slowReader) Recv() (*providers.ChatCompletionChunk, error) {
	if r.n++; r.n == 5 {
		return nil, io.EOF
	}
	if r.n > 1 {
		select {
		case <-time.After(time.Second):
		case <-r.closed:
			return nil, &providers.Error{Code: providers.ErrCanceled, Sent: true}
		case <-r.ctx.Done():
			return nil, &providers.Error{Code: providers.ErrCanceled, Sent: true}
		}
	}
	c := &providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Delta: providers.Delta{Role: "assistant", Content: "a"}}}}
	if r.n == 4 {
		c.Choices[0].FinishReason = "stop"
		c.Usage = &providers.Usage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3}
	}
	return c, nil
}

func (r *slowReader) Close() error {
	r.once.Do(func() { close(r.closed) })
	return nil
}

// party are calls that ask the same of one engine.
type party struct {
	t      *testing.T
	slow   *tardyStream
	engine *Engine
	client *Settings
	see    *watcher
	all    sync.WaitGroup
}

func newParty(t *testing.T, plan, guarded bool) *party {
	p := &party{t: t, slow: &tardyStream{tardy{takes: 10 * time.Second}}, client: timed(time.Hour), see: new(watcher)}
	p.engine = New(p.slow)
	t.Cleanup(func() { _ = p.engine.Close() })
	p.client.Observers = []providers.Observer{p.see}
	if guarded {
		p.client.Guards = []providers.Guard{{Name: "g", Answer: func(_ context.Context, _ *providers.ChatCompletionRequest, out *providers.ChatCompletion) (*providers.ChatCompletion, error) {
			return out, nil
		}}}
	}
	if plan {
		p.client.Plan = planOf(t, `{"retry":{"attempts":0}}`)
	}
	return p
}

// call begins a call in a while, whose context ends and whose stream is closed after
// some chunks; 0 is never.
func (p *party) call(name string, after, leaves time.Duration, call *Settings, stream bool, chunks int) {
	own := *call
	own.RequestID = name
	p.all.Go(func() {
		time.Sleep(after)
		ctx, cancel := context.WithCancel(p.t.Context())
		defer cancel()
		if leaves > 0 {
			ctx, cancel = context.WithTimeout(ctx, leaves)
			defer cancel()
		}
		if !stream {
			_, _ = p.engine.Chat(ctx, p.client, &own, ask("m"))
			return
		}
		s, err := p.engine.ChatStream(ctx, p.client, &own, ask("m"))
		if err != nil {
			return
		}
		for n := 1; err == nil && n != chunks+1; n++ {
			_, err = s.Recv()
		}
		_ = s.Close()
	})
}

// owing are the calls whose records have requests, and how many. When it is strict,
// none has the request of one flight and the answer of another.
func (p *party) owing(strict bool) map[string]int {
	p.all.Wait()
	synctest.Wait()
	out := map[string]int{}
	for i := range p.see.records {
		r := &p.see.records[i]
		for j := range r.Meta.Attempts {
			if r.Meta.Attempts[j].Skipped == "" {
				out[r.ID]++
			}
		}
		if e, ok := errors.AsType[*providers.Error](r.Err); ok && len(e.Attempts) != len(r.Meta.Attempts) {
			p.t.Errorf("the error of %s has %d attempts, its record %d", r.ID, len(e.Attempts), len(r.Meta.Attempts))
		}
		shared, hit := r.Meta.Cache.Shared, r.Meta.CacheStatus.IsHit()
		if !shared && out[r.ID] == 0 && !hit || strict && shared && out[r.ID] > 0 {
			p.t.Errorf("%s has %d requests, and shared is %v", r.ID, out[r.ID], shared)
		}
		if r.Err == nil && r.Usage == nil {
			p.t.Errorf("%s has no usage", r.ID)
		}
	}
	return out
}

func TestOneRecordHasTheRequestThatSeveralShare(t *testing.T) {
	const second = time.Second
	short := &Settings{Timeouts: providers.Timeouts{Total: 5 * second}}
	for name, tt := range map[string]struct {
		stream bool
		err    error
		calls  func(p *party, stream bool)
		want   map[string]int
	}{
		"nobody leaves": {calls: func(p *party, stream bool) {
			p.call("a", 0, 0, new(Settings), stream, -1)
			p.call("b", second, 0, new(Settings), stream, -1)
		}, want: map[string]int{"a": 1}},
		"the one who began it leaves": {calls: func(p *party, stream bool) {
			p.call("a", 0, 2*second, new(Settings), stream, -1)
			p.call("b", second, 0, new(Settings), stream, -1)
		}, want: map[string]int{"b": 1}},
		"another one leaves": {calls: func(p *party, stream bool) {
			p.call("a", 0, 0, new(Settings), stream, -1)
			p.call("b", second, second, new(Settings), stream, -1)
		}, want: map[string]int{"a": 1}},
		"one after the other leaves": {calls: func(p *party, stream bool) {
			p.call("a", 0, 2*second, new(Settings), stream, -1)
			p.call("b", second, 5*second, new(Settings), stream, -1)
			p.call("c", second, 3*second, new(Settings), stream, -1)
		}, want: map[string]int{"b": 1}},
		"it fails when the one who began it has left": {err: &providers.Error{Code: providers.ErrUnavailable, StatusCode: 503, Provider: "tardy"}, calls: func(p *party, stream bool) {
			p.call("a", 0, 2*second, new(Settings), stream, -1)
			p.call("b", second, 0, new(Settings), stream, -1)
		}, want: map[string]int{"b": 1}},
		"the time of the one who has left is over": {calls: func(p *party, stream bool) {
			p.call("a", 0, 2*second, short, stream, -1)
			p.call("b", second, 0, new(Settings), stream, -1)
		}, want: map[string]int{"b": 2}},
		"the one who began it closes the stream": {stream: true, calls: func(p *party, stream bool) {
			p.call("a", 0, 0, new(Settings), stream, 2)
			p.call("b", second, 0, new(Settings), stream, -1)
		}, want: map[string]int{"b": 1}},
		"one closes the stream that another one left": {stream: true, calls: func(p *party, stream bool) {
			p.call("a", 0, 2*second, new(Settings), stream, -1)
			p.call("b", second, 12*second, new(Settings), stream, 3)
			p.call("c", second, 0, new(Settings), stream, 2)
		}, want: map[string]int{"b": 1}},
		"all close the stream": {stream: true, calls: func(p *party, stream bool) {
			p.call("a", 0, 0, new(Settings), stream, 1)
			p.call("b", second, 0, new(Settings), stream, 3)
			p.call("c", second, 0, new(Settings), stream, 2)
		}, want: map[string]int{"b": 1}},
	} {
		for _, stream := range []bool{false, true} {
			if tt.stream && !stream {
				continue
			}
			for _, plan := range []bool{false, true} {
				t.Run(name+", streamed "+strconv.FormatBool(stream)+", planned "+strconv.FormatBool(plan), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						p := newParty(t, plan, false)
						p.slow.err = tt.err
						tt.calls(p, stream)
						wantEqual(t, tt.want, p.owing(true))
					})
				})
			}
		}
	}
}

// TestAGuardThatHoldsAStreamBackOwesForIt reads all of a stream before it gives any of
// it out.
func TestAGuardThatHoldsAStreamBackOwesForIt(t *testing.T) {
	for _, plan := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := newParty(t, plan, true)
			p.call("a", 0, 11*time.Second, new(Settings), true, -1)
			p.call("b", time.Second, 0, new(Settings), true, -1)
			wantEqual(t, map[string]int{"b": 1}, p.owing(true))
		})
	}
}

// TestAllRequestsAreInTheRecords has calls come and go at random.
func TestAllRequestsAreInTheRecords(t *testing.T) {
	for seed := range uint64(400) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			p := newParty(t, seed%2 == 0, seed%3 == 0)
			if seed%5 == 0 {
				p.slow.err = &providers.Error{Code: providers.ErrUnavailable, StatusCode: 503, Provider: "tardy"}
			}
			some := func(n int) time.Duration { return time.Duration(random.IntN(n)) * time.Millisecond * 100 }
			for i := range 2 + random.IntN(6) {
				own := new(Settings)
				if random.IntN(3) == 0 {
					own.Timeouts.Total = some(200) + 1
				}
				leaves := some(150)
				if random.IntN(3) == 0 {
					leaves = 0
				}
				p.call(strconv.Itoa(i), some(40), leaves, own, seed%4 < 2, random.IntN(6)-1)
			}
			sum := 0
			for _, n := range p.owing(false) {
				sum += n
			}
			if want := len(p.slow.totals); sum != want {
				t.Errorf("seed %d: %d requests are in the records, and %d were made", seed, sum, want)
			}
		})
	}
}
