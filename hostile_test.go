package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
)

// TestRequestsThatAreNoRequests sends what proxies and servers read in different ways.
// Each connection has one answer, or the answers of requests that really are several,
// and nothing reaches the platform.
func TestRequestsThatAreNoRequests(t *testing.T) {
	const chat = "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n"
	for name, tt := range map[string]struct {
		raw  string
		want []int
	}{
		"two lengths":                  {chat + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", []int{400}},
		"a length with a sign":         {chat + "Content-Length: +2\r\n\r\n{}", []int{400}},
		"a length that is a list":      {chat + "Content-Length: 2, 3\r\n\r\n{} ", []int{400}},
		"chunked twice":                {chat + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", []int{501}},
		"an unknown coding":            {chat + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", []int{501}},
		"a coding with a tab":          {chat + "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n", []int{400}},
		"a blank before the colon":     {chat + "Content-Length : 2\r\n\r\n{}", []int{400}},
		"a bare line feed in a value":  {"GET /v1/models HTTP/1.1\r\nHost: a\r\nx-gateway-trace-id: a\rX-Injected: 1\r\n\r\n", []int{400}},
		"NUL in a value":               {"GET /v1/models HTTP/1.1\r\nHost: a\r\nx-gateway-trace-id: a\x00b\r\n\r\n", []int{400}},
		"a value that is folded":       {"GET /v1/models HTTP/1.1\r\nHost: a\r\nx-gateway-trace-id: a\r\n b\r\n\r\n", []int{400}},
		"a name that is folded":        {"GET /v1/models HTTP/1.1\r\nHost: a\r\n x-gateway-trace-id: a\r\n\r\n", []int{400}},
		"no host":                      {"GET /v1/models HTTP/1.1\r\n\r\n", []int{400}},
		"two hosts":                    {"GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", []int{400}},
		"a chunk longer than its size": {chat + "Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n", []int{400}},
		"a body that is cut":           {chat + "Content-Length: 99\r\n\r\n{\"model\":", []int{400}},
		"too many headers":             {"GET /v1/models HTTP/1.1\r\nHost: a\r\nX-A: " + strings.Repeat("a", 1<<17) + "\r\n\r\n", []int{431}},
		"a request behind a whole one": {"GET /v1/prompts HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/responses HTTP/1.1\r\nHost: a\r\n\r\n", []int{404, 404}},
	} {
		t.Run(name, func(t *testing.T) {
			h := hostile(t)
			var got []int
			for _, a := range h.ask(t, []byte(tt.raw)) {
				got = append(got, a.status)
				checkRaw(t, &a)
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("answers %v, want %v", got, tt.want)
			}
			if sent, _, _ := h.take(); len(sent) > 0 {
				t.Errorf("%s was asked", sent[0].URL)
			}
		})
	}
}

// hostile is a rig that ends with the test.
func hostile(t *testing.T) *hostileRig {
	t.Helper()
	h, err := newHostileRig()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// hostileNames are tricks with paths, quotes, lines and Unicode.
var hostileNames = []string{
	"..", "../../secret", "a/../../b", "%2e%2e%2f", "..%252f", "a\x00b", "a%00b", "．．／a", "a\u2024\u2024/b", "a\\..\\b", "a?x=1", "a#b", "a:b@c",
	"a\r\nX-Injected: 1", "a\u2028b", "a\u202eb", "\x1b[2J", "é", "e\u0301", "<script>alert(1)</script>", "{{.}}", "${jndi:ldap://x}", `"; DROP TABLE records; --`,
	strings.Repeat("a", 5000), "\xff\xfe", "",
}

// TestHostileNames puts them into every place of the front where a name stands: nothing
// is asked of the platform outside of the paths that are its own, and what a client
// hears is an error of its own making.
func TestHostileNames(t *testing.T) {
	places := []struct{ method, path, body string }{
		{"GET", "/v1/models/%s", ""},
		{"POST", "/v1/prompts/%s/render", "{}"},
		{"GET", "/v1/files/%s", ""},
		{"GET", "/v1/files/%s/content", ""},
		{"DELETE", "/v1/files/%s", ""},
		{"GET", "/v1/batches/%s", ""},
		{"POST", "/v1/batches/%s/cancel", ""},
		{"GET", "/v1/logs/%s", ""},
		{"GET", "/v1/logs?cursor=%s", ""},
		{"GET", "/v1/analytics/%s", ""},
		{"GET", "/v1/cached_contents/%s", ""},
		{"DELETE", "/v1/cached_contents/%s", ""},
		{"POST", "/v1beta/models/%s:generateContent", `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}`},
		{"POST", "/v1beta1/projects/%s/locations/global/publishers/google/models/gemini-2.5-flash:generateContent", `{"contents":[]}`},
		{"POST", "/v1beta1/projects/p/locations/%s/publishers/google/models/gemini-2.5-flash:generateContent", `{"contents":[]}`},
		{"POST", "/v1/chat/completions", `{"model":%s,"messages":[{"role":"user","content":"Hi"}]}`},
		{"POST", "/v1/chat/completions", `{"model":"@s/m","user":%s,"messages":[{"role":"user","content":"Hi"}]}`},
		{"POST", "/v1/embeddings", `{"model":%s,"input":"a"}`},
		{"POST", "/v1/batches", `{"input_file_id":%s,"endpoint":"/v1/chat/completions","completion_window":"24h"}`},
		{"POST", "/v1/feedback", `{"trace_id":%s,"value":1}`},
	}
	h := hostile(t)
	for _, p := range places {
		for _, name := range hostileNames {
			target, body := p.path, p.body
			if strings.Contains(p.body, "%s") {
				body = strings.Replace(body, "%s", hostileText(name), 1)
			} else {
				target = strings.Replace(target, "%s", url.PathEscape(name), 1)
			}
			for _, a := range h.ask(t, rawRequest(p.method, target, body)) {
				checkRaw(t, &a)
				if a.status == http.StatusOK && strings.Contains(target, "/models/") && !strings.HasPrefix(target, "/v1beta1") {
					t.Errorf("%s %q: %d %.200s", p.method, target, a.status, a.body)
				}
			}
			checkSent(t, h)
		}
	}
}

// hostileText is a JSON string of any bytes.
func hostileText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c == '"' || c == '\\':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// TestNamesOfUploads keeps files under hostile names and reads them back: the name is
// no path and adds no header.
func TestNamesOfUploads(t *testing.T) {
	h := hostile(t)
	for _, name := range []string{"../../etc/passwd", `a"; filename="b.exe`, "a\u202egnp.exe", "C:\\a\\b.jsonl", "é\u2028.jsonl", strings.Repeat("n", 3000)} {
		var file *gateway.FileObject
		file, err := h.client.Files.Create(t.Context(), &gateway.FileRequest{File: strings.NewReader("{}\n"), Filename: name, Purpose: gateway.PurposeBatch})
		if err != nil {
			continue // which is as good
		}
		a := h.ask(t, rawRequest("GET", "/v1/files/"+file.ID+"/content", ""))[0]
		kind, params, err := mime.ParseMediaType(a.header.Get("Content-Disposition"))
		if a.status != http.StatusOK || err != nil || kind != "attachment" || len(params) != 1 {
			t.Errorf("%q: %d, %q, %v", name, a.status, a.header.Get("Content-Disposition"), err)
		}
		for _, object := range h.platform.Objects("bucket") {
			if strings.Contains(object, "..") || strings.Contains(object, "etc") || !strings.HasPrefix(object, "team/") {
				t.Errorf("%q is kept as %q", name, object)
			}
		}
	}
}

// TestHostileTextsInTheLog has clients choose what a record says. It is one line of
// JSON for each record, with nothing that a terminal or a page would act on.
func TestHostileTextsInTheLog(t *testing.T) {
	h := hostile(t)
	texts := []string{"a\nb", "\x1b[31mred", "\u2028\u2029", "<script>alert(1)</script>", "\x00", "\u202e"}
	for _, text := range texts {
		h.ask(t, rawRequest("POST", "/v1/chat/completions", `{"model":`+hostileText("gemini"+text)+`,"user":`+hostileText(text)+`,"messages":[{"role":"user","content":"Hi"}]}`))
	}
	if err := h.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := logs.Export(context.Background(), h.log.Store(), logs.Query{}, logs.FormatJSONL, &out); err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(out.Bytes(), []byte("\n")); lines != len(texts) || bytes.ContainsAny(out.Bytes(), "\x1b\x00\r\u2028\u2029<") {
		t.Errorf("%d lines of %d records:\n%q", lines, len(texts), out.String())
	}
}

// TestManyNamesOfMetadata sends as many as the header has room for, and more. They go
// into the record and not into the answer, and records have a bound in the memory.
func TestManyNamesOfMetadata(t *testing.T) {
	h := hostile(t)
	for n, want := range map[int]int{3000: http.StatusOK, 9000: http.StatusRequestHeaderFieldsTooLarge} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%d":"v"`, i)
		}
		a := h.ask(t, rawRequest("POST", "/v1/chat/completions", hostileBody, "x-gateway-metadata: {"+b.String()[1:]+"}"))
		if len(a) != 1 || a[0].status != want || bytes.Contains(a[0].body, []byte("k299")) {
			t.Errorf("%d names: %+.300v", n, a)
		}
	}
}
