package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long a call may take beyond what its answer lasts.
const patience = 90 * time.Second

// maxFailures is how many failures are told in words.
const maxFailures = 20

// tally is what became of the calls of one load.
type tally struct {
	Calls, Whole, Hits, Left, Canceled, Refused, Cut, Pieces int64
	// Failed counts the calls that went otherwise than their job has it; Failures tells
	// of the first ones.
	Failed   int64
	Failures []string
	// First is from the call to the first piece, Transit from the sending of a piece to
	// its arrival, Gap between two pieces; all of steady load, and streams alone.
	First, Transit, Gap quantiles
}

// load keeps slots busy: each makes one call after the other.
type load struct {
	mix    mix
	asker  asker
	cancel context.CancelFunc
	stop   chan struct{}
	ended  sync.WaitGroup

	calls, wholes, hits, left, canceled, refused, cuts, pieces, failed atomic.Int64
	open                                                               atomic.Int64
	steady                                                             atomic.Bool
	first, transit, gaps                                               histogram

	mu       sync.Mutex
	failures []string
}

// startLoad begins with streams slots, evenly over the ramp. The end of ctx ends the
// calls under way too.
func startLoad(ctx context.Context, by asker, m mix, streams int, ramp time.Duration, seed uint64) *load {
	ctx, cancel := context.WithCancel(ctx)
	l := &load{mix: m, asker: by, cancel: cancel, stop: make(chan struct{})}
	l.warmUp(ctx, rand.New(rand.NewPCG(seed, 0)))
	for i := range streams {
		wait := ramp * time.Duration(i) / time.Duration(streams)
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		l.ended.Go(func() { l.slot(ctx, rng, wait) })
	}
	return l
}

// warmUp makes one call over each protocol, one after the other: without a connection
// to share, each of the first streams over HTTP/2 would open one of its own, and a
// server has little patience with those that it can't serve at once.
func (l *load) warmUp(ctx context.Context, rng *rand.Rand) {
	for _, proto := range []string{h1, h2} {
		if l.mix.Proto == h1 && proto == h2 || l.mix.Proto == h2 && proto == h1 {
			continue
		}
		j := l.mix.job(rng)
		// The last digit of the mark is the protocol to the front.
		*j = job{Mark: j.Mark[:markDigits-1] + proto[1:], Pieces: 1, Pace: l.mix.Pace, Family: gemini, Shape: shapeText, Fault: faultNone, Proto: proto}
		l.call(ctx, j)
	}
}

// drain has no further call begun and waits for those under way. It returns false
// when they took too long; they are ended then.
func (l *load) drain() bool {
	close(l.stop)
	done := make(chan struct{})
	go func() { l.ended.Wait(); close(done) }()
	longest := time.NewTimer(patience + firstPiece + maxPieces*l.mix.Pace)
	defer longest.Stop()
	// A context that ends would end what callers forgot to.
	select {
	case <-done:
		return true
	case <-longest.C:
		l.cancel()
		<-done
		return false
	}
}

func (l *load) slot(ctx context.Context, rng *rand.Rand, wait time.Duration) {
	begin := time.NewTimer(wait)
	defer begin.Stop()
	select {
	case <-begin.C:
	case <-l.stop:
		return
	}
	for {
		select {
		case <-l.stop:
			return
		default:
			l.call(ctx, l.mix.job(rng))
		}
	}
}

// call makes one call and notes what became of it.
func (l *load) call(ctx context.Context, j *job) {
	l.calls.Add(1)
	l.open.Add(1)
	defer l.open.Add(-1)
	if j.Leave == 0 { // who leaves has nothing but Close, which must be enough
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, j.lasts()+patience)
		defer cancel()
		if j.Cancel > 0 {
			end := time.AfterFunc(j.Cancel, cancel)
			defer end.Stop()
		}
	}
	a := newAnswer(j)
	timed := l.steady.Load() && !j.Unary && !j.Shared
	if timed {
		a.transit, a.gaps = &l.transit, &l.gaps
	}
	err := l.asker.ask(ctx, j, a)
	l.pieces.Add(int64(a.next - 1))
	if timed && !a.first.IsZero() {
		l.first.add(a.first.Sub(a.begun))
	}
	if err := l.judge(j, a, err); err != nil {
		l.fail(fmt.Errorf("%s %s, %s, unary %v, fault %s, leave %d, cancel %v, after %v: %w",
			j.Family, j.Shape, j.Proto, j.Unary, j.Fault, j.Leave, j.Cancel, time.Since(a.begun).Round(time.Millisecond), err))
	}
}

// judge says what is wrong with how a call ended, nil for nothing.
func (l *load) judge(j *job, a *answer, err error) error {
	code := ""
	if err != nil {
		code = l.asker.code(err)
	}
	switch {
	case a.wrong != nil:
		return a.wrong
	case j.Fault == faultRefuse:
		return l.expect(&l.refused, code, "rate_limit_exceeded", err)
	case j.Fault == faultCut:
		if a.next-1 != j.Pieces/2 {
			return fmt.Errorf("%d pieces of an answer that is cut after %d, and %w", a.next-1, j.Pieces/2, err)
		}
		return l.expect(&l.cuts, code, "stream_interrupted", err)
	case j.Cancel > 0 && err != nil:
		return l.expect(&l.canceled, code, "canceled", err)
	case err != nil:
		return err
	case j.Leave > 0:
		if a.done {
			return fmt.Errorf("the answer ended after %d pieces, when its caller wanted %d", a.next-1, j.Leave)
		}
		l.left.Add(1)
		return nil
	}
	if err := a.whole(); err != nil {
		return err
	}
	l.wholes.Add(1)
	if a.hit {
		l.hits.Add(1)
	}
	return nil
}

// expect counts an error that was asked for.
func (*load) expect(count *atomic.Int64, code, want string, err error) error {
	if err == nil {
		return fmt.Errorf("no error, want %s", want)
	}
	if code != want {
		return fmt.Errorf("want %s: %w", want, err)
	}
	count.Add(1)
	return nil
}

func (l *load) fail(err error) {
	l.failed.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.failures) < maxFailures {
		l.failures = append(l.failures, err.Error())
	}
}

// tally sums up.
func (l *load) tally() tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	return tally{
		Calls: l.calls.Load(), Whole: l.wholes.Load(), Hits: l.hits.Load(), Left: l.left.Load(), Canceled: l.canceled.Load(),
		Refused: l.refused.Load(), Cut: l.cuts.Load(), Pieces: l.pieces.Load(),
		Failed: l.failed.Load(), Failures: append([]string(nil), l.failures...),
		First: l.first.quantiles(), Transit: l.transit.quantiles(), Gap: l.gaps.quantiles(),
	}
}
