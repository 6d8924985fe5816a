package logsapi

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
)

func ids(p logs.Page) (out []string) {
	for _, r := range p.Records {
		out = append(out, r.ID)
	}
	return out
}

func TestPagesOfRecords(t *testing.T) {
	h := newHandler(t)
	for query, want := range map[string][]string{
		"":                             {"r-4", "r-3", "r-2", "r-1"},
		"model=flash,pro":              {"r-3", "r-2", "r-1"},
		"model=flash&model=pro":        {"r-3", "r-2", "r-1"},
		"cost_usd[gte]=0.000004":       {"r-1"},
		"failed=true":                  {"r-4"},
		"user[missing]=true":           {"r-4"},
		"metadata.team[missing]=false": {"r-3"},
		"q=TOO%20slow":                 {"r-4"},
		"from=2026-03-29T00:00:00Z":    {"r-4", "r-3"},
		"to=" + fmt.Sprint(noon.Add(-25*time.Hour).Unix()): {"r-1"},
		"key_id=k1&operation=embeddings":                   nil,
	} {
		t.Run(query, func(t *testing.T) {
			if d := cmp.Diff(want, ids(get[logs.Page](t, h, "/logs?"+query))); d != "" {
				t.Errorf("records (-want +got)\n%s", d)
			}
		})
	}
}

func TestPagesFollowEachOther(t *testing.T) {
	h := newHandler(t)
	var all []string
	cursor := ""
	for range 4 {
		p := get[logs.Page](t, h, "/logs?limit=1&cursor="+url.QueryEscape(cursor))
		all = append(all, ids(p)...)
		cursor = p.Next
	}
	if d := cmp.Diff([]string{"r-4", "r-3", "r-2", "r-1"}, all); d != "" || cursor != "" {
		t.Errorf("cursor %q, records (-want +got)\n%s", cursor, d)
	}
	if body := text(t, ask(t, h, http.MethodGet, "/logs?model=none", "")); body != `{"data":[]}` {
		t.Errorf("an empty page is %s", body)
	}
}

