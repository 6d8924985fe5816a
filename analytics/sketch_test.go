package analytics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shapes are distributions of microseconds.
func shapes(r *rand.Rand) map[string]func() int64 {
	return map[string]func() int64{
		"even":        func() int64 { return r.Int64N(10_000_000) },
		"exponential": func() int64 { return int64(r.ExpFloat64() * 2e6) },
		"log-normal":  func() int64 { return int64(math.Exp(r.NormFloat64()*2 + 13)) },
		"two humps": func() int64 {
			if r.IntN(10) == 0 {
				return 30_000_000 + r.Int64N(1e6)
			}
			return 1000 + r.Int64N(100)
		},
		"one value":      func() int64 { return 123_457 },
		"nothing":        func() int64 { return 0 },
		"everything":     func() int64 { return int64(math.Exp(r.Float64() * 43.6)) },
		"zeros and ones": func() int64 { return r.Int64N(2) },
	}
}

func TestPercentilesAreWithinOnePercent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, next := range shapes(r) {
		for _, n := range []int{1, 2, 10, 999, 20_000} {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				var s sketch
				data := make([]int64, n)
				for i := range data {
					data[i] = next()
					s.add(data[i])
				}
				slices.Sort(data)
				for _, q := range []float64{0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
					want := float64(data[max(0, int(math.Ceil(q*float64(n)))-1)])
					if got := s.quantile(q); math.Abs(got-want) > 0.01*want {
						t.Errorf("quantile(%v) = %v, want %v within 1 %%", q, got, want)
					}
				}
				if got := s.latency(); got.Max != float64(data[n-1])/1e3 || got.Count != int64(n) {
					t.Errorf("latency = %+v, want the exact maximum %d µs of %d", got, data[n-1], n)
				}
			})
		}
	}
}

func TestSketchesMergeInAnyOrderToThatOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, next := range shapes(r) {
		t.Run(name, func(t *testing.T) {
			var whole sketch
			parts := make([]sketch, 7)
			for range 3000 {
				us := next()
				whole.add(us)
				parts[r.IntN(len(parts))].add(us)
			}
			for range 3 {
				r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
				var merged sketch
				for i := range parts {
					merged.merge(&parts[i])
				}
				if d := cmp.Diff(whole, merged, cmp.AllowUnexported(sketch{}, bin{})); d != "" {
					t.Fatalf("merged (-whole +merged)\n%s", d)
				}
			}
		})
	}
}

func TestTheNumberOfBinsIsBounded(t *testing.T) {
	var s sketch
	for us := int64(1); us > 0; us = max(us+1, us/200*201) {
		s.add(us)
		if us > math.MaxInt64/2 {
			break
		}
	}
	s.add(0)
	s.add(-5)
	s.add(math.MaxInt64)
	if len(s.bins) > 2428 || len(s.bins) < 2000 {
		t.Errorf("%d bins, want 2428 at most, and nearly as many", len(s.bins))
	}
	if s.bins[0].n != 2 {
		t.Errorf("the bin of 0 has %d, want 2", s.bins[0].n)
	}
}

func TestACountStaysAtItsLargestValue(t *testing.T) {
	s := sketch{bins: []bin{{5, math.MaxUint32 - 1}}}
	s.put(bin{5, 7})
	if s.bins[0].n != math.MaxUint32 {
		t.Errorf("n = %d, want the largest value", s.bins[0].n)
	}
}

func BenchmarkSketchAdd(b *testing.B) {
	b.ReportAllocs()
	var s sketch
	for i := range b.N {
		s.add(int64(i%100_000) * 100)
	}
}
