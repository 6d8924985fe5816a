// Package cachetest is the suite that every store of answers passes. A store's
// own tests run it:
//
//	func TestStore(t *testing.T) {
//		cachetest.Run(t, func(t *testing.T) cache.Store {
//			s, err := mystore.Open(t.TempDir())
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { s.Close() })
//			return s
//		})
//	}
//
// What a store can do beyond [cache.Store] is found by its type, and tested too:
// [cache.Searcher], [cache.Keeper], [cache.Locker], [cache.Watcher],
// [cache.Counter] and [io.Closer]. The tests are small: a store that bounds what
// it keeps needs room for 8 MiB.
//
// [Faulty] is a store that fails on purpose, for tests of what uses one.
package cachetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

// Factory makes an empty store. It is called once for each test of the suite, and
// cleans up with t.Cleanup. Stores on one server keep apart, by a prefix or so.
type Factory func(t *testing.T) cache.Store

// Option says how the suite is run.
type Option func(*settings)

type settings struct {
	newStore   Factory
	shared     func(t *testing.T) (a, b cache.Store)
	sleep      func(time.Duration)
	life       time.Duration
	largest    int
	operations int
	seed       uint64
	uncounted  bool
	virtual    bool
}

// WithShared tests in addition what two processes see of each other: newPair
// returns two stores on the same empty data.
func WithShared(newPair func(t *testing.T) (a, b cache.Store)) Option {
	return func(s *settings) { s.shared = newPair }
}

// WithSleep lets time pass by other means than [time.Sleep], for a server with a
// clock of its own. Afterwards [time.Now] has to be later too.
func WithSleep(sleep func(time.Duration)) Option { return func(s *settings) { s.sleep = sleep } }

// WithVirtualTime runs each test in a bubble of [synctest], where waiting takes no
// time and a goroutine that is left behind fails the test. It is for stores that
// use no network.
func WithVirtualTime() Option { return func(s *settings) { s.virtual = true } }

// WithLife sets how long entries live whose end is awaited, 400 ms by default. An
// operation has to take less than a quarter of it.
func WithLife(d time.Duration) Option { return func(s *settings) { s.life = d } }

// WithLargest sets the size of the largest body, 1 MiB by default.
func WithLargest(bytes int) Option { return func(s *settings) { s.largest = bytes } }

// WithOperations sets how many random operations are compared with a model, 2000
// by default.
func WithOperations(n int) Option { return func(s *settings) { s.operations = n } }

// WithSeed repeats the random operations of a run that failed. Otherwise each run
// has its own, which it logs.
func WithSeed(seed uint64) Option { return func(s *settings) { s.seed = seed } }

// WithoutSizes is for a [cache.Counter] that does not know how many entries,
// vectors and bytes it keeps, as a server does that others use.
func WithoutSizes() Option { return func(s *settings) { s.uncounted = true } }

// Run runs the suite. Each of its tests is a subtest of t.
func Run(t *testing.T, newStore Factory, opts ...Option) {
	t.Helper()
	s := &settings{newStore: newStore, sleep: time.Sleep, life: 400 * time.Millisecond, largest: 1 << 20, operations: 2000, seed: rand.Uint64()}
	for _, opt := range opts {
		opt(s)
	}
	for _, group := range []struct {
		name   string
		checks []check
	}{
		{"store", storeChecks()}, {"searcher", searchChecks()}, {"keeper", keeperChecks()}, {"shared", sharedChecks()}, {"model", modelChecks()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.checks {
				t.Run(c.name, func(t *testing.T) { s.check(t, c) })
			}
		})
	}
}

// check runs one test.
func (s *settings) check(t *testing.T, c check) {
	t.Helper()
	skipped := false
	run := func(t *testing.T) {
		t.Helper()
		defer func() { skipped = t.Skipped() }()
		c.run(&subject{T: t, settings: s, store: s.newStore(t)})
	}
	if !s.virtual {
		run(t)
		return
	}
	if synctest.Test(t, run); skipped { // a bubble does not tell
		t.SkipNow()
	}
}

type check struct {
	name string
	run  func(*subject)
}

// subject is the store in one test.
type subject struct {
	*testing.T
	*settings

	store cache.Store
}

// ability returns the store as what else it can do, or skips the test.
func ability[A any](s *subject) A {
	s.Helper()
	a, ok := s.store.(A)
	if !ok {
		s.Skipf("the store is no %s", fmt.Sprintf("%T", (*A)(nil))[1:])
	}
	return a
}

func (s *subject) set(store cache.Store, entries ...*cache.Entry) {
	s.Helper()
	for _, e := range entries {
		if err := store.Set(s.Context(), e); err != nil {
			s.Fatalf("Set: %v", err)
		}
	}
}

func (s *subject) delete(store cache.Store, key cache.Key) {
	s.Helper()
	if err := store.Delete(s.Context(), key); err != nil {
		s.Fatalf("Delete: %v", err)
	}
}

// get returns the entry of a key, or nil.
func (s *subject) get(store cache.Store, key cache.Key) *cache.Entry {
	s.Helper()
	e, ok, err := store.Get(s.Context(), key)
	if err != nil {
		s.Fatalf("Get: %v", err)
	}
	if ok != (e != nil) {
		s.Fatalf("Get returned %v with the entry %v", ok, e)
	}
	return e
}

// has fails the test unless the store has the entry as it is.
func (s *subject) has(store cache.Store, want *cache.Entry) {
	s.Helper()
	got := s.get(store, want.Key)
	if got == nil {
		s.Fatal("the entry is not there")
	}
	if d := difference(want, got); d != "" {
		s.Fatalf("the entry differs: %s", d)
	}
}

func (s *subject) hasNot(store cache.Store, key cache.Key, why string) {
	s.Helper()
	if s.get(store, key) != nil {
		s.Fatalf("the entry is there, though %s", why)
	}
}

// wait lets time pass until a moment.
func (s *subject) wait(until time.Time) {
	for d := time.Until(until); d > 0; d = time.Until(until) {
		s.sleep(d)
	}
}
