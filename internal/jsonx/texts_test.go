package jsonx

import (
	"strconv"
	"strings"
	"testing"
)

// TestPackedTexts reads more strings than a block holds: each stays what it was, and
// they take fewer allocations than there are.
func TestPackedTexts(t *testing.T) {
	var docs [1000][]byte
	var want, got [1000]string
	for i := range docs {
		want[i] = strings.Repeat("ä"+strconv.Itoa(i), i%10)
		if i%7 == 0 {
			want[i] += "\n"
		}
		var w Writer
		w.String(want[i])
		docs[i] = w.Bytes()
	}
	read := func() {
		var texts Texts
		for i, doc := range docs {
			r := NewReader(doc)
			r.Pack(&texts)
			got[i] = r.String()
		}
	}
	allocs := testing.AllocsPerRun(10, read)
	for _, doc := range docs {
		clear(doc) // what the next event does to the bytes of one
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%d: %q, want %q", i, got[i], want[i])
		}
	}
	if limit := float64(len(docs) / 8); !raceEnabled && allocs > limit { // the pool is not reliable with the detector
		t.Errorf("%v allocations for %d texts", allocs, len(docs))
	}
}
