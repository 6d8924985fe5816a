package routing

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Run walks the tree until a try succeeds, and returns what that try returned,
// or the last error. The error is as the try returned it; limits, conditions and
// pauses have errors of their own. It speaks for the last target alone: what was
// sent before, the trail tells.
//
// Each try, and each target that was passed over in a fallback, is appended to
// the trail, which may be nil. The function is called on the caller's goroutine,
// but for hedges; all of its calls have returned when Run does. A Try that
// answers with something that is used after Run, such as a stream, must be
// kept: see [Try.Keep]. Its context is the caller's own, but for hedges.
func Run[T any](
	ctx context.Context, r *Router, tree *Tree, call *Call, trail *[]providers.Attempt,
	try func(context.Context, *Try) (T, error),
) (T, error) {
	return RunAhead(ctx, r, tree, call, trail, nil, try)
}

// RunAhead is [Run] with a function that stands before each leaf; nil is none.
func RunAhead[T any](
	ctx context.Context, r *Router, tree *Tree, call *Call, trail *[]providers.Attempt, ahead Ahead[T],
	try func(context.Context, *Try) (T, error),
) (T, error) {
	w := walk[T]{ctx: ctx, router: r, call: call, trail: trail, ahead: ahead, try: try}
	if !call.Looks {
		r.budget.call()
	}
	err := w.node(&tree.root, false)
	if errors.Is(err, errCooling) {
		err = w.node(&tree.root, true)
	}
	return w.out, err
}

// errCooling says that all targets of a node cool down and none was asked. It
// never leaves the package.
var errCooling = errors.New("all targets cool down")

// walk is one call on its way through a tree.
type walk[T any] struct {
	ctx    context.Context
	router *Router
	call   *Call
	trail  *[]providers.Attempt
	ahead  Ahead[T]
	try    func(context.Context, *Try) (T, error)
	carry  any // for the tries

	out     T
	tries   int
	limited bool // the last error is that of a limit of ours
	current Try  // the try under way, but for hedges
}

// node asks what the node stands for. When force is set, a target is asked
// although it cools down; else the error may be errCooling.
func (w *walk[T]) node(n *node, force bool) error {
	switch n.Mode {
	case Single:
		return w.node(&n.children[0], force)
	case Fallback:
		w.call.FellBack = w.call.FellBack || len(n.children) > 1
		if force {
			return w.bypass(n)
		}
		return w.fallback(n)
	case LoadBalance:
		w.call.Balanced = w.call.Balanced || len(n.children) > 1
		return w.balance(n, force)
	case Conditional:
		child := n.choose(w.call.View)
		if child < 0 {
			return n.noCase()
		}
		return w.node(&n.children[child], force)
	}
	return w.leaf(n, force)
}

func (w *walk[T]) fallback(n *node) error {
	var last error
	noted := w.noted()
	for i := range n.children {
		child := &n.children[i]
		if last != nil && !w.mayFall(n, child, last) {
			return last
		}
		switch err := w.node(child, false); {
		case err == nil:
			return nil
		case errors.Is(err, errCooling):
			w.skip(child, providers.SkipCooldown, 0)
		default:
			last = err
		}
	}
	if last == nil {
		w.forget(noted) // the node is passed over as a whole, or asked all the same
		return errCooling
	}
	return last
}

// bypass asks the child whose cooldown ends first, since all cool down.
func (w *walk[T]) bypass(n *node) error {
	first := w.soonest(n)
	for i := range n.children {
		if child := &n.children[i]; child != first {
			w.skip(child, providers.SkipCooldown, 0)
		}
	}
	return w.node(first, true)
}

// mayFall reports whether a child is asked after another one failed.
func (w *walk[T]) mayFall(n, child *node, last error) bool {
	e := known(last)
	if w.over() || !falls(n.OnStatus, RuleOf(e), e) {
		return false
	}
	if w.tries >= w.router.maxAttempts {
		w.skip(child, providers.SkipMaxAttempts, 0)
		return false
	}
	return true
}

// over reports whether the call's time is. A try that is bound by the same time as
// the context may fail a moment before the context says so.
func (w *walk[T]) over() bool {
	deadline, bounded := w.ctx.Deadline()
	return w.ctx.Err() != nil || bounded && !time.Now().Before(deadline)
}

// soonest returns the child whose cooldown ends first.
func (w *walk[T]) soonest(n *node) *node {
	best := &n.children[0]
	first := w.router.coolsUntil(best, w.call.View)
	for i := range n.children[1:] {
		child := &n.children[1+i]
		if until := w.router.coolsUntil(child, w.call.View); until.Before(first) {
			best, first = child, until
		}
	}
	return best
}

// balance draws one child. Those that cool down are left out of the draw.
func (w *walk[T]) balance(n *node, force bool) error {
	if force || !n.cools {
		return w.node(&n.children[w.draw(n, nil)], force)
	}
	now := time.Now()
	open, left := make([]bool, len(n.children)), 0
	for i := range n.children {
		if open[i] = n.weights[i] > 0 && !w.router.cools(&n.children[i], w.call.View, now); open[i] {
			left++
		}
	}
	for ; left > 0; left-- {
		child := w.draw(n, open)
		err := w.node(&n.children[child], false)
		if !errors.Is(err, errCooling) {
			return err
		}
		open[child] = false // another call was quicker to probe it
	}
	return errCooling
}

// draw returns a child of those that are open; at least one must be.
func (w *walk[T]) draw(n *node, open []bool) int {
	if n.Sticky != nil {
		if key := n.Sticky(w.call.View); key != "" {
			return n.stick(key, open)
		}
	}
	return n.draw(w.router.rand(), open)
}

