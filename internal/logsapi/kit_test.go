package logsapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
)

// noon is the time of the tests.
var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

func ms(n int) logs.Milliseconds { return logs.Milliseconds(time.Duration(n) * time.Millisecond) }

// kept are the records of the tests, of two keys and three days.
func kept() []logs.Record {
	usd := func(n int64) *prices.Amount { return new(prices.Amount(n)) }
	return []logs.Record{
		{
			ID: "r-1", Time: noon.Add(-49 * time.Hour), Operation: "chat", Model: "flash", KeyID: "k1", User: "ann", CacheStatus: "Cache Miss", Duration: ms(1000),
			Tokens: &logs.Tokens{Prompt: 10, Completion: 5, Total: 15}, Cost: usd(4_000), Content: &logs.Content{Request: json.RawMessage(`{"secret":"prompt"}`)},
		},
		{
			ID: "r-2", Time: noon.Add(-25 * time.Hour), Operation: "chat", Model: "flash", KeyID: "k1", User: "ann", CacheStatus: "Cache Hit", Duration: ms(10),
			Tokens: &logs.Tokens{Prompt: 10, Completion: 5, Total: 15}, Cost: usd(0), Saved: usd(4_000), TimeSaved: ms(990),
		},
		{
			ID: "r-3", Time: noon.Add(-time.Hour), Operation: "chat", Model: "pro", KeyID: "k2", User: "bob", CacheStatus: "Cache Miss", Duration: ms(3000),
			Tokens: &logs.Tokens{Prompt: 100, Completion: 50, Total: 150}, Metadata: map[string]string{"team": "=cmd|' /C calc'!A0"},
		},
		{
			ID: "r-4", Time: noon.Add(-time.Minute), Operation: "embeddings", Model: "=1+1", KeyID: "k2", CacheStatus: "Cache Disabled", Duration: ms(20),
			Error: &logs.Error{Code: "timeout", Message: "too slow"},
		},
	}
}

// newHandler returns a handler of the records, at noon.
func newHandler(t *testing.T) *Handler {
	t.Helper()
	store := logs.NewMemory(0)
	if err := store.Write(t.Context(), kept()); err != nil {
		t.Fatal(err)
	}
	h := New(store, nil)
	h.Now = func() time.Time { return noon }
	return h
}

// ask asks over HTTP, without a socket.
func ask(t *testing.T, h http.Handler, method, target, body string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body)))
	return w.Result()
}

func text(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// get asks for JSON.
func get[T any](t *testing.T, h http.Handler, target string) (out T) {
	t.Helper()
	res := ask(t, h, http.MethodGet, target, "")
	body := text(t, res)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: status %d: %s", target, res.StatusCode, body)
	}
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatalf("GET %s: %v in %s", target, err, body)
	}
	return out
}

// envelope is the house's error.
type envelope struct {
	Error struct {
		Message, Type, Code string
		Param               *string
	}
}

// refused checks that the answer is an error of that kind.
func refused(t *testing.T, res *http.Response, status int, param, says string) {
	t.Helper()
	var e envelope
	body := text(t, res)
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("status %d, %q is no error", res.StatusCode, body)
	}
	have := ""
	if e.Error.Param != nil {
		have = *e.Error.Param
	}
	if res.StatusCode != status || have != param || !strings.Contains(e.Error.Message, says) || e.Error.Type == "" || e.Error.Code == "" {
		t.Errorf("status %d, want %d with %s: %q; body %s", res.StatusCode, status, param, says, body)
	}
}
