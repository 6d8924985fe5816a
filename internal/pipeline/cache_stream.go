package pipeline

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/internal/answers"
	"github.com/b650d4bf/gateway/internal/inflight"
	"github.com/b650d4bf/gateway/providers"
)

type chunkLog = inflight.Log[*providers.ChatCompletionChunk]

// streamed answers a request with a stream from the cache, or opens one that is
// kept at its clean end. ran says that ask was called for this very call, and has
// returned.
func streamed(ctx context.Context, p *place, req *providers.ChatCompletionRequest, ask asker[*providers.ChatCompletionRequest, opened]) (out opened, ran bool, err error) {
	if p.excluded(p.rules.Request(req)) {
		out, err = ask(ctx, p, req)
		return out, true, err
	}
	p.stream = true
	p.key = answers.Key(&p.scope, req, chatKind.write)
	p.begun = p.cache.marks.at(&p.key)
	epoch := p.cache.flights.Epoch()
	if !p.refresh {
		if whole, ok := exact(ctx, p, &chatKind); ok {
			return replayed(whole), false, nil
		}
	}
	p.status(p.missed(), &providers.CacheInfo{})
	own := outlive(p, &chatKind, req)
	for again := 0; ; again++ {
		f, leads := p.join(ctx, epoch, again, func(fresh bool) inflight.Work[flightKey, *result] {
			return func(ctx context.Context, f *inflight.Flight[flightKey, *result]) (*result, error) {
				return stream(ctx, p, f, own, fresh, ask)
			}
		})
		wait, cancel := p.bounded(ctx, leads)
		g := p.wait(wait, f, leads)
		if g.err == nil {
			return p.reads(wait, cancel, f, &g, leads)
		}
		over := wait.Err() != nil
		if cancel(); !g.left {
			f.Leave()
		}
		if !leads && again < maxJoins && !over && isAnothers(g.err) {
			p.carry(&g)
			continue
		}
		p.failed(&g, leads)
		return out, leads && g.owes, g.err
	}
}

// reads returns a stream that has begun, for the call to read.
func (p *place) reads(ctx context.Context, cancel context.CancelFunc, f *sharedWork, g *got, leads bool) (out opened, ran bool, err error) {
	res := g.res
	if p.told(res, g.owes, res.info.Saved); g.owes && !leads {
		p.owe(res)
	}
	p.rec.waiting = &pending{place: p, flight: f, result: res}
	reader := &logReader{ctx: ctx, log: res.log, large: &res.large, left: make(chan struct{}), cancel: cancel}
	reader.share = &share{flight: f, res: res, reader: reader, owed: g.owes}
	if out.first, err = reader.Recv(); err != nil {
		p.rec.drop()
		_ = reader.Close()
		return opened{}, leads, err
	}
	p.rec.share, out.reader = reader.share, reader
	return out, leads, nil
}

// replayed is a whole answer as a stream.
func replayed(whole *providers.ChatCompletion) opened {
	chunks := answers.Chunks(whole)
	return opened{first: chunks[0], reader: &replay{chunks[1:]}}
}

// stream makes a stream for all who want it. It begins the flight with the first
// chunk, and goes on to the end.
func stream(ctx context.Context, p *place, f *inflight.Flight[flightKey, *result], req *providers.ChatCompletionRequest, fresh bool, ask asker[*providers.ChatCompletionRequest, opened]) (*result, error) {
	res := &result{status: p.missed(), log: new(chunkLog)}
	if p.foundInTime(ctx, res, fresh) {
		if whole, kept, err := chatKind.decode(res.body); err == nil {
			whole.Meta.Warnings = kept.Warnings
			res.info.Saved = kept.Took
			for _, c := range answers.Chunks(whole) {
				res.log.Add(c)
			}
			res.log.End(io.EOF)
			return res, nil
		}
		p.cache.count.Corrupt.Add(1)
		p.cache.forget(ctx, res.from.Key)
		res = &result{status: p.missed(), log: res.log, meaning: res.meaning}
	}
	if err := p.shrink(); err != nil {
		return nil, err
	}
	begin := time.Now()
	o, err := ask(ctx, p, req)
	if res.came(p); err != nil {
		return res, err
	}
	end := sync.OnceFunc(func() { _ = o.reader.Close() })
	defer end()
	stop := context.AfterFunc(ctx, end) // nobody is left
	defer stop()
	return res, p.pump(f, res, &o, begin)
}

// pump gives a stream to its readers, to its end.
func (p *place) pump(f *inflight.Flight[flightKey, *result], res *result, o *opened, begin time.Time) error {
	ended := inflight.ErrPanicked // unless it is left in another way
	var whole fold
	defer func() {
		o.lease.Done(whole.tokens, ended)
		res.log.End(endOf(ended))
	}()
	for chunk, err := o.first, error(nil); ; chunk, err = o.reader.Recv() {
		if err != nil && !isEnd(err) {
			ended = err
			return err
		}
		if err != nil {
			p.whole(res, &whole, time.Since(begin))
			ended = nil
			return nil
		}
		if !res.large.Load() {
			whole.add(answers.Clone(chunk))
		}
		if whole.size > maxHeld && !res.large.Load() { // it goes on, and is not kept
			whole.answer = providers.Accumulator{}
			f.Shut()
			res.large.Store(true)
		}
		if u := chunk.Usage; u != nil {
			whole.tokens = u.TotalTokens
		}
		if res.log.Add(chunk); chunk == o.first {
			f.Begin(res)
		}
	}
}

// endOf is what readers get behind the last chunk.
func endOf(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// whole readies a stream that ended for being kept. It is kept once a caller has
// seen its end.
func (p *place) whole(res *result, f *fold, took time.Duration) {
	if f.err != nil {
		if res.reason = "the chunks do not make an answer"; f.size > maxHeld {
			res.reason = "the answer is larger than is kept"
		}
		return
	}
	_ = ready(p, &chatKind, res, f.answer.Completion(), took) // a chat can be encoded
}

// logReader is one caller's part of a stream that is shared.
type logReader struct {
	ctx    context.Context //nolint:containedctx // it is the caller's, who reads
	log    *chunkLog
	large  *atomic.Bool // what one reader alone has read need not be held
	share  *share
	over   atomic.Bool // the stream has ended, and not the call's time alone
	next   int
	left   chan struct{}
	cancel context.CancelFunc
	once   sync.Once
}

// Recv returns the next chunk, which is the caller's own.
func (r *logReader) Recv() (*providers.ChatCompletionChunk, error) {
	c, err := r.log.At(r.ctx, r.next, r.left)
	if err != nil {
		select {
		case <-r.left:
			r.over.Store(isEnd(err))
		default:
			r.over.Store(isEnd(err) || r.ctx.Err() == nil)
		}
		return nil, err
	}
	if r.large.Load() && r.share.flight.Alone() {
		r.log.Forget(r.next)
	}
	r.next++
	return answers.Clone(c), nil
}

// Close ends the caller's part. It may be called from another goroutine.
func (r *logReader) Close() error {
	r.once.Do(func() {
		close(r.left)
		r.cancel()
		r.share.leave()
	})
	return nil
}
