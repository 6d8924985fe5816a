package analytics

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
)

// noon is the time of the tests, a day's middle in UTC.
var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC) // Europe's clocks are set ahead that night

// listStore is a store of small pages, whose filters are eq alone.
type listStore struct {
	records []logs.Record
	page    int
	queries atomic.Int64
	endless bool
}

func (s *listStore) Write(_ context.Context, records []logs.Record) error {
	s.records = append(s.records, records...)
	return nil
}

func (s *listStore) Query(_ context.Context, q logs.Query) (*logs.Page, error) {
	s.queries.Add(1)
	var found []logs.Record
	for i := range s.records {
		r := &s.records[i]
		if r.Time.Before(q.From) || !r.Time.Before(q.To) || slices.ContainsFunc(q.Filters, func(f logs.Filter) bool {
			field, _ := logs.FieldOf(f.Field)
			v, ok := field.Of(r)
			return !ok || !slices.Contains(f.Values, v.Text)
		}) {
			continue
		}
		found = append(found, *r)
	}
	slices.SortStableFunc(found, func(a, b logs.Record) int { return b.Time.Compare(a.Time) })
	start, _ := strconv.Atoi(q.Cursor)
	end := min(len(found), start+s.page)
	out := &logs.Page{Records: found[start:end]}
	if end < len(found) {
		out.Next = strconv.Itoa(end)
	}
	if s.endless {
		out.Next = "0"
	}
	return out, nil
}

func (*listStore) Get(context.Context, string) (*logs.Record, error) { return nil, logs.ErrNotFound }

func (*listStore) AddFeedback(context.Context, logs.Feedback) error { return logs.ErrNotFound }

// overAt is Over with a clock.
func overAt(store logs.Store, now time.Time) Source {
	return &over{store, func() time.Time { return now }}
}

// randomRecords are n records of the hours before the time.
func randomRecords(r *rand.Rand, n int, end time.Time, back time.Duration) []logs.Record {
	statuses := []string{"Cache Disabled", "Cache Miss", "Cache Refreshed", "Cache Hit", "Cache Semantic Hit"}
	out := make([]logs.Record, n)
	for i := range out {
		rec := logs.Record{
			ID: strconv.Itoa(i), Time: end.Add(-time.Duration(r.Int64N(int64(back))) - 1), Stream: r.IntN(2) == 0,
			Provider: []string{"vertex-ai", "anthropic", ""}[r.IntN(3)], Model: "m" + strconv.Itoa(r.IntN(4)), User: "u" + strconv.Itoa(r.IntN(9)),
			KeyID: []string{"k1", "k2"}[r.IntN(2)], CacheStatus: statuses[r.IntN(len(statuses))],
			Duration: logs.Milliseconds(r.ExpFloat64() * float64(3*time.Second)), TimeSaved: logs.Milliseconds(r.Int64N(int64(time.Second))),
		}
		if r.IntN(3) == 0 {
			rec.Metadata = map[string]string{"team": "t" + strconv.Itoa(r.IntN(3))}
		}
		if r.IntN(5) == 0 {
			rec.Error = &logs.Error{Code: "timeout"}
		}
		if rec.Stream {
			rec.FirstChunk = rec.Duration / 3
		}
		if r.IntN(4) > 0 {
			rec.Tokens = &logs.Tokens{Prompt: r.Int64N(1000), Completion: r.Int64N(1000), Cached: r.Int64N(10), CacheWrite: r.Int64N(10), Reasoning: r.Int64N(10), AudioIn: 1, AudioOut: 2}
			rec.Tokens.Total = rec.Tokens.Prompt + rec.Tokens.Completion
		}
		if r.IntN(2) == 0 {
			rec.Cost, rec.Saved = new(prices.Amount(r.Int64N(1e9))), new(prices.Amount(r.Int64N(1e9)))
		}
		for range r.IntN(3) {
			rec.Feedback = append(rec.Feedback, logs.Feedback{Value: r.IntN(21) - 10, Weight: float64(r.IntN(11)) / 10})
		}
		out[i] = rec
	}
	return out
}
