package cache_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

func BenchmarkMemoryGet(b *testing.B) {
	const kept = 10_000
	filled := func(b *testing.B) *cache.Memory {
		m := newMemory(b, 0)
		for i := range uint64(kept) {
			if err := m.Set(b.Context(), numbered(i, 1024, time.Hour)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportAllocs()
		return m
	}
	get := func(b *testing.B, m *cache.Memory, i uint64, want bool) {
		if _, ok, err := m.Get(b.Context(), number(i)); ok != want || err != nil {
			b.Errorf("Get: %v, %v", ok, err)
		}
	}
	b.Run("hit", func(b *testing.B) {
		m, i := filled(b), uint64(0)
		for b.Loop() {
			get(b, m, i%kept, true)
			i++
		}
	})
	b.Run("hit of a few", func(b *testing.B) {
		m, i := filled(b), uint64(0)
		for b.Loop() {
			get(b, m, i%100, true)
			i++
		}
	})
	b.Run("miss", func(b *testing.B) {
		m, i := filled(b), uint64(kept)
		for b.Loop() {
			get(b, m, i, false)
			i++
		}
	})
	b.Run("parallel", func(b *testing.B) {
		m, next := filled(b), atomic.Uint64{}
		b.RunParallel(func(pb *testing.PB) {
			for i := next.Add(kept / 10); pb.Next(); i++ {
				get(b, m, i%kept, true)
			}
		})
	})
}

func BenchmarkMemorySet(b *testing.B) {
	for _, c := range []struct {
		name string
		keys uint64
		dim  int
	}{{"new", math.MaxUint64, 0}, {"again", 1000, 0}, {"with vectors", math.MaxUint64, 768}} {
		b.Run(c.name, func(b *testing.B) {
			m, i := newMemory(b, 0), uint64(0)
			e := *numbered(0, 1024, time.Hour)
			if c.dim > 0 {
				e.Group, e.Vector = number(1), randomVector(rand.New(rand.NewPCG(1, 1)), c.dim)
			}
			b.ReportAllocs()
			for b.Loop() {
				e.Key = number(i % c.keys)
				if err := m.Set(b.Context(), &e); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkMemoryChurn looks up what is asked for with a few favourites, and
// stores what is missing, in a store that has room for a tenth.
func BenchmarkMemoryChurn(b *testing.B) {
	m := newMemory(b, 16<<20)
	var worker atomic.Uint64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		r := rand.New(rand.NewPCG(worker.Add(1), 1))
		zipf := rand.NewZipf(r, 1.05, 1, 100_000)
		for pb.Next() {
			i := zipf.Uint64()
			if _, ok, _ := m.Get(b.Context(), number(i)); !ok {
				if err := m.Set(b.Context(), numbered(i, 1024, time.Hour)); err != nil {
					b.Error(err)
				}
			}
		}
	})
}

// BenchmarkMemoryEntry reports what an entry takes beside its body.
func BenchmarkMemoryEntry(b *testing.B) {
	for _, dim := range []int{0, 768} {
		b.Run(fmt.Sprintf("%d dimensions", dim), func(b *testing.B) {
			const kept, body = 20_000, 1024
			r := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				before := heap()
				m := newMemory(b, 1<<30)
				empty := heap()
				for i := range uint64(kept) {
					e := numbered(i, body, time.Minute+time.Duration(r.Int64N(int64(cache.MaxMaxAge-time.Minute))))
					if dim > 0 {
						e.Group, e.Vector = number(1), randomVector(r, dim)
					}
					if err := m.Set(b.Context(), e); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(heap()-empty)/kept-body-float64(4*dim), "bytes/entry")
				b.ReportMetric(float64(empty-before), "bytes/store")
				runtime.KeepAlive(m)
			}
		})
	}
}

// TestMemoryHitRatio asks with favourites for what a store has too little room
// for, and stores what is missing.
func TestMemoryHitRatio(t *testing.T) {
	const capacity, keys, body = 10_000, 100_000, 1024
	const maxBytes = capacity*(body+body/16+700) + 1<<20
	m := newMemory(t, maxBytes)
	r := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(r, 1.05, 1, keys-1)
	hits, asked, again, misses := 0, 0, 0, 0
	rounds, least := 600_000, 0.66
	if raced { // the detector makes the main region forget what it has learned
		rounds, least = 230_000, 0.5
	}
	for n := range rounds {
		i := zipf.Uint64()
		_, ok, err := m.Get(t.Context(), number(i))
		if err != nil {
			t.Fatal(err)
		}
		if n >= 200_000 { // warm
			asked++
			if ok {
				hits++
			}
		}
		if ok {
			continue
		}
		if err := m.Set(t.Context(), numbered(i, body, time.Hour)); err != nil {
			t.Fatal(err)
		}
		misses++
		if _, ok, _ := m.Get(t.Context(), number(i)); ok {
			again++
		}
	}
	ratio := float64(hits) / float64(asked)
	t.Logf("%d entries kept, %.4f found, %d of %d found right after they were stored", m.Stats().Entries, ratio, again, misses)
	if again != misses {
		t.Errorf("%d of %d were found right after they were stored", again, misses)
	}
	if ratio < least {
		t.Errorf("%.4f were found", ratio)
	}
}

// TestMemoryKeepsFavourites lets a flood of what nobody asks for again pass by.
// What is asked for is learnt on another goroutine, which passes over what it has
// no time for, so that a busy machine has several tries.
func TestMemoryKeepsFavourites(t *testing.T) {
	if raced {
		t.Skip("the race detector makes the main region forget what it has learned")
	}
	const favourites, tries = 1000, 5
	var kept [tries]int
	for i := range kept {
		if kept[i] = keptThroughFlood(t, favourites); kept[i] >= favourites*95/100 {
			return
		}
	}
	t.Errorf("%d of %d favourites are left", kept, favourites)
}

// keptThroughFlood returns how many of the favourites are left after a flood.
func keptThroughFlood(t *testing.T, favourites uint64) (kept int) {
	t.Helper()
	m := newMemory(t, 16<<20)
	for range 30 {
		for i := range favourites {
			if _, ok, _ := m.Get(t.Context(), number(i)); !ok {
				if err := m.Set(t.Context(), numbered(i, 1024, time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for i := range uint64(50_000) {
		if err := m.Set(t.Context(), numbered(1<<32+i, 1024, time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range favourites {
		if _, ok, _ := m.Get(t.Context(), number(i)); ok {
			kept++
		}
	}
	return kept
}
