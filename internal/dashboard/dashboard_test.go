package dashboard

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

const key = "the-key"

// admit lets the key in, "own" for what is its own, and says that "poor" is no such key.
func admit(r *http.Request) (*string, error) {
	switch r.Header.Get("X-Gateway-Api-Key") {
	case key:
		return nil, nil //nolint:nilnil // all records
	case "own":
		return new("id-of-own"), nil
	case "poor":
		return nil, &providers.Error{Code: providers.ErrPermission, Message: "for admin keys alone"}
	}
	return nil, &providers.Error{Code: providers.ErrAuthentication, Message: "a valid API key is required"}
}

// records answers with what it was asked.
func records(r *http.Request, path string, keyID *string) (*Answer, error) {
	who := "all"
	if keyID != nil {
		who = *keyID
	}
	said := r.Method + " " + path + "?" + r.URL.RawQuery + " for " + who
	switch path {
	case "logs/export":
		return &Answer{Status: 200, Header: http.Header{"X-Rows": {"2"}}, Stream: io.NopCloser(strings.NewReader(said))}, nil
	case "logs/none":
		return nil, &providers.Error{Code: providers.ErrInvalidRequest, StatusCode: 404, Message: "no such record"}
	case "logs/secret":
		return nil, errors.New("CANARY of a store")
	}
	return &Answer{Status: 200, JSON: []byte(said)}, nil
}

func ask(t *testing.T, h http.Handler, method, target string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
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

func TestRoutes(t *testing.T) {
	models := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Method+" "+r.URL.String()+" "+r.Header.Get("X-Gateway-Api-Key"))
	})
	h := New(Config{Admit: admit, Records: records, Logs: true, Reports: true, Models: models})
	none := New(Config{Admit: admit, Records: records})
	tests := []struct {
		name           string
		h              http.Handler
		method, target string
		key            string
		status         int
		want           string
	}{
		{"the page is open", h, "GET", "/", "", 200, "<!doctype html>"},
		{"a file is open", h, "GET", "/app.js", "", 200, "hashchange"},
		{"the page below a prefix without its slash", http.StripPrefix("/x", h), "GET", "/x/app.js", "", 200, "hashchange"},
		{"no such file", h, "GET", "/nothing.js", "", 404, "no such file"},
		{"no way up", h, "GET", "/../files.go", "", 404, "no such file"},
		{"a file takes no other method", h, "POST", "/", "", 405, "use GET"},
		{"about says that a key is needed", h, "GET", "/api/about", "", 200, `{"admitted":false}`},
		{"about of a wrong key", h, "GET", "/api/about", "wrong", 200, `{"admitted":false}`},
		{"about", h, "GET", "/api/about", key, 200, `{"admitted":true,"analytics":true,"logs":true,"own":false}`},
		{"about of a key that sees its own", h, "GET", "/api/about", "own", 200, `"own":true`},
		{"about of a key that may not", h, "GET", "/api/about", "poor", 200, `{"admitted":false,"reason":"for admin keys alone"}`},
		{"catalog for a key that may not", h, "GET", "/api/catalog", "poor", 403, "for admin keys alone"},
		{"logs for a key that may not", h, "GET", "/api/logs", "poor", 403, "for admin keys alone"},
		{"about without a log", none, "GET", "/api/about", key, 200, `{"admitted":true,"analytics":false,"logs":false,"own":false}`},
		{"logs without a key", h, "GET", "/api/logs", "", 401, "authentication_failed"},
		{"logs with a wrong key", h, "GET", "/api/logs", "wrong", 401, "authentication_failed"},
		{"one record without a key", h, "GET", "/api/logs/1", "", 401, "authentication_failed"},
		{"feedback without a key", h, "POST", "/api/logs/1/feedback", "", 401, "authentication_failed"},
		{"reports without a key", h, "GET", "/api/analytics", "", 401, "authentication_failed"},
		{"catalog without a key", h, "GET", "/api/catalog", "", 401, "authentication_failed"},
		{"prompts without a key", h, "GET", "/api/prompts", "", 401, "authentication_failed"},
		{"models without a key", h, "GET", "/api/models", "", 401, "authentication_failed"},
		{"an unknown path without a key", h, "GET", "/api/x", "", 401, "authentication_failed"},
		{"logs", h, "GET", "/api/logs?q=a", key, 200, "GET logs?q=a for all"},
		{"logs of a key that sees its own", h, "GET", "/api/logs/1", "own", 200, "GET logs/1? for id-of-own"},
		{"an export", h, "GET", "/api/logs/export", key, 200, "GET logs/export? for all"},
		{"a record that is not there", h, "GET", "/api/logs/none", key, 404, "no such record"},
		{"a store that fails", h, "GET", "/api/logs/secret", key, 500, "the dashboard failed"},
		{"feedback", h, "POST", "/api/logs/1/feedback", key, 200, "POST logs/1/feedback? for all"},
		{"reports", h, "GET", "/api/analytics?every=1h", key, 200, "GET analytics?every=1h for all"},
		{"catalog without one", h, "GET", "/api/catalog", key, 200, `{"entries":[],"configs":[]}`},
		{"prompts without any", h, "GET", "/api/prompts", key, 200, `{"data":[]}`},
		{"models", h, "GET", "/api/models?x=y", key, 200, "GET /v1/models "},
		{"models without any", none, "GET", "/api/models", key, 200, `"data":[]`},
		{"wrong method", h, "POST", "/api/catalog", key, 405, "use GET"},
		{"no such path", h, "GET", "/api/secrets", key, 404, "no such path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := ask(t, tt.h, tt.method, tt.target, "X-Gateway-Api-Key", tt.key)
			if got := text(t, res); res.StatusCode != tt.status || !strings.Contains(got, tt.want) {
				t.Errorf("%d %s, want %d %s", res.StatusCode, got, tt.status, tt.want)
			}
			if csp := res.Header.Get("Content-Security-Policy"); csp == "" || strings.Contains(csp, "unsafe") {
				t.Errorf("Content-Security-Policy: %q", csp)
			}
			if strings.Contains(tt.target, "/api/") && res.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("Cache-Control: %q", res.Header.Get("Cache-Control"))
			}
		})
	}
}