// choose returns the child of the first case that holds, the default or -1.
func (n *node) choose(view any) int {
	for i := range n.Cases {
		if n.Cases[i].When(view) {
			return n.Cases[i].Then
		}
	}
	if n.Default != nil {
		return *n.Default
	}
	return -1
}

func (n *node) noCase() error {
	return invalid(join(n.target, "conditions"), "none holds for this request: add a default")
}

// leaf asks one target, unless what stands before it has the answer.
func (w *walk[T]) leaf(n *node, force bool) error {
	if w.ahead != nil {
		if out, ok := w.before(n, force); ok {
			return w.take(out)
		}
	}
	return w.asked(n, force)
}

// asked asks one target, again where its policy says so.
func (w *walk[T]) asked(n *node, force bool) error {
	a, ok := w.router.admit(n, force)
	if !ok {
		return errCooling
	}
	wait := time.Duration(0)
	for retry := 0; ; retry++ {
		out, err := w.once(n, &a, retry, wait)
		if err == nil {
			w.out = out
			return nil
		}
		e := known(err)
		if wait, ok = w.again(n, e, retry); !ok {
			return err
		}
		if err = sleep(w.ctx, wait, e); err != nil {
			return err
		}
		a = a.again()
	}
}

// again reports whether a target that failed is asked once more, and after what
// pause.
func (w *walk[T]) again(n *node, e *providers.Error, retry int) (time.Duration, bool) {
	p := &n.Retry
	if retry >= p.Attempts || w.limited || w.ctx.Err() != nil || !p.isRetried(RuleOf(e), e) {
		return 0, false
	}
	if w.tries >= w.router.maxAttempts {
		w.skip(n, providers.SkipMaxAttempts, retry+1)
		return 0, false
	}
	asked := e.RetryAfter
	if p.IgnoreRetryAfter {
		asked = 0
	}
	wait, ok := p.pause(retry, asked, w.router.rand)
	if deadline, bounded := w.ctx.Deadline(); !ok || bounded && !time.Now().Add(wait).Before(deadline) {
		return 0, false
	}
	if !w.router.budget.take() {
		w.skip(n, providers.SkipRetryBudget, retry+1)
		return 0, false
	}
	return wait, true
}

// once asks a target once, with a hedge if it has one.
func (w *walk[T]) once(n *node, a *admission, retry int, wait time.Duration) (T, error) {
	lease, queued, err := w.lease(n, a, true)
	if w.limited = err != nil; w.limited {
		w.skipLimit(n, err, retry, wait+queued)
		var none T
		return none, err
	}
	w.tries++
	t := &w.current
	*t = Try{Leaf: n.Node, Carry: w.carry, lease: lease, Attempt: providers.Attempt{Target: n.target, Retry: retry, Wait: wait + queued}}
	if n.Hedge.After > 0 && !w.call.Stream && !a.probe {
		return w.hedged(n, *a, t)
	}
	out, err := ask(w.ctx, t, w.try)
	t.settle(err)
	w.note(&t.Attempt)
	return out, err
}

// lease takes a place within the limits of a target. It is nil where there are
// neither limits nor a cooldown.
func (w *walk[T]) lease(n *node, a *admission, mayWait bool) (*Lease, time.Duration, error) {
	limits := n.Limits.any()
	if !limits && a.health == nil {
		return nil, 0, nil
	}
	lease := &Lease{admission: *a}
	if !limits {
		return lease, 0, nil
	}
	begin := time.Now()
	var err error
	lease.permit, err = w.router.limits.use(n.Key).acquire(w.ctx, n, w.call.Tokens, mayWait)
	if err != nil {
		a.givenUp()
		return nil, time.Since(begin), err
	}
	return lease, time.Since(begin), nil
}

// ask calls the caller's function. Whatever becomes of it, the lease ends.
func ask[T any](ctx context.Context, t *Try, try func(context.Context, *Try) (T, error)) (T, error) {
	begin := time.Now()
	t.Attempt.Start = begin
	if t.lease == nil {
		out, err := try(ctx, t)
		t.Attempt.Duration = time.Since(begin)
		return out, err
	}
	returned := false
	defer func() {
		if !returned {
			t.lease.Done(0, interrupted())
		}
	}()
	out, err := try(ctx, t)
	returned = true
	t.Attempt.Duration = time.Since(begin)
	return out, err
}

// settle tells the trail, the limits and the health how a try ended.
func (t *Try) settle(err error) {
	if err == nil {
		t.Attempt.StatusCode = http.StatusOK
		if t.kept {
			t.lease.begun()
		} else {
			t.lease.Done(t.used, nil)
		}
		return
	}
	e := known(err)
	t.Attempt.StatusCode, t.Attempt.Code = e.StatusCode, e.Code
	t.lease.Done(t.used, err)
}

// note adds an entry to the trail.
func (w *walk[T]) note(a *providers.Attempt) {
	if w.trail != nil {
		*w.trail = append(*w.trail, *a)
	}
}

// noted returns the length of the trail, and forget goes back to it.
func (w *walk[T]) noted() int {
	if w.trail == nil {
		return 0
	}
	return len(*w.trail)
}

func (w *walk[T]) forget(noted int) {
	if w.trail != nil {
		*w.trail = (*w.trail)[:noted]
	}
}

// skip notes that a node was passed over.
func (w *walk[T]) skip(n *node, why providers.SkipReason, retry int) {
	w.note(&providers.Attempt{Target: n.target, Start: time.Now(), Retry: retry, Skipped: why})
}

func (w *walk[T]) skipLimit(n *node, err error, retry int, wait time.Duration) {
	w.note(&providers.Attempt{
		Target: n.target, Start: time.Now(), Code: known(err).Code, Retry: retry, Wait: wait, Skipped: providers.SkipLimit,
	})
}
