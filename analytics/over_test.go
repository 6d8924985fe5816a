package analytics

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

// handMade are calls whose sums are worked out in the test.
func handMade() []logs.Record {
	ms := func(n float64) logs.Milliseconds { return logs.Milliseconds(n * float64(time.Millisecond)) }
	usd := func(n int64) *prices.Amount { return new(prices.Amount(n)) }
	return []logs.Record{
		{Time: noon, CacheStatus: "Cache Miss", Duration: ms(1000), FirstChunk: ms(200), Cost: usd(5_000), Tokens: &logs.Tokens{Prompt: 10, Completion: 5, Total: 15, Cached: 4}},
		{Time: noon, CacheStatus: "Cache Hit", Duration: ms(2), TimeSaved: ms(998), Cost: usd(0), Saved: usd(5_000), Tokens: &logs.Tokens{Prompt: 10, Completion: 5, Total: 15}},
		{Time: noon, CacheStatus: "Cache Semantic Hit", Duration: ms(6), TimeSaved: ms(994), Tokens: &logs.Tokens{Prompt: 10, Completion: 5, Total: 15}},
		{Time: noon, CacheStatus: "Cache Refreshed", Duration: ms(3000), Tokens: &logs.Tokens{Prompt: 1, Total: 1}, Feedback: []logs.Feedback{{Value: 10}, {Value: -5, Weight: 0.5}}},
		{Time: noon, CacheStatus: "Cache Miss", Duration: ms(9000), FirstChunk: ms(1), Error: &logs.Error{Code: "timeout"}, Cost: usd(7), Tokens: &logs.Tokens{Prompt: 2, Total: 2}},
		{Time: noon, CacheStatus: "Cache Disabled", Duration: ms(-4), Tokens: &logs.Tokens{}},
		{Time: noon, Duration: ms(100), Feedback: []logs.Feedback{{Value: 0, Weight: 0.25}}},
	}
}

