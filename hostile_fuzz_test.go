package gateway_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
)

// hostileBody is a chat that the emulator answers.
const hostileBody = `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Hi"}]}`

// hostileSeeds has requests of every route, and some that no client sends.
func hostileSeeds() [][]byte {
	const form = "--x\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../../a\\\"b.jsonl\"\r\n\r\n{}\r\n--x--\r\n"
	claude := `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`
	gemini := `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}`
	stream := strings.Replace(hostileBody, `{`, `{"stream":true,`, 1)
	return [][]byte{
		rawRequest("POST", "/v1/chat/completions", hostileBody, "Content-Type: application/json", "x-gateway-metadata: {\"team\":\"a\"}", "x-gateway-trace-id: t-1"),
		rawRequest("POST", "/v1/chat/completions", stream, "x-gateway-strict-compliance: false"),
		rawRequest("POST", "/v1/chat/completions", `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]}`),
		rawRequest("POST", "/v1/chat/completions", hostileBody, `x-gateway-config: {"targets":[{"override_params":{"temperature":1e999}}],"strategy":{"mode":"fallback"}}`),
		rawRequest("POST", "/v1/chat/completions", hostileBody, "Cookie: canary-cookie", "X-A: 1", "x-gateway-forward-headers: x-a"),
		rawRequest("POST", "/v1/chat/completions/count_tokens", hostileBody),
		rawRequest("POST", "/v1/completions", `{"model":"gemini-2.5-flash","prompt":["a","b"],"n":2}`),
		rawRequest("POST", "/v1/embeddings", `{"model":"gemini-embedding-001","input":["a"],"encoding_format":"base64"}`),
		rawRequest("POST", "/v1/images/generations", `{"model":"imagen-4.0-generate-001","prompt":"a","n":1}`),
		rawRequest("POST", "/v1/audio/speech", `{"model":"gemini-2.5-flash-preview-tts","input":"a","voice":"Kore"}`),
		rawRequest("POST", "/v1/rerank", `{"model":"semantic-ranker-default@latest","query":"q","documents":["a",{"text":"b"}]}`),
		rawRequest("POST", "/v1/messages", claude, "anthropic-version: 2023-06-01", "x-api-key: k"),
		rawRequest("POST", "/v1/messages", strings.Replace(claude, `{`, `{"stream":true,`, 1)),
		rawRequest("POST", "/v1/messages/count_tokens", claude),
		rawRequest("POST", "/v1/prompts/welcome@3/completions", `{"variables":{"name":"Ada"},"stream":true}`),
		rawRequest("POST", "/v1/prompts/welcome/render", `{"variables":{}}`),
		rawRequest("GET", "/v1/models", ""), rawRequest("HEAD", "/v1/models/gemini-2.5-flash", ""), rawRequest("OPTIONS", "/v1/embeddings", ""),
		rawRequest("GET", "/v1/cached_contents?limit=2&after=a", ""),
		rawRequest("POST", "/v1/cached_contents", `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"long"}],"ttl":"60s"}`),
		rawRequest("PATCH", "/v1/cached_contents/projects/p/locations/global/cachedContents/7", `{"ttl":"60s"}`),
		rawRequest("DELETE", "/v1/cached_contents/%2e%2e/7", ""),
		rawRequest("POST", "/v1beta/models/gemini-2.5-flash:generateContent?key=k", gemini),
		rawRequest("POST", "/v1beta1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse", gemini),
		rawRequest("GET", "/v1beta/models?pageSize=1", ""), rawRequest("POST", "/upload/v1beta/files", "{}"), rawRequest("GET", "/ws/google.ai", ""),
		rawRequest("POST", "/v1/files", form, "Content-Type: multipart/form-data; boundary=x"),
		rawRequest("GET", "/v1/files?limit=1&order=asc", ""), rawRequest("GET", "/v1/files/file-%00/content", ""), rawRequest("DELETE", "/v1/files/..%2f..%2fa", ""),
		rawRequest("POST", "/v1/batches", `{"input_file_id":"file-1","endpoint":"/v1/chat/completions","completion_window":"24h"}`),
		rawRequest("GET", "/v1/batches?after=x", ""), rawRequest("POST", "/v1/batches/batch_1/cancel", ""), rawRequest("GET", "/v1/batches/..", ""),
		rawRequest("GET", "/v1/logs?limit=5&cursor=AA&q=a&metadata.team=a", ""), rawRequest("GET", "/v1/logs/export?format=csv", ""), rawRequest("GET", "/v1/logs/%0a", ""),
		rawRequest("POST", "/v1/feedback", `{"trace_id":"t-1","value":1}`), rawRequest("POST", "/v1/logs/t-1/feedback", `{"value":-1,"comment":"\u2028"}`),
		rawRequest("GET", "/v1/analytics/summary?from=2026-01-01T00:00:00Z&group=model", ""), rawRequest("GET", "/v1/responses", ""),
		[]byte("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n"),
		[]byte("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n"),
		[]byte("GET /v1/models HTTP/1.1\r\nHost: a\r\nx-gateway-trace-id: a\r\n b\r\n\r\n"),
		[]byte("GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/models/a HTTP/1.1\r\nHost: a\r\n\r\n"),
		[]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), []byte("GET http://169.254.169.254/v1/models HTTP/1.1\r\nHost: b\r\n\r\n"), []byte("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n"),
	}
}

