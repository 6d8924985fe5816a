package logstest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

func order(t *testing.T, s logs.Store) {
	list := Records()[:5]
	// The third began before the second and took longer; the last two began at once.
	list[2].Time, list[2].Duration = list[1].Time.Add(-time.Microsecond), list[2].Duration+ms(120_000)
	list[4].Time = list[3].Time
	write(t, s, list[:2]...)
	write(t, s, list[2:]...)
	got := ids(t, s, logs.Query{})
	if want := []string{"call-1", "call-2", "call-0"}; len(got) != len(list) || !slices.Equal(want, got[2:]) {
		t.Errorf("the order is %v", got)
	}
	if first := got[:2]; !slices.Contains(first, "call-3") || !slices.Contains(first, "call-4") {
		t.Errorf("the newest are %v", first)
	}
}

// many writes n records, some of which began at the same time.
func many(t *testing.T, s logs.Store, n int) (want []string) {
	t.Helper()
	list := make([]logs.Record, n)
	for i := range list {
		list[i] = Records()[6]
		list[i].ID, list[i].Time = fmt.Sprintf("m-%04d", i), start.Add(time.Duration(i/3)*time.Second)
		want = append(want, list[i].ID)
	}
	write(t, s, list...)
	return want
}

func pages(t *testing.T, s logs.Store) {
	want := many(t, s, 100)
	for _, limit := range []int{1, 7, 33, 99, 100, 101} {
		got := ids(t, s, logs.Query{Limit: limit})
		if !slices.Equal(got, ids(t, s, logs.Query{Limit: logs.MaxLimit})) {
			t.Errorf("pages of %d have another order", limit)
		}
		if slices.Sort(got); !slices.Equal(want, got) {
			t.Errorf("pages of %d have %d records: %v", limit, len(got), got)
		}
	}
	q := logs.Query{Limit: 3, Filters: []logs.Filter{{Field: "id", Op: logs.Prefix, Values: []string{"m-000"}}}}
	got := ids(t, s, q)
	if slices.Sort(got); !slices.Equal(want[:10], got) {
		t.Errorf("filtered pages have %v", got)
	}
}

func pagesMeanwhile(t *testing.T, s logs.Store) {
	want := many(t, s, 30)
	q, got := logs.Query{Limit: 10}, []string{}
	for i := 0; ; i++ {
		p, err := s.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for j := range p.Records {
			got = append(got, p.Records[j].ID)
		}
		if q.Cursor = p.Next; q.Cursor == "" {
			break
		}
		newer := Records()[0]
		newer.ID, newer.Time = "new-"+strconv.Itoa(i), start.Add(time.Duration(i+1)*time.Hour)
		write(t, s, newer)
	}
	if slices.Sort(got); !slices.Equal(want, got) {
		t.Errorf("the pages have %v", got)
	}
}

func sizes(t *testing.T, s logs.Store) {
	many(t, s, logs.DefaultLimit+1)
	p, err := s.Query(t.Context(), logs.Query{})
	if err != nil || len(p.Records) != logs.DefaultLimit || p.Next == "" {
		t.Fatalf("%d records, next %q, %v", len(p.Records), p.Next, err)
	}
	if p, err = s.Query(t.Context(), logs.Query{Cursor: p.Next}); err != nil || len(p.Records) != 1 || p.Next != "" {
		t.Errorf("then %d records, next %q, %v", len(p.Records), p.Next, err)
	}
	if p, err = s.Query(t.Context(), logs.Query{Limit: logs.DefaultLimit + 1}); err != nil || p.Next != "" {
		t.Errorf("a page of all goes on with %q, %v", p.Next, err)
	}
}

// Callers may choose the ids of their calls.
func twice(t *testing.T, s logs.Store) {
	list := Records()[:3]
	list[1].ID, list[1].RequestedModel = list[0].ID, "the newer"
	write(t, s, list...)
	if got, want := ids(t, s, logs.Query{Limit: 1}), []string{"call-2", "call-0", "call-0"}; !slices.Equal(want, got) {
		t.Errorf("there are %v, want %v", got, want)
	}
	if r := get(t, s, "call-0"); r.RequestedModel != "the newer" {
		t.Errorf("Get returns the older of two")
	}
}

func times(t *testing.T, s logs.Store) {
	list := Records()
	write(t, s, list...)
	for _, tt := range []struct {
		from, to time.Time
		want     []string
	}{
		{list[3].Time, time.Time{}, []string{"call-7", "call-6", "call-5", "call-4", "call-3"}},
		{list[3].Time.Add(time.Microsecond), list[6].Time, []string{"call-5", "call-4"}},
		{time.Time{}, list[1].Time.Add(time.Microsecond), []string{"call-1", "call-0"}},
		{list[3].Time.In(time.FixedZone("", 3600)), list[4].Time.In(time.FixedZone("", -3600)), []string{"call-3"}},
		{list[7].Time.Add(time.Second), time.Time{}, []string{}},
		{time.Time{}, list[0].Time, []string{}},
	} {
		if got := ids(t, s, logs.Query{From: tt.from, To: tt.to, Limit: 2}); !slices.Equal(tt.want, got) {
			t.Errorf("from %v to %v: got %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
}

func wrong(t *testing.T, s logs.Store) {
	write(t, s, Records()...)
	one := func(field string, op logs.Op, values ...string) logs.Query {
		return logs.Query{Filters: []logs.Filter{{Field: field, Op: op, Values: values}}}
	}
	for _, tt := range []struct {
		param string
		query logs.Query
	}{
		{"limit", logs.Query{Limit: -1}},
		{"limit", logs.Query{Limit: logs.MaxLimit + 1}},
		{"to", logs.Query{From: start, To: start}},
		{"cursor", logs.Query{Cursor: "no cursor"}},
		{"cursor", logs.Query{Cursor: strings.Repeat("A", 5000)}},
		{"modell", one("modell", logs.Eq, "m")},
		{"metadata.", one("metadata.", logs.Eq, "m")},
		{"cost_usd", one("cost_usd", logs.Gt, "cheap")},
		{"cost_usd", one("cost_usd", logs.Gt, "NaN")},
		{"cost_usd", one("cost_usd", logs.Prefix, "1")},
		{"model", one("model", "like", "m")},
		{"model", one("model", logs.Eq)},
		{"model", one("model", logs.Eq, "a", "b")},
		{"stream", one("stream", logs.Eq, "yes")},
		{"stream", one("stream", logs.Lt, "true")},
		{"model", one("model", logs.Missing, "1")},
	} {
		_, err := s.Query(t.Context(), tt.query)
		e, ok := errors.AsType[*providers.Error](err)
		if !ok || e.Code != providers.ErrInvalidRequest || e.Param != tt.param {
			t.Errorf("Query(%+v): %v, want an error about %q", tt.query, err, tt.param)
		}
	}
}