func TestTotalsAreWhatTheyAreDefinedToBe(t *testing.T) {
	r, err := overAt(&listStore{records: handMade(), page: 3}, noon).Report(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	want := &Report{From: noon, To: noon.Add(time.Second), Approximate: true, Total: Totals{
		Requests: 7, Errors: 1, ErrorRate: 1.0 / 7,
		Tokens: logs.Tokens{Prompt: 13, Completion: 5, Total: 18, Cached: 4},
		Cost:   5_007, Unpriced: 1,
		// Those of 0, 2, 6, 100, 1000 and 3000 ms.
		Duration:   Latency{Count: 6, Mean: 4108.0 / 6, P50: r.Total.Duration.P50, P90: 3000, P95: 3000, P99: 3000, Max: 3000},
		FirstChunk: Latency{Count: 1, Mean: 200, P50: 200, P90: 200, P95: 200, P99: 200, Max: 200},
		Cache: Cache{
			Hits: 1, SemanticHits: 1, Misses: 2, Refreshes: 1, Disabled: 2, HitRate: 0.5,
			Latency:   Latency{Count: 2, Mean: 4, P50: r.Total.Cache.Latency.P50, P90: 6, P95: 6, P99: 6, Max: 6},
			TimeSaved: 1992, MoneySaved: 5_000,
		},
		// (10·1 − 5·0.5 + 0·0.25) / 1.75
		Feedback: &FeedbackTotals{Count: 3, Mean: 7.5 / 1.75, Positive: 1, Negative: 1},
	}}
	near := cmp.Comparer(func(a, b float64) bool { return a == b || a > b*0.99 && a < b*1.01 })
	if d := cmp.Diff(want, r, near); d != "" {
		t.Errorf("report (-want +got)\n%s", d)
	}
	if p := r.Total.Duration.P50; p < 6*0.99 || p > 6*1.01 {
		t.Errorf("P50 = %v, want 6 within 1 %%", p)
	}
	if p := r.Total.Cache.Latency.P50; p < 2*0.99 || p > 2*1.01 {
		t.Errorf("P50 of hits = %v, want 2 within 1 %%", p)
	}
}

func TestTokensOfAnAnswerThatCallsShareCountOnce(t *testing.T) {
	tokens := &logs.Tokens{Prompt: 10, Completion: 5, Total: 15}
	store := &listStore{page: 9, records: []logs.Record{
		{Time: noon, CacheStatus: "Cache Miss", Cost: new(prices.Amount(9)), Tokens: tokens, Attempts: []logs.Attempt{{StatusCode: 200}}},
		{Time: noon, CacheStatus: "Cache Miss", Cost: new(prices.Amount(0)), Tokens: tokens},
		{Time: noon, CacheStatus: "Cache Refreshed", Cost: new(prices.Amount(0)), Tokens: tokens},
		{Time: noon, CacheStatus: "Cache Miss", Cost: new(prices.Amount(0)), Tokens: tokens, Attempts: []logs.Attempt{{StatusCode: 200}}}, // a model that is free
		{Time: noon, CacheStatus: "Cache Disabled", Cost: new(prices.Amount(0)), Tokens: tokens},                                          // likewise, of another origin
	}}
	got, err := overAt(store, noon).Report(t.Context(), Query{})
	if err != nil || got.Total.Tokens.Total != 45 || got.Total.Cost != 9 || got.Total.Unpriced != 0 {
		t.Errorf("totals = %+v, %v; want the tokens of 3 calls", got.Total, err)
	}
}

// TestGroupsAndStepsSumUpToTheTotal holds the sums below a report together: all of
// their members, the sketches too.
func TestGroupsAndStepsSumUpToTheTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	store := &listStore{records: randomRecords(r, 3000, noon, 26*time.Hour), page: 700}
	for _, q := range []Query{
		{GroupBy: []string{"model"}, Every: time.Hour},
		{GroupBy: []string{"metadata.team", "provider"}, Every: 24 * time.Hour},
		{GroupBy: []string{"user"}, Top: 3, Every: 7 * time.Hour},
		{GroupBy: []string{"stream", "failed", "key_id"}, Top: 2},
		{Every: 13 * time.Minute},
	} {
		q.From, q.To = noon.Add(-25*time.Hour-17*time.Second), noon.Add(-time.Minute)
		p, err := newPlan(&q)
		if err != nil {
			t.Fatal(err)
		}
		o := &over{store, time.Now}
		tl, _, err := o.sum(t.Context(), p, &q, nil)
		if err != nil {
			t.Fatal(err)
		}
		compare := func(what string, sums ...*sum) {
			t.Helper()
			var all sum
			for _, s := range sums {
				all.merge(s)
			}
			if d := cmp.Diff(tl.total.total, all, cmp.AllowUnexported(sum{}, sketch{}, bin{}, scores{})); d != "" {
				t.Errorf("%v: %s (-total +sum)\n%s", q, what, d)
			}
		}
		if p.steps > 0 {
			var points []*sum
			for _, s := range tl.total.points {
				if s != nil {
					points = append(points, s)
				}
			}
			compare("series", points...)
		}
		if len(p.fields) > 0 {
			report := tl.report()
			if want := min(p.top, len(tl.groups)); len(report.Groups) != want {
				t.Errorf("%v: %d groups, want %d", q, len(report.Groups), want)
			}
			groups := []*sum{&tl.other}
			requests := int64(0)
			for _, g := range report.Groups {
				groups = append(groups, &tl.groups[joined(g.Key)].total)
				for _, point := range g.Series {
					requests += point.Totals.Requests
				}
			}
			compare("groups and other", groups...)
			if report.Other != nil {
				requests += report.Other.Requests
			}
			if p.steps > 0 && requests != report.Total.Requests {
				t.Errorf("%v: the series of the groups and other have %d requests, the total %d", q, requests, report.Total.Requests)
			}
		}
	}
}

func TestTheOrderOfRecordsAndPagesDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	records := randomRecords(r, 250, noon, 5*time.Hour)
	q := Query{From: noon.Add(-5 * time.Hour), To: noon, GroupBy: []string{"provider", "model"}, Every: time.Hour}
	var first *Report
	for _, page := range []int{1, 7, 1000} {
		r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		got, err := Over(&listStore{records: records, page: page}).Report(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if d := cmp.Diff(first, got); d != "" {
			t.Fatalf("pages of %d (-first +got)\n%s", page, d)
		}
	}
}

