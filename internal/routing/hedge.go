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
	try   Try
	sent  bool
	out   T
	err   error
	done  chan struct{}
	skips providers.SkipReason
}

// The request that answered first.
const (
	firstWon  = 1
	secondWon = 2
)

// hedged asks a target, and once more beside it when that takes long. The first
// request stays on this goroutine; the second has one of its own, which has
// ended when hedged returns.
func (w *walk[T]) hedged(n *node, a *admission, t *Try) (T, error) {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	beside, cancelBeside := context.WithCancel(w.ctx)
	defer cancelBeside()
	var won atomic.Int32
	s := &second[T]{done: make(chan struct{})}
	timer := time.AfterFunc(n.Hedge.After, func() {
		defer close(s.done)
		w.beside(beside, n, *a, s)
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
	if err == nil && won.CompareAndSwap(0, firstWon) {
		cancelBeside()
	}
	join()
	return w.settleBoth(a, t, s, won.Load(), out, err)
}

// beside makes the second request, unless the first has ended or it may not.
func (w *walk[T]) beside(ctx context.Context, n *node, a admission, s *second[T]) {
	if ctx.Err() != nil {
		return
	}
	a.probe = false
	s.try = Try{Leaf: n.Node, Attempt: providers.Attempt{Target: n.target, Retry: w.current.Attempt.Retry, Hedged: true}}
	if w.tries >= w.router.maxAttempts {
		s.skips = providers.SkipMaxAttempts
		return
	}
	lease, _, err := w.lease(n, &a, false)
	if err != nil {
		s.skips = providers.SkipLimit
		return
	}
	if !w.router.budget.take() {
		s.skips = providers.SkipRetryBudget
		if lease != nil {
			lease.permit.undo()
		}
		return
	}
	w.tries++
	s.sent = true
	s.try.lease = lease
	s.out, s.err = ask(ctx, &s.try, w.try)
}

// settleBoth notes both requests and returns what came of them: the answer that
// came first, or else the first request's error.
func (w *walk[T]) settleBoth(a *admission, t *Try, s *second[T], won int32, out T, err error) (T, error) {
	own := err
	if won == secondWon && own != nil {
		own = interrupted() // by us, which says nothing of the target
	}
	t.settle(own)
	if t.lease != nil && own != nil {
		*a = t.lease.admission
	}
	w.note(&t.Attempt)
	switch {
	case s.skips != "":
		s.try.Attempt.Skipped = s.skips
		w.note(&s.try.Attempt)
	case s.sent:
		other := s.err
		if won == firstWon && other != nil {
			other = interrupted()
		}
		s.try.settle(other)
		w.note(&s.try.Attempt)
	}
	if won == secondWon {
		return s.out, nil
	}
	return out, err
}
