package pglogs_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/b650d4bf/gateway/cache/postgres/pglogs"
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

func TestColumnsAreFields(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	s, name := open(t, url)
	must(t, s.Migrate(t.Context()))
	for _, f := range logs.Fields() {
		typ := ""
		err := connect(t, url).QueryRow(t.Context(), `SELECT data_type FROM information_schema.columns WHERE table_name = $1 AND column_name = $2`, name+"records", f.Name).Scan(&typ)
		want := map[logs.Kind]string{logs.Word: "text", logs.Number: "double precision", logs.Flag: "boolean"}[f.Kind]
		if err != nil || typ != want {
			t.Errorf("%s is %q, %v; want %s", f.Name, typ, err, want)
		}
	}
}

func TestManyProcessesStartAtOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		name := prefix()
		t.Cleanup(func() { drop(t, url, name) })
		const processes = 6
		batch := records(200)
		var running sync.WaitGroup
		stores := make([]*pglogs.Store, processes)
		for i := range stores {
			stores[i] = openAs(t, url, name)
			running.Go(func() {
				own := slices.Clone(batch)
				rand.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
				if err := stores[i].Write(t.Context(), own); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		var sum pglogs.Stats
		for _, s := range stores {
			got := s.Stats()
			sum.Written, sum.Duplicates, sum.Failed = sum.Written+got.Written, sum.Duplicates+got.Duplicates, sum.Failed+got.Failed
		}
		if want := (pglogs.Stats{Written: 200, Duplicates: 200 * (processes - 1)}); sum != want {
			t.Errorf("%+v, want %+v", sum, want)
		}
		if got := all(t, stores[0], logs.Query{}); len(got) != len(batch) || got[0] != batch[0].ID {
			t.Errorf("%d records, the first is %q", len(got), got[0])
		}
	})
}

