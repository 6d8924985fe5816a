package routing

import (
	"context"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Ahead stands before a leaf and may answer in its place, before limits and
// health are looked at; false lets the leaf be asked as if there were none. ask
// asks the leaf, with its retries, hedges and limits. It may be called once, from
// any goroutine and with a context of its own, and may go on when the call has
// ended: it touches nothing of the call. What Carry of the try holds by then, each
// Try of the leaf has.
type Ahead[T any] func(ctx context.Context, t *Try, ask func(context.Context) Outcome[T]) (Outcome[T], bool)

// Outcome is what became of a leaf. One that comes of ask must be returned by one
// Ahead at most, since it counts for the call.
type Outcome[T any] struct {
	Value T
	Err   error
	// Trail is what is added to that of the call.
	Trail []providers.Attempt

	tries   int
	limited bool
}

// before lets the function answer that stands before a leaf.
func (w *walk[T]) before(n *node, force bool) (Outcome[T], bool) {
	t := &Try{Leaf: n.Node, Attempt: providers.Attempt{Target: n.target, Start: time.Now()}}
	call, tries := *w.call, w.tries
	return w.ahead(w.ctx, t, func(ctx context.Context) Outcome[T] {
		var trail []providers.Attempt
		own := walk[T]{ctx: ctx, router: w.router, call: &call, trail: &trail, try: w.try, carry: t.Carry, tries: tries}
		err := own.asked(n, force)
		return Outcome[T]{Value: own.out, Err: err, Trail: trail, tries: own.tries - tries, limited: own.limited}
	})
}

// take makes an outcome that of the walk.
func (w *walk[T]) take(out Outcome[T]) error {
	w.tries += out.tries
	w.limited = out.limited
	for i := range out.Trail {
		w.note(&out.Trail[i])
	}
	if out.Err == nil {
		w.out = out.Value
	}
	return out.Err
}
