package logsapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/analytics"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/logs"
)

func TestReports(t *testing.T) {
	h := newHandler(t)
	r := get[analytics.Report](t, h, "/analytics?from=2026-03-27T00:00:00Z&to=2026-03-30T00:00:00Z&group_by=model,failed&every=1d&top=2&model[ne]=none")
	if r.Total.Requests != 4 || r.Total.Errors != 1 || r.Total.Cost != 4_000 || r.Total.Tokens.Total != 165 || r.Total.Unpriced != 1 {
		t.Errorf("total = %+v", r.Total)
	}
	var keys []string
	for _, g := range r.Groups {
		keys = append(keys, strings.Join(g.Key, "/"))
	}
	if d := cmp.Diff([]string{"flash/false", "=1+1/true"}, keys); d != "" || r.Other == nil || r.Other.Requests != 1 {
		t.Errorf("other = %+v, groups (-want +got)\n%s", r.Other, d)
	}
	if len(r.Series) != 3 || r.Series[2].Totals.Requests != 2 {
		t.Errorf("series = %+v", r.Series)
	}
}

func TestWithoutARangeAReportIsOfADay(t *testing.T) {
	h := newHandler(t)
	h.source = source(func(q analytics.Query) { t.Errorf("from %s to %s every %s by %q", q.From, q.To, q.Every, q.GroupBy) })
	for _, tt := range []struct {
		target string
		want   analytics.Query
	}{
		{"/analytics", analytics.Query{From: noon.Add(-24 * time.Hour)}},
		{"/analytics?to=2026-03-01T10:30:00Z", analytics.Query{From: time.Date(2026, 2, 28, 10, 0, 0, 0, time.UTC), To: time.Date(2026, 3, 1, 10, 30, 0, 0, time.UTC)}},
		{"/analytics?every=1w&top=7", analytics.Query{From: noon.Add(-24 * time.Hour), Every: 7 * 24 * time.Hour, Top: 7}},
		{"/analytics/cache", analytics.Query{From: time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC), Every: 24 * time.Hour}},
		{"/analytics/cache?to=2026-03-01T00:00:00Z&every=2d", analytics.Query{From: time.Date(2026, 1, 30, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Every: 48 * time.Hour}},
		{"/analytics/users", analytics.Query{From: noon.Add(-24 * time.Hour), GroupBy: []string{"user"}}},
		{"/analytics/users?group_by=", analytics.Query{From: noon.Add(-24 * time.Hour), GroupBy: []string{}}},
		{"/analytics/users?group_by=metadata.team", analytics.Query{From: noon.Add(-24 * time.Hour), GroupBy: []string{"metadata.team"}}},
	} {
		t.Run(tt.target, func(t *testing.T) {
			var got analytics.Query
			h.source = source(func(q analytics.Query) { got = q })
			get[map[string]any](t, h, tt.target)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("query (-want +got)\n%s", d)
			}
		})
	}
}

func TestNarrowedReports(t *testing.T) {
	h := newHandler(t)
	for _, n := range Reports() {
		t.Run(n.Name, func(t *testing.T) {
			got := get[struct {
				Total  map[string]any
				Groups []struct {
					Key    []string
					Totals map[string]any
				}
				Series []struct {
					Time   time.Time
					Totals map[string]any
				}
			}](t, h, "/analytics/"+n.Name+"?from=2026-03-27T00:00:00Z&to=2026-03-30T00:00:00Z&group_by=key_id&every=1d")
			if len(got.Groups) != 2 || len(got.Series) != 3 {
				t.Fatalf("%d groups, %d steps", len(got.Groups), len(got.Series))
			}
			for _, totals := range []map[string]any{got.Total, got.Groups[1].Totals, got.Series[2].Totals} {
				if len(totals) != len(n.Members) {
					t.Errorf("totals = %v, want %q", totals, n.Members)
				}
				for _, name := range n.Members {
					if _, ok := totals[name]; !ok {
						t.Errorf("totals = %v have no %s", totals, name)
					}
				}
			}
		})
	}
}