func TestBatchThatIsWrittenAgain(t *testing.T) {
	s, _ := open(t, serverURL(t, "GATEWAY_TEST_POSTGRES"))
	batch := records(1203) // more than one statement
	batch[0].Feedback = []logs.Feedback{{RecordID: batch[0].ID, Value: 3}}
	must(t, s.Write(t.Context(), batch[:700]))
	must(t, s.AddFeedback(t.Context(), logs.Feedback{RecordID: batch[0].ID, Value: 5}))
	must(t, s.Write(t.Context(), batch))
	must(t, s.Write(t.Context(), append(batch[:1:1], batch[0])))
	if got, want := s.Stats(), (pglogs.Stats{Written: 1203, Duplicates: 701}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	r, err := s.Get(t.Context(), batch[0].ID)
	must(t, err)
	if len(r.Feedback) != 2 || r.Content == nil {
		t.Errorf("%+v", r)
	}
}

// TestRecordsThatTheServerRefuses has a constraint of the table's owner.
func TestRecordsThatTheServerRefuses(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	s, name := open(t, url)
	must(t, s.Migrate(t.Context()))
	_, err := connect(t, url).Exec(t.Context(), `ALTER TABLE `+name+`records ADD CHECK (model <> 'secret-poison')`)
	must(t, err)
	batch := records(10)
	batch[3].Model, batch[7].Model = "secret-poison", "secret-poison"
	batch[5].ID = ""
	err = s.Write(t.Context(), batch)
	if err == nil || !strings.HasPrefix(err.Error(), "postgres: write: 3 of 10 records were refused") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	if got := all(t, s, logs.Query{}); len(got) != 7 {
		t.Errorf("%v", got)
	}
	if got, want := s.Stats(), (pglogs.Stats{Written: 7, Refused: 3, Failed: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestHostileQueries(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		s, _ := open(t, url)
		list := logstest.Records()
		texts := []string{
			`'; DROP TABLE records; --`, `" OR 1=1 --`, `\`, `\'`, `%`, `_`, `$1`, `{records}`, `%s`, `%!d(string)`, `$."a"`, `a"b`, `[0]`, "new\nline", "\t", "👩‍🚀", "$$", "E'\\x00'", "é", ")",
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
					q := logs.Query{Filters: []logs.Filter{{Field: field, Op: op, Values: []string{text}}}}
					check(t, s, list, q)
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
	})
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

// TestLongWords has some that no index takes, and that differ in their ends only.
func TestLongWords(t *testing.T) {
	s, _ := open(t, serverURL(t, "GATEWAY_TEST_POSTGRES"))
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
	list[0].ID += string(letters) // which Get finds
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

func TestTimesThatAreFarAway(t *testing.T) {
	s, _ := open(t, serverURL(t, "GATEWAY_TEST_POSTGRES"))
	list := records(4)
	list[0].Time = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	list[2].Time, list[3].Time = time.Date(1200, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}
	must(t, s.Write(t.Context(), list))
	if got := all(t, s, logs.Query{}); !slices.Equal(got, []string{list[0].ID, list[1].ID, list[3].ID, list[2].ID}) {
		t.Errorf("%v", got)
	}
	r, err := s.Get(t.Context(), list[0].ID)
	if err != nil || !r.Time.Equal(list[0].Time) {
		t.Errorf("%v, %v", r, err)
	}
	if got := all(t, s, logs.Query{From: time.Date(1300, 1, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC)}); !slices.Contains(got, list[1].ID) || slices.Contains(got, list[0].ID) {
		t.Errorf("%v", got)
	}
}

func TestRetentionByAge(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	first, name := open(t, url)
	batch := records(4600)
	must(t, first.Write(t.Context(), batch))
	s := openAs(t, url, name, pglogs.WithMaxAge(500*time.Second))
	must(t, s.Write(t.Context(), []logs.Record{record(0)}))
	if got := s.Stats().Deleted; got != 4000 {
		t.Errorf("the first batch deletes %d", got)
	}
	must(t, s.Write(t.Context(), []logs.Record{record(1)})) // goes on
	got := all(t, s, logs.Query{})
	if n := s.Stats().Deleted; int(n)+len(got) != 4602 || n < 4090 || n > 4300 {
		t.Errorf("%d are deleted, %d there", n, len(got))
	}
	for _, table := range []string{"contents", "records"} {
		n := 0
		must(t, connect(t, url).QueryRow(t.Context(), `SELECT count(*) FROM `+name+table).Scan(&n))
		if n != len(got) {
			t.Errorf("%s has %d rows", table, n)
		}
	}
	must(t, s.Write(t.Context(), batch[4500:4501])) // too old already, and not deleted before the next minute
	if n := len(all(t, s, logs.Query{})); n != len(got)+1 {
		t.Errorf("%d records", n)
	}
}

func TestRetentionByNumber(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	first, name := open(t, url, pglogs.WithMaxRecords(50))
	second := openAs(t, url, name, pglogs.WithMaxRecords(50))
	batch := records(3000)
	must(t, openAs(t, url, name).Write(t.Context(), batch))
	var running sync.WaitGroup
	sum := 0
	var mu sync.Mutex
	for _, s := range []*pglogs.Store{first, second} {
		running.Go(func() {
			n, err := s.Prune(t.Context())
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			sum += n
			mu.Unlock()
		})
	}
	running.Wait()
	n, err := first.Prune(t.Context())
	must(t, err)
	if got := all(t, first, logs.Query{}); sum+n != 2950 || len(got) != 50 || got[0] != batch[0].ID || got[49] != batch[49].ID {
		t.Errorf("%d are deleted, %d there", sum+n, len(got))
	}
}

func TestPoolIsNotHeld(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	name := prefix()
	t.Cleanup(func() { drop(t, url, name) })
	p := connect(t, url, func(c *pgxpool.Config) { c.MaxConns = 1 })
	s, err := pglogs.New(p, pglogs.WithPrefix(name), pglogs.WithTimeout(20*time.Second))
	must(t, err)
	must(t, s.Write(t.Context(), records(20)))
	for range 5 {
		page, err := s.Query(t.Context(), logs.Query{Limit: 3}) // leaves rows unread
		must(t, err)
		must(t, s.AddFeedback(t.Context(), logs.Feedback{RecordID: page.Records[0].ID, Value: 1}))
	}
	if got := p.Stat().AcquiredConns(); got != 0 {
		t.Errorf("%d connections are held", got)
	}
}

func TestFeedbackAtOnceAndItsBound(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	s, name := open(t, url)
	other := openAs(t, url, name)
	must(t, s.Write(t.Context(), records(1)))
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			for range 15 {
				_ = []*pglogs.Store{s, other}[i%2].AddFeedback(t.Context(), logs.Feedback{RecordID: "r-00000", Value: 2})
			}
		})
	}
	running.Wait()
	r, err := s.Get(t.Context(), "r-00000")
	must(t, err)
	if len(r.Feedback) != 100 {
		t.Errorf("%d are kept", len(r.Feedback))
	}
	if got := all(t, s, logs.Query{Filters: []logs.Filter{{Field: "feedback", Op: logs.Eq, Values: []string{"2"}}}}); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestMistakesInOptions(t *testing.T) {
	p, err := pgxpool.New(t.Context(), "postgres://127.0.0.1:1/x")
	must(t, err)
	defer p.Close()
	for _, o := range []pglogs.Option{
		pglogs.WithPrefix("A"), pglogs.WithPrefix(""), pglogs.WithSchema("a-b"), pglogs.WithTimeout(0), pglogs.WithMaxAge(0), pglogs.WithMaxRecords(0),
	} {
		if _, err := pglogs.New(p, o); err == nil || !strings.HasPrefix(err.Error(), "postgres: ") {
			t.Errorf("a mistake is not refused: %v", err)
		}
	}
	if _, err := pglogs.New(nil); err == nil {
		t.Error("no pool is no mistake")
	}
}
