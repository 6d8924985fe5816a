package cachetest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

// ErrFault is the error of operations that [Faulty] lets fail.
var ErrFault = errors.New("cachetest: the store fails on purpose")

// Faults says what goes wrong, each with a probability from 0 to 1.
type Faults struct {
	// Errors fail with [ErrFault], without reaching the store.
	Errors float64
	// Delays take Delay, or until the context ends, whose error is then returned.
	Delays float64
	Delay  time.Duration
	// LostWrites are sets and deletions that succeed and do nothing.
	LostWrites float64
	// WrongKeys are entries of another key and group than was asked for.
	WrongKeys float64
	// Corrupt are entries whose body was changed, cut off or emptied.
	Corrupt float64
	// Stale are entries that are returned as if they had expired.
	Stale float64
}

// Faulty is a store that fails on purpose, in front of one that works. What that
// one cannot do, it finds nothing for: it has no matches, lists nothing, and all
// locks are free.
type Faulty struct {
	store cache.Store

	mu     sync.Mutex
	rand   *rand.Rand
	faults Faults
	calls  int
	struck map[string]int
}

var _ interface {
	cache.Searcher
	cache.Keeper
	cache.Locker
	cache.Watcher
	cache.Counter
} = (*Faulty)(nil)

// NewFaulty returns a store with these faults. The same seed has the same faults,
// in the order of the calls.
func NewFaulty(store cache.Store, seed uint64, f Faults) *Faulty {
	return &Faulty{store: store, rand: rand.New(rand.NewPCG(seed, 0)), faults: f, struck: map[string]int{}}
}

// Inject replaces the faults from now on; none heal it.
func (f *Faulty) Inject(faults Faults) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = faults
}

// Calls returns how many operations there were, and Struck how many of them met a
// fault of that name, which is that of a member of [Faults].
func (f *Faulty) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Struck returns how many faults of that name there were; see [Faulty.Calls].
func (f *Faulty) Struck(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.struck[name]
}

// strikes decides upon one fault.
func (f *Faulty) strikes(name string, of func(*Faults) float64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := of(&f.faults)
	if p <= 0 || f.rand.Float64() >= p {
		return false
	}
	f.struck[name]++
	return true
}

// enter is what each operation begins with.
func (f *Faulty) enter(ctx context.Context) error {
	f.mu.Lock()
	f.calls++
	delay := f.faults.Delay
	f.mu.Unlock()
	if f.strikes("Delays", func(f *Faults) float64 { return f.Delays }) {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if f.strikes("Errors", func(f *Faults) float64 { return f.Errors }) {
		return ErrFault
	}
	return nil
}

// loses decides whether a write is lost.
func (f *Faulty) loses() bool {
	return f.strikes("LostWrites", func(f *Faults) float64 { return f.LostWrites })
}

// spoil returns the entry, or one that is broken.
func (f *Faulty) spoil(e *cache.Entry) *cache.Entry {
	if f.strikes("WrongKeys", func(f *Faults) float64 { return f.WrongKeys }) {
		other := *e
		other.Key[0] ^= 0xff
		other.Group[0] ^= 0xff
		e = &other
	}
	if f.strikes("Stale", func(f *Faults) float64 { return f.Stale }) {
		late := *e
		late.Expires = time.Now().Add(-time.Millisecond)
		e = &late
	}
	if f.strikes("Corrupt", func(f *Faults) float64 { return f.Corrupt }) {
		broken := *e
		broken.Body = f.corrupt(e.Body)
		e = &broken
	}
	return e
}

// corrupt returns bytes that are not these.
func (f *Faulty) corrupt(body []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch n := len(body); {
	case n == 0:
		return []byte{0}
	case f.rand.IntN(3) == 0:
		return nil
	case f.rand.IntN(2) == 0:
		return bytes.Clone(body[:f.rand.IntN(n)])
	default:
		out := bytes.Clone(body)
		out[f.rand.IntN(n)] ^= 1 << f.rand.IntN(8)
		return out
	}
}

// Get implements [cache.Store].
func (f *Faulty) Get(ctx context.Context, key cache.Key) (*cache.Entry, bool, error) {
	if err := f.enter(ctx); err != nil {
		return nil, false, err
	}
	e, ok, err := f.store.Get(ctx, key)
	if err != nil || !ok {
		return nil, false, err
	}
	return f.spoil(e), true, nil
}

// Set implements [cache.Store].
func (f *Faulty) Set(ctx context.Context, e *cache.Entry) error {
	if err := f.enter(ctx); err != nil || f.loses() {
		return err
	}
	return f.store.Set(ctx, e)
}

// Delete implements [cache.Store].
func (f *Faulty) Delete(ctx context.Context, key cache.Key) error {
	if err := f.enter(ctx); err != nil || f.loses() {
		return err
	}
	return f.store.Delete(ctx, key)
}

// Search implements [cache.Searcher].
func (f *Faulty) Search(ctx context.Context, q *cache.Query) ([]cache.Match, error) {
	if err := f.enter(ctx); err != nil {
		return nil, err
	}
	s, ok := f.store.(cache.Searcher)
	if !ok {
		return nil, nil
	}
	found, err := s.Search(ctx, q)
	out := make([]cache.Match, 0, len(found))
	for _, m := range found {
		out = append(out, cache.Match{Entry: f.spoil(m.Entry), Similarity: m.Similarity})
	}
	return out, err
}

// List implements [cache.Keeper].
func (f *Faulty) List(ctx context.Context, filter cache.Filter) iter.Seq2[*cache.Entry, error] {
	return func(yield func(*cache.Entry, error) bool) {
		if err := f.enter(ctx); err != nil {
			yield(nil, err)
			return
		}
		k, ok := f.store.(cache.Keeper)
		if !ok {
			return
		}
		for e, err := range k.List(ctx, filter) {
			if err == nil {
				e = f.spoil(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// DeleteAll implements [cache.Keeper].
func (f *Faulty) DeleteAll(ctx context.Context, filter cache.Filter) (int, error) {
	if err := f.enter(ctx); err != nil || f.loses() {
		return 0, err
	}
	if k, ok := f.store.(cache.Keeper); ok {
		return k.DeleteAll(ctx, filter)
	}
	return 0, nil
}

// Lock implements [cache.Locker].
func (f *Faulty) Lock(ctx context.Context, key cache.Key, ttl time.Duration) (func(), bool, error) {
	if err := f.enter(ctx); err != nil {
		return nil, false, err
	}
	if l, ok := f.store.(cache.Locker); ok {
		return l.Lock(ctx, key, ttl)
	}
	return func() {}, true, nil
}

// Watch implements [cache.Watcher].
func (f *Faulty) Watch(ctx context.Context, changed func(cache.Key), reset func()) error {
	if err := f.enter(ctx); err != nil {
		return err
	}
	if w, ok := f.store.(cache.Watcher); ok {
		return w.Watch(ctx, changed, reset)
	}
	return nil
}

// Stats implements [cache.Counter].
func (f *Faulty) Stats() cache.Stats {
	if c, ok := f.store.(cache.Counter); ok {
		return c.Stats()
	}
	return cache.Stats{}
}
