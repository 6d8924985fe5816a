package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// maxJoins bounds how often a call joins others whose own time ends.
const maxJoins = 2

// until notes when the time of a call without a plan is over.
func (p *place) until(at *route) {
	if total := at.target.Timeouts.Total; total > 0 {
		p.deadline = time.Now().Add(total)
	}
}

// bounded returns a context that ends with the time of the call, for one who waits
// for work that has the limits of another call. The one who leads gets what its own
// work comes to, which says more.
func (p *place) bounded(ctx context.Context, leads bool) (context.Context, context.CancelFunc) {
	if leads {
		return ctx, func() {}
	}
	return by(ctx, p.deadline)
}

// by returns a context that ends at a time; the zero time bounds nothing.
func by(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline)
}

// foundInTime looks for the answer as found does, for as long as the call has time.
func (p *place) foundInTime(ctx context.Context, res *result, fresh bool) bool {
	ctx, cancel := by(ctx, p.deadline)
	defer cancel()
	return p.found(ctx, res, fresh)
}

// shrink leaves a request to the model the time that the call has left by now. It
// refuses one that has none.
func (p *place) shrink() error {
	if p.deadline.IsZero() {
		return nil
	}
	left := time.Until(p.deadline)
	if left <= 0 {
		return &providers.Error{
			Code: providers.ErrTimeout, Provider: p.at.target.Provider,
			Message: "the time of the call was over before the model was asked: raise Timeouts.Total, or look at how long the cache takes",
		}
	}
	own := *p.at
	own.target.Timeouts.Total = least(own.target.Timeouts.Total, left)
	p.at = &own
	return nil
}

// isAnothers reports whether an error is about the time or the leaving of the call
// that led, or about its code.
func isAnothers(err error) bool {
	return errors.Is(err, providers.ErrTimeout) || errors.Is(err, providers.ErrCanceled) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
