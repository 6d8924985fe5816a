package cachetest_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/cachetest"
)

func newMemory(t *testing.T) *cache.Memory {
	t.Helper()
	m, err := cache.NewMemory(cache.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func entry() *cache.Entry {
	return &cache.Entry{
		Key: cache.Key{1}, Body: []byte("body"), Created: time.Now(), Expires: time.Now().Add(time.Hour), Group: cache.Key{2}, Vector: []float32{1, 0},
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults cachetest.Faults
		// Get and Search see an entry that was there before the faults.
		ok func(*cache.Entry, error) bool
	}{
		{"Errors", cachetest.Faults{Errors: 1}, func(_ *cache.Entry, err error) bool { return errors.Is(err, cachetest.ErrFault) }},
		{"WrongKeys", cachetest.Faults{WrongKeys: 1}, func(e *cache.Entry, err error) bool {
			return err == nil && e.Key != entry().Key && e.Group != entry().Group
		}},
		{"Corrupt", cachetest.Faults{Corrupt: 1}, func(e *cache.Entry, err error) bool { return err == nil && !bytes.Equal(e.Body, entry().Body) }},
		{"Stale", cachetest.Faults{Stale: 1}, func(e *cache.Entry, err error) bool { return err == nil && e.Expired(time.Now()) }},
		{"LostWrites", cachetest.Faults{LostWrites: 1}, func(e *cache.Entry, err error) bool { return err == nil && e.Key == entry().Key }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := cachetest.NewFaulty(newMemory(t), 1, cachetest.Faults{})
			if err := f.Set(t.Context(), entry()); err != nil {
				t.Fatal(err)
			}
			f.Inject(c.faults)
			e, _, err := f.Get(t.Context(), cache.Key{1})
			if !c.ok(e, err) {
				t.Errorf("Get: %+v, %v", e, err)
			}
			found, err := f.Search(t.Context(), &cache.Query{Group: cache.Key{2}, Vector: []float32{1, 0}, Threshold: 0.9})
			if err == nil {
				e = found[0].Entry
			}
			if !c.ok(e, err) {
				t.Errorf("Search: %+v, %v", e, err)
			}
			if err := f.Delete(t.Context(), cache.Key{1}); err != nil && c.name != "Errors" {
				t.Error(err)
			}
			if f.Struck(c.name) == 0 || f.Calls() != 4 {
				t.Errorf("%d faults in %d calls", f.Struck(c.name), f.Calls())
			}
			f.Inject(cachetest.Faults{})
			if _, ok, err := f.Get(t.Context(), cache.Key{1}); err != nil || ok != (c.name == "LostWrites" || c.name == "Errors") {
				t.Errorf("once it is healed, Get: %v, %v", ok, err)
			}
		})
	}
}

func TestDelaysEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := cachetest.NewFaulty(newMemory(t), 1, cachetest.Faults{Delays: 1, Delay: time.Minute})
		begun := time.Now()
		if err := f.Set(t.Context(), entry()); err != nil || time.Since(begun) != time.Minute {
			t.Errorf("Set: %v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		if _, _, err := f.Get(ctx, cache.Key{1}); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("Get: %v after %v", err, time.Since(begun))
		}
	})
}

// TestFaultlessFaulty runs the suite over a store that passes it.
func TestFaultlessFaulty(t *testing.T) {
	cachetest.Run(t, func(t *testing.T) cache.Store {
		return searcherAlone{cachetest.NewFaulty(newMemory(t), 1, cachetest.Faults{})}
	}, cachetest.WithVirtualTime())
}

// searcherAlone hides what the store behind cannot do.
type searcherAlone struct{ cache.Searcher }
