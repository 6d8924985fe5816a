package engine

import (
	"context"
	"errors"

	"github.com/b650d4bf/gateway/providers"
)

// inParallel does n things, a few of them at a time, and returns when none is
// left under way. The first failure ends the others. A single one costs no
// goroutine.
func inParallel(ctx context.Context, t *providers.Target, n int, do func(ctx context.Context, i int) error) error {
	if n == 1 {
		return do(ctx, 0)
	}
	if total := t.Timeouts.Total; total > 0 { // which bounds the call, and not each request
		limited, cancel := context.WithTimeout(ctx, total)
		defer cancel()
		ctx = limited
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		ended                 = make(chan error)
		started, active, done int
		failed                error
	)
	for active > 0 || failed == nil && started < n {
		for ; failed == nil && started < n && active < maxAtOnce; active++ {
			i := started
			started++
			go func() { ended <- do(ctx, i) }()
		}
		err := <-ended
		active--
		switch {
		case err == nil:
			done++
		case failed == nil:
			failed = err
			cancel()
		}
	}
	return spent(failed, done > 0)
}

// codeIs reports whether err is an error of the kind.
func codeIs(err error, code providers.Code) bool {
	e, ok := failure(err)
	return ok && e.Code == code
}

// failure returns err as the error that it is.
func failure(err error) (*providers.Error, bool) { return errors.AsType[*providers.Error](err) }
