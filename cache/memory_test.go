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
	whole := func(s cache.Stats) bool { return s.Evicted > 0 && s.Entries+s.Evicted == s.Stored }
	for deadline := time.Now().Add(5 * time.Second); !whole(m.Stats()) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // an entry that is leaving is counted a moment later
	}
	if s := m.Stats(); !whole(s) {
		t.Errorf("stats: %+v", s)
	}
}

func TestMemoryGetAllocatesNothing(t *testing.T) {
	if raced {
		t.Skip("the race detector drops pooled buffers")
	}
	m := newMemory(t, 0)
	e := numbered(1, 8, time.Hour)
	if err := m.Set(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	var first, got *cache.Entry
	if n := testing.AllocsPerRun(1000, func() {
		got, _, _ = m.Get(t.Context(), e.Key)
		if first == nil {
			first = got
		}
	}); n != 0 || got == nil || got != first {
		t.Errorf("%v allocations, the same entry: %v", n, got == first)
	}
}

// TestMemoryWindow stores what nobody asks for again in a store that is full of
// favourites: each entry still has its time in the window.
func TestMemoryWindow(t *testing.T) {
	m := newMemory(t, 16<<20)
	set := func(i uint64) {
		t.Helper()
		if err := m.Set(t.Context(), numbered(i, 4096, time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		for i := range uint64(2000) {
			if _, ok, _ := m.Get(t.Context(), number(i)); !ok {
				set(i)
			}
		}
	}
	for i := range uint64(2000) {
		set(1<<32 + i)
		if i < 250 {
			continue
		}
		if _, ok, _ := m.Get(t.Context(), number(1<<32+i-250)); !ok {
			t.Fatalf("entry %d is missing after 250 others", i-250)
		}
	}
}

func TestMemoryComparesKeys(t *testing.T) {
	m := newMemory(t, 0)
	one, other := numbered(1, 8, time.Hour), numbered(2, 8, time.Hour)
	if err := m.Set(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	m.Collide(other.Key, one.Key)
	if _, ok, err := m.Get(t.Context(), other.Key); ok || err != nil {
		t.Errorf("Get: %v, %v", ok, err)
	}
	if err := m.Delete(t.Context(), other.Key); err != nil {
		t.Fatal(err)
	}
	if s := m.Stats(); s.Deleted != 0 || s.Entries != 1 {
		t.Errorf("the deletion of another key took it: %+v", s)
	}
}

func TestMemoryRefusesWhatIsTooLarge(t *testing.T) {
	m := newMemory(t, 0)
	const most = cache.DefaultMaxBytes / 20
	old := numbered(1, most*9/10, time.Hour)
	if err := m.Set(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := m.Get(t.Context(), old.Key); !ok {
		t.Error("an entry of a twentieth is missing")
	}
	if err := m.Set(t.Context(), numbered(1, 2*most, time.Hour)); !errors.Is(err, cache.ErrTooLarge) {
		t.Errorf("Set: %v, want ErrTooLarge", err)
	}
	if _, ok, _ := m.Get(t.Context(), old.Key); ok {
		t.Error("the entry that was to be replaced is still there")
	}
	if s := m.Stats(); s.Rejected != 1 || s.Stored != 1 || s.Entries != 0 {
		t.Errorf("stats: %+v", s)
	}
}

func TestMemoryRefusesVectorsOfOtherLengths(t *testing.T) {
	m := newMemory(t, 0)
	nan := float32(math.NaN())
	for name, v := range map[string][]float32{"empty": {}, "zero": {0, 0}, "long": {1, 1}, "short": {0.5, 0.5}, "no number": {1, nan}} {
		e := numbered(1, 8, time.Hour)
		e.Group, e.Vector = number(1), v
		if err := m.Set(t.Context(), e); err == nil {
			t.Errorf("%s is kept", name)
		}
		if _, err := m.Search(t.Context(), &cache.Query{Group: number(1), Vector: v, Threshold: 0.9}); err == nil {
			t.Errorf("%s is looked for", name)
		}
	}
}

func TestMemoryConfigIsRefused(t *testing.T) {
	for _, n := range []int64{-1, 1, cache.MinMaxBytes - 1} {
		if _, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: n}); err == nil {
			t.Errorf("%d bytes are enough", n)
		}
	}
}

// TestMemoryLetsGoOfVectors evicts, expires and deletes entries with vectors.
func TestMemoryLetsGoOfVectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t, 4<<20)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range uint64(5000) {
			e := numbered(i, 100, 30*time.Minute)
			e.Group, e.Vector = number(1+i/50), randomVector(r, 256)
			if err := m.Set(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			if found, err := m.Search(t.Context(), &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.99}); len(found) != 1 || err != nil {
				t.Fatalf("entry %d: %v, %v", i, found, err)
			}
		}
		check := func(when string) cache.Stats {
			t.Helper()
			if err := m.Invariants(); err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			s := m.Stats()
			if s.Vectors != s.Entries {
				t.Errorf("%s there are %d vectors of %d entries", when, s.Vectors, s.Entries)
			}
			return s
		}
		if s := check("once full"); s.Evicted == 0 || m.Groups() > 100 {
			t.Errorf("%d groups, stats: %+v", m.Groups(), s)
		}
		time.Sleep(2 * time.Hour)
		s := check("once all have expired")
		if s.Expired == 0 || s.Entries > 500 {
			t.Errorf("stats: %+v", s)
		}
		if n, err := m.DeleteAll(t.Context(), cache.Filter{}); n != 0 || err != nil {
			t.Errorf("DeleteAll: %d, %v", n, err)
		}
		if s := check("once all were deleted"); s.Entries != 0 || m.Groups() != 0 || s.Stored != s.Evicted+s.Expired {
			t.Errorf("%d groups, stats: %+v", m.Groups(), s)
		}
	})
}

