package front

import (
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzHandler sends any body with any headers. The handler must not panic and
// must answer with JSON, or with an event stream that is whole.
func FuzzHandler(f *testing.F) {
	f.Add("POST", chatPath, hello, "x-gateway-metadata: {\"a\":\"b\"}\nauthorization: Bearer key")
	f.Add("POST", chatPath, helloSSE, "x-gateway-forward-headers: x-a\nx-a: 1\nanthropic-beta: b")
	f.Add("POST", chatPath, "{\"model\":\"m\"}{", "content-encoding: gzip")
	f.Add("POST", chatPath, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", "Content-Encoding: gzip\ncontent-type: application/json; charset=utf-8")
	f.Add("POST", chatPath, "[[[[", "x-gateway-strict-complaince: true\nx-gateway-trace-id: a")
	f.Add("GET", "/v1/models/a/b", "", "x-gateway-request-timeout: 99999999999999999999")
	f.Add("POST", embedPath, embedBody, "x-gateway-provider: vx")
	f.Add("POST", embedPath, `{"input":[[1]]}`, "")
	f.Add("POST", "/v1/completions", `{"model":"m","prompt":["a"],"n":2}`, "")
	f.Add("POST", "/v1/completions", `{"model":"m","prompt":"a","stream":true}`, "fail: 1")
	f.Add("POST", "/v1/chat/completions/count_tokens", hello, "")
	f.Add("POST", "/v1/cached_contents", `{"model":"m","messages":[],"ttl":"1h"}`, "")
	f.Add("PATCH", "/v1/cached_contents/projects/p/locations/l/cachedContents/7", `{"expire_time":1e9}`, "")
	f.Add("DELETE", "/v1/cached_contents/../7", "", "")
	f.Add("PUT", "/", "\xff", "x-gateway-: \x7f")
	f.Add("POST", messagesPath, greet, "x-api-key: key")
	f.Add("POST", messagesPath, greetSSE, "anthropic-version: 2023-06-01")
	f.Add("POST", countPath, greet, "fail: 1")
	f.Add("POST", "/v1/prompts/p@1/completions", `{"variables":{"a":[1]},"stream":true}`, "")
	f.Add("POST", "/v1/prompts/p/render", `{"variables":{"a":1,"a":{}},"tools":[]}`, "x-gateway-request-id: r")
	f.Fuzz(func(t *testing.T, method, path, body, header string) {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Method, r.URL.Path = method, path
		for line := range strings.Lines(header) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
			r.Header.Add(name, strings.TrimSpace(value))
		}
		w := httptest.NewRecorder()
		b := &fake{models: []Model{{ID: "a/b"}}, stream: newScript(io.EOF, "a")}
		b.text.stream = newTextPieces(io.EOF, "a")
		if strings.Contains(header, "fail") {
			b.err = errors.New("secret")
		}
		New(Config{MaxBody: 1 << 10}, b).ServeHTTP(w, r)
		checkAnswer(t, w, strings.HasPrefix(strings.TrimPrefix(path, "/"), "v1/messages"))
	})
}

func checkAnswer(t *testing.T, w *httptest.ResponseRecorder, anthropic bool) {
	t.Helper()
	res := w.Result()
	for name, values := range res.Header {
		if strings.ContainsFunc(strings.Join(values, ""), func(r rune) bool { return r < ' ' || r >= 0x7f }) {
			t.Errorf("header %s: %q", name, values)
		}
	}
	body := w.Body.String()
	switch {
	case w.Code == 204:
		if body != "" {
			t.Errorf("body %q without content", body)
		}
	case w.Code >= 400 && anthropic && res.Header.Get("request-id") != "":
		readMessageEnvelope(t, res)
	case w.Code >= 400:
		readEnvelope(t, res)
	case strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") && anthropic:
		if !strings.HasSuffix(body, "data: {\"type\":\"message_stop\"}\n\n") {
			t.Errorf("stream %q", body)
		}
	case strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"):
		if body != event("a")+"data: [DONE]\n\n" && body != pieceEvent("a")+"data: [DONE]\n\n" {
			t.Errorf("stream %q", body)
		}
	case !json.Valid([]byte(body)):
		t.Errorf("status %d, body %q", w.Code, body)
	}
}
