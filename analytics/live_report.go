package analytics

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// Report answers from the coarsest buckets that the range and the steps are made
// of. It groups by one of its fields at most, and takes one filter, [logs.Eq] or
// [logs.In] of the field that it groups by, or of any of its fields without groups.
// An open end is that of the current bucket, and an open beginning the oldest one.
func (l *Live) Report(ctx context.Context, q Query) (*Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := (&logs.Query{Filters: q.Filters}).Validate(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	lv, p, err := l.choose(&q, now)
	if err != nil {
		return nil, err
	}
	field, wanted, err := l.selection(&q)
	if err != nil {
		return nil, err
	}
	t := newTally(p)
	for at, b := range lv.buckets {
		if start := time.Unix(at, 0).UTC(); p.has(start) {
			if err := t.addBucket(b, start, field, wanted); err != nil {
				return nil, err
			}
		}
	}
	return t.report(), nil
}

// choose finds the buckets for a query.
func (l *Live) choose(q *Query, now time.Time) (*level, *plan, error) {
	if q.Every < 0 || !q.To.IsZero() && q.To.Before(q.From) {
		_, err := newPlan(q)
		return nil, nil, err
	}
	for _, lv := range l.levels {
		from, to, ok := lv.whole(q, now)
		if !ok {
			continue
		}
		full := *q
		full.From, full.To = from, to
		p, err := newPlan(&full)
		return lv, p, err
	}
	kept := make([]string, len(l.levels))
	for i, lv := range l.levels {
		kept[i] = fmt.Sprintf("whole steps of %s from %s on", words(lv.width), lv.floor.Format(time.RFC3339))
	}
	return nil, nil, providers.Invalid("from", "the live sums have "+strings.Join(kept, ", ")+" (UTC): choose from, to and every so, or ask a log's store")
}

func words(width time.Duration) string {
	switch width {
	case time.Minute:
		return "a minute"
	case time.Hour:
		return "an hour"
	}
	return "a day"
}

// selection returns the field that a query is about, -1 without one, and the
// values that it wants, nil for all.
func (l *Live) selection(q *Query) (field int, wanted []string, err error) {
	name := ""
	if len(q.GroupBy) > 1 {
		return 0, nil, providers.Invalid("group_by", "the live sums are by one field each: name one, or ask a log's store")
	}
	if len(q.GroupBy) == 1 {
		name = q.GroupBy[0]
	}
	if len(q.Filters) > 0 {
		f := &q.Filters[0]
		if len(q.Filters) > 1 || f.Op != logs.Eq && f.Op != logs.In || name != "" && f.Field != name {
			return 0, nil, providers.Invalid(f.Field, "the live sums take one filter, eq or in, of the field that they are grouped by: leave others out, or ask a log's store")
		}
		if wanted, err = wantedOf(f); err != nil {
			return 0, nil, err
		}
		name = f.Field
	}
	if name == "" {
		return -1, nil, nil
	}
	field = slices.IndexFunc(l.fields, func(f logs.Field) bool { return f.Name == name })
	if field < 0 {
		var has []string
		for i := range l.fields {
			has = append(has, l.fields[i].Name)
		}
		return 0, nil, providers.Invalid(name, "the live sums are by "+strings.Join(has, ", ")+" alone: name it in the options, or ask a log's store")
	}
	return field, wanted, nil
}

// wantedOf returns the values that a filter, eq or in, means. The sum of the empty one is
// that of the records without a value, which is equal to nothing.
func wantedOf(f *logs.Filter) ([]string, error) {
	wanted := slices.DeleteFunc(append([]string{}, f.Values...), func(v string) bool { return v == "" })
	if len(wanted) < len(f.Values) && strings.HasPrefix(f.Field, "metadata.") { // the one kind of field that has empty values
		return nil, providers.Invalid(f.Field, "the live sums don't tell an empty value from none: leave it out, or ask a log's store")
	}
	return wanted, nil
}

// addBucket adds what a query wants of a bucket.
func (t *tally) addBucket(b *bucket, start time.Time, field int, wanted []string) error {
	if field < 0 {
		t.total.each(t.plan, start, func(s *sum) { s.merge(&b.total) })
		return nil
	}
	part := &b.parts[field]
	if wanted == nil {
		t.total.each(t.plan, start, func(s *sum) { s.merge(&b.total) })
		t.other.merge(&part.other)
	}
	for v, of := range part.values {
		if wanted != nil && !slices.Contains(wanted, v) {
			continue
		}
		merge := func(s *sum) { s.merge(of) }
		if wanted != nil {
			t.total.each(t.plan, start, merge)
		}
		if len(t.fields) > 0 {
			t.group([]string{v}).each(t.plan, start, merge)
		}
	}
	if wanted == nil || part.other.requests == 0 {
		return nil
	}
	for _, v := range wanted {
		if of, has := part.values[v]; !has || of.partial {
			return providers.Invalid("filters", "there are more values than the live sums keep apart, and this may be one of the others: raise MaxValues, or ask a log's store")
		}
	}
	return nil
}
