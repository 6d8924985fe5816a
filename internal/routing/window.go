package routing

import "time"

// minute is what limits are counted over: any one, not just those that begin at
// the clock's. Platforms count by the clock, so that what fits here fits there.
const minute = time.Minute

// grain is the precision of a window: what begins within one grain is counted
// together, as begun with the last of it. So a window is never wider than said,
// and holds a bounded number of slots however much goes through.
const grain = minute / 1024

// slot is what began within a grain; the times are since the limiter's start.
type slot struct {
	first, last time.Duration
	requests    int
	tokens      int64
}

// window is what began within the last minute.
type window struct {
	slots    []slot // the oldest first
	gone     uint64 // slots that were dropped, so that a slot can be named
	requests int
	tokens   int64
}

// drop forgets what began a minute ago or earlier.
func (w *window) drop(now time.Duration) {
	n := 0
	for n < len(w.slots) && w.slots[n].last+minute <= now {
		w.requests -= w.slots[n].requests
		w.tokens -= w.slots[n].tokens
		n++
	}
	w.gone += uint64(n)
	w.slots = w.slots[n:]
}

// add counts a request and returns the name of its slot.
func (w *window) add(now time.Duration, tokens int64) uint64 {
	w.requests++
	w.tokens += tokens
	if n := len(w.slots); n > 0 && now-w.slots[n-1].first < grain {
		s := &w.slots[n-1]
		s.last = now
		s.requests++
		s.tokens += tokens
	} else {
		w.slots = append(w.slots, slot{now, now, 1, tokens})
	}
	return w.gone + uint64(len(w.slots)) - 1
}

// change corrects what a slot counts, unless it is forgotten.
func (w *window) change(name uint64, requests int, tokens int64) {
	if name < w.gone {
		return
	}
	s := &w.slots[name-w.gone]
	s.requests += requests
	s.tokens += tokens
	w.requests += requests
	w.tokens += tokens
}
