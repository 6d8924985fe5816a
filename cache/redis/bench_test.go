package redis_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/redis"
)

// BenchmarkStore measures each operation with bodies of 4 KB, and searches in a
// group of 1000 vectors of 768 dimensions. It reports the median.
func BenchmarkStore(b *testing.B) {
	forBench(b, func(b *testing.B, s cache.Searcher) {
		r := rand.New(rand.NewPCG(1, 2))
		sized := func(n int) *cache.Entry {
			e := entry(n)
			e.Group, e.Vector, e.Body = cache.Key{}, nil, make([]byte, 4096)
			return e
		}
		for n := range 100 {
			must(b, s.Set(b.Context(), sized(n)))
		}
		median(b, "get", func(i int) error { _, _, err := s.Get(b.Context(), sized(i%100).Key); return err })
		median(b, "set", func(i int) error { return s.Set(b.Context(), sized(i%100)) })
		vectors := make([][]float32, 1000)
		for n := range vectors {
			e := sized(10_000 + n)
			e.Group, e.Vector = cache.Key{7}, unit(r, 768)
			vectors[n] = e.Vector
			must(b, s.Set(b.Context(), e))
		}
		median(b, "set with vector", func(i int) error {
			e := sized(10_000 + i%1000)
			e.Group, e.Vector = cache.Key{7}, vectors[i%1000]
			return s.Set(b.Context(), e)
		})
		median(b, "search", func(i int) error {
			_, err := s.Search(b.Context(), &cache.Query{Group: cache.Key{7}, Vector: vectors[i%1000], Threshold: 0.95})
			return err
		})
	})
}

func median(b *testing.B, name string, run func(i int) error) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			start := time.Now()
			must(b, run(i))
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	})
}

func forBench(b *testing.B, run func(*testing.B, cache.Searcher)) {
	for _, name := range servers {
		b.Run(name, func(b *testing.B) { run(b, open(b, option(b, name), redis.WithClientCaching(0))) })
	}
}
