package main

import (
	"math"
	"sync/atomic"
	"time"
)

// The buckets of a histogram: their bounds grow by 2 %, from a microsecond on.
const (
	bucketGrowth = 1.02
	bucketCount  = 1100 // beyond 40 minutes
)

// histogram counts durations. It is safe for concurrent use.
type histogram struct {
	buckets [bucketCount]atomic.Int64
}

func (h *histogram) add(d time.Duration) {
	i := 0
	if d > time.Microsecond {
		i = min(bucketCount-1, int(math.Log(float64(d)/float64(time.Microsecond))/math.Log(bucketGrowth)))
	}
	h.buckets[i].Add(1)
}

// quantiles are what a histogram says.
type quantiles struct {
	Count         int64
	P50, P99, Max time.Duration
}

// quantiles returns the upper bounds of the buckets where the quantiles are.
func (h *histogram) quantiles() quantiles {
	var q quantiles
	for i := range h.buckets {
		q.Count += h.buckets[i].Load()
	}
	var seen int64
	for i := range h.buckets {
		n := h.buckets[i].Load()
		if n == 0 {
			continue
		}
		bound := time.Duration(float64(time.Microsecond) * math.Pow(bucketGrowth, float64(i+1)))
		if seen*2 < q.Count {
			q.P50 = bound
		}
		if seen*100 < q.Count*99 {
			q.P99 = bound
		}
		seen += n
		q.Max = bound
	}
	return q
}
