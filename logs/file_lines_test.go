package logs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
)

// fileOf opens a file that has these lines.
func fileOf(t *testing.T, lines ...string) *logs.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return openFile(t, path, logs.FileOptions{})
}

// line is that of a call that began so many seconds after the start and took so many.
func line(id string, began, took int) string {
	return fmt.Sprintf(`{"id":%q,"time":%q,"duration_ms":%d}`, id, fileStart.Add(time.Duration(began)*time.Second).Format(time.RFC3339), took*1000)
}

func said(id string, value int) string { return fmt.Sprintf(`{"record_id":%q,"value":%d}`, id, value) }

func TestLinesThatAreNoRecordsHideNoRecords(t *testing.T) {
	for _, odd := range []string{
		`null`, `{}`, `{"level":"info"}`, `{"level":"info","time":"2026-01-01T00:00:00Z"}`, `{"id":"odd"}`, `{"id":"","time":"2026-01-01T00:00:00Z"}`,
		`{"id":"odd","time":"0001-01-01T00:00:00Z"}`, `[]`, `"text"`, `1`, `text`,
	} {
		t.Run(odd, func(t *testing.T) {
			f := fileOf(t, line("r-000", 0, 1), odd, line("r-001", 20, 1))
			var got []string
			p, err := f.Query(t.Context(), logs.Query{From: fileStart.Add(-time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.Records {
				got = append(got, p.Records[i].ID)
			}
			if diff := cmp.Diff(names(0, 2), got); diff != "" || f.Skipped() != 1 {
				t.Errorf("%d passed over, want 1 (-want +got)\n%s", f.Skipped(), diff)
			}
			for _, id := range []string{"r-000", "r-001"} {
				if r, err := f.Get(t.Context(), id); err != nil || r.ID != id {
					t.Errorf("Get(%s) = %+v, %v", id, r, err)
				}
			}
			for _, id := range []string{"odd", ""} {
				if r, err := f.Get(t.Context(), id); !errors.Is(err, logs.ErrNotFound) {
					t.Errorf("Get(%q) = %+v, %v", id, r, err)
				}
			}
		})
	}
}

func TestRecordsThatAFileCannotTellFromOtherLinesAreRefused(t *testing.T) {
	f := openFile(t, filepath.Join(t.TempDir(), "calls.jsonl"), logs.FileOptions{})
	err := f.Write(t.Context(), []logs.Record{{ID: "a"}, {Time: fileStart}, {ID: "r-000", Time: fileStart}})
	if err == nil {
		t.Error("records without an id or a time are taken")
	}
	if diff := cmp.Diff(names(0, 1), kept(t, f)); diff != "" || f.Skipped() != 0 {
		t.Errorf("%d passed over (-want +got)\n%s", f.Skipped(), diff)
	}
}

// Of several records with an id the one that began last is meant, whichever ended last.
func TestAFileGetsTheNewestOfAnID(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  int // seconds after the start
		said  []int
	}{
		{"the last line", []string{line("a", 0, 1), line("a", 5, 1)}, 5, nil},
		{"one that ended before", []string{line("a", 30, 5), line("b", 35, 1), line("a", 0, 60)}, 30, nil},
		{"one of many", []string{line("a", 10, 2), line("a", 30, 5), line("a", 20, 30), line("b", 55, 1), line("a", 0, 60)}, 30, nil},
		{"behind a line that is none", []string{line("a", 30, 5), `{"level":"info"}`, `text`, line("a", 0, 60)}, 30, nil},
		{"at once, the last line", []string{line("a", 5, 2), line("a", 5, 1)}, 5, nil},
		{"what was said of both", []string{said("a", 9), line("a", 30, 5), said("a", 1), said("b", 8), line("a", 0, 60), said("a", 2)}, 30, []int{1, 2}},
		{"what was said of the other before", []string{line("a", 0, 1), said("a", 1), line("a", 5, 1), said("a", 2)}, 5, []int{2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fileOf(t, tt.lines...)
			r, err := f.Get(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			var values []int
			for _, b := range r.Feedback {
				values = append(values, b.Value)
			}
			if got := int(r.Time.Sub(fileStart) / time.Second); got != tt.want || !cmp.Equal(tt.said, values) {
				t.Errorf("got that of %d s with %v, want %d s with %v", got, values, tt.want, tt.said)
			}
		})
	}
}

// A record is not looked for in all that was written before it.
func TestAFileIsNotReadToItsBeginningForANewRecord(t *testing.T) {
	f := fileOf(t, `no record`, line("b", 0, 1), line("a", 60, 1))
	if _, err := f.Get(t.Context(), "a"); err != nil || f.Skipped() != 0 {
		t.Errorf("%v, %d lines passed over", err, f.Skipped())
	}
}
