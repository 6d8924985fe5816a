package sqlite_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/sqlite"
)

func TestEntriesSurviveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	s := open(t, path)
	for i := range 50 {
		must(t, s.Set(t.Context(), entry(i)))
	}
	must(t, s.Close())
	if n := checkAll(t, open(t, path)); n != 50 {
		t.Errorf("%d entries", n)
	}
}

func TestLeastRecentlyUsedMakeRoom(t *testing.T) {
	const limit = 300_000
	s := open(t, filepath.Join(t.TempDir(), "answers.db"), sqlite.WithMaxBytes(limit))
	for i := range 200 {
		must(t, s.Set(t.Context(), entry(i)))
		time.Sleep(time.Millisecond)
		if _, ok, err := s.Get(t.Context(), entry(0).Key); !ok || err != nil {
			t.Fatalf("after %d the one that is used is gone", i)
		}
	}
	got := s.Stats()
	if got.Bytes > limit || got.Bytes < limit*8/10 || got.Evicted == 0 || got.Entries+got.Evicted != 200 {
		t.Errorf("%+v", got)
	}
	if _, ok, _ := s.Get(t.Context(), entry(199).Key); !ok {
		t.Error("the newest is gone")
	}
	big := entry(500)
	big.Body = make([]byte, limit)
	if err := s.Set(t.Context(), big); !errors.Is(err, cache.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

func TestExpiredEntriesAreSwept(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "answers.db"), sqlite.WithSweep(20*time.Millisecond))
	for i := range 20 {
		e := entry(i)
		if i%2 == 0 {
			e.Expires = e.Created.Add(50 * time.Millisecond)
		}
		must(t, s.Set(t.Context(), e))
	}
	for deadline := time.Now().Add(20 * time.Second); s.Stats().Entries != 10; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", s.Stats())
		}
	}
}

func TestGroupsThatDoNotFitAreReadAgain(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "answers.db"), sqlite.WithVectorBytes(1000))
	for i := range 64 {
		e := entry(i)
		e.Group = cache.Key{byte(1 + i%2)}
		must(t, s.Set(t.Context(), e))
	}
	for range 3 {
		for g := range 2 {
			found, err := s.Search(t.Context(), &cache.Query{Group: cache.Key{byte(1 + g)}, Vector: entry(g).Vector, Threshold: 0.9})
			if err != nil || len(found) != 4 {
				t.Errorf("%d, %v", len(found), err)
			}
		}
	}
}

func TestOperationsEndInTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	a, b := open(t, path), open(t, path, sqlite.WithTimeout(200*time.Millisecond))
	must(t, a.Set(t.Context(), entry(1)))
	unlock := sqlite.Hold(t, a)
	defer unlock()
	start := time.Now()
	if err := b.Set(t.Context(), entry(2)); err == nil {
		t.Error("no error")
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, ok, err := b.Get(t.Context(), entry(1).Key); !ok || err != nil {
		t.Errorf("a reader waits for the writer: %v, %v", ok, err)
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "answers.db"))
	must(t, err)
	must(t, s.Watch(t.Context(), func(cache.Key) {}, func() {}))
	must(t, s.Set(t.Context(), entry(1)))
	must(t, s.Close())
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