func TestOneRecordHasItsContentAndPagesHaveNone(t *testing.T) {
	h := newHandler(t)
	r := get[logs.Record](t, h, "/logs/r-1")
	if r.Content == nil || string(r.Content.Request) != `{"secret":"prompt"}` {
		t.Errorf("content = %+v, want the request", r.Content)
	}
	for _, path := range []string{"/logs", "/logs/export", "/logs/export?format=csv"} {
		if body := text(t, ask(t, h, http.MethodGet, path, "")); strings.Contains(body, "secret") {
			t.Errorf("GET %s has content: %s", path, body)
		}
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	long := strings.Repeat("a", 300)
	for _, tt := range []struct {
		name, method, target, body string
		status                     int
		param, says                string
	}{
		{"an unknown parameter", "GET", "/logs?modle=a", "", 400, "modle", "did you mean model"},
		{"one of another path", "GET", "/logs?group_by=model", "", 400, "group_by", "no such parameter"},
		{"one that is like nothing", "GET", "/logs?%00%ff" + long + "=1", "", 400, "??" + long[:62], "GET logs/fields"},
		{"limit of a report", "GET", "/analytics?limit=3", "", 400, "limit", "no such parameter"},
		{"search of a report", "GET", "/analytics?q=a", "", 400, "q", "no such parameter"},
		{"a misspelt one of a report", "GET", "/analytics?groupby=model", "", 400, "groupby", "did you mean group_by"},
		{"limit of an export", "GET", "/logs/export?limit=3", "", 400, "limit", "no such parameter"},
		{"a parameter of a record", "GET", "/logs/r-1?model=a", "", 400, "model", "takes no parameters"},
		{"a parameter of the fields", "GET", "/logs/fields?x=1", "", 400, "x", "takes no parameters"},
		{"a parameter of feedback", "POST", "/feedback?x=1", `{"value":1}`, 400, "x", "takes no parameters"},
		{"a bad time", "GET", "/logs?from=yesterday", "", 400, "from", "RFC 3339"},
		{"a bad limit", "GET", "/logs?limit=0", "", 400, "limit", "between 1 and 1000"},
		{"a limit twice", "GET", "/logs?limit=1&limit=2", "", 400, "limit", "more than once"},
		{"a format twice", "GET", "/logs/export?format=csv&format=csv", "", 400, "format", "more than once"},
		{"a bad format", "GET", "/logs/export?format=xml", "", 400, "format", "jsonl or csv"},
		{"a bad comparison", "GET", "/logs?model[is]=a", "", 400, "model", "no such comparison"},
		{"a bad number", "GET", "/analytics?cost_usd[gt]=much", "", 400, "cost_usd", "decimal number"},
		{"a bad cursor", "GET", "/logs?cursor=AAAA", "", 400, "cursor", "next_cursor"},
		{"a bad escape", "GET", "/logs?model=%zz", "", 400, "query", "must be escaped"},
		{"a long query", "GET", "/logs?model=" + strings.Repeat("a", maxQuery), "", 400, "query", "over the limit"},
		{"bad steps", "GET", "/analytics?every=often", "", 400, "every", "such as 15m"},
		{"steps of nothing", "GET", "/analytics?every=0s", "", 400, "every", "such as 15m"},
		{"no days", "GET", "/analytics?every=d", "", 400, "every", "such as 15m"},
		{"too many days", "GET", "/analytics?every=9999999999d", "", 400, "every", "such as 15m"},
		{"too many steps", "GET", "/analytics?every=1s", "", 400, "every", "more than 1000 steps"},
		{"a bad group", "GET", "/analytics?group_by=model,usr", "", 400, "group_by", "did you mean user"},
		{"a bad top", "GET", "/analytics?top=many", "", 400, "top", "from 1 to 1000"},
		{"no such report", "GET", "/analytics/moods", "", 404, "", "requests, tokens, cost, latency, errors, cache, users, feedback"},
		{"no such record", "GET", "/logs/r-9", "", 404, "", "no such record"},
		{"no such record to say something of", "POST", "/logs/r-9/feedback", `{"value":1}`, 404, "", "no such record"},
		{"no such path", "GET", "/logs/r-1/content", "", 404, "", "POST logs/{id}/feedback"},
		{"a path upwards", "GET", "/logs/../analytics", "", 404, "", "no such path"},
		{"an id with a slash", "GET", "/logs/a%2Fb", "", 404, "", "no such path"},
		{"an id of dots", "GET", "/logs/%2e%2e", "", 404, "", "no such record"},
		{"an id of zeros", "GET", "/logs/%00%00", "", 404, "", "no such record"},
		{"a long id", "GET", "/logs/" + strings.Repeat("a", 1<<16), "", 404, "", "no such record"},
		{"an id that would be SQL", "GET", "/logs/'%20OR%201=1%20--", "", 404, "", "no such record"},
		{"the root", "GET", "/", "", 404, "", "GET logs"},
		{"a wrong method", "POST", "/logs", "", 405, "", "use GET"},
		{"a wrong method for feedback", "GET", "/feedback", "", 405, "", "use POST"},
		{"a wrong method for a record", "DELETE", "/logs/r-1", "", 405, "", "use GET"},
		{"a wrong method for a record's feedback", "PUT", "/logs/r-1/feedback", "", 405, "", "use POST"},
		{"no body", "POST", "/logs/r-1/feedback", ``, 400, "", "JSON object"},
		{"null", "POST", "/logs/r-1/feedback", `null`, 400, "", "JSON object"},
		{"a list", "POST", "/logs/r-1/feedback", `[1]`, 400, "", "JSON object"},
		{"no value", "POST", "/logs/r-1/feedback", `{"weight":1}`, 400, "value", "is missing"},
		{"a high value", "POST", "/logs/r-1/feedback", `{"value":11}`, 400, "value", "from -10 to 10"},
		{"half a value", "POST", "/logs/r-1/feedback", `{"value":0.5}`, 400, "value", "whole number"},
		{"a value as text", "POST", "/logs/r-1/feedback", `{"value":"5"}`, 400, "value", "whole number"},
		{"an endless value", "POST", "/logs/r-1/feedback", `{"value":1e999}`, 400, "value", "whole number"},
		{"no weight", "POST", "/logs/r-1/feedback", `{"value":1,"weight":0}`, 400, "weight", "over 0"},
		{"a heavy one", "POST", "/logs/r-1/feedback", `{"value":1,"weight":1.1}`, 400, "weight", "at most 1"},
		{"a comment that is none", "POST", "/logs/r-1/feedback", `{"value":1,"comment":{}}`, 400, "comment", "must be a text"},
		{"a long comment", "POST", "/logs/r-1/feedback", `{"value":1,"comment":"` + strings.Repeat("a", 5000) + `"}`, 400, "comment", "bytes at most"},
		{"metadata of numbers", "POST", "/logs/r-1/feedback", `{"value":1,"metadata":{"a":1}}`, 400, "metadata", "object of texts"},
		{"a misspelt member", "POST", "/logs/r-1/feedback", `{"value":1,"coment":"a"}`, 400, "coment", "did you mean comment"},
		{"another record", "POST", "/logs/r-1/feedback", `{"value":1,"record_id":"r-2"}`, 400, "record_id", "the path names the record"},
		{"a trace in a path", "POST", "/logs/r-1/feedback", `{"value":1,"trace_id":"r-1"}`, 400, "record_id", "the path names the record"},
		{"no record", "POST", "/feedback", `{"value":1}`, 400, "record_id", "name one record"},
		{"two records", "POST", "/feedback", `{"value":1,"record_id":"r-1","trace_id":"r-1"}`, 400, "record_id", "name one record"},
		{"a large body", "POST", "/feedback", `{"value":1,"comment":"` + strings.Repeat("a", maxFeedback) + `"}`, 413, "", "over the limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := ask(t, newHandler(t), tt.method, tt.target, tt.body)
			if tt.status == http.StatusNotFound && strings.Contains(tt.says, "no such record") {
				w := ask(t, newHandler(t), tt.method, tt.target, tt.body)
				if body := text(t, w); !strings.Contains(body, `"code":"not_found"`) {
					t.Errorf("body %s has another code than not_found", body)
				}
			}
			refused(t, res, tt.status, tt.param, tt.says)
			if got := res.Header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control = %q", got)
			}
		})
	}
}