func TestTheCacheByDay(t *testing.T) {
	type day struct {
		Time   time.Time
		Totals struct{ Cache analytics.Cache }
	}
	got := get[struct {
		Total  struct{ Cache analytics.Cache }
		Series []day
	}](t, newHandler(t), "/analytics/cache?from=2026-03-27T00:00:00Z&to=2026-03-30T00:00:00Z")
	var rates []float64
	for _, d := range got.Series {
		rates = append(rates, d.Totals.Cache.HitRate)
	}
	if d := cmp.Diff([]float64{0, 1, 0}, rates); d != "" {
		t.Errorf("daily hit rate (-want +got)\n%s", d)
	}
	c := got.Total.Cache
	if c.HitRate != 1.0/3 || c.Latency.Mean != 10 || c.TimeSaved != 990 || c.MoneySaved != 4_000 {
		t.Errorf("cache = %+v", c)
	}
}

func TestAKeySeesItsOwnRecordsAlone(t *testing.T) {
	h := newHandler(t)
	answerFor := func(method, path, query, body string) (string, error) {
		r := httptest.NewRequestWithContext(t.Context(), method, "/x?"+query, strings.NewReader(body))
		a, err := h.Answer(r, path, new("k1"))
		if err != nil {
			return "", err
		}
		if a.Stream == nil {
			return string(a.JSON), nil
		}
		res := http.Response{Body: a.Stream}
		return text(t, &res), nil
	}
	for _, tt := range []struct{ path, query string }{
		{"logs", ""}, {"logs", "key_id=k2"}, {"logs", "key_id[ne]=k1"}, {"logs", "key_id=k1,k2"}, {"logs", "q=bob"}, {"logs/export", ""}, {"logs/export", "format=csv&key_id=k2"},
		{"analytics", "group_by=user&from=2026-03-01T00:00:00Z"}, {"analytics", "group_by=key_id&key_id=k2"}, {"analytics/users", "from=2026-03-01T00:00:00Z"},
	} {
		got, err := answerFor(http.MethodGet, tt.path, tt.query, "")
		if err != nil || strings.Contains(got, "bob") || strings.Contains(got, `"k2"`) || strings.Contains(got, "r-3") {
			t.Errorf("GET %s?%s = %s, %v: has records of another key", tt.path, tt.query, got, err)
		}
	}
	if got, err := answerFor(http.MethodGet, "logs", "", ""); err != nil || !strings.Contains(got, "r-1") || !strings.Contains(got, "r-2") {
		t.Errorf("GET logs = %s, %v: lacks its own", got, err)
	}
	if got, err := answerFor(http.MethodGet, "analytics", "from=2026-03-01T00:00:00Z", ""); err != nil || !strings.Contains(got, `"requests":2,`) {
		t.Errorf("GET analytics = %s, %v: want 2 requests", got, err)
	}
	if _, err := answerFor(http.MethodGet, "logs/r-1", "", ""); err != nil {
		t.Errorf("its own record: %v", err)
	}
	if _, err := answerFor(http.MethodPost, "feedback", "", `{"record_id":"r-2","value":1}`); err != nil {
		t.Errorf("feedback of its own: %v", err)
	}
	missing, errMissing := answerFor(http.MethodGet, "logs/none", "", "")
	for _, tt := range []struct{ method, path, body string }{
		{"GET", "logs/r-3", ""}, {"POST", "logs/r-3/feedback", `{"value":1}`}, {"POST", "feedback", `{"value":1,"trace_id":"r-3"}`},
	} {
		got, err := answerFor(tt.method, tt.path, "", tt.body)
		if got != missing || err == nil || err.Error() != errMissing.Error() {
			t.Errorf("%s %s = %q, %v; want what a record has that is not there: %v", tt.method, tt.path, got, err, errMissing)
		}
	}
	if r := get[logs.Record](t, h, "/logs/r-3"); len(r.Feedback) != 0 {
		t.Errorf("a stranger's feedback was kept: %+v", r.Feedback)
	}
}

