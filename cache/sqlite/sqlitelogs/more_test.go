package sqlitelogs_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache/sqlite"
	"github.com/b650d4bf/gateway/cache/sqlite/sqlitelogs"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/logs/logstest"
)

// record returns one that began n seconds ago.
func record(n int) logs.Record {
	r := logstest.Records()[0]
	r.ID, r.Time = fmt.Sprintf("r-%05d", n), time.Now().Add(-time.Duration(n)*time.Second).UTC()
	return r
}

func records(n int) []logs.Record {
	out := make([]logs.Record, n)
	for i := range out {
		out[i] = record(i)
	}
	return out
}

// all returns the ids of all records that a query means.
func all(t testing.TB, s logs.Store, q logs.Query) []string {
	t.Helper()
	var out []string
	for q.Limit = logs.MaxLimit; ; {
		p, err := s.Query(t.Context(), q)
		must(t, err)
		for i := range p.Records {
			out = append(out, p.Records[i].ID)
		}
		if q.Cursor = p.Next; q.Cursor == "" {
			return out
		}
	}
}

// database opens the file of a store beside it.
func database(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(20000)")
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestColumnsAreFields(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	open(t, path)
	db := database(t, path)
	for _, f := range logs.Fields() {
		typ := ""
		err := db.QueryRowContext(t.Context(), `SELECT type FROM pragma_table_info('records') WHERE name = ?`, f.Name).Scan(&typ)
		want := map[logs.Kind]string{logs.Word: "TEXT", logs.Number: "REAL", logs.Flag: "INTEGER"}[f.Kind]
		if err != nil || typ != want {
			t.Errorf("%s is %q, %v; want %s", f.Name, typ, err, want)
		}
	}
}

func TestBatchThatIsWrittenAgain(t *testing.T) {
	s := fresh(t)
	batch := records(300)
	batch[0].Feedback = []logs.Feedback{{RecordID: batch[0].ID, Value: 3}}
	must(t, s.Write(t.Context(), batch[:200]))
	must(t, s.AddFeedback(t.Context(), logs.Feedback{RecordID: batch[0].ID, Value: 5}))
	must(t, s.Write(t.Context(), batch))
	must(t, s.Write(t.Context(), append(batch[:1:1], batch[0])))
	if got, want := s.Stats(), (sqlitelogs.Stats{Written: 300, Duplicates: 201}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	r, err := s.Get(t.Context(), batch[0].ID)
	must(t, err)
	if len(r.Feedback) != 2 || r.Content == nil {
		t.Errorf("%+v", r)
	}
}

func TestRecordsThatCannotBeWritten(t *testing.T) {
	s := fresh(t)
	batch := records(10)
	batch[5].ID = ""
	err := s.Write(t.Context(), batch)
	if err == nil || !strings.HasPrefix(err.Error(), "sqlite: write: 1 of 10 records were refused") {
		t.Errorf("%v", err)
	}
	if got := all(t, s, logs.Query{}); len(got) != 9 || s.Stats().Refused != 1 {
		t.Errorf("%v, %+v", got, s.Stats())
	}
}

func TestHostileQueries(t *testing.T) {
	s := fresh(t)
	list := logstest.Records()
	texts := []string{
		`'; DROP TABLE records; --`, `" OR 1=1 --`, `\`, `\'`, `%`, `_`, `?1`, `{records}`, `%s`, `%!d(string)`, `$."a"`, `a"b`, `[0]`, "new\nline", "\t", "👩‍🚀", "$", "\u2028", "é", ")", "<&>",
	}
	for i := range list {
		list[i].Metadata = map[string]string{}
		for j, text := range texts {
			if (i+j)%3 == 0 {
				list[i].Metadata[text] = texts[(i+j)%len(texts)]
			}
		}
		list[i].User = texts[i]
	}
	must(t, s.Write(t.Context(), list))
	slices.Reverse(list)
	for _, text := range texts {
		for _, op := range []logs.Op{logs.Eq, logs.Ne, logs.Lt, logs.Lte, logs.Gt, logs.Gte, logs.In, logs.NotIn, logs.Prefix} {
			for _, field := range []string{"user", "metadata." + text, "metadata." + texts[0]} {
				check(t, s, list, logs.Query{Filters: []logs.Filter{{Field: field, Op: op, Values: []string{text}}}})
			}
		}
		check(t, s, list, logs.Query{Search: text})
		if _, err := s.Query(t.Context(), logs.Query{Filters: []logs.Filter{{Field: text, Op: logs.Eq, Values: []string{text}}}}); err == nil {
			t.Errorf("the field %q is taken", text)
		}
		if _, err := s.Get(t.Context(), text); !errors.Is(err, logs.ErrNotFound) {
			t.Errorf("Get(%q): %v", text, err)
		}
	}
}

// check holds what is found against what is meant among the list, the newest first.
func check(t *testing.T, s logs.Store, list []logs.Record, q logs.Query) {
	t.Helper()
	m, err := logs.Compile(q)
	must(t, err)
	var want []string
	for i := range list {
		if m.Match(&list[i]) {
			want = append(want, list[i].ID)
		}
	}
	if got := all(t, s, q); !slices.Equal(want, got) {
		t.Errorf("%+v: got %v, want %v", q, got, want)
	}
}

// TestLongWords has some that differ in their ends only.
func TestLongWords(t *testing.T) {
	s := fresh(t)
	letters := make([]byte, 20_000)
	for i := range letters {
		letters[i] = byte('a' + rand.IntN(26))
	}
	long := string(letters[:4000])
	words := []string{long, long[:3999], long[:1001], long[:1000], long[:950], long[:900], long[:897], long[:896], long[:895], long[:3999] + "é", "a", "z", long[:899] + "é" + long[:3000], long[:897] + "é"}
	list := make([]logs.Record, len(words))
	for i, w := range words {
		list[i] = record(i)
		list[i].User, list[i].Metadata = w, map[string]string{"k": w}
	}
	list[0].ID += string(letters)
	must(t, s.Write(t.Context(), list))
	if r, err := s.Get(t.Context(), list[0].ID); err != nil || r.ID != list[0].ID {
		t.Errorf("%v", err)
	}
	for _, field := range []string{"user", "metadata.k"} {
		for _, w := range words {
			for _, op := range []logs.Op{logs.Eq, logs.Ne, logs.Lt, logs.Lte, logs.Gt, logs.Gte, logs.In, logs.NotIn, logs.Prefix} {
				check(t, s, list, logs.Query{Filters: []logs.Filter{{Field: field, Op: op, Values: []string{w}}}})
			}
		}
	}
}

// TestQueriesWithManyValues has more than a statement takes.
func TestQueriesWithManyValues(t *testing.T) {
	s := fresh(t)
	must(t, s.Write(t.Context(), records(2)))
	values := make([]string, 1000)
	for i := range values {
		values[i] = fmt.Sprintf("v-%d", i)
	}
	q := logs.Query{}
	for range 30 {
		q.Filters = append(q.Filters, logs.Filter{Field: "id", Op: logs.NotIn, Values: values})
	}
	if got := all(t, s, q); len(got) != 2 {
		t.Errorf("%v", got)
	}
	for range 10 {
		q.Filters = append(q.Filters, logs.Filter{Field: "id", Op: logs.NotIn, Values: values})
	}
	if _, err := s.Query(t.Context(), q); err == nil || !strings.Contains(err.Error(), "32766") {
		t.Errorf("%v", err)
	}
}

func TestRetentionByAge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	batch := records(2600)
	must(t, open(t, path).Write(t.Context(), batch))
	s := open(t, path, sqlitelogs.WithMaxAge(500*time.Second))
	must(t, s.Write(t.Context(), []logs.Record{record(0)}))
	if got := s.Stats().Deleted; got != 2000 {
		t.Errorf("the first batch deletes %d", got)
	}
	must(t, s.Write(t.Context(), []logs.Record{record(1)})) // goes on
	got := all(t, s, logs.Query{})
	if n := s.Stats().Deleted; int(n)+len(got) != 2602 || n < 2090 || n > 2300 {
		t.Errorf("%d are deleted, %d there", n, len(got))
	}
	db := database(t, path)
	for _, table := range []string{"contents", "records"} {
		n := 0
		must(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n))
		if n != len(got) {
			t.Errorf("%s has %d rows", table, n)
		}
	}
	must(t, s.Write(t.Context(), batch[2500:2501])) // too old already, and not deleted before the next minute
	if n := len(all(t, s, logs.Query{})); n != len(got)+1 {
		t.Errorf("%d records", n)
	}
}

