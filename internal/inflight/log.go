package inflight

import (
	"context"
	"sync"
)

// Log is a list that grows, and that several readers read from its beginning while
// it does. It is safe for concurrent use.
type Log[T any] struct {
	mu    sync.Mutex
	items []T
	err   error         // how it ended; nil while it grows
	grown chan struct{} // closed when items or err change; nil when nobody waits
}

// Add appends an item.
func (l *Log[T]) Add(item T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, item)
	l.wake()
}

// Forget lets go of the item at a place, which nobody reads any more.
func (l *Log[T]) Forget(i int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i < len(l.items) {
		var none T
		l.items[i] = none
	}
}

// End ends the list, with what its readers get behind the last item.
func (l *Log[T]) End(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
		l.wake()
	}
}

func (l *Log[T]) wake() {
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
}

// At returns the item at a place, and waits for it while there is none: until the
// list ends, ctx does, or left is closed.
func (l *Log[T]) At(ctx context.Context, i int, left <-chan struct{}) (T, error) {
	for {
		item, grown, err := l.look(i)
		if grown == nil {
			return item, err
		}
		select {
		case <-grown:
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		case <-left:
			var none T
			return none, context.Canceled
		}
	}
}

// look returns an item or the end, or what to wait for.
func (l *Log[T]) look(i int) (item T, grown <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case i < len(l.items):
		return l.items[i], nil, nil
	case l.err != nil:
		return item, nil, l.err
	case l.grown == nil:
		l.grown = make(chan struct{})
	}
	return item, l.grown, nil
}
