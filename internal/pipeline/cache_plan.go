package pipeline

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/internal/served"
	"github.com/b650d4bf/gateway/providers"
)

// readied is a target of a plan made ready for a call, and carried by its tries.
type readied[Q any] struct {
	leaf   *leaf
	req    Q
	route  *route
	strict bool
	blame  blame
	// ctx and deadline are those of the tries of a stream, and of all.
	ctx      context.Context //nolint:containedctx // a stream goes on after its target was found
	deadline time.Time       // zero for none
}

// ahead looks for the answer of a target in the cache, before its limits and its
// health are looked at: a target that is full, or left alone, may still have it.
func (f *flight[Q, T]) ahead(ctx context.Context, t *routing.Try, ask func(context.Context) routing.Outcome[landed[T]]) (routing.Outcome[landed[T]], bool) {
	var out routing.Outcome[landed[T]]
	l, _ := t.Leaf.Value.(*leaf) // every leaf has one
	set := cacheOf(f.client, f.call, l.settings.Cache)
	if set == nil && !f.looks {
		f.engine.placeOf(nil, f.rec, f.client, f.call, nil, nil, false)
		return out, false
	}
	r, own, err := f.ready(ctx, l)
	if err != nil {
		out.Err = err
		return out, f.looks // else it is the try's to tell
	}
	p := f.engine.placeOf(new(place), f.rec, f.client, own, set, r.route, r.strict)
	if p == nil || f.looks {
		return f.looked(ctx, p, r)
	}
	if f.before != nil {
		if r.req, err = f.before(ctx, t, r.req); err != nil {
			return failed[T](t, r.route, err), true
		}
	}
	if f.stream {
		ctx = f.ctx // a stream goes on after its target was found
	}
	if f.total > 0 {
		p.deadline = f.rec.record.Start.Add(f.total)
	}
	var asked routing.Outcome[landed[T]]
	value, ran, err := f.share(ctx, p, r.req, f.asker(t, r, ask, &asked))
	if o, ok := p.owed.(*routing.Outcome[landed[T]]); ok { // which another call began
		out = *o
	} else if ran { // else it may be under way still, for others
		out = asked
	}
	if len(p.carried) > 0 {
		out.Trail = slices.Concat(p.carried, out.Trail)
	}
	if out.Err = err; err == nil && f.after != nil {
		if value, err = f.after(ctx, t, r.req, value); err != nil {
			f.rec.drop()
			out = denied(out, t, r.route, err)
		}
	}
	out.Value = landed[T]{value: value, route: r.route, strict: r.strict, warnings: l.warnings}
	return out, true
}

// looked answers a request that only looks, and lets others be asked.
func (f *flight[Q, T]) looked(ctx context.Context, p *place, r *readied[Q]) (out routing.Outcome[landed[T]], ok bool) {
	if f.looks {
		out.Value = landed[T]{route: r.route, strict: r.strict}
		out.Value.value, _, out.Err = f.share(ctx, p, r.req, nil)
	}
	return out, f.looks
}

// asker asks a target with its retries, hedges and limits, within the time of the
// call. It notes what became of it.
func (f *flight[Q, T]) asker(t *routing.Try, r *readied[Q], ask func(context.Context) routing.Outcome[landed[T]], asked *routing.Outcome[landed[T]]) asker[Q, T] {
	return func(ctx context.Context, p *place, req Q) (T, error) {
		carried := *r
		carried.req, carried.ctx, carried.deadline = req, ctx, p.deadline
		t.Carry = &carried
		walk, cancel := by(ctx, p.deadline)
		defer cancel()
		*asked = ask(walk)
		p.outcome, p.trail = asked, asked.Trail
		return asked.Value.value, asked.Err
	}
}

// ready makes a target ready as try does.
func (f *flight[Q, T]) ready(ctx context.Context, l *leaf) (*readied[Q], *Settings, error) {
	own := l.over(f.client, f.call, f.stream)
	if left := f.total - time.Since(f.rec.record.Start); f.total > 0 {
		own.Timeouts.Total = least(own.Timeouts.Total, max(left, 1))
	}
	req, model, err := f.changed(l)
	if err != nil {
		return nil, nil, err
	}
	r := &readied[Q]{leaf: l, req: req, route: new(route), strict: strict(f.client, &own), blame: f.blame(l, model)}
	if err := f.engine.resolve(ctx, f.client, &own, model, r.route); err != nil {
		return nil, nil, err
	}
	r.route.target.Labels = labels(f.client, &own, f.rec.record.Metadata)
	return r, &own, nil
}

// detached asks a target that was made ready. Several callers may wait for it, so
// that it looks at nothing that is one call's.
func (f *flight[Q, T]) detached(ctx context.Context, t *routing.Try, r *readied[Q]) (landed[T], error) {
	r.blame.tell(t)
	at := *r.route
	to := &at.target
	if f.stream {
		ctx = r.ctx
	}
	if !r.deadline.IsZero() { // some of it went on what was tried before
		to.Timeouts.Total = least(to.Timeouts.Total, max(time.Until(r.deadline), 1))
	}
	t.Attempt.Provider, t.Attempt.Slug, t.Attempt.Model = to.Provider, to.Slug, to.Model
	ctx, note := served.Within(ctx)
	value, err := f.ask(ctx, &at, r.req, t)
	t.Attempt.Server = note.Server()
	return landed[T]{value: value}, err
}

// failed is the outcome of a target that was not asked for an error.
func failed[T any](t *routing.Try, at *route, err error) routing.Outcome[landed[T]] {
	a := t.Attempt
	a.Provider, a.Slug, a.Model = at.target.Provider, at.target.Slug, at.target.Model
	if e, ok := errors.AsType[*providers.Error](err); ok {
		a.StatusCode, a.Code = e.StatusCode, e.Code
	}
	return routing.Outcome[landed[T]]{Err: err, Trail: []providers.Attempt{a}}
}

// denied is the outcome of a target whose answer a guard refused.
func denied[T any](out routing.Outcome[landed[T]], t *routing.Try, at *route, err error) routing.Outcome[landed[T]] {
	bad := failed[T](t, at, err)
	if n := len(out.Trail); n > 0 && out.Trail[n-1].StatusCode == http.StatusOK { // it was asked
		out.Trail = slices.Clone(out.Trail)
		out.Trail[n-1].StatusCode, out.Trail[n-1].Code = bad.Trail[0].StatusCode, bad.Trail[0].Code
		bad.Trail = out.Trail
	} else { // which no request was made for
		bad.Trail[0].Provider, bad.Trail[0].Slug, bad.Trail[0].Model = "", "", ""
	}
	out.Err, out.Trail = err, bad.Trail
	return out
}