func TestHeadersOfThePage(t *testing.T) {
	res := ask(t, New(Config{Admit: admit}), "GET", "/")
	want := map[string]string{
		"Content-Security-Policy":      securityPolicy,
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control":                "no-cache",
		"Content-Type":                 "text/html; charset=utf-8",
		"Vary":                         "Accept-Encoding",
	}
	got := make(map[string]string)
	for name := range want {
		got[name] = res.Header.Get(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFileIsSentOnce(t *testing.T) {
	h := New(Config{Admit: admit})
	plain := ask(t, h, "GET", "/style.css")
	whole := text(t, plain)
	packed := ask(t, h, "GET", "/style.css", "Accept-Encoding", "br, gzip;q=0.8")
	if packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Etag") == plain.Header.Get("Etag") {
		t.Errorf("%v", packed.Header)
	}
	unpack, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(unpack); err != nil || string(got) != whole {
		t.Errorf("the packed form is another one: %v", err)
	}
	for _, refused := range []string{"gzip;q=0", "gzip; q=0.0", "GZIP; Q=0", "gzip;q = 0", "br", ""} {
		if res := ask(t, h, "GET", "/style.css", "Accept-Encoding", refused); res.Header.Get("Content-Encoding") != "" {
			t.Errorf("%q: packed", refused)
		}
	}
	for _, form := range []*http.Response{plain, packed} {
		tag := form.Header.Get("Etag")
		res := ask(t, h, "GET", "/style.css", "If-None-Match", `"other", W/`+tag, "Accept-Encoding", form.Header.Get("Content-Encoding"))
		if got := text(t, res); res.StatusCode != http.StatusNotModified || got != "" || res.Header.Get("Etag") != tag {
			t.Errorf("%d %q %v", res.StatusCode, got, res.Header)
		}
	}
	head := ask(t, h, "HEAD", "/style.css")
	if got := text(t, head); head.StatusCode != 200 || got != "" || head.Header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %d %q %v", head.StatusCode, got, head.Header)
	}
}

// TestLeadsToItsFolder wants a Location that stays on this server, whatever was
// asked for.
func TestLeadsToItsFolder(t *testing.T) {
	tests := []struct{ name, asked, want string }{
		{"a prefix", "/dashboard", "./dashboard/"},
		{"a deep prefix with a query", "/ops/board?x=1", "./board/"},
		{"a folder", "/dashboard/", "./"},
		{"the name of a scheme", "/javascript:alert(1)", "./javascript:alert(1)/"},
		{"another host", "//evil.example", "./evil.example/"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/x", nil)
			r.RequestURI, r.URL.Path = tt.asked, ""
			w := httptest.NewRecorder()
			New(Config{Admit: admit}).ServeHTTP(w, r)
			if got := w.Header().Get("Location"); w.Code != http.StatusPermanentRedirect || got != tt.want {
				t.Errorf("%d %q, want %q", w.Code, got, tt.want)
			}
		})
	}
}

func TestOtherSitesWriteNothing(t *testing.T) {
	h := New(Config{Admit: func(*http.Request) (*string, error) { return nil, nil }, Records: records}) //nolint:nilnil // all records
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
		if res := ask(t, h, "POST", "/api/logs/1/feedback", header...); res.StatusCode != http.StatusForbidden {
			t.Errorf("%v: %d", header, res.StatusCode)
		}
	}
	if res := ask(t, h, "POST", "/api/logs/1/feedback", "Sec-Fetch-Site", "same-origin"); res.StatusCode != http.StatusOK {
		t.Errorf("its own page: %d", res.StatusCode)
	}
}

// TestPage holds the files to what is promised of them.
func TestPage(t *testing.T) {
	const most = 120_000 // bytes
	total := 0
	outside := regexp.MustCompile(`(?i)https?:|["'(]//|data:[a-z]+/|@import|\bimport\(`)
	markup := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|createContextualFragment|srcdoc|setAttribute\('style'`)
	inline := regexp.MustCompile(`(?i)\son[a-z]+=|<style|style=|<script>`)
	absolute := regexp.MustCompile(`(?:href|src|action)="/`)
	all := files()
	for name, f := range all {
		total += len(f.plain)
		s := f.plain
		if name != "logs.js" { // shows how to make a call, at the address of the page
			s = bytes.ReplaceAll(s, []byte("http://www.w3.org/2000/svg"), nil)
			if found := outside.Find(s); found != nil {
				t.Errorf("%s: asks somebody else: %s", name, found)
			}
		}
		if found := markup.Find(s); found != nil {
			t.Errorf("%s: makes markup or code of text: %s", name, found)
		}
		if strings.HasSuffix(name, ".html") && (inline.Match(s) || absolute.Match(s)) {
			t.Errorf("%s: has inline code or style, or an absolute URL", name)
		}
	}
	if total > most || len(all) < 10 {
		t.Errorf("%d files of %d bytes in all, want at most %d", len(all), total, most)
	}
	list, err := page.ReadDir("page")
	if err != nil || len(list) != len(all) {
		t.Errorf("%d of %d files are served: %v", len(all), len(list), err)
	}
}
