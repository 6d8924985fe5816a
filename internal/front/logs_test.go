package front

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Logs answers with what was asked.
func (f *fake) Logs(r *http.Request, path string, keyID *string) (*LogsAnswer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.err != nil {
		return nil, f.err
	}
	said := r.Method + " " + path + "?" + r.URL.RawQuery
	if keyID != nil {
		said += " of " + *keyID
	}
	if r.Method == http.MethodPost {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		said += " " + string(b)
	}
	a := &LogsAnswer{Status: http.StatusOK, Header: http.Header{"X-Said": {said}, "Cache-Control": {"no-store"}}, JSON: []byte(`{}`)}
	if path == "logs/export" {
		a.JSON, a.Stream = nil, io.NopCloser(strings.NewReader("a\nb\n"))
	}
	return a, nil
}

func TestThePathsOfTheLog(t *testing.T) {
	for _, tt := range []struct {
		method, path, body string
		status             int
		said               string
	}{
		{"GET", "/v1/logs?model=a%26b", "", 200, "GET logs?model=a%26b"},
		{"HEAD", "/v1/logs", "", 200, "HEAD logs?"},
		{"GET", "/v1/logs/r-1", "", 200, "GET logs/r-1?"},
		{"GET", "/v1/logs/export?format=csv", "", 200, "GET logs/export?format=csv"},
		{"HEAD", "/v1/logs/export", "", 200, "HEAD logs/export?"},
		{"POST", "/v1/logs/r-1/feedback", `{"value":1}`, 200, `POST logs/r-1/feedback? {"value":1}`},
		{"POST", "/v1/feedback", `{"value":1}`, 200, `POST feedback? {"value":1}`},
		{"GET", "/v1/analytics", "", 200, "GET analytics?"},
		{"GET", "/v1/analytics/cache", "", 200, "GET analytics/cache?"},
		{"GET", "/v1/logs/a%2fb/c", "", 200, "GET logs/a/b/c?"},
		{"POST", "/v1/logs", "", 405, ""},
		{"DELETE", "/v1/logs/r-1", "", 405, ""},
		{"GET", "/v1/logs/r-1/feedback", "", 405, ""},
		{"GET", "/v1/feedback", "", 405, ""},
		{"OPTIONS", "/v1/analytics", "", 204, ""},
		{"GET", "/v1/logs/", "", 404, ""},
		{"GET", "/v1/feedback/r-1", "", 404, ""},
		{"GET", "/v1/logsx", "", 404, ""},
	} {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			res := ask(t, Config{}, &fake{}, tt.method, tt.path, tt.body, "x-gateway-trace-id", "t-1")
			if res.StatusCode != tt.status || res.Header.Get("X-Said") != tt.said {
				t.Errorf("status %d, asked %q; want %d and %q", res.StatusCode, res.Header.Get("X-Said"), tt.status, tt.said)
			}
			if tt.status == 200 && (res.Header.Get("X-Gateway-Request-Id") != "t-1" || res.Header.Get("Cache-Control") != "no-store") {
				t.Errorf("header %v", res.Header)
			}
			if tt.status == 405 && res.Header.Get("Allow") == "" {
				t.Error("no Allow")
			}
		})
	}
}

func TestBodiesForTheLog(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(`{"value":2}`)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, body string
		header     []string
		status     int
		said       string
	}{
		{"zipped", zipped.String(), []string{"Content-Encoding", "gzip"}, 200, `POST feedback? {"value":2}`},
		{"of another type", `{"value":1}`, []string{"Content-Type", "text/plain"}, 415, ""},
		{"too large", `{"comment":"` + strings.Repeat("a", 100) + `"}`, nil, 413, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := ask(t, Config{MaxBody: 50}, &fake{}, "POST", "/v1/feedback", tt.body, tt.header...)
			if res.StatusCode != tt.status || res.Header.Get("X-Said") != tt.said {
				t.Errorf("status %d, asked %q; want %d and %q", res.StatusCode, res.Header.Get("X-Said"), tt.status, tt.said)
			}
		})
	}
}

