package analytics

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// clock is set by tests.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = t
}

func newLive(t *testing.T, o Options) (*Live, *clock) {
	t.Helper()
	c := &clock{t: noon}
	o.Now = c.now
	l, err := NewLive(o)
	if err != nil {
		t.Fatal(err)
	}
	return l, c
}

func write(t *testing.T, l *Live, records ...logs.Record) {
	t.Helper()
	if err := l.Write(t.Context(), records); err != nil {
		t.Fatal(err)
	}
}

func TestLiveReportsAreThoseOfTheRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, tt := range []struct {
		name string
		q    Query
		back time.Duration
	}{
		{"minutes", Query{From: noon.Add(-45 * time.Minute), To: noon.Add(-3 * time.Minute), Every: 5 * time.Minute, GroupBy: []string{"model"}}, time.Hour},
		{"a part of the minutes", Query{From: noon.Add(-7 * time.Minute), To: noon, GroupBy: []string{"user"}, Top: 2}, time.Hour},
		{"hours", Query{From: noon.Add(-26 * time.Hour), To: noon, Every: 6 * time.Hour, GroupBy: []string{"provider"}}, 40 * time.Hour},
		{"hours in steps of days", Query{From: noon.Add(-26 * time.Hour), To: noon, Every: 24 * time.Hour}, 40 * time.Hour},
		{"days", Query{From: noon.Add(-300*24*time.Hour - 12*time.Hour), To: noon.Add(-12 * time.Hour), Every: 24 * time.Hour, GroupBy: []string{"key_id"}}, 350 * 24 * time.Hour},
		{"days in weeks", Query{From: noon.Add(-300*24*time.Hour - 12*time.Hour), To: noon.Add(12 * time.Hour), Every: 7 * 24 * time.Hour, GroupBy: []string{"metadata.team"}}, 350 * 24 * time.Hour},
		{"one key", Query{From: noon.Add(-26 * time.Hour), To: noon, Filters: []logs.Filter{{Field: "key_id", Op: logs.Eq, Values: []string{"k1"}}}}, 40 * time.Hour},
		{"some users", Query{From: noon.Add(-26 * time.Hour), To: noon, GroupBy: []string{"user"}, Filters: []logs.Filter{{Field: "user", Op: logs.In, Values: []string{"u1", "u2", "none"}}}}, 40 * time.Hour},
		{"no length", Query{From: noon, To: noon, Every: time.Minute, GroupBy: []string{"user"}}, time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := &listStore{records: randomRecords(r, 1000, noon, tt.back), page: 1000}
			l, _ := newLive(t, Options{Fields: []string{"provider", "model", "user", "key_id", "metadata.team"}})
			for i := 0; i < len(store.records); i += 10 {
				write(t, l, store.records[i:i+10]...)
			}
			want, err := overAt(store, noon).Report(t.Context(), tt.q)
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.Report(t.Context(), tt.q)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("report (-over +live)\n%s", d)
			}
			if want.Total.Requests == 0 && tt.name != "no length" {
				t.Error("nothing was compared")
			}
		})
	}
}

