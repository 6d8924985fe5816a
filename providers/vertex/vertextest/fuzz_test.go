package vertextest_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// FuzzGenerate holds the emulator to two promises: no body makes it fail, and
// what it answers by itself fits the schema.
func FuzzGenerate(f *testing.F) {
	for _, r := range references() {
		f.Add(r.model, r.body)
	}
	for _, r := range slices.Concat(refusals(), acceptances(), furtherRefusals(), furtherAcceptances()) {
		if len(r.body) < 4096 {
			f.Add(r.model, r.body)
		}
	}
	f.Add(flash, say("weather in Paris and Rome", weatherTool))
	s, unchecked := vertextest.New(), vertextest.New(vertextest.WithoutChecks())
	f.Fuzz(func(t *testing.T, model, body string) {
		const known = "gemini-3.8-flash"
		for _, m := range []string{"gemini-2.5-flash", known} {
			got := unary(t, s, m, body)
			if got.status != http.StatusOK && got.status != http.StatusBadRequest {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
			got.decode(t)
		}
		if got := unary(t, unchecked, known, body); got.status >= http.StatusInternalServerError {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
		r := newPost(t, place, body)
		r.URL.Path = "/v1/projects/p/locations/us/publishers/google/models/" + model + ":streamGenerateContent"
		if got := do(t, s, r); got.status >= http.StatusInternalServerError {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
		s.Reset()
		unchecked.Reset()
	})
}

// FuzzSignature checks that no string crashes the verification, and that no
// altered signature passes it.
func FuzzSignature(f *testing.F) {
	own, err := vertextest.Signature(flash, vertextest.FunctionCall{Name: "f", Args: map[string]any{"a": "x"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own[:12])
	f.Add("Evv/YwM")
	s := vertextest.New()
	f.Fuzz(func(t *testing.T, sig string) {
		if vertextest.Check("GenerateContentRequest", []byte(step(sig))) != nil || sig == "" || len(sig) >= len(own)-4 {
			t.Skip()
		}
		if got := unary(t, s, flash, step(sig)); got.status != http.StatusBadRequest {
			t.Fatalf("signature %q gives %d", sig, got.status)
		}
		s.Reset()
	})
}

// step is a function call with a signature, and its response.
func step(sig string) string {
	return turns(user(ask), model(call("", "x", sig)), user(result("", "f")))
}

// FuzzOtherCalls holds calls about tokens and caches to the same promises.
func FuzzOtherCalls(f *testing.F) {
	f.Add(toCache("gemini-2.5-flash", 2, `"ttl":"60s"`), "updateMask=ttl&pageSize=1&pageToken=1")
	f.Add(toCache("gemini-3-flash-preview", 2, weatherTool, `"systemInstruction":{"parts":[{"text":"b"}]}`), "updateMask=expireTime")
	f.Add(`{"expireTime":"2100-01-01T00:00:00Z"}`, "updateMask=expireTime")
	f.Add(holding(inline("image/png", onePixel)), "pageSize=-1")
	s, unchecked := vertextest.New(vertextest.WithCacheMinimum(0)), vertextest.New(vertextest.WithoutChecks())
	f.Fuzz(func(t *testing.T, body, query string) {
		s.Reset()
		unchecked.Reset()
		one := create(t, s, toCache("gemini-2.5-flash", 1)).at()
		for _, server := range []*vertextest.Server{s, unchecked} {
			for _, c := range []struct{ method, url, message string }{
				{http.MethodPost, cachesURL, "CachedContent"},
				{http.MethodPatch, one, "CachedContent"},
				{http.MethodGet, cachesURL, "ListCachedContentsResponse"},
				{http.MethodPost, place + "publishers/google/models/gemini-2.5-flash:countTokens", "CountTokensResponse"},
			} {
				r := newPost(t, c.url, body)
				r.Method, r.URL.RawQuery = c.method, query
				got := do(t, server, r)
				if got.status >= http.StatusInternalServerError {
					t.Fatalf("%s %s: status %d: %s", c.method, c.url, got.status, got.body)
				}
				if got.status != http.StatusOK || server == unchecked {
					continue
				}
				if err := vertextest.Check(c.message, got.body); err != nil {
					t.Fatalf("%s %s: %v in %s", c.method, c.url, err, got.body)
				}
			}
		}
	})
}