func TestFeedbackIsKeptWithItsRecord(t *testing.T) {
	h := newHandler(t)
	for _, tt := range []struct{ target, body string }{
		{"/logs/r-1/feedback", `{"value":10,"comment":"great <b>","metadata":{"by":"ann"}}`},
		{"/feedback", `{"record_id":"r-1","value":-5.0,"weight":0.5}`},
		{"/feedback", `{"trace_id":"r-1","value":0,"weight":0.25,"comment":null}`},
	} {
		res := ask(t, h, http.MethodPost, tt.target, tt.body)
		if body := text(t, res); res.StatusCode != http.StatusCreated || !strings.Contains(body, `"record_id":"r-1"`) {
			t.Fatalf("POST %s: status %d: %s", tt.target, res.StatusCode, body)
		}
	}
	want := []logs.Feedback{
		{RecordID: "r-1", Time: noon, Value: 10, Comment: "great <b>", Metadata: map[string]string{"by": "ann"}},
		{RecordID: "r-1", Time: noon, Value: -5, Weight: 0.5},
		{RecordID: "r-1", Time: noon, Weight: 0.25},
	}
	if d := cmp.Diff(want, get[logs.Record](t, h, "/logs/r-1").Feedback); d != "" {
		t.Errorf("feedback (-want +got)\n%s", d)
	}
}

func TestExportsHaveEveryRecordOfTheQuery(t *testing.T) {
	h := newHandler(t)
	res := ask(t, h, http.MethodGet, "/logs/export?failed=false", "")
	var have []string
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		var r logs.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		have = append(have, r.ID)
	}
	if d := cmp.Diff([]string{"r-3", "r-2", "r-1"}, have); d != "" {
		t.Errorf("records (-want +got)\n%s", d)
	}
	want := http.Header{
		"Content-Type": {"application/jsonl"}, "Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"},
		"Content-Disposition": {`attachment; filename="logs-20260329T120000Z.jsonl"`},
	}
	if d := cmp.Diff(want, res.Header); d != "" {
		t.Errorf("header (-want +got)\n%s", d)
	}
	res = ask(t, h, http.MethodGet, "/logs/export?format=csv&from=2026-03-29T00:00:00Z", "")
	rows, err := csv.NewReader(res.Body).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v; want a head and 2", len(rows), err)
	}
	cell := func(row int, name string) string {
		for i, n := range rows[0] {
			if n == name {
				return rows[row][i]
			}
		}
		t.Fatalf("no column %s in %q", name, rows[0])
		return ""
	}
	got := []string{cell(1, "time"), cell(1, "id"), cell(1, "model"), cell(1, "total_tokens"), cell(2, "total_tokens"), cell(2, "duration_ms"), cell(2, "metadata")}
	if d := cmp.Diff([]string{"2026-03-29T11:59:00Z", "r-4", "'=1+1", "", "150", "3000", `{"team":"=cmd|' /C calc'!A0"}`}, got); d != "" {
		t.Errorf("cells (-want +got)\n%s", d)
	}
}