func TestMoreGroupsThanFitAreCountedFirst(t *testing.T) {
	store := &listStore{page: 1000}
	for i := range 3000 {
		n := 1
		if i%1000 == 999 {
			n = 2 + i/1000
		}
		for range n {
			store.records = append(store.records, logs.Record{Time: noon.Add(-time.Duration(i) * time.Second), User: "u" + strconv.Itoa(i)})
		}
	}
	q := Query{From: noon.Add(-time.Hour), To: noon.Add(1), GroupBy: []string{"user"}, Top: 3}
	p, err := newPlan(&q)
	if err != nil {
		t.Fatal(err)
	}
	tl, full, err := (&over{store, time.Now}).sum(t.Context(), p, &q, nil)
	if err != nil || !full || len(tl.groups) != maxTracked+1 {
		t.Errorf("%d groups were made, full %v, %v; want %d to be too many", len(tl.groups), full, err, maxTracked+1)
	}
	got, err := overAt(store, noon).Report(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, g := range got.Groups {
		rows = append(rows, g.Key[0]+" "+strconv.FormatInt(g.Totals.Requests, 10))
	}
	if d := cmp.Diff([]string{"u2999 4", "u1999 3", "u999 2"}, rows); d != "" {
		t.Errorf("groups (-want +got)\n%s", d)
	}
	if got.Other == nil || got.Other.Requests != 2997 || got.Total.Requests != 3006 {
		t.Errorf("other = %+v of %d, want 2997 of 3006", got.Other, got.Total.Requests)
	}
}

func TestALargeGroupIsFoundAmongMoreKeysThanAreCounted(t *testing.T) {
	store := &listStore{page: 200_000}
	for i := range maxCounted + 9000 {
		store.records = append(store.records, logs.Record{Time: noon.Add(-time.Duration(i) * time.Millisecond), User: "u" + strconv.Itoa(i)})
		if i%30_000 == 29_999 {
			for range 5 {
				store.records = append(store.records, logs.Record{Time: noon.Add(-time.Duration(i) * time.Millisecond), User: "large"})
			}
		}
	}
	got, err := overAt(store, noon).Report(t.Context(), Query{GroupBy: []string{"user"}, Top: 1})
	if err != nil {
		t.Fatal(err)
	}
	if g := got.Groups[0]; g.Key[0] != "large" || g.Totals.Requests != 5 {
		t.Errorf("first group = %v with %d, want large with 5", g.Key, g.Totals.Requests)
	}
}

func TestSeriesHaveAPointForEveryStepAlignedToUTC(t *testing.T) {
	berlin := time.FixedZone("", 2*3600)
	store := &listStore{page: 10, records: []logs.Record{{Time: noon.Add(-36 * time.Hour)}, {Time: noon.In(berlin)}}}
	got, err := Over(store).Report(t.Context(), Query{From: noon.Add(-36 * time.Hour).In(berlin), To: noon.Add(13 * time.Hour), Every: 24 * time.Hour, GroupBy: []string{"model"}})
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, p := range got.Groups[0].Series {
		rows = append(rows, p.Time.Format(time.RFC3339)+" "+strconv.FormatInt(p.Totals.Requests, 10))
	}
	want := []string{"2026-03-28T00:00:00Z 1", "2026-03-29T00:00:00Z 1", "2026-03-30T00:00:00Z 0"}
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("series (-want +got)\n%s", d)
	}
}

func TestBoundsOfRanges(t *testing.T) {
	records := []logs.Record{{Time: noon.Add(-time.Hour)}, {Time: noon}, {Time: noon.Add(time.Hour)}}
	for _, tt := range []struct {
		name string
		q    Query
		want int64
		from time.Time
		to   time.Time
	}{
		{"everything up to now", Query{}, 2, noon.Add(-time.Hour), noon.Add(time.Second)},
		{"from is included", Query{From: noon}, 1, noon, noon.Add(time.Second)},
		{"to is not", Query{To: noon}, 1, noon.Add(-time.Hour), noon},
		{"the future, when it is asked for", Query{To: noon.Add(2 * time.Hour)}, 3, noon.Add(-time.Hour), noon.Add(2 * time.Hour)},
		{"no length", Query{From: noon, To: noon, Every: time.Hour}, 0, noon, noon},
		{"only the future", Query{From: noon.Add(time.Minute)}, 0, noon.Add(time.Minute), noon.Add(time.Minute)},
		{"before everything", Query{To: noon.Add(-2 * time.Hour)}, 0, noon.Add(-2 * time.Hour), noon.Add(-2 * time.Hour)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := overAt(&listStore{records: records, page: 1}, noon).Report(t.Context(), tt.q)
			if err != nil {
				t.Fatal(err)
			}
			want := &Report{From: tt.from, To: tt.to, Approximate: true}
			have := &Report{From: got.From, To: got.To, Approximate: got.Approximate, Series: got.Series}
			if d := cmp.Diff(want, have); d != "" || got.Total.Requests != tt.want {
				t.Errorf("%d requests, want %d (-want +got)\n%s", got.Total.Requests, tt.want, d)
			}
		})
	}
}

func TestQueriesThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name  string
		q     Query
		param string
		says  string
	}{
		{"backwards", Query{From: noon, To: noon.Add(-1)}, "to", "must not be before from"},
		{"an unknown field", Query{GroupBy: []string{"modle"}}, "group_by", "did you mean model"},
		{"a field like none", Query{GroupBy: []string{"\x00secret"}}, "group_by", "metadata.KEY"},
		{"a number", Query{GroupBy: []string{"cost_usd"}}, "group_by", "is a number"},
		{"a field twice", Query{GroupBy: []string{"model", "model"}}, "group_by", "twice"},
		{"too many fields", Query{GroupBy: []string{"a", "b", "c", "d", "e"}}, "group_by", "more than 4"},
		{"negative steps", Query{From: noon, To: noon, Every: -1}, "every", "positive"},
		{"too many steps", Query{From: noon.Add(-24 * time.Hour), To: noon, Every: time.Minute}, "every", "make it 2m0s or more"},
		{"centuries of steps", Query{From: time.Time{}.Add(1), To: noon, Every: time.Minute}, "every", "more than 1000 steps"},
		{"a series without a beginning", Query{Every: time.Hour}, "from", "say from"},
		{"too many groups", Query{Top: 1001}, "top", "between 1 and 1000"},
		{"a negative number of groups", Query{Top: -1}, "top", "between 1 and 1000"},
		{"too many points", Query{From: noon.Add(-1000 * time.Hour), To: noon, Every: time.Hour, GroupBy: []string{"model"}, Top: 21}, "top", "ask for 20 groups"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := overAt(&listStore{}, noon).Report(t.Context(), tt.q)
			e, ok := errors.AsType[*providers.Error](err)
			if !ok || e.Code != providers.ErrInvalidRequest || e.Param != tt.param || !strings.Contains(e.Message, tt.says) {
				t.Errorf("error = %v, want one of %s with %q", err, tt.param, tt.says)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Error("the error repeats a strange name")
			}
		})
	}
}

func TestTheRemedyOfTooManyStepsIsEnough(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 200 {
		q := Query{From: noon.Add(-time.Duration(r.Int64N(int64(9000 * time.Hour)))), To: noon, Every: time.Second}
		_, err := newPlan(&q)
		if err == nil {
			continue
		}
		_, rest, _ := strings.Cut(err.Error(), "make it ")
		text, _, _ := strings.Cut(rest, " ")
		if q.Every, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		if _, err := newPlan(&q); err != nil {
			t.Errorf("from %s: %v", q.From, err)
		}
	}
}

func TestAReportEndsWithItsContextAndWithABrokenStore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Over(&listStore{records: handMade(), page: 1}).Report(ctx, Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
	if _, err := overAt(&listStore{records: handMade(), page: 1, endless: true}, noon).Report(t.Context(), Query{}); err == nil || !strings.Contains(err.Error(), "no end") {
		t.Errorf("error = %v, want one of the pages", err)
	}
}

func TestReportsOverFilesAreThoseOverMemory(t *testing.T) {
	file, err := logs.OpenFile(t.TempDir()+"/calls.jsonl", logs.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	memory := logs.NewMemory(5000)
	records := randomRecords(rand.New(rand.NewPCG(3, 3)), 2500, noon, 20*time.Hour)
	slices.SortFunc(records, func(a, b logs.Record) int { return a.Time.Compare(b.Time) })
	for i := range records {
		records[i].Feedback = nil // comes later, to a store
	}
	for _, s := range []logs.Store{file, memory} {
		if err := s.Write(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		if err := s.AddFeedback(t.Context(), logs.Feedback{RecordID: "7", Value: 3}); err != nil {
			t.Fatal(err)
		}
	}
	q := Query{
		From: noon.Add(-15 * time.Hour), To: noon, Every: time.Hour, GroupBy: []string{"user"}, Top: 4,
		Filters: []logs.Filter{{Field: "duration_ms", Op: logs.Gt, Values: []string{"500"}}},
	}
	want, err := Over(memory).Report(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Over(file).Report(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" || want.Total.Requests == 0 {
		t.Errorf("%d requests (-memory +file)\n%s", want.Total.Requests, d)
	}
	live, _ := newLive(t, Options{})
	if err := live.Fill(t.Context(), file); err != nil || requestsIn(t, live, time.Time{}, time.Time{}) != 2500 {
		t.Errorf("Fill: %v", err)
	}
}
