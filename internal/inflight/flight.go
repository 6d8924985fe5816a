// Package inflight lets several callers share one piece of work: whoever comes
// while it is under way waits for the same result. The work belongs to none of
// them. It goes on when the one who began it leaves, and is cancelled when all
// have left.
package inflight

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// Group keeps the work under way by its key. The zero Group is ready. It is safe
// for concurrent use.
type Group[K comparable, V any] struct {
	mu    sync.Mutex
	open  map[K]*Flight[K, V]
	ended atomic.Uint64 // flights that others could have joined, and that ended; mu is held to add
}

// ErrPanicked is the result of work that panicked.
var ErrPanicked = errors.New("inflight: the work panicked")

// Flight is one piece of work. Each Join is answered by one Leave.
type Flight[K comparable, V any] struct {
	group  *Group[K, V]
	key    K
	cancel context.CancelFunc
	ready  chan struct{} // closed once val or err is there
	val    V
	err    error

	refs   int  // guarded by group.mu
	shared bool // in the group; guarded by group.mu
	begun  bool // ready is closed; guarded by group.mu
	due    bool // who owed for the work has left; guarded by group.mu

	settling sync.Once
}

// Work makes the result of a flight. It may give it before it returns, with
// [Flight.Begin], and go on.
type Work[K comparable, V any] func(ctx context.Context, f *Flight[K, V]) (V, error)

// Epoch changes when work ends. Work that is begun in the same epoch in which its
// result was looked for elsewhere need not look there again.
func (g *Group[K, V]) Epoch() uint64 { return g.ended.Load() }

// Join returns the flight of a key, and begins it when there is none: then leads
// is true, and fresh says whether any has ended since the epoch. The context of
// the work has the values of ctx and neither its deadline nor its end.
func (g *Group[K, V]) Join(ctx context.Context, key K, epoch uint64, work func(fresh bool) Work[K, V]) (f *Flight[K, V], leads bool) {
	g.mu.Lock()
	if f := g.open[key]; f != nil {
		f.refs++
		g.mu.Unlock()
		return f, false
	}
	f, own := g.begin(ctx, key)
	if g.open == nil {
		g.open = map[K]*Flight[K, V]{}
	}
	g.open[key], f.shared = f, true
	unseen := g.ended.Load() != epoch
	g.mu.Unlock()
	go f.run(own, work(unseen))
	return f, true
}

// Alone begins a flight that nobody else joins.
func (g *Group[K, V]) Alone(ctx context.Context, key K, work Work[K, V]) *Flight[K, V] {
	f, own := g.begin(ctx, key)
	go f.run(own, work)
	return f
}

func (g *Group[K, V]) begin(ctx context.Context, key K) (*Flight[K, V], context.Context) {
	f := &Flight[K, V]{group: g, key: key, ready: make(chan struct{}), refs: 1}
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx)) //nolint:gosec // the last who leaves calls it
	return f, ctx
}

// stackSize is what a request to a model takes of its stack, or more.
const stackSize = 12 << 10

// growStack grows the stack of a new goroutine at once, while there is nothing on
// it. Else it grows in steps, each of which copies all that is on it by then.
//
//go:noinline
func growStack(n int) byte {
	var room [stackSize]byte
	return room[n]
}

// run does the work. A panic is its error.
func (f *Flight[K, V]) run(ctx context.Context, work Work[K, V]) {
	growStack(0)
	var val V
	err := ErrPanicked
	defer func() {
		if err != nil {
			_ = recover() // the value may hold what was asked
		}
		f.end(val, err)
	}()
	val, err = work(ctx, f)
}

// Begin gives the result before the work is done.
func (f *Flight[K, V]) Begin(val V) {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	f.begin(val, nil)
}

func (f *Flight[K, V]) begin(val V, err error) {
	if !f.begun {
		f.val, f.err, f.begun = val, err, true
		close(f.ready)
	}
}

// end gives the result, unless it was given. After an error nobody joins.
func (f *Flight[K, V]) end(val V, err error) {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	f.begin(val, err)
	if err != nil {
		f.remove()
	}
}

// remove takes the flight out of the group. The caller holds the group's lock.
func (f *Flight[K, V]) remove() {
	if f.shared {
		f.shared = false
		f.group.ended.Add(1)
		delete(f.group.open, f.key)
	}
}

// Wait returns the result, or the error of ctx when that ends first.
func (f *Flight[K, V]) Wait(ctx context.Context) (V, error) {
	select {
	case <-f.ready:
		return f.val, f.err
	default:
	}
	select {
	case <-f.ready:
		return f.val, f.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// Ended reports whether the result is there.
func (f *Flight[K, V]) Ended() bool {
	select {
	case <-f.ready:
		return true
	default:
		return false
	}
}

// Shut lets nobody join any more.
func (f *Flight[K, V]) Shut() {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	f.remove()
}

// Alone reports whether there is one caller, and will be no other.
func (f *Flight[K, V]) Alone() bool {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	return f.refs == 1 && !f.shared
}

// Settle runs keep once for all callers, and then lets nobody join any more.
func (f *Flight[K, V]) Settle(keep func()) {
	f.settling.Do(func() {
		defer func() {
			f.group.mu.Lock()
			defer f.group.mu.Unlock()
			f.remove()
		}()
		keep()
	})
}

// Leave ends a caller's part. The last one cancels the work that is still under
// way.
func (f *Flight[K, V]) Leave() {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	f.leave()
}

// leave leaves. The caller holds the group's lock.
func (f *Flight[K, V]) leave() {
	if f.refs--; f.refs == 0 {
		f.remove()
		f.cancel()
	}
}

// Open is the number of flights that can be joined.
func (g *Group[K, V]) Open() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.open)
}