// TestWhoSeesTheLog has the keys of the front, the admin keys and what a client
// shows, and whose records it gets: all of them, its own, or an error.
func TestWhoSeesTheLog(t *testing.T) {
	apis, admins, none := []string{"api-1", "api-2"}, []string{"admin-1"}, []string(nil)
	const all = "GET logs?"
	for _, tt := range []struct {
		name         string
		keys, admins []string
		header       []string
		status       int
		said         string
	}{
		{"nobody has keys", none, none, nil, 200, all},
		{"a token is no key", none, none, []string{"Authorization", "Bearer tok"}, 200, all},
		{"API keys alone, none shown", apis, none, nil, 401, ""},
		{"API keys alone, a wrong one", apis, none, []string{"x-gateway-api-key", "no"}, 401, ""},
		{"API keys alone", apis, none, []string{"x-gateway-api-key", "api-1"}, 200, all + " of " + keyID("api-1")},
		{"API keys alone, as a bearer", apis, none, []string{"Authorization", "Bearer api-2"}, 200, all + " of " + keyID("api-2")},
		{"a key of its own and another's", apis, none, []string{"x-gateway-api-key", "api-1", "Authorization", "Bearer api-2"}, 200, all + " of " + keyID("api-1")},
		{"both, none shown", apis, admins, nil, 401, ""},
		{"both, an API key", apis, admins, []string{"x-gateway-api-key", "api-1"}, 403, ""},
		{"both, the admin key", apis, admins, []string{"x-gateway-api-key", "admin-1"}, 200, all},
		{"both, the admin key as a bearer", apis, admins, []string{"Authorization", "Bearer admin-1"}, 200, all},
		{"both, an API key with the admin key as a bearer", apis, admins, []string{"x-gateway-api-key", "api-1", "Authorization", "Bearer admin-1"}, 403, ""},
		{"admin keys alone, none shown", none, admins, nil, 401, ""},
		{"admin keys alone, a token", none, admins, []string{"Authorization", "Bearer tok"}, 401, ""},
		{"admin keys alone", none, admins, []string{"x-gateway-api-key", "admin-1", "Authorization", "Bearer tok"}, 200, all},
		{"admin keys that are lost", none, []string{""}, []string{"x-gateway-api-key", ""}, 401, ""},
		{"admin keys that are lost, nothing shown", none, []string{""}, nil, 401, ""},
		{"admin keys that are lost, with API keys", apis, []string{""}, []string{"x-gateway-api-key", "api-1"}, 403, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, path := range []string{"logs", "logs/r-1", "logs/export", "analytics", "analytics/cache", "feedback", "logs/r-1/feedback"} {
				method, body, said := "GET", "", strings.Replace(tt.said, "logs?", path+"?", 1)
				if strings.HasSuffix(path, "feedback") {
					if method, body = "POST", "{}"; said != "" {
						said = "POST" + strings.TrimPrefix(said, "GET") + " {}"
					}
				}
				b := &fake{}
				res := ask(t, Config{Keys: tt.keys, AdminKeys: tt.admins}, b, method, "/v1/"+path, body, tt.header...)
				if res.StatusCode != tt.status || res.Header.Get("X-Said") != said {
					t.Errorf("%s: status %d, asked %q; want %d and %q", path, res.StatusCode, res.Header.Get("X-Said"), tt.status, said)
				}
				if tt.status != 200 && b.calls > 0 {
					t.Errorf("%s: the backend was asked", path)
				}
			}
		})
	}
}

func TestAnAdminKeyNeverGoesToThePlatform(t *testing.T) {
	for _, keys := range [][]string{nil, {"api-1"}} {
		b := &fake{}
		res := ask(t, Config{Keys: keys, AdminKeys: []string{"admin-1"}}, b, "POST", chatPath, hello, "Authorization", "Bearer admin-1")
		if d := cmp.Diff("", b.overrides.Token); d != "" || res.StatusCode != 200 {
			t.Errorf("keys %q: status %d, token (-want +got)\n%s", keys, res.StatusCode, d)
		}
	}
	b := &fake{}
	ask(t, Config{AdminKeys: []string{"admin-1"}}, b, "POST", chatPath, hello, "Authorization", "Bearer tok")
	if b.overrides.Token != "tok" {
		t.Errorf("token = %q, want the client's", b.overrides.Token)
	}
}

func TestTheTransportSeesAllOfTheLog(t *testing.T) {
	tr := NewTransport(Config{Keys: []string{"api-1"}, AdminKeys: []string{"admin-1"}}, &fake{})
	for path, want := range map[string]string{"/v1/logs": "{}", "/v1/logs/export": "a\nb\n"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://any"+path, nil)
		r.RequestURI = ""
		res, err := tr.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if body := readBody(t, res); body != want || strings.Contains(res.Header.Get("X-Said"), " of ") {
			t.Errorf("%s: %q, asked %q", path, body, res.Header.Get("X-Said"))
		}
	}
}
