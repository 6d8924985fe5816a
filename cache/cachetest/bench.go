package cachetest

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

// Bench measures the operations of a store that is empty: on bodies of 4 KB, and
// searches in a group of 1000 vectors of 768 dimensions. Each is a benchmark of its
// own, which reports the median as p50-us.
func Bench(b *testing.B, s cache.Searcher) {
	b.Helper()
	const kept, body, dimensions, threshold = 1000, 4096, 768, 0.95
	r := rand.New(rand.NewPCG(1, 2))
	set := func(i int, vector []float32) error {
		now := time.Now()
		e := &cache.Entry{Key: cache.Key{1, byte(i), byte(i >> 8)}, Body: make([]byte, body), Created: now, Expires: now.Add(time.Hour)}
		if vector != nil {
			e.Key[0], e.Group, e.Vector = 2, cache.Key{7}, vector
		}
		return s.Set(b.Context(), e)
	}
	vectors := make([][]float32, kept)
	for i := range vectors {
		vectors[i] = random(r, dimensions)
		if err := set(i, nil); err != nil {
			b.Fatal(err)
		}
		if err := set(i, vectors[i]); err != nil {
			b.Fatal(err)
		}
	}
	median(b, "get", func(i int) error { _, _, err := s.Get(b.Context(), cache.Key{1, byte(i % 100)}); return err })
	median(b, "set", func(i int) error { return set(i%100, nil) })
	median(b, "set with vector", func(i int) error { return set(i%kept, vectors[i%kept]) })
	median(b, "search", func(i int) error {
		_, err := s.Search(b.Context(), &cache.Query{Group: cache.Key{7}, Vector: vectors[i%kept], Threshold: threshold})
		return err
	})
}

func median(b *testing.B, name string, run func(i int) error) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			start := time.Now()
			if err := run(i); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	})
}
