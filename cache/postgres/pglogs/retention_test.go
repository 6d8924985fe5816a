package pglogs_test

import (
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache/postgres/pglogs"
	"github.com/b650d4bf/gateway/logs"
)

// A store that has something too old each time has no more records than it may, too.
func TestRetentionByNumberBesideAge(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		first, name := open(t, url)
		must(t, first.Write(t.Context(), append(records(100), record(3660))))
		s := openAs(t, url, name, pglogs.WithMaxAge(time.Hour), pglogs.WithMaxRecords(10))
		must(t, s.Write(t.Context(), []logs.Record{record(3661)}))
		if got := all(t, s, logs.Query{}); len(got) != 10 || got[0] != "r-00000" || got[9] != "r-00009" {
			t.Errorf("%d records are there: %v", len(got), got)
		}
		if n := s.Stats().Deleted; n != 92 {
			t.Errorf("%d count as deleted, want 92", n)
		}
	})
}

// What the age leaves of a batch is what the number may delete in it.
func TestRetentionIsInBatches(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	first, name := open(t, url)
	batch := records(4600)
	for i := range batch[4400:] {
		batch[4400+i].Time = batch[4400+i].Time.Add(-24 * time.Hour)
	}
	must(t, first.Write(t.Context(), batch))
	s := openAs(t, url, name, pglogs.WithMaxAge(2*time.Hour), pglogs.WithMaxRecords(10))
	must(t, s.Write(t.Context(), []logs.Record{record(0)}))
	if n := s.Stats().Deleted; n != 4000 {
		t.Errorf("the first Write deletes %d, want four batches of 1000", n)
	}
	must(t, s.Write(t.Context(), []logs.Record{record(0)})) // goes on
	if got := all(t, s, logs.Query{}); len(got) != 10 {
		t.Errorf("%d records are there, want 10", len(got))
	}
}
