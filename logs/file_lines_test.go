package logs_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// What was said of an id is about the newest record that was there, in queries too.
func TestFeedbackInAFileIsAboutTheNewestOfAnID(t *testing.T) {
	longer, shorter := line("a", 0, 60), line("a", 30, 5) // the shorter one is the newer, and written first
	for _, tt := range []struct {
		name  string
		lines []string
		want  [][]int // of the newest record first
	}{
		{"of both", []string{shorter, longer, said("a", 1), said("a", 2)}, [][]int{{1, 2}, nil}},
		{"between them and of both", []string{shorter, said("a", 1), longer, said("a", 2)}, [][]int{{1, 2}, nil}},
		{"the newer is written last", []string{line("a", 0, 1), said("a", 1), shorter, said("a", 2)}, [][]int{{2}, {1}}},
		{"of three", []string{line("a", 40, 1), line("a", 39, 5), said("a", 1), longer, said("a", 2)}, [][]int{{1, 2}, nil, nil}},
		{"behind a newer one", []string{line("a", 22, 1), line("a", 15, 15), said("a", 1), line("a", 60, 1), said("a", 2)}, [][]int{{2}, {1}, nil}},
		{"of another id", []string{shorter, longer, said("b", 1), line("b", 61, 1), said("b", 2)}, [][]int{{2}, nil, nil}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fileOf(t, tt.lines...)
			filtered := func(filters ...logs.Filter) (values [][]int) {
				for q := (logs.Query{Filters: filters, Limit: 1}); ; {
					p, err := f.Query(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					for i := range p.Records {
						var of []int
						for _, b := range p.Records[i].Feedback {
							of = append(of, b.Value)
						}
						values = append(values, of)
					}
					if q.Cursor = p.Next; q.Cursor == "" {
						return values
					}
				}
			}
			if diff := cmp.Diff(tt.want, filtered()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			with := slices.DeleteFunc(slices.Clone(tt.want), func(of []int) bool { return of == nil })
			if diff := cmp.Diff(with, filtered(logs.Filter{Field: "feedback", Op: logs.Missing, Values: []string{"false"}})); diff != "" {
				t.Errorf("those with feedback (-want +got)\n%s", diff)
			}
			if got := filtered(logs.Filter{Field: "feedback", Op: logs.Missing, Values: []string{"true"}}); len(got) != len(tt.want)-len(with) {
				t.Errorf("without feedback there are %d, want %d", len(got), len(tt.want)-len(with))
			}
		})
	}
}

// A file answers as memory does, whatever the order in which calls with few ids end.
func TestAFileAnswersAsMemoryDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		var records []logs.Record
		for i := range 60 {
			records = append(records, logs.Record{
				ID: string(rune('a' + r.IntN(6))), Time: fileStart.Add(time.Duration(i)*1700*time.Millisecond + time.Duration(r.IntN(1000))*time.Millisecond),
				Duration: logs.Milliseconds(time.Duration(r.IntN(30)*r.IntN(30)) * 50 * time.Millisecond), User: "u" + strconv.Itoa(i%2),
			})
		}
		late := map[time.Time]time.Duration{} // by which a line is behind the end of its call
		for i := range records {
			late[records[i].Time] = time.Duration(r.IntN(9000)) * time.Millisecond
		}
		slices.SortFunc(records, func(a, b logs.Record) int {
			written := func(r *logs.Record) time.Time { return r.Time.Add(time.Duration(r.Duration) + late[r.Time]) }
			return written(&a).Compare(written(&b))
		})
		f, m := fileOf(t), logs.NewMemory(0)
		for i := range records {
			for _, s := range []logs.Store{f, m} {
				if err := s.Write(t.Context(), records[i:i+1]); err != nil {
					t.Fatal(err)
				}
			}
			if r.IntN(3) > 0 {
				continue
			}
			b := logs.Feedback{RecordID: string(rune('a' + r.IntN(6))), Time: fileStart, Value: r.IntN(21) - 10}
			if inFile, inMemory := f.AddFeedback(t.Context(), b), m.AddFeedback(t.Context(), b); !errors.Is(inFile, inMemory) {
				t.Fatalf("%v, %v", inFile, inMemory)
			}
		}
		compareStores(t, m, f)
	}
}

func compareStores(t *testing.T, want, got logs.Store) {
	t.Helper()
	for _, q := range []logs.Query{
		{Limit: 7}, {Limit: logs.MaxLimit}, {Limit: 3, From: fileStart.Add(40 * time.Second), To: fileStart.Add(70 * time.Second)},
		{Limit: 5, Filters: []logs.Filter{{Field: "feedback", Op: logs.Missing, Values: []string{"false"}}}},
		{Limit: 5, Filters: []logs.Filter{{Field: "feedback", Op: logs.Missing, Values: []string{"true"}}}},
		{Limit: 2, Filters: []logs.Filter{{Field: "user", Op: logs.Eq, Values: []string{"u1"}}}},
	} {
		if diff := cmp.Diff(allOf(t, want, q), allOf(t, got, q), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%+v (-memory +file)\n%s", q, diff)
		}
	}
	for id := 'a'; id < 'g'; id++ {
		a, errA := want.Get(t.Context(), string(id))
		b, errB := got.Get(t.Context(), string(id))
		if diff := cmp.Diff(a, b, cmpopts.EquateEmpty()); diff != "" || !errors.Is(errB, errA) {
			t.Fatalf("Get(%c): %v, %v (-memory +file)\n%s", id, errA, errB, diff)
		}
	}
}

func allOf(t *testing.T, s logs.Store, q logs.Query) (records []logs.Record) {
	t.Helper()
	for {
		p, err := s.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, p.Records...)
		if q.Cursor = p.Next; q.Cursor == "" {
			return records
		}
	}
}