func TestRetentionByNumber(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	first, second := open(t, path, sqlitelogs.WithMaxRecords(50)), open(t, path, sqlitelogs.WithMaxRecords(50))
	batch := records(2000)
	must(t, open(t, path).Write(t.Context(), batch))
	must(t, first.AddFeedback(t.Context(), logs.Feedback{RecordID: batch[1999].ID, Value: 1}))
	var running sync.WaitGroup
	for _, s := range []*sqlitelogs.Store{first, second} {
		running.Go(func() {
			if _, err := s.Prune(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	sum := first.Stats().Deleted + second.Stats().Deleted
	if got := all(t, first, logs.Query{}); sum != 1950 || len(got) != 50 || got[0] != batch[0].ID || got[49] != batch[49].ID {
		t.Errorf("%d are deleted, %d there", sum, len(got))
	}
	n := 1
	must(t, database(t, path).QueryRowContext(t.Context(), `SELECT count(*) FROM feedback`).Scan(&n))
	if n != 0 {
		t.Errorf("feedback of %d is there still", n)
	}
}

func TestFeedbackAtOnceAndItsBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	stores := []*sqlitelogs.Store{open(t, path), open(t, path)}
	must(t, stores[0].Write(t.Context(), records(1)))
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			for range 15 {
				_ = stores[i%2].AddFeedback(t.Context(), logs.Feedback{RecordID: "r-00000", Value: 2})
			}
		})
	}
	running.Wait()
	r, err := stores[1].Get(t.Context(), "r-00000")
	must(t, err)
	if len(r.Feedback) != 100 {
		t.Errorf("%d are kept", len(r.Feedback))
	}
}

func TestRowsOfOthersAreLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	s := open(t, path)
	must(t, s.Write(t.Context(), records(3)))
	_, err := database(t, path).ExecContext(t.Context(), `UPDATE records SET record = '[1]' WHERE id = 'r-00001'`)
	must(t, err)
	if got := all(t, s, logs.Query{}); len(got) != 2 || s.Stats().Unreadable != 1 {
		t.Errorf("%v, %+v", got, s.Stats())
	}
	if _, err := s.Get(t.Context(), "r-00001"); err == nil {
		t.Error("no error")
	}
}

func TestAfterClose(t *testing.T) {
	s := fresh(t)
	must(t, s.Close())
	_, get := s.Get(t.Context(), "a")
	_, query := s.Query(t.Context(), logs.Query{})
	for what, err := range map[string]error{"get": get, "query": query, "write": s.Write(t.Context(), records(1)), "feedback": s.AddFeedback(t.Context(), logs.Feedback{RecordID: "a"})} {
		if !errors.Is(err, sqlitelogs.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAnotherWriterHoldsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	s, err := sqlitelogs.Open(path, sqlitelogs.WithTimeout(200*time.Millisecond))
	must(t, err)
	defer func() { must(t, s.Close()) }()
	must(t, s.Write(t.Context(), records(2)))
	conn, err := database(t, path).Conn(t.Context())
	must(t, err)
	_, err = conn.ExecContext(t.Context(), `BEGIN IMMEDIATE`)
	must(t, err)
	start := time.Now()
	if err := s.Write(t.Context(), []logs.Record{record(7)}); err == nil || !strings.HasPrefix(err.Error(), "sqlite: write: ") {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := all(t, s, logs.Query{}); len(got) != 2 {
		t.Errorf("readers wait: %v", got)
	}
	_, err = conn.ExecContext(context.Background(), `ROLLBACK`)
	must(t, err)
	must(t, s.Write(t.Context(), []logs.Record{record(7)}))
	if st := s.Stats(); st.Failed != 1 || st.Written != 3 || st.Damaged != 0 {
		t.Errorf("%+v", st)
	}
}

func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, o := range []sqlitelogs.Option{sqlitelogs.WithTimeout(0), sqlitelogs.WithMaxAge(0), sqlitelogs.WithMaxRecords(0)} {
		if _, err := sqlitelogs.Open(filepath.Join(dir, "a.db"), o); err == nil {
			t.Error("a mistake is not refused")
		}
	}
	for _, path := range []string{filepath.Join(dir, "none", "calls.db"), dir} {
		if _, err := sqlitelogs.Open(path); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
	// The file of a response cache is not one of records.
	path := filepath.Join(dir, "answers.db")
	c, err := sqlite.Open(path)
	must(t, err)
	must(t, c.Close())
	if _, err := sqlitelogs.Open(path); err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("%v", err)
	}
}
