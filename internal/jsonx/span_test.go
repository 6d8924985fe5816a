package jsonx

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpanTellsWhereThingsStand(t *testing.T) {
	const doc = " {\"a\" : [1, 2] ,\n\"\\u0062\":{}, \"c\":\"x\" }"
	r := NewReader([]byte(doc))
	var got []string
	note := func() {
		from, to := r.Span()
		got = append(got, doc[from:to])
	}
	for r.Object(); r.NextKey(); {
		note()
		r.Skip()
		note()
	}
	want := []string{`"a" : `, `[1, 2]`, `"\u0062":`, `{}`, `"c":`, `"x"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	r = NewReader([]byte(`{"a":tru}`))
	r.Skip()
	if from, to := r.Span(); from != 0 || to != 0 || r.Err() == nil {
		t.Errorf("after an error: %d, %d, want 0, 0", from, to)
	}
}
