package cache_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/cachetest"
)

// server stands for one that processes share: what one of them changes, all hear.
type server struct {
	*cache.Memory

	mu       sync.Mutex
	watchers map[int]func(cache.Key)
	next     int
	deaf     int // attempts to listen that fail
	locks    map[cache.Key]*time.Time
}

func newServer(tb testing.TB) *server {
	return &server{Memory: newMemory(tb, 0), watchers: map[int]func(cache.Key){}, locks: map[cache.Key]*time.Time{}}
}

func (s *server) tell(key cache.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, changed := range s.watchers {
		changed(key)
	}
}

func (s *server) Set(ctx context.Context, e *cache.Entry) error {
	defer s.tell(e.Key)
	return s.Memory.Set(ctx, e)
}

func (s *server) Delete(ctx context.Context, key cache.Key) error {
	defer s.tell(key)
	return s.Memory.Delete(ctx, key)
}

func (s *server) DeleteAll(ctx context.Context, f cache.Filter) (int, error) {
	var keys []cache.Key
	for e, err := range s.List(ctx, f) {
		if err == nil {
			keys = append(keys, e.Key)
		}
	}
	n, err := s.Memory.DeleteAll(ctx, f)
	for _, key := range keys {
		s.tell(key)
	}
	return n, err
}

func (s *server) Lock(_ context.Context, key cache.Key, ttl time.Duration) (unlock func(), free bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := s.locks[key]; until != nil && time.Now().Before(*until) {
		return nil, false, nil
	}
	until := time.Now().Add(ttl)
	s.locks[key] = &until
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.locks[key] == &until {
			delete(s.locks, key)
		}
	}, true, nil
}

func (s *server) Watch(ctx context.Context, changed func(cache.Key), _ func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deaf--; s.deaf >= 0 {
		return errors.New("not listening")
	}
	s.next++
	id := s.next
	s.watchers[id] = changed
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, id)
	})
	return nil
}

// process is a client of the server that closes alone.
type process struct {
	cache.Keeper
	cache.Searcher
	cache.Watcher
	cache.Locker

	server *server
}

func (p process) Get(ctx context.Context, key cache.Key) (*cache.Entry, bool, error) {
	return p.server.Get(ctx, key)
}
func (p process) Set(ctx context.Context, e *cache.Entry) error { return p.server.Set(ctx, e) }
func (p process) Delete(ctx context.Context, key cache.Key) error {
	return p.server.Delete(ctx, key)
}

func newProcess(s *server) process { return process{s, s, s, s, s} }

// plain is a store that can do nothing else.
type plain struct{ cache.Store }

func newTiered(tb testing.TB, far cache.Store, c cache.TieredConfig) *cache.Tiered {
	tb.Helper()
	near, err := cache.NewMemory(cache.MemoryConfig{})
	if err != nil {
		tb.Fatal(err)
	}
	t, err := cache.NewTiered(near, far, c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := t.Close(); err != nil {
			tb.Error(err)
		}
	})
	return t
}

func TestTiered(t *testing.T) {
	inVirtualTime := cachetest.WithVirtualTime()
	t.Run("over a memory", func(t *testing.T) {
		cachetest.Run(t, func(t *testing.T) cache.Store { return newTiered(t, newMemory(t, 0), cache.TieredConfig{}) }, inVirtualTime)
	})
	t.Run("with short lives near", func(t *testing.T) {
		cachetest.Run(t, func(t *testing.T) cache.Store {
			return newTiered(t, newMemory(t, 0), cache.TieredConfig{NearLife: time.Millisecond})
		}, inVirtualTime, cachetest.WithOperations(10_000))
	})
	t.Run("over a server that tells of changes", func(t *testing.T) {
		cachetest.Run(t, func(t *testing.T) cache.Store { return newTiered(t, newServer(t), cache.TieredConfig{}) }, inVirtualTime, cachetest.WithShared(
			func(t *testing.T) (a, b cache.Store) {
				s := newServer(t)
				a, b = newTiered(t, newProcess(s), cache.TieredConfig{}), newTiered(t, newProcess(s), cache.TieredConfig{})
				synctest.Wait() // until both listen
				return a, b
			}), cachetest.WithoutSizes())
	})
	t.Run("over a server that fails", func(t *testing.T) {
		cachetest.Run(t, func(t *testing.T) cache.Store {
			far := cachetest.NewFaulty(newMemory(t, 0), 1, cachetest.Faults{Errors: 1})
			return withoutLists{newTiered(t, plain{far}, cache.TieredConfig{})}
		}, inVirtualTime)
	})
}

// withoutLists has what a tiered store can do whose far store is gone: all but to
// delete there.
type withoutLists struct{ tiered *cache.Tiered }

func (s withoutLists) Get(ctx context.Context, key cache.Key) (*cache.Entry, bool, error) {
	return s.tiered.Get(ctx, key)
}
func (s withoutLists) Set(ctx context.Context, e *cache.Entry) error { return s.tiered.Set(ctx, e) }
func (s withoutLists) Search(ctx context.Context, q *cache.Query) ([]cache.Match, error) {
	return s.tiered.Search(ctx, q)
}
func (s withoutLists) Lock(ctx context.Context, key cache.Key, ttl time.Duration) (func(), bool, error) {
	return s.tiered.Lock(ctx, key, ttl)
}
func (s withoutLists) Close() error { return s.tiered.Close() }
func (s withoutLists) Delete(ctx context.Context, key cache.Key) error {
	if err := s.tiered.Delete(ctx, key); errors.Is(err, cache.ErrClosed) {
		return err
	}
	return nil
}