// TestMemoryFindsExactly compares a large group, which shrinks, with a comparison of
// all.
func TestMemoryFindsExactly(t *testing.T) {
	m := newMemory(t, 0)
	const dim, threshold = 128, 0.45
	r := rand.New(rand.NewPCG(1, 1))
	var entries []*cache.Entry
	for i := range uint64(4000) {
		e := numbered(i, 8, time.Hour)
		e.Group, e.Vector = number(1), randomVector(r, dim)
		e.Vector[0] += 0.6
		var sum float64
		for _, f := range e.Vector {
			sum += float64(f) * float64(f)
		}
		for j := range e.Vector {
			e.Vector[j] /= float32(math.Sqrt(sum))
		}
		entries = append(entries, e)
		if err := m.Set(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	compare := func() {
		t.Helper()
		for _, e := range entries[:20] {
			want := map[cache.Key]bool{}
			for _, other := range entries {
				var sum float64
				for i, f := range e.Vector {
					sum += float64(f) * float64(other.Vector[i])
				}
				if sum >= threshold+1e-5 {
					want[other.Key] = true
				} else if sum > threshold-1e-5 {
					return // too close to call
				}
			}
			found, err := m.Search(t.Context(), &cache.Query{Group: number(1), Vector: e.Vector, Threshold: threshold})
			if err != nil || len(found) != len(want) || len(found) < 2 && len(entries) > 1000 {
				t.Fatalf("%d are found, want %d, %v", len(found), len(want), err)
			}
			for _, match := range found {
				if !want[match.Entry.Key] {
					t.Error("something else is found")
				}
			}
		}
	}
	compare()
	for _, e := range entries[300:] {
		if err := m.Delete(t.Context(), e.Key); err != nil {
			t.Fatal(err)
		}
	}
	entries = entries[:300]
	compare()
	if n := m.MostRows(number(1), dim); n > 1000 {
		t.Errorf("the index has room for %d", n)
	}
	if err := m.Invariants(); err != nil {
		t.Error(err)
	}
}

// TestMemoryFindsWhatItFound lets an opposite vector take the row of one that is
// being found.
func TestMemoryFindsWhatItFound(t *testing.T) {
	m := newMemory(t, 0)
	set := func(i uint64, x, y float32) {
		e := numbered(i, 8, time.Hour)
		e.Group, e.Vector = number(9), []float32{x, y}
		if err := m.Set(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	set(1, 1, 0)
	set(2, 0, 1) // the group stays with it
	q := &cache.Query{Group: number(9), Vector: []float32{1, 0}, Threshold: 0.9}
	if found := m.SearchAround(q, func() {}); len(found) != 1 || found[0].Entry.Key != number(1) {
		t.Errorf("found %v", found)
	}
	if found := m.SearchAround(q, func() {
		if err := m.Delete(t.Context(), number(1)); err != nil {
			t.Fatal(err)
		}
		set(3, -1, 0)
	}); len(found) > 0 {
		t.Errorf("found %v", found[0].Entry)
	}
}

func TestMemoryKeepsACopyNoLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t, 0)
		e := numbered(1, 8, time.Hour)
		for name, until := range map[string]time.Duration{"before it expires": time.Minute, "after it expires": 2 * time.Hour} {
			e.Created, e.Expires = time.Now(), time.Now().Add(time.Hour)
			life := min(until, time.Hour)
			if err := m.SetUntil(t.Context(), e, time.Now().Add(until)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(life - time.Nanosecond)
			if got, ok, _ := m.Get(t.Context(), e.Key); !ok || !got.Expires.Equal(e.Expires) {
				t.Errorf("%s: it is gone too early, or says something else: %v", name, got)
			}
			time.Sleep(time.Nanosecond)
			if _, ok, _ := m.Get(t.Context(), e.Key); ok {
				t.Errorf("%s: it is there too long", name)
			}
		}
	})
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
