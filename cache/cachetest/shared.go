package cachetest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

func sharedChecks() []check {
	return []check{
		{"a lock is taken once", (*subject).locked},
		{"a lock that is lost is not given back", (*subject).lockLost},
		{"one of many gets the lock", (*subject).lockedAtOnce},
		{"a watcher hears of what was deleted and replaced", (*subject).watched},
		{"two stores share what they keep", (*subject).twoStores},
		{"a lock holds between two stores", (*subject).twoLocks},
		{"a watcher hears of the other store", (*subject).twoWatched},
	}
}

// lock takes a lock, or fails the test if that is not as it is said.
func (s *subject) lock(l cache.Locker, key cache.Key, ttl time.Duration, want bool) func() {
	s.Helper()
	unlock, free, err := l.Lock(s.Context(), key, ttl)
	if err != nil || free != want {
		s.Fatalf("Lock: %v, %v, want %v", free, err, want)
	}
	if free && unlock == nil {
		s.Fatal("Lock returned no function to give it back")
	}
	return unlock
}

func (s *subject) locked() {
	l := ability[cache.Locker](s)
	s.oneLock(l, l)
}

// oneLock uses two stores, or one twice.
func (s *subject) oneLock(a, b cache.Locker) {
	s.Helper()
	unlock := s.lock(a, keyOf("a"), time.Hour, true)
	s.lock(b, keyOf("a"), time.Hour, false)
	s.lock(a, keyOf("a"), time.Hour, false)
	s.lock(b, keyOf("b"), time.Hour, true)()
	s.hasNot(b, keyOf("a"), "a lock is no entry")
	unlock()
	unlock()
	s.lock(b, keyOf("a"), time.Hour, true)()
	e := entry("a", time.Hour)
	s.set(a, e)
	s.lock(b, e.Key, time.Hour, true)()
	s.has(b, e)
}

func (s *subject) lockLost() {
	l := ability[cache.Locker](s)
	taken := time.Now()
	unlock := s.lock(l, keyOf("a"), s.life, true)
	s.wait(taken.Add(s.life + s.life/2))
	s.lock(l, keyOf("a"), time.Hour, true)
	unlock() // of a lock that another has now
	s.lock(l, keyOf("a"), time.Hour, false)
}

func (s *subject) lockedAtOnce() {
	l := ability[cache.Locker](s)
	var wg sync.WaitGroup
	var taken atomic.Int64
	for range 16 {
		wg.Go(func() {
			_, free, err := l.Lock(s.Context(), keyOf("a"), time.Hour)
			if err != nil {
				s.Errorf("Lock: %v", err)
			}
			if free {
				taken.Add(1)
			}
		})
	}
	wg.Wait()
	if n := taken.Load(); n != 1 {
		s.Errorf("%d have the lock", n)
	}
}

func (s *subject) watched() {
	w := ability[cache.Watcher](s)
	s.hears(w, w)
}

// hears lets one store change what another watches, or itself.
func (s *subject) hears(watcher cache.Watcher, changer cache.Store) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	heard, anything := make(chan cache.Key, 1000), make(chan struct{}, 1000)
	if err := watcher.Watch(ctx, func(k cache.Key) { heard <- k }, func() { anything <- struct{}{} }); err != nil {
		s.Fatalf("Watch: %v", err)
	}
	until := func(what string, key cache.Key) {
		s.Helper()
		timeout := time.NewTimer(10 * time.Second)
		defer timeout.Stop()
		for {
			select {
			case k := <-heard:
				if k == key {
					return
				}
			case <-anything:
				return
			case <-timeout.C:
				s.Fatalf("the watcher does not hear of an entry that was %s", what)
			}
		}
	}
	for i := range 5 {
		e := entry(numbered("entry", i), time.Hour)
		s.set(changer, e)
		again := *e
		again.Body = []byte("again")
		s.set(changer, &again)
		until("replaced", e.Key)
		s.delete(changer, e.Key)
		until("deleted", e.Key)
	}
	k, ok := changer.(cache.Keeper)
	if !ok {
		return
	}
	e := entry("kept", time.Hour)
	s.set(changer, e)
	if n, err := k.DeleteAll(s.Context(), cache.Filter{}); n != 1 || err != nil {
		s.Fatalf("DeleteAll: %d, %v", n, err)
	}
	until("deleted with all", e.Key)
}

// pair returns two stores that share their data.
func (s *subject) pair() (a, b cache.Store) {
	s.Helper()
	if s.shared == nil {
		s.Skip("no two stores share their data")
	}
	return s.shared(s.T)
}

func (s *subject) twoStores() {
	a, b := s.pair()
	e := full("entry", direction(0))
	s.set(a, e)
	s.has(b, e)
	if sr, ok := b.(cache.Searcher); ok {
		found, err := sr.Search(s.Context(), &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.9})
		if err != nil || len(found) != 1 || difference(e, found[0].Entry) != "" {
			s.Errorf("Search: %v, %v", found, err)
		}
	}
	again := full("entry", direction(1))
	again.Body = []byte("again")
	s.set(b, again)
	s.has(a, again)
	s.delete(b, e.Key)
	s.hasNot(a, e.Key, "the other store deleted it")
}

func (s *subject) twoLocks() {
	a, b := s.pair()
	la, ok := a.(cache.Locker)
	lb, also := b.(cache.Locker)
	if !ok || !also {
		s.Skip("the stores have no locks")
	}
	s.oneLock(la, lb)
}

func (s *subject) twoWatched() {
	a, b := s.pair()
	w, ok := a.(cache.Watcher)
	if !ok {
		s.Skip("the stores cannot be watched")
	}
	s.hears(w, b)
}
