package analytics

import "time"

// level is one kind of buckets.
type level struct {
	width time.Duration
	n     int
	// floor is the first time from which on nothing was given up.
	floor time.Time
	// lost are the buckets of records from the future that were left out, by the
	// Unix time of their beginning, and lostFrom and lostTo bound those for which it
	// had no room; both are 0 without any.
	lost             map[int64]bool
	lostFrom, lostTo int64
	buckets          map[int64]*bucket // likewise
}

// maxLost is how many buckets of the future are known one by one.
const maxLost = 1000

// bucket is what the records of one stretch of time sum up to.
type bucket struct {
	begun int // the how manieth it is
	total sum
	parts []part // by field
}

// part is a bucket's sums by the values of one field.
type part struct {
	values map[string]*sum
	other  sum
}

func newLevel(width time.Duration, n int, now time.Time) *level {
	lv := &level{width: width, n: n, buckets: map[int64]*bucket{}, lost: map[int64]bool{}}
	lv.floor = lv.first(now)
	return lv
}

// first is the beginning of the oldest bucket that is kept.
func (lv *level) first(now time.Time) time.Time {
	return now.UTC().Truncate(lv.width).Add(-time.Duration(lv.n-1) * lv.width)
}

// span is how far the buckets reach.
func (lv *level) span() time.Duration { return time.Duration(lv.n) * lv.width }

// advance returns the buckets that are given up. A clock that was set far ahead
// and back again has cost all of them: they begin anew with the next one.
func (lv *level) advance(now time.Time) (old []*bucket) {
	first, all := lv.first(now), false
	switch {
	case lv.floor.After(now.Add(lv.width)):
		lv.floor, all = now.UTC().Truncate(lv.width).Add(lv.width), true
		lv.lostFrom, lv.lostTo = 0, 0
		clear(lv.lost)
	case first.After(lv.floor):
		lv.floor = first
	default:
		return nil
	}
	for at := range lv.lost {
		if at < lv.floor.Unix() {
			delete(lv.lost, at)
		}
	}
	for at, b := range lv.buckets {
		if all || at < lv.floor.Unix() {
			old = append(old, b)
			delete(lv.buckets, at)
		}
	}
	return old
}

// bucket returns that of a time, or nil when there can't be one.
func (lv *level) bucket(now, at time.Time, fields int) *bucket {
	at = at.UTC().Truncate(lv.width)
	if at.Before(lv.floor) {
		return nil
	}
	if at.After(now.Add(lv.span())) {
		lv.lose(at.Unix())
		return nil
	}
	b, ok := lv.buckets[at.Unix()]
	if !ok {
		b = &bucket{parts: make([]part, fields)}
		for i := range b.parts {
			b.parts[i].values = map[string]*sum{}
		}
		lv.buckets[at.Unix()] = b
	}
	return b
}

// lose notes that a bucket lacks a record.
func (lv *level) lose(at int64) {
	switch {
	case len(lv.lost) < maxLost:
		lv.lost[at] = true
	case lv.lostTo == 0:
		lv.lostFrom, lv.lostTo = at, at
	default:
		lv.lostFrom, lv.lostTo = min(lv.lostFrom, at), max(lv.lostTo, at)
	}
}

// lacks reports whether a bucket of the range may lack a record.
func (lv *level) lacks(from, to int64) bool {
	for at := range lv.lost {
		if from <= at && at < to {
			return true
		}
	}
	return lv.lostTo != 0 && from <= lv.lostTo && lv.lostFrom < to
}

// whole returns the range with its open ends filled in; ok is false if it is not
// of whole buckets that are all there.
func (lv *level) whole(q *Query, now time.Time) (from, to time.Time, ok bool) {
	from, to = q.From.UTC(), q.To.UTC()
	if q.From.IsZero() {
		from = lv.floor
	}
	if q.To.IsZero() {
		to = now.UTC().Truncate(lv.width).Add(lv.width)
		if from.After(to) {
			to = from
		}
	}
	ok = from.Equal(from.Truncate(lv.width)) && to.Equal(to.Truncate(lv.width)) && q.Every%lv.width == 0 && !from.Before(lv.floor)
	return from, to, ok && !lv.lacks(from.Unix(), to.Unix())
}
