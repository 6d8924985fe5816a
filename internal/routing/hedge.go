package routing

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Hedge sends a second, identical request to a target that has not answered
// after a while, for whole answers only. The first answer wins, and the other
// request is cancelled. Both may be billed. The zero Hedge is off.
type Hedge struct {
	// After is how long the first request is waited for; 0 is off.
	After time.Duration
}

// second is the request beside the first one.
type second[T any] struct {
	try  Try
	sent bool
	out  T
	err  error
	done chan struct{}
}

// The request that answered first.
const (
	firstWon  = 1
	secondWon = 2
)

// hedged asks a target, and once more beside it when that takes long. The first
// request stays on this goroutine; the second has one of its own, which has
// ended when hedged returns.
func (w *walk[T]) hedged(n *node, a admission, t *Try) (T, error) {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	beside, cancelBeside := context.WithCancel(w.ctx)
	defer cancelBeside()
	var won atomic.Int32
	s := &second[T]{done: make(chan struct{}), try: Try{Leaf: n.Node, Carry: w.carry, Attempt: providers.Attempt{
		Target: n.target, Retry: t.Attempt.Retry, Hedged: true,
	}}}
	timer := time.AfterFunc(n.Hedge.After, func() {
		defer close(s.done)
		w.beside(beside, n, a, s)
		if s.sent && s.err == nil && won.CompareAndSwap(0, secondWon) {
			cancel()
		}
	})
	joined := false
	join := func() {
		if !joined && !timer.Stop() {
			<-s.done
		}
		joined = true
	}
	defer func() { // should the caller's function panic
		cancelBeside()
		join()
	}()
	out, err := ask(ctx, t, w.try)
	t.settle(w.outcome(ctx, err))
	if err == nil && won.CompareAndSwap(0, firstWon) {
		cancelBeside()
	}
	join()
	w.note(&t.Attempt)
	if s.sent || s.try.Attempt.Skipped != "" {
		w.note(&s.try.Attempt)
	}
	if won.Load() == secondWon {
		t.drop()
		return s.out, nil
	}
	s.try.drop()
	return out, err
}

// drop gives up what a try kept for an answer that nobody gets.
func (t *Try) drop() {
	if t.kept {
		t.lease.Done(t.used, nil)
	}
}

// outcome is how a request ended, as its target is concerned: one that we
// cancelled says nothing of it.
func (w *walk[T]) outcome(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && w.ctx.Err() == nil {
		return interrupted()
	}
	return err
}

// beside makes the second request, unless the first has ended or it may not.
func (w *walk[T]) beside(ctx context.Context, n *node, a admission, s *second[T]) {
	if ctx.Err() != nil {
		return
	}
	a.probe = false
	s.try.Attempt.Start = time.Now() // until it is sent
	if w.tries >= w.router.maxAttempts {
		s.try.Attempt.Skipped = providers.SkipMaxAttempts
		return
	}
	lease, _, err := w.lease(n, &a, false)
	if err != nil {
		s.try.Attempt.Skipped = providers.SkipLimit
		return
	}
	if !w.router.budget.take() {
		s.try.Attempt.Skipped = providers.SkipRetryBudget
		if lease != nil {
			lease.permit.undo()
		}
		return
	}
	w.tries++
	s.sent = true
	s.try.lease = lease
	s.out, s.err = ask(ctx, &s.try, w.try)
	s.try.settle(w.outcome(ctx, s.err))
}
