package logs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/logs/logstest"
)

func TestMemoryIsAStore(t *testing.T) {
	logstest.Store(t, func(*testing.T) logs.Store { return logs.NewMemory(0) })
}

func TestMemoryForgetsTheOldest(t *testing.T) {
	m := logs.NewMemory(3)
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 100 {
		r := logs.Record{ID: fmt.Sprint(i), Time: base.Add(time.Duration(i) * time.Second)}
		if err := m.Write(t.Context(), []logs.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := m.Query(t.Context(), logs.Query{})
	if err != nil || m.Len() != 3 || len(p.Records) != 3 || p.Records[2].ID != "97" {
		t.Fatalf("%d, %+v, %v", m.Len(), p, err)
	}
	if _, err := m.Get(t.Context(), "96"); err == nil {
		t.Error("what was forgotten is there")
	}
	old := logs.Record{ID: "late", Time: base}
	if err := m.Write(t.Context(), []logs.Record{old}); err != nil {
		t.Fatal(err)
	}
	if p, err = m.Query(t.Context(), logs.Query{}); err != nil || p.Records[2].ID != "97" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestMemoryIsBoundedInBytes(t *testing.T) {
	m := logs.NewMemoryBytes(0, 100_000)
	text := []byte(`"` + string(make([]byte, 20_000)) + `"`)
	for i := range 50 {
		r := logs.Record{ID: fmt.Sprint(i), Time: time.Unix(int64(i), 0), Content: &logs.Content{Request: text}}
		if err := m.Write(t.Context(), []logs.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	if m.Len() != 4 {
		t.Errorf("%d records, want 4", m.Len())
	}
	big := logs.Record{ID: "big", Time: time.Unix(100, 0), Content: &logs.Content{Request: make([]byte, 200_000)}}
	if err := m.Write(t.Context(), []logs.Record{big}); err != nil || m.Len() != 4 {
		t.Errorf("%d records, %v", m.Len(), err)
	}
}
