package analytics

import (
	"context"
	"errors"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

const (
	// maxTracked bounds the groups that are summed up before it is known which have
	// the most requests.
	maxTracked = 1000
	// maxCounted bounds the keys that are counted to find those.
	maxCounted = 50000
)

// Over returns a source that reads the records of a store, page by page, for each
// report. Its numbers are exact, percentiles apart, and a report needs memory for
// its groups and steps, whatever the number of records.
//
// A query without To means up to now, the second that has begun included; one
// without From means from the oldest record on, and then can't have a series.
// Where there are more than 1,000 groups, the records are read twice more, to count
// and to sum up the largest: those with more than a 50,000th of the calls are never
// missed.
func Over(store logs.Store) Source { return &over{store, time.Now} }

type over struct {
	store logs.Store
	now   func() time.Time
}

var _ Source = (*over)(nil)

// Report sums the records up.
func (o *over) Report(ctx context.Context, q Query) (*Report, error) {
	open := q.From.IsZero()
	if q.To.IsZero() {
		q.To = o.now().UTC().Truncate(time.Second).Add(time.Second)
		if q.From.After(q.To) { // nothing yet
			q.To = q.From
		}
	}
	if open && q.Every > 0 {
		return nil, errOpenSeries()
	}
	p, err := newPlan(&q)
	if err != nil {
		return nil, err
	}
	t, full, err := o.sum(ctx, p, &q, nil)
	if err != nil {
		return nil, err
	}
	if full {
		keys, err := o.largest(ctx, p, &q)
		if err != nil {
			return nil, err
		}
		if t, _, err = o.sum(ctx, p, &q, keys); err != nil {
			return nil, err
		}
	}
	return t.report(), nil
}

// sum reads the records. Without keys it makes groups until there are too many,
// which is what full says; with them only those are made.
func (o *over) sum(ctx context.Context, p *plan, q *Query, keys map[string]bool) (t *tally, full bool, err error) {
	t = newTally(p)
	limit := p.top
	if p.steps == 0 {
		limit = max(limit, maxTracked)
	}
	oldest := p.to
	err = o.each(ctx, p, q, func(r *logs.Record) bool {
		if r.Time.Before(oldest) {
			oldest = r.Time.UTC()
		}
		add := func(s *sum) { s.add(r) }
		t.total.each(p, r.Time, add)
		if len(p.fields) == 0 {
			return true
		}
		key := p.key(r)
		if keys != nil && !keys[joined(key)] {
			t.other.add(r)
			return true
		}
		t.group(key).each(p, r.Time, add)
		full = keys == nil && len(t.groups) > limit
		return !full
	})
	if p.from.IsZero() {
		open := *p
		open.from = oldest
		t.plan = &open
	}
	return t, full, err
}

// largest finds the keys with the most requests. When there are too many keys to
// count, one is taken off every count: what is left are those with a share of more
// than 1/maxCounted, and some others.
//
// Source: https://doi.org/10.1016/0167-6423(82)90012-0.
func (o *over) largest(ctx context.Context, p *plan, q *Query) (map[string]bool, error) {
	counts := map[string]int64{}
	err := o.each(ctx, p, q, func(r *logs.Record) bool {
		key := joined(p.key(r))
		if _, ok := counts[key]; ok || len(counts) < maxCounted {
			counts[key]++
			return true
		}
		for k := range counts {
			if counts[k]--; counts[k] == 0 {
				delete(counts, k)
			}
		}
		return true
	})
	return topKeys(counts, 2*p.top), err
}

// eacher is a store that gives all records of a query better than by pages.
type eacher interface {
	Each(ctx context.Context, q logs.Query, yield func(*logs.Record) bool) error
}

var _ eacher = (*logs.File)(nil)

// each calls do with the records of the range until it returns false.
func (o *over) each(ctx context.Context, p *plan, q *Query, do func(*logs.Record) bool) error {
	if p.from.Equal(p.to) {
		return nil
	}
	ask := logs.Query{From: p.from, To: p.to, Filters: q.Filters}
	return walk(ctx, o.store, ask, func(r *logs.Record) bool { return !p.has(r.Time) || do(r) })
}

// walk calls do with the records that a query means until it returns false.
func walk(ctx context.Context, store logs.Store, ask logs.Query, do func(*logs.Record) bool) error {
	if all, ok := store.(eacher); ok {
		return all.Each(ctx, ask, do)
	}
	ask.Limit = logs.MaxLimit
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, err := store.Query(ctx, ask)
		if err != nil {
			return err
		}
		for i := range page.Records {
			if !do(&page.Records[i]) {
				return nil
			}
		}
		switch page.Next {
		case "":
			return nil
		case ask.Cursor:
			return errors.New("analytics: the store's pages have no end")
		}
		ask.Cursor = page.Next
	}
}

// Either returns a source that asks the second one for what the first refuses, such
// as the store of the records that a [Live] has sums of. Feedback is told to both.
func Either(first, second Source) Source { return &either{first, second} }

type either struct{ first, second Source }

// Report answers by the first that can.
func (e *either) Report(ctx context.Context, q Query) (*Report, error) {
	r, err := e.first.Report(ctx, q)
	if errors.Is(err, providers.ErrInvalidRequest) {
		return e.second.Report(ctx, q)
	}
	return r, err
}

// AddFeedback tells of feedback that came after its record.
func (e *either) AddFeedback(r *logs.Record, f logs.Feedback) {
	for _, s := range []Source{e.first, e.second} {
		if taker, ok := s.(interface {
			AddFeedback(r *logs.Record, f logs.Feedback)
		}); ok {
			taker.AddFeedback(r, f)
		}
	}
}
