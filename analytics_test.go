package gateway_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/analytics"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// pricer takes a millionth of a dollar for a token.
type pricer struct{}

func (pricer) Record(r *providers.Record) (cost, saved *prices.Amount) {
	if r.Usage == nil {
		return nil, nil
	}
	price := prices.Amount(r.Usage.TotalTokens) * 1000
	if r.Meta.CacheStatus.IsHit() {
		return new(prices.Amount), &price
	}
	return &price, nil
}

// counted is an answer that took that many tokens.
func counted(prompt, completion int) vertextest.Reply {
	return vertextest.JSON(200, fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP"}],`+
		`"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d}}`, prompt, completion, prompt+completion))
}

// analyst is a client with a log and a cache, behind HTTP servers.
type analyst struct {
	*testing.T
	client *gateway.Client
	log    *logs.Log
	live   *analytics.Live
	url    string
}

// newAnalyst has four calls made: three of ann by the key a, of which the second is
// answered by the cache and the third fails, and one of bob by the key b.
func newAnalyst(t *testing.T, opts ...gateway.HandlerOption) *analyst {
	t.Helper()
	live, err := analytics.NewLive(analytics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log, err := logs.New(logs.Options{Store: logs.NewMemory(0), Sinks: []logs.Sink{live}, Prices: pricer{}, Content: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close(context.Background()) })
	k := newCacheKit(t, simple, gateway.WithLog(log))
	srv := httptest.NewServer(k.client.Handler(opts...))
	t.Cleanup(srv.Close)
	a := &analyst{t, k.client, log, live, srv.URL}
	k.srv.Script(counted(10, 5), vertextest.Error(400, "INVALID_ARGUMENT", "no"), counted(100, 20))
	a.chat("a", "call-1", "Hello", "ann")
	a.chat("a", "call-2", "Hello", "ann")
	a.chat("a", "call-3", "Fail", "ann")
	a.chat("b", "call-4", "Hello", "bob")
	return a
}

func (a *analyst) chat(key, id, text, user string) {
	a.Helper()
	a.ask("POST", "/v1/chat/completions", `{"model":"gemini-2.5-flash","user":"`+user+`","messages":[{"role":"user","content":"`+text+`"}]}`,
		"x-gateway-api-key", key, "x-gateway-trace-id", id, "x-gateway-metadata", `{"team":"t-`+key+`"}`)
}

// ask asks over the socket.
func (a *analyst) ask(method, path, body string, header ...string) (int, http.Header, string) {
	a.Helper()
	r, err := http.NewRequestWithContext(a.Context(), method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		a.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		a.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

// get asks as the key, and reads the answer.
func (a *analyst) get(key, path string, out any) {
	a.Helper()
	status, _, body := a.ask("GET", path, "", "x-gateway-api-key", key)
	if err := json.Unmarshal([]byte(body), out); err != nil || status != 200 {
		a.Fatalf("GET %s: status %d, %v: %s", path, status, err, body)
	}
}

// seen is the ids of the records that the key gets, the newest first.
func (a *analyst) seen(key, query string) string {
	a.Helper()
	var p logs.Page
	a.get(key, "/v1/logs?"+query, &p)
	var ids []string
	for _, r := range p.Records {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func (a *analyst) flush() {
	a.Helper()
	if err := a.log.Flush(a.Context()); err != nil {
		a.Fatal(err)
	}
}

func TestTheLogOverHTTP(t *testing.T) {
	a := newAnalyst(t)
	var first logs.Record
	a.get("", "/v1/logs/call-4", &first) // the store may not have it yet
	if first.Content == nil || !strings.Contains(string(first.Content.Request), "Hello") || first.User != "bob" || first.Surface != logs.SurfaceHTTP {
		t.Errorf("record = %+v, want bob's with its content", first)
	}
	a.flush()
	for query, want := range map[string]string{
		"":                            "call-4 call-3 call-2 call-1",
		"user=ann&failed=false":       "call-2 call-1",
		"metadata.team=t-b":           "call-4",
		"cache_status=Cache%20Hit":    "call-2",
		"total_tokens[gt]=15":         "call-4",
		"cost_usd[gte]=0.000015":      "call-4 call-1",
		"error_code[missing]=false":   "call-3",
		"q=T-B":                       "call-4",
		"status=400":                  "call-3",
		"saved_usd=0.000015&user=ann": "call-2",
	} {
		if got := a.seen("", query); got != want {
			t.Errorf("GET /v1/logs?%s = %s, want %s", query, got, want)
		}
	}
	status, header, body := a.ask("GET", "/v1/logs/export?format=csv&user=ann", "")
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || status != 200 || len(rows) != 4 || header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment;") {
		t.Errorf("export: status %d, %v, header %v, %q", status, err, header, rows)
	}
	_, _, body = a.ask("GET", "/v1/logs/export", "")
	if n := strings.Count(body, "\n"); n != 4 || strings.Contains(body, `"content"`) {
		t.Errorf("export: %d lines, want 4 without content: %s", n, body)
	}
	status, header, body = a.ask("HEAD", "/v1/logs/export", "")
	if status != 200 || body != "" || header.Get("Content-Type") != "application/jsonl" {
		t.Errorf("HEAD: status %d, header %v, %q", status, header, body)
	}
}

func TestReportsOverHTTP(t *testing.T) {
	a := newAnalyst(t)
	for _, body := range []string{`{"trace_id":"call-4","value":10}`, `{"record_id":"call-4","value":-2,"weight":0.5}`} {
		if status, _, said := a.ask("POST", "/v1/feedback", body); status != 201 {
			t.Fatalf("feedback: status %d: %s", status, said)
		}
	}
	a.flush()
	var r analytics.Report
	a.get("", "/v1/analytics?group_by=user&every=1d", &r)
	checkReport(t, &r)
	viaClient, err := a.client.Analytics(t.Context(), analytics.Query{From: r.From, To: r.To, GroupBy: []string{"user"}, Every: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r, *viaClient); d != "" {
		t.Errorf("in the process (-http +client)\n%s", d)
	}
	var cache struct {
		Series []struct {
			Time   time.Time
			Totals struct{ Cache analytics.Cache }
		}
	}
	a.get("", "/v1/analytics/cache", &cache)
	hits := int64(0)
	for _, day := range cache.Series {
		if hits += day.Totals.Cache.Hits; !day.Time.Equal(day.Time.Truncate(24 * time.Hour)) {
			t.Errorf("a day begins at %s", day.Time)
		}
	}
	if len(cache.Series) < 30 || hits != 1 {
		t.Errorf("%d days with %d hits, want 30 days with 1", len(cache.Series), hits)
	}
	if status, _, body := a.ask("GET", "/v1/analytics?evry=1h", ""); status != 400 || !strings.Contains(body, "did you mean every?") {
		t.Errorf("a misspelt parameter: status %d: %s", status, body)
	}
}

// checkReport has the sums of the calls of [newAnalyst], with 15, 15, no and 120
// tokens, worked out by hand.
func checkReport(t *testing.T, r *analytics.Report) {
	t.Helper()
	want := analytics.Totals{
		Requests: 4, Errors: 1, ErrorRate: 0.25,
		Tokens: logs.Tokens{Prompt: 110, Completion: 25, Total: 135},
		Cost:   135_000,
		Cache:  analytics.Cache{Hits: 1, Misses: 3, HitRate: 0.25, MoneySaved: 15_000},
		// (10·1 − 2·0.5) / 1.5
		Feedback: &analytics.FeedbackTotals{Count: 2, Mean: 6, Positive: 1, Negative: 1},
	}
	got := r.Total
	if got.Duration.Count != 3 || got.Duration.Max <= 0 || got.Cache.Latency.Count != 1 || got.Cache.TimeSaved < 0 {
		t.Errorf("latencies = %+v, %+v; want 3 calls that did well, and 1 hit", got.Duration, got.Cache)
	}
	got.Duration, got.Cache.Latency, got.Cache.TimeSaved = analytics.Latency{}, analytics.Latency{}, 0 // as they come
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("total (-want +got)\n%s", d)
	}
	var users []string
	for _, g := range r.Groups {
		users = append(users, fmt.Sprint(g.Key[0], " ", g.Totals.Requests, " ", g.Totals.Cost))
	}
	if d := cmp.Diff([]string{"ann 3 0.000015", "bob 1 0.00012"}, users); d != "" {
		t.Errorf("groups (-want +got)\n%s", d)
	}
}

func TestEveryAPIKeySeesItsOwnCalls(t *testing.T) {
	a := newAnalyst(t, gateway.WithAPIKeys("a", "b"))
	a.flush()
	for key, want := range map[string]string{"a": "call-3 call-2 call-1", "b": "call-4"} {
		if got := a.seen(key, ""); got != want {
			t.Errorf("%s sees %q, want %q", key, got, want)
		}
	}
	var one logs.Record
	a.get("b", "/v1/logs/call-4", &one)
	if got := a.seen("a", "key_id="+one.KeyID); one.KeyID == "" || got != "" {
		t.Errorf("a sees %q by the id of b", got)
	}
	for _, tt := range []struct{ method, path, body string }{
		{"GET", "/v1/logs/call-4", ""}, {"POST", "/v1/logs/call-4/feedback", `{"value":-10}`}, {"POST", "/v1/feedback", `{"value":-10,"trace_id":"call-4"}`},
	} {
		if status, _, body := a.ask(tt.method, tt.path, tt.body, "x-gateway-api-key", "a"); status != 404 || !strings.Contains(body, `"code":"not_found"`) {
			t.Errorf("%s %s by a: status %d: %s", tt.method, tt.path, status, body)
		}
	}
	var r analytics.Report
	a.get("a", "/v1/analytics?group_by=key_id", &r)
	if len(r.Groups) != 1 || r.Total.Requests != 3 {
		t.Errorf("a's report has %d calls of %d keys, want 3 of 1", r.Total.Requests, len(r.Groups))
	}
	if _, _, body := a.ask("GET", "/v1/logs/export", "", "x-gateway-api-key", "a"); strings.Contains(body, "call-4") || strings.Count(body, "\n") != 3 {
		t.Errorf("a's export: %s", body)
	}
	if status, _, _ := a.ask("GET", "/v1/logs", ""); status != 401 {
		t.Errorf("without a key: status %d, want 401", status)
	}
}

func TestWithAdminKeysTheyAloneSeeTheLog(t *testing.T) {
	a := newAnalyst(t, gateway.WithAPIKeys("a", "b"), gateway.WithAdminKeys("boss"))
	a.flush()
	if got := a.seen("boss", ""); got != "call-4 call-3 call-2 call-1" {
		t.Errorf("the admin sees %q", got)
	}
	for key, want := range map[string]int{"a": 403, "": 401, "wrong": 401} {
		for _, path := range []string{"/v1/logs", "/v1/logs/call-1", "/v1/logs/export", "/v1/logs/fields", "/v1/analytics", "/v1/analytics/cost"} {
			if status, _, body := a.ask("GET", path, "", "x-gateway-api-key", key); status != want || strings.Contains(body, "call-") {
				t.Errorf("GET %s by %q: status %d, want %d: %s", path, key, status, want, body)
			}
		}
	}
	nobody := newAnalyst(t, gateway.WithAdminKeys())
	if status, _, _ := nobody.ask("GET", "/v1/logs", "", "x-gateway-api-key", ""); status != 401 {
		t.Errorf("admin keys that are lost: status %d, want 401", status)
	}
}

func TestTheTransportAnswersForTheLog(t *testing.T) {
	a := newAnalyst(t, gateway.WithAPIKeys("a", "b"))
	a.flush()
	inside := &http.Client{Transport: a.client.RoundTripper(gateway.WithAdminKeys("boss"))}
	for path, want := range map[string]string{"/v1/logs?limit=1": `"id":"call-4"`, "/v1/logs/export": `"id":"call-1"`, "/v1/analytics": `"requests":4,`} {
		res, err := inside.Get("http://any" + path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if err != nil || res.Body.Close() != nil || res.StatusCode != 200 || !strings.Contains(string(b), want) {
			t.Errorf("GET %s: status %d, %v: %s", path, res.StatusCode, err, b)
		}
	}
}

func TestFeedbackInTheProcess(t *testing.T) {
	a := newAnalyst(t)
	if err := a.client.Feedback(t.Context(), logs.Feedback{RecordID: "call-1", Value: 3}); err != nil {
		t.Fatal(err) // although it may not be written yet
	}
	r, err := a.log.Store().Get(t.Context(), "call-1")
	if err != nil || len(r.Feedback) != 1 || r.Feedback[0].Value != 3 || time.Since(r.Feedback[0].Time) > time.Minute {
		t.Errorf("record = %+v, %v", r, err)
	}
	for name, tt := range map[string]struct {
		f    logs.Feedback
		code gateway.Code
	}{
		"no such record": {logs.Feedback{RecordID: "call-9", Value: 1}, gateway.ErrNotFound},
		"no value":       {logs.Feedback{RecordID: "call-1", Value: 11}, gateway.ErrInvalidRequest},
		"no id":          {logs.Feedback{Value: 1}, gateway.ErrInvalidRequest},
	} {
		if err := a.client.Feedback(t.Context(), tt.f); !errors.Is(err, tt.code) {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
	}
}

func TestReportsFromLiveSums(t *testing.T) {
	a := newAnalyst(t)
	a.flush()
	client, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithLog(a.log), gateway.WithAnalytics(a.live))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, f := range []logs.Feedback{{RecordID: "call-4", Value: 10}, {RecordID: "call-4", Value: -2, Weight: 0.5}} {
		if err := client.Feedback(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	view, err := client.With(gateway.WithRegion("us"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := view.Analytics(t.Context(), analytics.Query{GroupBy: []string{"user"}})
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, r)
	if _, err := client.Analytics(t.Context(), analytics.Query{GroupBy: []string{"operation"}}); !errors.Is(err, gateway.ErrInvalidRequest) {
		t.Errorf("what live sums can't tell: %v", err)
	}
}

func TestWithoutALogTheRemedyIsTold(t *testing.T) {
	client := newCacheKit(t).client
	srv := httptest.NewServer(client.Handler())
	defer srv.Close()
	a := &analyst{T: t, url: srv.URL}
	for _, tt := range []struct{ method, path string }{
		{"GET", "/v1/logs"}, {"GET", "/v1/logs/r-1"}, {"GET", "/v1/logs/export"}, {"GET", "/v1/analytics"}, {"GET", "/v1/analytics/cost"}, {"POST", "/v1/feedback"}, {"POST", "/v1/logs/r-1/feedback"},
	} {
		if status, _, body := a.ask(tt.method, tt.path, `{"value":1}`); status != 404 || !strings.Contains(body, "gateway.WithLog") || !strings.Contains(body, `"code":"not_found"`) {
			t.Errorf("%s %s: status %d: %s", tt.method, tt.path, status, body)
		}
	}
	if _, err := client.Analytics(t.Context(), analytics.Query{}); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("Analytics: %v", err)
	}
	if err := client.Feedback(t.Context(), logs.Feedback{RecordID: "a"}); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("Feedback: %v", err)
	}
	if _, err := gateway.New(gateway.WithAnalytics(nil)); err == nil {
		t.Error("WithAnalytics(nil) is taken")
	}
}