// longStore has pages without end, or ones that fail after the first.
type longStore struct {
	logs.Store
	pages int
	fails bool
}

func (s *longStore) Query(_ context.Context, q logs.Query) (*logs.Page, error) {
	if s.fails && q.Cursor != "" {
		return nil, errors.New("the disk at /secret is gone")
	}
	s.pages++
	return &logs.Page{Records: []logs.Record{{ID: "r"}}, Next: fmt.Sprint(s.pages)}, nil
}

func TestAnExportThatBreaksCantLookWhole(t *testing.T) {
	srv := httptest.NewServer(New(&longStore{fails: true}, nil))
	defer srv.Close()
	res, err := http.Get(srv.URL + "/logs/export")
	if err != nil {
		return // nothing of it arrived
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "secret") {
			t.Errorf("the error is told: %s", lines.Text())
		}
	}
	if lines.Err() == nil {
		t.Error("the body ended as if it were whole")
	}
}

func TestAnExportIsMadeAsItIsRead(t *testing.T) {
	store := &longStore{}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/logs/export", nil)
	a, err := New(store, nil).Answer(r, "logs/export", nil)
	if err != nil {
		t.Fatal(err)
	}
	if store.pages != 1 {
		t.Errorf("%d pages were read at once, want 1", store.pages)
	}
	unread, err := New(store, nil).Answer(r, "logs/export", nil)
	if err != nil || unread.Stream.Close() != nil {
		t.Fatal(err)
	}
	if n, err := unread.Stream.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("read of what was closed before: %d, %v", n, err)
	}
	store.pages = 1
	p := make([]byte, 50)
	for range 1000 {
		if _, err := a.Stream.Read(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Stream.Close(); err != nil { // it would go on for ever
		t.Fatal(err)
	}
	if store.pages > 2000 || store.pages < 10 {
		t.Errorf("%d pages were read for 50 kB", store.pages)
	}
	if _, err := a.Stream.Read(p); err == nil {
		t.Error("a closed body can be read")
	}
	w := ask(t, New(store, nil), http.MethodHead, "/logs/export", "")
	if body := text(t, w); body != "" || w.StatusCode != http.StatusOK {
		t.Errorf("HEAD: status %d, body %q", w.StatusCode, body)
	}
}

func TestWhatBreaksInsideIsNotTold(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		status int
	}{
		"broken":   {errors.New("dial postgres://user:secret@host"), 500},
		"canceled": {context.Canceled, 499},
		"late":     {context.DeadlineExceeded, 504},
	} {
		t.Run(name, func(t *testing.T) {
			res := ask(t, New(&brokenStore{err: tt.err}, nil), http.MethodGet, "/logs", "")
			body := text(t, res)
			if res.StatusCode != tt.status || strings.Contains(body, "secret") {
				t.Errorf("status %d, want %d; body %s", res.StatusCode, tt.status, body)
			}
		})
	}
}

type brokenStore struct {
	logs.Store
	err error
}

func (s *brokenStore) Query(context.Context, logs.Query) (*logs.Page, error) { return nil, s.err }

func TestFieldsAreListedWithTheirComparisons(t *testing.T) {
	type field struct {
		Name, Kind, Doc string
		Ops             []string
	}
	all := get[struct{ Data []field }](t, newHandler(t), "/logs/fields").Data
	if len(all) != len(logs.Fields())+1 {
		t.Errorf("%d fields, want %d and metadata", len(all), len(logs.Fields()))
	}
	have := map[string]field{}
	for _, f := range all {
		have[f.Name] = f
	}
	want := map[string]field{
		"failed":       {"failed", "flag", "whether the call failed", []string{"in", "nin", "eq", "ne", "missing"}},
		"cost_usd":     {"cost_usd", "number", "US dollars", []string{"in", "nin", "eq", "ne", "lt", "lte", "gt", "gte", "missing"}},
		"metadata.KEY": {"metadata.KEY", "word", "an entry of the metadata", []string{"in", "nin", "eq", "ne", "lt", "lte", "gt", "gte", "prefix", "missing"}},
	}
	for name, w := range want {
		if d := cmp.Diff(w, have[name]); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}
