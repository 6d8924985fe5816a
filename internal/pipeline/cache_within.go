package pipeline

import (
	"context"
	"errors"
	"time"
)

// errBroke says that a store or an embedding function panicked.
var errBroke = errors.New("what the cache asked panicked")

// within does one thing of others, such as a store: for that long at most, even if
// it does not heed its context, and a panic is an error. What it comes to later is
// lost.
func within[T any](ctx context.Context, limit time.Duration, do func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	done := make(chan outcome, 1)
	go func() {
		defer cancel()
		out, ended := outcome{err: errBroke}, false
		defer func() {
			if !ended {
				_ = recover() // the value may hold what was asked
			}
			done <- out
		}()
		value, err := do(ctx)
		out, ended = outcome{value, err}, true
	}()
	select {
	case out := <-done:
		return out.value, out.err
	case <-ctx.Done():
	}
	select {
	case out := <-done: // at the last moment
		return out.value, out.err
	default:
		var none T
		return none, ctx.Err()
	}
}
