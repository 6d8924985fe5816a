package growth

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"time"
)

// Run says how thoroughly is measured.
type Run struct {
	// Samples are taken of each figure, whose median counts; each sample repeats
	// its work for at least Least.
	Samples int
	Least   time.Duration
	// Quick leaves all but small sizes out, and Long adds those that take 8 GB and
	// minutes.
	Quick, Long bool
	// Progress is told what is being measured.
	Progress io.Writer
}

// sizes returns 1, 2, 5, 10 and so on up to most, or up to quick in a quick run.
func (r *Run) sizes(most, quick int) []int {
	if r.Quick {
		most = quick
	}
	var out []int
	for decade := 1; decade <= most; decade *= 10 {
		for _, n := range []int{decade, 2 * decade, 5 * decade} {
			if n <= most {
				out = append(out, n)
			}
		}
	}
	return out
}

func (r *Run) say(format string, args ...any) {
	if r.Progress != nil {
		_, _ = fmt.Fprintf(r.Progress, format+"\n", args...)
	}
}

// cost is what one operation takes.
type cost struct{ ns, allocs, bytes float64 }

// clock adds up the time of the processors, and allocations, while it runs.
type clock struct {
	stats         runtime.MemStats
	elapsed       time.Duration
	allocs, bytes uint64
}

func (c *clock) start() {
	runtime.ReadMemStats(&c.stats)
	c.allocs -= c.stats.Mallocs
	c.bytes -= c.stats.TotalAlloc
	c.elapsed -= worked()
}

func (c *clock) stop() {
	c.elapsed += worked()
	runtime.ReadMemStats(&c.stats)
	c.allocs += c.stats.Mallocs
	c.bytes += c.stats.TotalAlloc
}

// measure returns the median cost of op, which is called with a clock that runs
// and may stop it meanwhile. The collection of garbage is part of the cost; a
// hundredth of an allocation, which is the runtime's own, is not.
func (r *Run) measure(op func(*clock) error) (cost, error) {
	first, err := r.sample(1, op) // fills pools and tables
	if err != nil {
		return cost{}, err
	}
	n := 1
	for range 3 { // the first one is slower than those that follow
		if n = int(math.Ceil(float64(r.Least) / max(first.ns, 1))); n <= 1 || r.Quick {
			break
		}
		if first, err = r.sample(max(n/10, 1), op); err != nil {
			return cost{}, err
		}
	}
	n = min(max(n, 1), 1_000_000)
	var ns, allocs, bytes []float64
	for range r.Samples {
		s, err := r.sample(n, op)
		if err != nil {
			return cost{}, err
		}
		ns, allocs, bytes = append(ns, s.ns), append(allocs, s.allocs), append(bytes, s.bytes)
	}
	return cost{median(ns), math.Round(100*median(allocs)) / 100, median(bytes)}, nil
}

// sample does op n times and returns the average. It begins with the heap as the
// last sample found it, and with the pools that a collection has emptied filled.
func (r *Run) sample(n int, op func(*clock) error) (cost, error) {
	runtime.GC()
	if !r.Quick {
		if err := op(new(clock)); err != nil {
			return cost{}, err
		}
	}
	var c clock
	c.start()
	for range n {
		if err := op(&c); err != nil {
			return cost{}, err
		}
	}
	c.stop()
	f := float64(n)
	return cost{float64(c.elapsed) / f, float64(c.allocs) / f, float64(c.bytes) / f}, nil
}

func median(list []float64) float64 {
	slices.Sort(list)
	if n := len(list); n%2 == 0 {
		return (list[n/2-1] + list[n/2]) / 2
	}
	return list[len(list)/2]
}

// liveHeap returns the bytes of objects that are in use. Pools need two
// collections to let go of what they have.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
