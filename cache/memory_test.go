package cache_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

func newMemory(tb testing.TB, maxBytes int64) *cache.Memory {
	tb.Helper()
	m, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: maxBytes})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return m
}

func number(i uint64) (k cache.Key) {
	binary.LittleEndian.PutUint64(k[8:], i)
	return k
}

// numbered is an entry whose body begins with its number.
func numbered(i uint64, size int, life time.Duration) *cache.Entry {
	now := time.Now()
	e := &cache.Entry{Key: number(i), Body: make([]byte, max(size, 8)), Created: now, Expires: now.Add(life)}
	binary.LittleEndian.PutUint64(e.Body, i)
	return e
}

func TestMemoryKeepsWhatItWasGiven(t *testing.T) {
	m := newMemory(t, 0)
	e := whole()
	e.Created, e.Expires = time.Now(), time.Now().Add(time.Minute)
	if err := m.Set(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	got, ok, err := m.Get(t.Context(), e.Key)
	if err != nil || !ok || string(got.Body) != string(e.Body) {
		t.Fatalf("got %v, %v, %v", got, ok, err)
	}
	found, err := m.Search(t.Context(), &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.95})
	if err != nil || len(found) != 1 || found[0].Entry != got {
		t.Fatalf("found %v, %v", found, err)
	}
	if err := m.Delete(t.Context(), e.Key); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := m.Get(t.Context(), e.Key); ok {
		t.Error("the entry is there after it was deleted")
	}
	if found, _ := m.Search(t.Context(), &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.95}); len(found) > 0 {
		t.Error("the entry is found after it was deleted")
	}
}

func TestMemoryExpiresExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t, 0)
		if err := m.Set(t.Context(), numbered(1, 8, time.Minute)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if _, ok, _ := m.Get(t.Context(), number(1)); !ok {
			t.Error("the entry is gone before its time")
		}
		time.Sleep(time.Nanosecond)
		if _, ok, _ := m.Get(t.Context(), number(1)); ok {
			t.Error("the entry is there after its time")
		}
	})
}

func TestMemoryFindsWhatWasJustStoredWhenFull(t *testing.T) {
	m := newMemory(t, 4<<20)
	for i := range uint64(20_000) {
		if err := m.Set(t.Context(), numbered(i, 4096, time.Hour)); err != nil {
			t.Fatal(err)
		}
		if e, ok, _ := m.Get(t.Context(), number(i)); !ok || binary.LittleEndian.Uint64(e.Body) != i {
			t.Fatalf("entry %d is not found right after it was stored", i)
		}
		if b := m.Stats().Bytes; b > 4<<20+64<<10 {
			t.Fatalf("%d bytes are kept", b)
		}
	}
	if s := m.Stats(); s.Evicted == 0 || s.Entries+s.Evicted != s.Stored {
		t.Errorf("stats: %+v", s)
	}
}

func TestMemoryClosesUnderTraffic(t *testing.T) {
	vector := []float32{1, 0}
	for range 100 {
		m, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: cache.MinMaxBytes})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					i := rand.Uint64N(1000)
					e := numbered(i, 2048, time.Hour)
					e.Group, e.Vector = number(i%3+1), vector
					setErr := m.Set(t.Context(), e)
					_, _, getErr := m.Get(t.Context(), number(i+1))
					_, searchErr := m.Search(t.Context(), &cache.Query{Group: e.Group, Vector: vector, Threshold: 0.9, Limit: 1})
					for _, err := range []error{setErr, getErr, searchErr, m.Delete(t.Context(), number(i+2))} {
						if errors.Is(err, cache.ErrClosed) {
							return
						}
						if err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		time.Sleep(time.Millisecond)
		for range 2 {
			wg.Go(func() {
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

// randomVector returns a vector of length 1.
func randomVector(r *rand.Rand, dim int) []float32 {
	v, sum := make([]float32, dim), 0.0
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}