// FuzzServer sends any bytes to an http.Server with the handler, with and without
// keys. Nothing panics; answers are whole; errors are errors in JSON that a client is
// to blame for; no secret comes out, and none goes anywhere but to the platform, below
// paths of its own; without the key there is nothing but 401; and everything that was
// begun ends.
func FuzzServer(f *testing.F) {
	for _, seed := range hostileSeeds() {
		f.Add(seed)
	}
	var open, keyed *hostileRig
	asked, before := 0, 0
	renew := func(t testing.TB) {
		var err error
		for _, h := range []*hostileRig{open, keyed} {
			if h != nil && h.stop() != nil {
				t.Fatal("a rig does not stop")
			}
		}
		if open, err = newHostileRig(); err == nil {
			keyed, err = newHostileRig(gateway.WithAPIKeys(hostileKey))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f.Cleanup(func() {
		for _, h := range []*hostileRig{open, keyed} {
			if h != nil {
				_ = h.stop()
			}
		}
	})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if asked%200 == 0 { // what the emulator remembers goes
			renew(t)
			open.ask(t, hostileSeeds()[0])
			open.take()
			before = runtime.NumGoroutine()
		}
		asked++
		for _, a := range open.ask(t, raw) {
			checkRaw(t, &a)
		}
		checkSent(t, open)
		for _, a := range keyed.ask(t, raw) {
			if a.head != nil && a.status != http.StatusUnauthorized && !bytes.Contains(raw, []byte(hostileKey)) {
				t.Errorf("status %d without a key", a.status)
			}
			checkRaw(t, &a)
		}
		if sent, _, _ := keyed.take(); len(sent) > 0 {
			t.Errorf("%s was sent without a key", sent[0].URL)
		}
		for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before+2; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				buf := make([]byte, 1<<16)
				t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
			}
		}
	})
}

// checkRaw checks what one answer shows.
func checkRaw(t *testing.T, a *rawAnswer) {
	t.Helper()
	var all bytes.Buffer
	_ = a.header.Write(&all)
	all.Write(a.body)
	if bytes.Contains(all.Bytes(), []byte(hostileToken)) || bytes.Contains(all.Bytes(), []byte(hostileHeader)) {
		t.Errorf("a secret is in the answer: %s", all.Bytes())
	}
	if a.head == nil { // of net/http, before there is a request
		if a.status < 400 || a.status > 505 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
			t.Errorf("status %d and %v, of no request", a.status, a.header)
		}
		return
	}
	if _, there := a.header["X-Injected"]; there {
		t.Error("a header was added from outside")
	}
	switch kind := a.header.Get("Content-Type"); {
	case a.status >= 500 && a.status != http.StatusNotImplemented:
		t.Errorf("%s %s: status %d, %s", a.head.Method, a.head.URL, a.status, a.body)
	case a.head.Method == http.MethodHead, a.status == http.StatusNoContent:
		if len(a.body) > 0 {
			t.Errorf("status %d has a body", a.status)
		}
	case a.status >= 400:
		a.errorOf(t)
	case kind == "application/json" && !json.Valid(a.body):
		t.Errorf("status %d, body %q", a.status, a.body)
	case strings.HasPrefix(kind, "text/html"):
		t.Errorf("a page: %s", a.body)
	}
}

// checkSent checks what the platform was asked.
func checkSent(t *testing.T, h *hostileRig) {
	t.Helper()
	sent, left, complaints := h.take()
	if strings.Contains(complaints, "panic") {
		t.Errorf("%s", complaints)
	}
	if left != 0 {
		t.Errorf("%d answers of the platform are not closed", left)
	}
	for _, q := range sent {
		if host := q.URL.Host; host != "storage.googleapis.com" && !strings.HasSuffix(host, "aiplatform.googleapis.com") && host != "discoveryengine.googleapis.com" && host != "texttospeech.googleapis.com" {
			t.Errorf("%s was asked", host)
		}
		if path := q.URL.EscapedPath(); climbs(path) || strings.ContainsAny(q.URL.Path, "\x00\r\n") {
			t.Errorf("%q was asked", path)
		}
		for name, values := range q.Header {
			if v := strings.Join(values, ","); strings.ContainsAny(name+v, "\r\n\x00") || strings.Contains(v, "canary-cookie") || name == "X-Injected" {
				t.Errorf("%s: %q was sent", name, v)
			}
		}
	}
}

// climbs reports whether an escaped path has a segment that servers resolve to another place.
func climbs(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if name, err := url.PathUnescape(segment); err != nil || name == "." || name == ".." {
			return true
		}
	}
	return false
}
