package analytics

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// A Live means by a filter what stores do, or refuses it, so that [Either] asks them.
func TestLiveFiltersMeanWhatThoseOfStoresDo(t *testing.T) {
	var records []logs.Record
	for i, r := range []logs.Record{
		{User: "ann", Stream: true, Metadata: map[string]string{"team": "a"}},
		{User: "ann", Metadata: map[string]string{"team": ""}},
		{User: "bob", Metadata: map[string]string{"other": "a"}},
		{User: "a,b"},
		{Stream: true},
		{},
	} {
		r.ID, r.Time = fmt.Sprint(i), noon.Add(-time.Duration(i+1)*time.Second)
		records = append(records, r)
	}
	store := logs.NewMemory(0)
	if err := store.Write(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	l, _ := newLive(t, Options{Fields: []string{"user", "stream", "metadata.team"}})
	write(t, l, records...)
	over := overAt(store, noon)
	const ask, wrong = "ask a log's store", "is wrong" // refused by one, and by both
	for _, tt := range []struct {
		field  string
		op     logs.Op
		values []string
		refuse string
	}{
		{"user", logs.Eq, []string{"ann"}, ""},
		{"user", logs.Eq, []string{""}, ""},
		{"user", logs.Eq, []string{"nobody"}, ""},
		{"user", logs.Eq, []string{"a,b"}, ""},
		{"user", logs.Eq, []string{"ann", "bob"}, wrong},
		{"user", logs.Eq, nil, wrong},
		{"user", logs.In, []string{"ann", "bob"}, ""},
		{"user", logs.In, []string{"ann", "ann"}, ""},
		{"user", logs.In, []string{"", "bob"}, ""},
		{"user", logs.In, []string{""}, ""},
		{"user", logs.In, nil, ""},
		{"user", logs.In, []string{strings.Repeat("x", 5000)}, wrong},
		{"user", logs.In, make([]string, 1001), wrong},
		{"user", logs.Ne, []string{"ann"}, ask},
		{"user", logs.Ne, []string{""}, ask},
		{"user", logs.Ne, []string{"ann", "bob"}, wrong},
		{"user", logs.NotIn, []string{"ann", ""}, ask},
		{"user", logs.Missing, []string{"true"}, ask},
		{"user", logs.Missing, []string{""}, wrong},
		{"user", logs.Prefix, []string{"a"}, ask},
		{"user", "like", []string{"a"}, wrong},
		{"stream", logs.Eq, []string{"true"}, ""},
		{"stream", logs.In, []string{"true", "false"}, ""},
		{"stream", logs.Eq, []string{""}, wrong},
		{"stream", logs.Eq, []string{"yes"}, wrong},
		{"metadata.team", logs.Eq, []string{"a"}, ""},
		{"metadata.team", logs.In, []string{"a", "b"}, ""},
		{"metadata.team", logs.Eq, []string{""}, ask},
		{"metadata.team", logs.In, []string{"a", ""}, ask},
		{"cost_usd", logs.Eq, []string{"1"}, ask},
		{"cost_usd", logs.Eq, []string{"much"}, wrong},
		{"usr", logs.Eq, []string{"ann"}, wrong},
	} {
		name := fmt.Sprintf("%s %s %.20q of %d", tt.field, tt.op, strings.Join(tt.values, "|"), len(tt.values))
		t.Run(name, func(t *testing.T) {
			for _, groups := range [][]string{nil, {"user"}} {
				if tt.refuse == "" && groups != nil && tt.field != "user" {
					continue // refused, since it is of another field
				}
				q := Query{
					From: noon.Add(-time.Hour), To: noon, GroupBy: groups,
					Filters: []logs.Filter{{Field: tt.field, Op: tt.op, Values: tt.values}},
				}
				want, stores := over.Report(t.Context(), q)
				got, err := l.Report(t.Context(), q)
				if d := cmp.Diff(want, got); tt.refuse == "" && (d != "" || stores != nil || err != nil) {
					t.Errorf("by %v: %v, %v (-over +live)\n%s", groups, stores, err, d)
				}
				if tt.refuse == wrong && (stores == nil || err == nil || err.Error() != stores.Error()) {
					t.Errorf("by %v: %v, want %v", groups, err, stores)
				}
				if e, ok := errors.AsType[*providers.Error](err); tt.refuse == ask && (stores != nil || !ok || e.Code != providers.ErrInvalidRequest || !strings.Contains(e.Message, ask)) {
					t.Errorf("by %v: %v, want one with %q; of the store %v", groups, err, ask, stores)
				}
				if either, err := Either(l, over).Report(t.Context(), q); stores == nil && (err != nil || !cmp.Equal(want, either)) {
					t.Errorf("by %v: of either %v (-over +either)\n%s", groups, err, cmp.Diff(want, either))
				}
			}
		})
	}
}
