package logsql

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/logs/logstest"
)

func TestRows(t *testing.T) {
	list := logstest.Records()[:3]
	list[1].ID, list[2] = "a-first", list[0] // the same again
	list = append(list, logs.Record{Time: list[0].Time}, logs.Record{ID: "nan", Similarity: math.NaN()})
	rows, bad, err := Rows(list)
	if bad != 2 || err == nil {
		t.Errorf("%d are bad: %v", bad, err)
	}
	if len(rows) != 2 || rows[0].ID != "a-first" || rows[1].ID != "call-0" {
		t.Fatalf("%+v", rows)
	}
	r := &rows[1]
	if r.At != list[0].Time.UnixNano() || r.Content == nil || strings.Contains(string(r.Record), "content") {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(`{"empty":"","team":"search"}`, string(r.Metadata)); diff != "" {
		t.Error(diff)
	}
	for i, f := range logs.Fields() {
		v, ok := f.Of(&list[0])
		want := any(nil)
		if ok {
			want = map[logs.Kind]any{logs.Word: v.Text, logs.Number: v.Num, logs.Flag: v.Text == "true"}[f.Kind]
		}
		if diff := cmp.Diff(want, r.Values[i]); diff != "" {
			t.Errorf("%s: %s", f.Name, diff)
		}
	}
}

func TestWhatIsComparedIsWhatIsReturned(t *testing.T) {
	list := logstest.Records()[:1]
	list[0].Duration, list[0].FirstChunk = logs.Milliseconds(1_234_567), logs.Milliseconds(1_499)
	rows, _, err := Rows(list)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Record(rows[0].Record, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range logs.Fields() {
		v, ok := f.Of(back)
		if ok && f.Kind == logs.Number && rows[0].Values[i] != v.Num {
			t.Errorf("%s: %v and %v", f.Name, rows[0].Values[i], v.Num)
		}
	}
	if list[0].Duration != 1_234_567 {
		t.Error("the caller's record was changed")
	}
}

func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		time time.Time
		want int64
	}{
		{time.Unix(0, 0), 0}, {time.Unix(1, 1), 1e9 + 1}, {time.Time{}, math.MinInt64},
		{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), math.MaxInt64}, {time.Date(1677, 1, 1, 0, 0, 0, 0, time.UTC), math.MinInt64},
	} {
		if got := At(tt.time); got != tt.want {
			t.Errorf("%v: %d", tt.time, got)
		}
	}
}

// FuzzWord holds the promises of columns: texts that databases take, not longer than
// an index, in the order of what they stand for as far as values are compared.
func FuzzWord(f *testing.F) {
	f.Add("a\x00b", "\xff")
	f.Add(strings.Repeat("é", 600), strings.Repeat("é", 600)+"x")
	f.Add(strings.Repeat("x", 1001), strings.Repeat("x", 890))
	f.Fuzz(func(t *testing.T, a, b string) {
		w, v := Word(a), Word(b)
		if !utf8.ValidString(w) || strings.Contains(w, "\x00") || len(w) > wordBytes {
			t.Errorf("%q", w)
		}
		a, b = Text(a), Text(b)
		if (w == v) != (a == b) {
			t.Errorf("%q and %q are %q and %q", a, b, w, v)
		}
		if len(b) <= ordered && strings.Compare(w, b) != strings.Compare(a, b) {
			t.Errorf("%q is beside %q as %q", a, b, w)
		}
		if p := cut(b, ordered); strings.HasPrefix(a, b) && !strings.HasPrefix(w, p) || len(b) <= ordered && strings.HasPrefix(a, b) != strings.HasPrefix(w, b) {
			t.Errorf("%q begins %q otherwise than %q", b, a, w)
		}
	})
}

func BenchmarkRows(b *testing.B) {
	list := logstest.Records()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Rows(list); err != nil {
			b.Fatal(err)
		}
	}
}
