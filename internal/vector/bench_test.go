package vector

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
)

// sizes are the numbers of rows of benchmarks; a million needs 3.5 GB.
func sizes() []int {
	n := []int{1_000, 10_000, 100_000}
	if os.Getenv("GATEWAY_VECTOR_MILLION") != "" {
		n = append(n, 1_000_000)
	}
	return n
}

// BenchmarkSearch looks for near rows, which half of the queries have. The plain
// scan in Go is what the index stands in for.
func BenchmarkSearch(b *testing.B) {
	const dim = 768
	for name, w := range map[string]world{"clustered": clustered, "templates": templates} {
		for _, n := range sizes() {
			if testing.Short() && n > 1000 {
				continue
			}
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			draw := w(rng, dim)
			x := New(dim)
			for range n {
				x.Add(draw())
			}
			queries := make([][]float32, 64)
			for i := range queries {
				queries[i] = draw()
				if i%2 == 0 {
					queries[i] = near(rng, x.Vector(rng.Uint32N(uint32(n))), 0.97)
				}
			}
			b.Run(fmt.Sprintf("%s/%d/index", name, n), func(b *testing.B) {
				b.ReportAllocs()
				dst := make([]Hit, 0, n)
				for i := 0; b.Loop(); i++ {
					dst = x.Search(dst[:0], queries[i%len(queries)], 0.95, 0)
				}
				b.ReportMetric(x.left(queries), "rows-left")
			})
			b.Run(fmt.Sprintf("%s/%d/plain", name, n), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					plain(&x.rows, queries[i%len(queries)])
				}
			})
			x.Close()
		}
	}
}

// left returns how many rows sketches leave, on average.
func (x *Index) left(queries [][]float32) float64 {
	if x.keep.now == nil {
		return float64(x.Len())
	}
	var sum int
	for _, q := range queries {
		s := newSearch(nil, q, 0.95)
		s.sketched(&x.rows, x.keep.now)
		sum += s.seen
	}
	return float64(sum) / float64(len(queries))
}

// plain finds the best row, as one would without this package.
func plain(r *rows, q []float32) float32 {
	best := float32(-1)
	for id := range r.n {
		row := r.at(id)[:len(q)]
		var s0, s1, s2, s3 float32
		for i := 0; i+4 <= len(q); i += 4 {
			s0 += q[i] * row[i]
			s1 += q[i+1] * row[i+1]
			s2 += q[i+2] * row[i+2]
			s3 += q[i+3] * row[i+3]
		}
		best = max(best, s0+s1+s2+s3)
	}
	return best
}

// BenchmarkAdd stores rows up to 20,000, through training and sketching anew, and
// reports memory per row.
func BenchmarkAdd(b *testing.B) {
	const dim, most = 768, 20_000
	rng := rand.New(rand.NewPCG(1, 2))
	draw := clustered(rng, dim)
	vectors := make([][]float32, 4096)
	for i := range vectors {
		vectors[i] = draw()
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := New(dim)
	for i := range most {
		x.Add(vectors[i%len(vectors)])
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	perRow := float64(after.HeapAlloc-before.HeapAlloc) / most
	x.Close()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if x.Len() == most {
			x.Close()
		}
		x.Add(vectors[i%len(vectors)])
	}
	b.ReportMetric(perRow, "B/row")
}

// BenchmarkKernels compares what the machine runs with the Go of it.
func BenchmarkKernels(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	v, w := random(rng, 768), random(rng, 768)
	s := newSlab()
	masks := make([]uint16, slabBlocks)
	var weights [sketchDims]int16
	p := line{1, 1, 1}
	var out [4]float32
	for _, bb := range []struct {
		name string
		run  func()
	}{
		{"dot64", func() { dot64(v, w) }},
		{"dot64Go", func() { dot64Go(v, w) }},
		{"dot4", func() { dot4(&out, v, w, w, w, w) }},
		{"dot4Go", func() { dot4Go(&out, v, w, w, w, w) }},
		{"axpy", func() { axpy(v, w, 0) }},
		{"axpyGo", func() { axpyGo(v, w, 0) }},
		{"scan1024", func() { scan(masks, s.codes, s.tails, &weights, &p) }},
		{"scan1024Go", func() { scanGo(masks, s.codes, s.tails, &weights, &p) }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bb.run()
			}
		})
	}
}