func TestLiveFillsFromAStore(t *testing.T) {
	store := &listStore{records: randomRecords(rand.New(rand.NewPCG(1, 1)), 500, noon, 700*24*time.Hour), page: 60}
	l, _ := newLive(t, Options{})
	if err := l.Fill(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	first := noon.Add(-12*time.Hour).AddDate(0, 0, -399)
	want, err := overAt(store, noon).Report(t.Context(), Query{From: first, To: noon.Add(12 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Report(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" || l.Skipped() != 0 {
		t.Errorf("report (-over +live), %d skipped\n%s", l.Skipped(), d)
	}
}

func TestLiveRefusesWhatItCantAnswer(t *testing.T) {
	key := func(f string, op logs.Op, values ...string) []logs.Filter {
		return []logs.Filter{{Field: f, Op: op, Values: values}}
	}
	for _, tt := range []struct {
		name  string
		q     Query
		param string
		says  string
	}{
		{"seconds", Query{From: noon.Add(-90 * time.Second)}, "from", "whole steps of a minute from 2026-03-29T11:01:00Z on"},
		{"an end within a minute", Query{From: noon.Add(-time.Minute), To: noon.Add(time.Second)}, "from", "ask a log's store"},
		{"minutes that are gone", Query{From: noon.Add(-61 * time.Minute)}, "from", "whole steps of"},
		{"hours that are gone", Query{From: noon.Add(-49 * time.Hour)}, "from", "an hour from 2026-03-27T13:00:00Z on"},
		{"days that are gone", Query{From: noon.Add(-12*time.Hour).AddDate(0, 0, -400)}, "from", "a day from 2025-02-23T00:00:00Z on"},
		{"steps of seconds", Query{From: noon.Add(-time.Hour), Every: 90 * time.Second}, "from", "whole steps of"},
		{"backwards", Query{From: noon, To: noon.Add(-time.Hour)}, "to", "before from"},
		{"negative steps", Query{From: noon, To: noon, Every: -time.Hour}, "every", "positive"},
		{"an arbitrary filter", Query{Filters: key("cost_usd", logs.Gt, "1")}, "cost_usd", "one filter, eq or in"},
		{"a filter beside a group", Query{GroupBy: []string{"model"}, Filters: key("key_id", logs.Eq, "k1")}, "key_id", "one filter"},
		{"two filters", Query{Filters: append(key("key_id", logs.Eq, "k1"), key("key_id", logs.Eq, "k2")...)}, "key_id", "one filter"},
		{"two fields", Query{GroupBy: []string{"model", "user"}}, "group_by", "one field each"},
		{"a field without sums", Query{GroupBy: []string{"operation"}}, "operation", "by provider, model, user, key_id alone"},
		{"too many groups", Query{GroupBy: []string{"model"}, Top: 5000}, "top", "between"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, _ := newLive(t, Options{})
			_, err := l.Report(t.Context(), tt.q)
			e, ok := errors.AsType[*providers.Error](err)
			if !ok || e.Param != tt.param || !strings.Contains(e.Message, tt.says) {
				t.Errorf("error = %v, want one of %s with %q", err, tt.param, tt.says)
			}
		})
	}
}

func TestLiveOptionsThatAreRefused(t *testing.T) {
	for name, o := range map[string]Options{
		"unknown field": {Fields: []string{"modell"}},
		"number":        {Fields: []string{"cost_usd"}},
		"twice":         {Fields: []string{"model", "model"}},
		"negative":      {MaxValues: -1},
		"nothing":       {Minutes: -1, Hours: -1, Days: -1},
	} {
		t.Run(name, func(t *testing.T) {
			if l, err := NewLive(o); !errors.Is(err, providers.ErrInvalidRequest) {
				t.Errorf("NewLive = %v, %v; want an error", l, err)
			}
		})
	}
}

// requestsIn asks for the requests of a range; -1 is a refusal.
func requestsIn(t *testing.T, l *Live, from, to time.Time) int64 {
	t.Helper()
	r, err := l.Report(t.Context(), Query{From: from, To: to})
	if err != nil {
		return -1
	}
	return r.Total.Requests
}

func TestRecordsOutOfTime(t *testing.T) {
	day := noon.Add(-12 * time.Hour)
	l, c := newLive(t, Options{})
	write(t, l,
		logs.Record{Time: noon.Add(-2 * time.Hour)},   // no minute any more
		logs.Record{Time: noon.AddDate(-3, 0, 0)},     // nothing
		logs.Record{Time: noon.Add(30 * time.Minute)}, // soon
		logs.Record{Time: noon.Add(3 * time.Hour)},    // too far for minutes
		logs.Record{Time: noon.AddDate(5, 0, 0)},      // too far for all
		logs.Record{Time: time.Time{}},                // nothing
		logs.Record{Time: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
	)
	if got := l.Skipped(); got != 4 {
		t.Errorf("skipped = %d, want 4", got)
	}
	check := func(what string, from, to time.Time, want int64) {
		t.Helper()
		if got := requestsIn(t, l, from, to); got != want {
			t.Errorf("%s: %d requests, want %d (-1 is a refusal)", what, got, want)
		}
	}
	check("today", day, day.Add(24*time.Hour), 3)
	check("the hour of the late one", noon.Add(-2*time.Hour), noon.Add(-time.Hour), 1)
	check("the minute of the early one", noon.Add(30*time.Minute), noon.Add(31*time.Minute), 1)
	check("the minute of one that was left out", noon.Add(180*time.Minute), noon.Add(181*time.Minute), -1)
	check("its hour", noon.Add(3*time.Hour), noon.Add(4*time.Hour), 1)
	c.set(noon.Add(3*time.Hour + 5*time.Minute))
	check("its minute when it has come", noon.Add(180*time.Minute), noon.Add(181*time.Minute), -1)
	check("a minute after it", noon.Add(182*time.Minute), noon.Add(183*time.Minute), 0)
	c.set(noon.Add(5 * time.Hour))
	check("a minute long gone", noon, noon.Add(time.Minute), -1)
	if n := len(l.levels[2].lost); n != 2 {
		t.Errorf("%d lost buckets are remembered, want those of the years to come", n)
	}
	for i := range 2 * maxLost {
		write(t, l, logs.Record{Time: noon.AddDate(8, 0, i)})
	}
	if n := len(l.levels[2].lost); n != maxLost {
		t.Errorf("%d lost buckets are remembered, want %d", n, maxLost)
	}
	c.set(noon.AddDate(8, 0, 1500))
	check("a day that was lost among many", noon.AddDate(8, 0, 1499).Add(12*time.Hour), noon.AddDate(8, 0, 1500).Add(12*time.Hour), -1)
	check("the minute of the early one, now gone", noon.Add(30*time.Minute), noon.Add(31*time.Minute), -1)
}

func TestBucketsGoWithTime(t *testing.T) {
	l, c := newLive(t, Options{Minutes: 3, Hours: 2, Days: 2})
	for i := range 72 * 60 {
		at := noon.Add(time.Duration(i) * time.Minute)
		c.set(at)
		write(t, l, logs.Record{Time: at, Model: "m" + strconv.Itoa(i%200)})
	}
	n := 0
	for _, lv := range l.levels {
		n += len(lv.buckets)
	}
	if n != 7 {
		t.Errorf("%d buckets, want 7", n)
	}
	end := noon.Add(72 * time.Hour)
	if got := requestsIn(t, l, end.Add(-3*time.Minute), end); got != 3 {
		t.Errorf("the last minutes have %d, want 3", got)
	}
	if got := requestsIn(t, l, end.Add(-2*time.Hour), end); got != 120 {
		t.Errorf("the last hours have %d, want 120", got)
	}
	if got := requestsIn(t, l, end.Add(-36*time.Hour), end.Add(12*time.Hour)); got != 36*60 {
		t.Errorf("the last days have %d, want %d", got, 36*60)
	}
}

func TestAClockThatJumpsLosesNothingSilently(t *testing.T) {
	l, c := newLive(t, Options{})
	write(t, l, logs.Record{Time: noon})
	c.set(noon.Add(-10 * time.Minute)) // back, as of a correction
	write(t, l, logs.Record{Time: noon.Add(-10 * time.Minute)})
	if got := requestsIn(t, l, noon.Add(-10*time.Minute), noon.Add(time.Minute)); got != 2 {
		t.Errorf("after a step back: %d, want 2", got)
	}
	c.set(noon.AddDate(20, 0, 0)) // far ahead
	write(t, l, logs.Record{Time: noon.AddDate(20, 0, 0)})
	c.set(noon.Add(time.Minute)) // and back
	if got := requestsIn(t, l, noon, noon.Add(time.Minute)); got != -1 {
		t.Errorf("of a time that was given up: %d, want a refusal", got)
	}
	write(t, l, logs.Record{Time: noon.Add(time.Minute)})
	if got := requestsIn(t, l, noon.Add(time.Minute), noon.Add(2*time.Minute)); got != -1 {
		t.Errorf("of the bucket of the jump: %d, want a refusal, since it may lack some", got)
	}
	c.set(noon.Add(2 * time.Minute))
	write(t, l, logs.Record{Time: noon.Add(2 * time.Minute)})
	if got := requestsIn(t, l, noon.Add(2*time.Minute), noon.Add(3*time.Minute)); got != 1 {
		t.Errorf("of the next minute: %d, want 1", got)
	}
}

func TestValuesAreBounded(t *testing.T) {
	l, c := newLive(t, Options{Fields: []string{"user"}, MaxValues: 10, Days: 1, Hours: 1})
	for i := range 1000 {
		write(t, l, logs.Record{Time: noon, User: "u" + strconv.Itoa(i%100)})
	}
	ask := Query{From: noon, GroupBy: []string{"user"}}
	got, err := l.Report(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Groups) != 10 || got.Groups[0].Totals.Requests != 10 || got.Other == nil || got.Other.Requests != 900 || got.Total.Requests != 1000 {
		t.Errorf("%d groups, other %+v of %d; want 10, 900 of 1000", len(got.Groups), got.Other, got.Total.Requests)
	}
	one := func(user string) error {
		_, err := l.Report(t.Context(), Query{From: noon, Filters: []logs.Filter{{Field: "user", Op: logs.Eq, Values: []string{user}}}})
		return err
	}
	if err := one("u3"); err != nil {
		t.Errorf("of one with a place: %v", err)
	}
	if err := one("u50"); err == nil || !strings.Contains(err.Error(), "MaxValues") {
		t.Errorf("of one among the others: %v, want a refusal", err)
	}
	c.set(noon.Add(48 * time.Hour)) // the places are free again
	write(t, l, logs.Record{Time: noon.Add(48 * time.Hour), User: "u50"})
	ask.From = noon.Add(48 * time.Hour)
	if got, err = l.Report(t.Context(), ask); err != nil || len(got.Groups) != 1 || got.Other != nil {
		t.Errorf("later: %+v, %v; want one group", got, err)
	}
	if n := len(l.values[0].used); n != 1 {
		t.Errorf("%d values have a place, want 1", n)
	}
}

func TestFeedbackThatComesLaterIsAtTheTimeOfItsRecord(t *testing.T) {
	l, c := newLive(t, Options{})
	r := logs.Record{Time: noon, Model: "m"}
	write(t, l, r)
	c.set(noon.Add(20 * time.Minute))
	l.AddFeedback(&r, logs.Feedback{Value: -3})
	got, err := l.Report(t.Context(), Query{From: noon, To: noon.Add(time.Minute), GroupBy: []string{"model"}})
	if err != nil {
		t.Fatal(err)
	}
	want := &FeedbackTotals{Count: 1, Mean: -3, Negative: 1}
	if d := cmp.Diff([]*FeedbackTotals{want, want}, []*FeedbackTotals{got.Total.Feedback, got.Groups[0].Totals.Feedback}); d != "" {
		t.Errorf("feedback (-want +got)\n%s", d)
	}
}

func TestLiveIsSafeForConcurrentUse(t *testing.T) {
	l, _ := newLive(t, Options{})
	records := randomRecords(rand.New(rand.NewPCG(2, 2)), 100, noon, time.Hour)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := l.Write(t.Context(), records); err != nil {
					t.Error(err)
				}
				l.AddFeedback(&records[0], logs.Feedback{Value: 1})
				if _, err := l.Report(t.Context(), Query{GroupBy: []string{"user"}}); err != nil {
					t.Error(err)
				}
				l.Skipped()
			}
		})
	}
	wg.Wait()
	if got := requestsIn(t, l, time.Time{}, time.Time{}); got != 8*20*100 {
		t.Errorf("%d requests, want %d", got, 8*20*100)
	}
}

func BenchmarkLiveWrite(b *testing.B) {
	b.ReportAllocs()
	l, err := NewLive(Options{Now: func() time.Time { return noon }})
	if err != nil {
		b.Fatal(err)
	}
	records := randomRecords(rand.New(rand.NewPCG(2, 2)), 100, noon, time.Hour)
	for b.Loop() {
		if err := l.Write(b.Context(), records); err != nil {
			b.Fatal(err)
		}
	}
}
