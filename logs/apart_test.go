package logs

import (
	"testing"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

func TestRecordsOfOneIDHaveTimesOfTheirOwn(t *testing.T) {
	store := NewMemory(0)
	l, err := New(Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for range 5 {
		l.CallEnd(t.Context(), providers.Record{Call: providers.Call{ID: "same", Start: start}})
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := store.Query(t.Context(), Query{})
	times := map[time.Time]bool{}
	for i := range page.Records {
		times[page.Records[i].Time] = true
	}
	if err != nil || len(times) != 5 {
		t.Errorf("%d times of %d records, %v", len(times), len(page.Records), err)
	}
}

func TestMomentsAreBounded(t *testing.T) {
	var a apart
	for i := range 3 * maxMoments {
		a.place(&Record{ID: "x", Time: time.UnixMicro(int64(i))})
	}
	if n := len(a.young) + len(a.old); n > 2*maxMoments {
		t.Errorf("%d moments are kept", n)
	}
}
