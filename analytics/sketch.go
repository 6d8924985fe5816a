package analytics

import (
	"math"
	"slices"
	"time"

	"github.com/b650d4bf/gateway/logs"
)

// accuracy bounds the relative error of a percentile; what is left to the
// promised 1 % is room for the rounding of floating point.
const accuracy = 0.009

// growth is how much wider each bin is than the one before it.
const growth = (1 + accuracy) / (1 - accuracy)

// lnGrowth is its logarithm.
var lnGrowth = math.Log(growth)

// sketch is a distribution of durations in whole microseconds: how many of them are
// in each of the bins, whose bounds grow by the same factor, so that the middle of
// a bin is within [accuracy] of all that is in it. There are at most 2,428 bins, as
// many as an int64 needs. Sketches that are merged are what one sketch of all would
// be, whatever the order.
//
// Source: https://arxiv.org/abs/1908.10693.
type sketch struct {
	bins                 []bin // by their index
	count, sum, min, max int64
}

// bin counts durations d with growth^(at-1) < d ≤ growth^at; those of 0 are in
// the bin of index -1.
type bin struct {
	at int32
	n  uint32 // ends at its largest value
}

// binOf is the index of the bin of a number of microseconds.
func binOf(us int64) int32 {
	if us <= 0 {
		return -1
	}
	return int32(math.Ceil(math.Log(float64(us)) / lnGrowth))
}

// middle is the number of microseconds that stands for a bin.
func middle(at int32) float64 {
	if at < 0 {
		return 0
	}
	return 2 * math.Exp(float64(at)*lnGrowth) / (growth + 1)
}

// micros is a duration in whole microseconds, as records have it in JSON; a
// negative one, which a clock made that was set back, is 0.
func micros(d logs.Milliseconds) int64 {
	return max(0, int64(time.Duration(d).Round(time.Microsecond)/time.Microsecond))
}

func (s *sketch) add(us int64) {
	s.put(bin{binOf(us), 1})
	s.note(1, us, us, us)
}

// note takes numbers in that are known exactly.
func (s *sketch) note(count, sum, least, most int64) {
	if s.count == 0 || least < s.min {
		s.min = least
	}
	s.count, s.sum, s.max = s.count+count, s.sum+sum, max(s.max, most)
}

func (s *sketch) put(b bin) {
	i, found := slices.BinarySearchFunc(s.bins, b.at, func(b bin, at int32) int { return int(b.at - at) })
	if !found {
		s.bins = slices.Insert(s.bins, i, b)
		return
	}
	s.bins[i].n += min(b.n, math.MaxUint32-s.bins[i].n)
}

func (s *sketch) merge(o *sketch) {
	if o.count == 0 {
		return
	}
	for _, b := range o.bins {
		s.put(b)
	}
	s.note(o.count, o.sum, o.min, o.max)
}

// quantile returns the smallest duration that a share of q of all does not exceed,
// in microseconds.
func (s *sketch) quantile(q float64) float64 {
	total := int64(0)
	for _, b := range s.bins {
		total += int64(b.n)
	}
	rank := max(1, int64(math.Ceil(q*float64(total))))
	for _, b := range s.bins {
		if rank -= int64(b.n); rank <= 0 {
			return max(float64(s.min), min(middle(b.at), float64(s.max)))
		}
	}
	return 0
}

// latency returns the distribution in milliseconds.
func (s *sketch) latency() Latency {
	if s.count == 0 {
		return Latency{}
	}
	ms := func(q float64) float64 { return math.Round(s.quantile(q)) / 1e3 }
	return Latency{
		Count: s.count, Mean: float64(s.sum) / float64(s.count) / 1e3,
		P50: ms(0.50), P90: ms(0.90), P95: ms(0.95), P99: ms(0.99), Max: float64(s.max) / 1e3,
	}
}