func TestFeedbackIsToldToLiveSums(t *testing.T) {
	live, err := analytics.NewLive(analytics.Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	h := newHandler(t)
	for _, s := range []analytics.Source{live, analytics.Either(live, analytics.Over(h.store))} {
		h.source = s
		if res := ask(t, h, http.MethodPost, "/logs/r-4/feedback", `{"value":4}`); res.StatusCode != http.StatusCreated {
			t.Fatal(text(t, res))
		}
	}
	h.source = live
	got := get[analytics.Report](t, h, "/analytics?from=2026-03-29T11:59:00Z&to=2026-03-29T12:00:00Z")
	if d := cmp.Diff(&analytics.FeedbackTotals{Count: 2, Mean: 4, Positive: 2}, got.Total.Feedback); d != "" {
		t.Errorf("feedback (-want +got)\n%s", d)
	}
}

func TestThePageHasTheReports(t *testing.T) {
	const page = "../../docs/analytics.md"
	var table strings.Builder
	table.WriteString("| path | what | totals | without a word of it |\n|---|---|---|---|\n")
	for _, n := range Reports() {
		var usual []string
		if n.GroupBy != nil {
			usual = append(usual, "`group_by="+strings.Join(n.GroupBy, ",")+"`")
		}
		if n.Every != 0 {
			usual = append(usual, fmt.Sprintf("`every=%dd`", n.Every/(24*time.Hour)))
		}
		if n.Days != 0 {
			usual = append(usual, fmt.Sprintf("the last %d days, today included", n.Days))
		} else {
			usual = append(usual, "the last 24 hours, from a full hour on")
		}
		fmt.Fprintf(&table, "| `/v1/analytics/%s` | %s | `%s` | %s |\n", n.Name, n.Doc, strings.Join(n.Members, "`, `"), strings.Join(usual, ", "))
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- reports -->\n", "<!-- end of reports -->\n"
	before, rest, ok := strings.Cut(string(have), begin)
	_, behind, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the reports", page)
	}
	want := before + begin + table.String() + end + behind
	if testkit.Updating() {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, string(have)); d != "" {
		t.Errorf("%s is not what the table says (-want +page, -update rewrites it)\n%s", page, d)
	}
}

// source keeps what it is asked.
type source func(analytics.Query)

func (s source) Report(_ context.Context, q analytics.Query) (*analytics.Report, error) {
	s(q)
	return &analytics.Report{}, nil
}

// FuzzQuery holds that no query string breaks the handler, that every refusal is an
// error of the client's, and that a key sees nothing of others.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{
		"", "model=a,b&cost_usd[gte]=0.1", "q=%ff&cursor=AAAA", "from=1&to=2&limit=5", "metadata.a[b][ne]=1", "key_id=k2", "[=1", "every=1d&group_by=user,model&top=3",
		"format=csv&from=2026-01-01T00:00:00Z", "every=106751d23h", "from=253402300799&every=1w", "to=-1",
	} {
		f.Add("logs", q)
		f.Add("analytics/cache", q)
		f.Add("logs/export", q)
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		h := newHandler(t)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL.Path, r.URL.RawQuery = "/"+path, query
		a, err := h.Answer(r, path, new("k1"))
		if err != nil {
			if s := failure(err).Status; s < 400 || s > 499 || !json.Valid(failure(err).JSON) {
				t.Fatalf("status %d: %v", s, err)
			}
			return
		}
		body := string(a.JSON)
		if a.Stream != nil {
			body = text(t, &http.Response{Body: a.Stream})
		} else if !json.Valid(a.JSON) {
			t.Fatalf("%q is not JSON", a.JSON)
		}
		if strings.Contains(body, "bob") {
			t.Fatalf("%s?%s shows a record of another key: %s", path, query, body)
		}
	})
}

// FuzzFeedback holds that no body breaks the handler, and that what is kept is in
// its bounds.
func FuzzFeedback(f *testing.F) {
	for _, b := range []string{`{"value":1}`, `{"value":-10,"weight":0.5,"comment":"a","metadata":{"a":"b"},"record_id":"r-1"}`, `{"value":1e1,"trace_id":"r-1"}`, `{`, `[]`, `{"value":1,"value":99}`} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, body string) {
		h := newHandler(t)
		res := ask(t, h, http.MethodPost, "/feedback", body)
		if got := text(t, res); res.StatusCode != http.StatusCreated && res.StatusCode/100 != 4 || !json.Valid([]byte(got)) {
			t.Fatalf("status %d: %s", res.StatusCode, got)
		}
		for _, r := range get[logs.Page](t, h, "/logs").Records {
			for _, f := range r.Feedback {
				if err := f.Validate(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
