package bench_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/coder/hnsw"
	"github.com/philippgille/chromem-go"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/internal/vector"
)

// What is searched: vectors in clusters, as those of texts are, at the threshold of
// a semantic cache. Every second query has an entry that is near enough.
const (
	dimensions = 768
	clusters   = 100
	threshold  = 0.95
)

// world draws vectors.
type world struct {
	rnd     *rand.Rand
	centres [][]float32
}

func newWorld(seed uint64) *world {
	w := &world{rnd: rand.New(rand.NewPCG(seed, 2))} // #nosec G404 -- the same vectors each time
	for range clusters {
		w.centres = append(w.centres, w.around(nil, 1))
	}
	return w
}

// around returns a vector of length 1 near another one, or anywhere.
func (w *world) around(centre []float32, spread float64) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(w.rnd.NormFloat64() * spread)
		if centre != nil {
			v[i] += centre[i]
		}
	}
	vector.Normalize(v)
	return v
}

func (w *world) draw() []float32 { return w.around(w.centres[w.rnd.IntN(clusters)], 0.03) }

// queries returns what is looked for.
func (w *world) queries(stored [][]float32) [][]float32 {
	list := make([][]float32, 64)
	for i := range list {
		if list[i] = w.draw(); i%2 == 0 {
			list[i] = w.around(stored[w.rnd.IntN(len(stored))], 0.005)
		}
	}
	return list
}

// sizes are the numbers of entries; a million takes 4 GB.
func sizes() []int {
	if os.Getenv("GATEWAY_BENCH_MILLION") != "" {
		return []int{1_000, 10_000, 100_000, 1_000_000}
	}
	return []int{1_000, 10_000, 100_000}
}

// BenchmarkSearch looks entries up by meaning in the store in memory, in one
// partition, in eight and in a thousand, and beside it in libraries that others
// use: one that measures all vectors, and one with a graph, which may miss.
func BenchmarkSearch(b *testing.B) {
	for _, n := range sizes() {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			w := newWorld(uint64(n))
			stored := make([][]float32, n)
			for i := range stored {
				stored[i] = w.draw()
			}
			queries := w.queries(stored)
			for _, partitions := range []int{1, 8, 1000} {
				b.Run(fmt.Sprintf("lib=gateway_in_%d", partitions), func(b *testing.B) { searchMemory(b, stored, queries, partitions) })
			}
			if n <= 100_000 {
				b.Run("lib=chromem-go", func(b *testing.B) { searchChromem(b, stored, queries) })
			}
			if n <= 10_000 {
				b.Run("lib=coder-hnsw", func(b *testing.B) { searchHNSW(b, stored, queries) })
			}
		})
	}
}

func group(i int) cache.Key { return cache.Key{0: 1, 1: byte(i), 2: byte(i >> 8)} }

func searchMemory(b *testing.B, stored, queries [][]float32, partitions int) {
	b.Helper()
	m, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: 16 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	for i, v := range stored {
		e := &cache.Entry{
			Key: cache.Key{0: 2, 1: byte(i), 2: byte(i >> 8), 3: byte(i >> 16)}, Group: group(i % partitions), Vector: v,
			Created: time.Now(), Expires: time.Now().Add(time.Hour),
		}
		if err := m.Set(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	found := 0
	i := 0
	for b.Loop() {
		list, err := m.Search(b.Context(), &cache.Query{Group: group(i % partitions), Vector: queries[i%len(queries)], Threshold: threshold, Limit: 8})
		if err != nil {
			b.Fatal(err)
		}
		if found += len(list); i == 0 && partitions == 1 && len(list) == 0 {
			b.Fatal("the first query has an entry that is near, and it was not found")
		}
		i++
	}
}

func searchChromem(b *testing.B, stored, queries [][]float32) {
	b.Helper()
	c, err := chromem.NewDB().CreateCollection("c", nil, func(context.Context, string) ([]float32, error) { return nil, os.ErrInvalid })
	if err != nil {
		b.Fatal(err)
	}
	for i, v := range stored {
		if err := c.AddDocument(b.Context(), chromem.Document{ID: strconv.Itoa(i), Embedding: v, Content: "x"}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := c.QueryEmbedding(b.Context(), queries[i%len(queries)], 8, nil, nil); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func searchHNSW(b *testing.B, stored, queries [][]float32) {
	b.Helper()
	g := hnsw.NewGraph[int]()
	for i, v := range stored {
		g.Add(hnsw.MakeNode(i, v))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		_ = g.Search(queries[i%len(queries)], 8)
		i++
	}
}
