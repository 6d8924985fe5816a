package front

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRoutes(t *testing.T) {
	tests := []struct {
		name, method, path string
		status             int
		allow              string
	}{
		{"chat", "POST", "/v1/chat/completions", 200, ""},
		{"models", "GET", "/v1/models", 200, ""},
		{"models by HEAD", "HEAD", "/v1/models", 200, ""},
		{"model", "GET", "/v1/models/m", 200, ""},
		{"a model id may have slashes", "GET", "/v1/models/@slug/google/m", 200, ""},
		{"a model id may be escaped", "GET", "/v1/models/%40slug%2Fgoogle%2Fm", 200, ""},
		{"chat by OPTIONS", "OPTIONS", "/v1/chat/completions", 204, "POST, OPTIONS"},
		{"models by OPTIONS", "OPTIONS", "/v1/models", 204, "GET, HEAD, OPTIONS"},
		{"chat by GET", "GET", "/v1/chat/completions", 405, "POST, OPTIONS"},
		{"chat by HEAD", "HEAD", "/v1/chat/completions", 405, "POST, OPTIONS"},
		{"models by POST", "POST", "/v1/models", 405, "GET, HEAD, OPTIONS"},
		{"model by DELETE", "DELETE", "/v1/models/m", 405, "POST, GET, HEAD, OPTIONS"},
		{"completions by GET", "GET", "/v1/completions", 405, "POST, OPTIONS"},
		{"count", "POST", "/v1/chat/completions/count_tokens", 200, ""},
		{"count by GET", "GET", "/v1/chat/completions/count_tokens", 405, "POST, OPTIONS"},
		{"below count", "POST", "/v1/chat/completions/count_tokens/x", 404, ""},
		{"caches", "GET", "/v1/cached_contents", 200, ""},
		{"caches by HEAD", "HEAD", "/v1/cached_contents", 200, ""},
		{"caches by PUT", "PUT", "/v1/cached_contents", 405, "GET, HEAD, POST, OPTIONS"},
		{"caches by OPTIONS", "OPTIONS", "/v1/cached_contents", 204, "GET, HEAD, POST, OPTIONS"},
		{"cache", "GET", "/v1/cached_contents/7", 200, ""},
		{"cache by its full name", "DELETE", "/v1/cached_contents/projects/p/locations/l/cachedContents/7", 200, ""},
		{"cache by POST", "POST", "/v1/cached_contents/7", 405, "GET, HEAD, PATCH, DELETE, OPTIONS"},
		{"cache without name", "GET", "/v1/cached_contents/", 404, ""},
		{"unknown model", "GET", "/v1/models/n", 404, ""},
		{"model without id", "GET", "/v1/models/", 404, ""},
		{"unknown path", "POST", "/v1/embeddingz", 404, ""},
		{"unknown path by OPTIONS", "OPTIONS", "/", 404, ""},
		{"below chat", "POST", "/v1/chat/completions/x", 404, ""},
		{"no version", "POST", "/chat/completions", 404, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &fake{models: []Model{{ID: "m"}, {ID: "@slug/google/m"}}}
			res := ask(t, Config{}, b, tt.method, tt.path, hello)
			if res.StatusCode != tt.status || res.Header.Get("Allow") != tt.allow {
				t.Errorf("status %d, Allow %q, want %d, %q", res.StatusCode, res.Header.Get("Allow"), tt.status, tt.allow)
			}
			if tt.status >= 400 {
				readEnvelope(t, res)
			}
		})
	}
}

// TestTheResponsesAPISaysWhereToGo is for clients that ask it first.
func TestTheResponsesAPISaysWhereToGo(t *testing.T) {
	for _, path := range []string{"/v1/responses", "/v1/responses/r-1"} {
		res := ask(t, Config{}, &fake{}, "POST", path, hello)
		if message := readEnvelope(t, res).Error.Message; res.StatusCode != 404 || !strings.Contains(message, "/v1/chat/completions") || strings.Contains(message, "rerank") {
			t.Errorf("%s: %d %q", path, res.StatusCode, message)
		}
	}
}

func TestMountedBelowAPrefix(t *testing.T) {
	for _, prefix := range []string{"/llm", "/llm/"} {
		t.Run(prefix, func(t *testing.T) {
			h := http.StripPrefix(prefix, New(Config{}, &fake{}))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("POST", "/llm"+chatPath, strings.NewReader(hello)))
			if w.Code != 200 {
				t.Errorf("status %d, body %s", w.Code, w.Body)
			}
		})
	}
}

func TestModels(t *testing.T) {
	b := &fake{models: []Model{{ID: "@vx/m", OwnedBy: "google", Created: 7}, {ID: `odd "id"`}}}
	tests := []struct{ name, path, want string }{
		{"list", "/v1/models", `{"object":"list","data":[` +
			`{"id":"@vx/m","object":"model","created":7,"owned_by":"google"},` +
			`{"id":"odd \"id\"","object":"model","created":0,"owned_by":""}]}`},
		{"one", "/v1/models/@vx/m", `{"id":"@vx/m","object":"model","created":7,"owned_by":"google"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := ask(t, Config{}, b, "GET", tt.path, "", "x-gateway-trace-id", "t-1")
			if diff := cmp.Diff(tt.want, readBody(t, res)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if got := res.Header.Get("x-gateway-request-id"); got != "t-1" {
				t.Errorf("request id = %q", got)
			}
		})
	}
	t.Run("none is an empty list", func(t *testing.T) {
		res := ask(t, Config{}, &fake{}, "GET", "/v1/models", "")
		if diff := cmp.Diff(`{"object":"list","data":[]}`, readBody(t, res)); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
	})
}
