package analytics

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// The defaults of [Options].
const (
	DefaultMinutes   = 60
	DefaultHours     = 48
	DefaultDays      = 400
	DefaultMaxValues = 50
)

// Options say what a [Live] keeps.
type Options struct {
	// Minutes, Hours and Days are how many buckets of each kind there are, the current
	// one included; 0 means the default, and a negative number none.
	Minutes, Hours, Days int
	// Fields can be grouped by and filtered by. The default is provider, model, user
	// and key_id; any field of kind word or flag will do, and "metadata.KEY".
	Fields []string
	// MaxValues bounds the values of each field that have sums of their own; calls with
	// others are summed up together. A value has its place until the last bucket that
	// has it is gone. 0 means 50.
	MaxValues int
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// Live is a [logs.Sink] that sums records up as they come, in buckets of a minute,
// an hour and a day of UTC, and a [Source] of reports of whole buckets. Records
// that were not written to it are not in its reports: after a start, [Live.Fill]
// reads those of a store.
//
// Its memory is bounded: one sum of about 400 bytes for each bucket, and for each
// value of a field in a bucket, with 8 bytes for each 2 % by which latencies differ.
// It is safe for concurrent use and has no goroutine.
//
// A bucket is that of a record's own time, so that late records are where they
// belong. Those that are older than a kind of bucket reaches are left out of that
// kind, and its reports do not begin that early. Those from further in the future
// than it reaches back are left out too, and reports of that time are refused.
type Live struct {
	now    func() time.Time
	fields []logs.Field

	mu      sync.Mutex
	levels  []*level // the coarsest first
	values  []*values
	skipped int64
	begun   int // buckets
}

var (
	_ Source    = (*Live)(nil)
	_ logs.Sink = (*Live)(nil)
)

// values are those of a field that have sums of their own.
type values struct {
	most int
	used map[string]*holder
}

// holder is a value with a place: the number of buckets that have a sum of it, and
// since when it has the place, by the count of buckets that were begun.
type holder struct{ buckets, since int }

// NewLive returns an empty Live.
func NewLive(o Options) (*Live, error) {
	l := &Live{now: o.Now}
	if l.now == nil {
		l.now = time.Now
	}
	if o.Fields == nil {
		o.Fields = []string{"provider", "model", "user", "key_id"}
	}
	most := o.MaxValues
	if most == 0 {
		most = DefaultMaxValues
	}
	for i, name := range o.Fields {
		f, ok := logs.FieldOf(name)
		switch {
		case !ok:
			return nil, errNoField("fields", name)
		case f.Kind == logs.Number:
			return nil, providers.Invalid("fields", name+" is a number: live reports group by words and flags")
		case slices.Contains(o.Fields[:i], name):
			return nil, providers.Invalid("fields", name+" is named twice")
		case most < 0:
			return nil, providers.Invalid("max_values", "must not be negative")
		}
		l.fields = append(l.fields, f)
		l.values = append(l.values, &values{most: most, used: map[string]*holder{}})
	}
	now := l.now()
	for _, k := range []struct {
		width    time.Duration
		n, usual int
	}{{24 * time.Hour, o.Days, DefaultDays}, {time.Hour, o.Hours, DefaultHours}, {time.Minute, o.Minutes, DefaultMinutes}} {
		if k.n == 0 {
			k.n = k.usual
		}
		if k.n > 0 {
			l.levels = append(l.levels, newLevel(k.width, k.n, now))
		}
	}
	if len(l.levels) == 0 {
		return nil, providers.Invalid("days", "minutes, hours and days are all negative: there is nothing to keep")
	}
	return l, nil
}

// Write sums the records up. It keeps nothing of them and does not fail.
func (l *Live) Write(_ context.Context, records []logs.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	for i := range records {
		r := &records[i]
		l.update(now, r.Time, r, func(s *sum) { s.add(r) })
	}
	return nil
}

// AddFeedback adds what was said of a record that was written before, at the
// record's time. Records that come with feedback bring theirs themselves.
func (l *Live) AddFeedback(r *logs.Record, f logs.Feedback) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.update(l.advance(), r.Time, r, func(s *sum) { s.feedback.add(&f) })
}

// Fill writes the records of a store that are young enough, for the time after a
// start: what comes both ways counts twice, so call it before the first Write.
func (l *Live) Fill(ctx context.Context, store logs.Store) error {
	l.mu.Lock()
	now := l.advance()
	from := l.levels[0].floor
	l.mu.Unlock()
	ask := logs.Query{From: from, To: now.Add(time.Second)}
	return walk(ctx, store, ask, func(r *logs.Record) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.update(l.advance(), r.Time, r, func(s *sum) { s.add(r) })
		return true
	})
}

// Skipped counts the records that no bucket was for: those that were too old, or
// too far in the future.
func (l *Live) Skipped() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.skipped
}

// advance gives up the buckets that have become too old.
func (l *Live) advance() time.Time {
	now := l.now()
	for _, lv := range l.levels {
		for _, b := range lv.advance(now) {
			l.release(b)
		}
	}
	return now
}

// update calls do with every sum that the record is part of.
func (l *Live) update(now, at time.Time, r *logs.Record, do func(*sum)) {
	kept := false
	for _, lv := range l.levels {
		b := lv.bucket(now, at, len(l.fields))
		if b == nil {
			continue
		}
		if b.begun == 0 {
			l.begun++
			b.begun = l.begun
		}
		kept = true
		do(&b.total)
		for i := range l.fields {
			do(l.part(b, i, r))
		}
	}
	if !kept {
		l.skipped++
	}
}

// part is the sum of the record's value of a field in a bucket.
func (l *Live) part(b *bucket, i int, r *logs.Record) *sum {
	v, _ := l.fields[i].Of(r)
	if s, ok := b.parts[i].values[v.Text]; ok {
		return s
	}
	of := l.values[i]
	h := of.used[v.Text]
	if h == nil && len(of.used) >= of.most {
		return &b.parts[i].other
	}
	text, s := strings.Clone(v.Text), new(sum)
	if h == nil {
		h = &holder{since: l.begun}
		of.used[text] = h
	}
	h.buckets++
	// Of a bucket that is older than the place, a part may be with the others.
	s.partial = b.parts[i].other.requests > 0 && h.since >= b.begun
	b.parts[i].values[text] = s
	return s
}

// release gives the places of a bucket's values back.
func (l *Live) release(b *bucket) {
	for i, of := range l.values {
		for v := range b.parts[i].values {
			if of.used[v].buckets--; of.used[v].buckets == 0 {
				delete(of.used, v)
			}
		}
	}
}
