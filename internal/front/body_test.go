package front

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

func zip(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBodies(t *testing.T) {
	zipped := zip(t, hello)
	big := strings.Replace(hello, "Hello", strings.Repeat("a", 2000), 1)
	const limit = 1000
	exact := hello + strings.Repeat(" ", limit-len(hello))
	tests := []struct {
		name, body string
		header     []string
		status     int
		code       string
		param      string
	}{
		{"plain", hello, nil, 200, "", ""},
		{"white space around", "\n" + hello + "\r\n", nil, 200, "", ""},
		{"JSON", hello, []string{"Content-Type", "application/json"}, 200, "", ""},
		{"JSON in UTF-8", hello, []string{"Content-Type", "Application/JSON; charset=UTF-8"}, 200, "", ""},
		{"a kind of JSON", hello, []string{"Content-Type", "application/vnd.api+json"}, 200, "", ""},
		{"gzip", zipped, []string{"Content-Encoding", "gzip"}, 200, "", ""},
		{"gzip in another case", zipped, []string{"Content-Encoding", "GZIP"}, 200, "", ""},
		{"gzip of no bytes", zip(t, ""), []string{"Content-Encoding", "gzip"}, 400, "invalid_request", ""},
		{"identity", hello, []string{"Content-Encoding", "identity"}, 200, "", ""},
		{"exactly at the limit", exact, nil, 200, "", ""},
		{"gzip exactly at the limit", zip(t, exact), []string{"Content-Encoding", "gzip"}, 200, "", ""},

		{"a form", hello, []string{"Content-Type", "multipart/form-data; boundary=x"}, 415, "invalid_request", "content-type"},
		{"a type that is no type", hello, []string{"Content-Type", "json;;"}, 415, "invalid_request", "content-type"},
		{"two types", hello, []string{"Content-Type", "application/json", "Content-Type", "application/json"}, 415, "invalid_request", "content-type"},
		{"another charset", hello, []string{"Content-Type", "application/json; charset=latin1"}, 415, "invalid_request", "content-type"},
		{"another encoding", hello, []string{"Content-Encoding", "br"}, 415, "invalid_request", "content-encoding"},
		{"two encodings", hello, []string{"Content-Encoding", "gzip, br"}, 415, "invalid_request", "content-encoding"},
		{"no gzip", hello, []string{"Content-Encoding", "gzip"}, 400, "invalid_request", "content-encoding"},
		{"half a gzip", zipped[:len(zipped)-6], []string{"Content-Encoding", "gzip"}, 400, "invalid_request", "content-encoding"},
		{"gzip with a tail", zipped + "tail", []string{"Content-Encoding", "gzip"}, 400, "invalid_request", "content-encoding"},
		{"over the limit", big, nil, 413, "request_too_large", ""},
		{"one byte over the limit", exact + " ", nil, 413, "request_too_large", ""},
		{"gzip that grows over the limit", zip(t, big), []string{"Content-Encoding", "gzip"}, 413, "request_too_large", ""},
		{"gzip that is itself over the limit", zipped + strings.Repeat(zip(t, ""), 100), []string{"Content-Encoding", "gzip"}, 413, "request_too_large", ""},
		{"empty", "", nil, 400, "invalid_request", ""},
		{"no JSON", "model=m", nil, 400, "invalid_request", ""},
		{"a tail", hello + "{}", nil, 400, "invalid_request", ""},
		{"a list", "[]", nil, 400, "invalid_request", ""},
		{"a wrong type", `{"model":1}`, nil, 400, "invalid_request", "model"},
		{"a wrong type deep inside", `{"messages":[{},{"content":[{"type":2}]}]}`, nil, 400, "invalid_request", "messages[1].content[0].type"},
		{"stream as a text", `{"stream":"true"}`, nil, 400, "invalid_request", "stream"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &fake{}
			res := ask(t, Config{MaxBody: limit}, b, "POST", chatPath, tt.body, tt.header...)
			if res.StatusCode != tt.status {
				t.Fatalf("status %d, want %d: %s", res.StatusCode, tt.status, readBody(t, res))
			}
			if tt.status == 200 {
				if b.request.Model != "m" || len(b.request.Messages) != 1 {
					t.Errorf("request = %+v", b.request)
				}
				return
			}
			e := readEnvelope(t, res)
			if e.Error.Code != tt.code || e.param() != tt.param {
				t.Errorf("code %q, param %q, want %q, %q", e.Error.Code, e.param(), tt.code, tt.param)
			}
			if b.calls > 0 {
				t.Error("the backend was called")
			}
		})
	}
}

func TestBodyOfUnknownLength(t *testing.T) {
	nothings := strings.Repeat(zip(t, ""), 100) // reads as no bytes
	tests := []struct {
		name     string
		body     io.Reader
		status   int
		encoding string
	}{
		{"in pieces", iotest.OneByteReader(strings.NewReader(hello)), 200, ""},
		{"with the end", iotest.DataErrReader(strings.NewReader(hello)), 200, ""},
		{"over the limit", iotest.HalfReader(strings.NewReader(strings.Repeat(" ", 2000) + hello)), 413, ""},
		{"without end", endless{}, 413, ""},
		{"broken", io.MultiReader(strings.NewReader(`{"model":`), iotest.ErrReader(io.ErrUnexpectedEOF)), 400, ""},
		{"gzip over the limit that holds nothing", iotest.HalfReader(strings.NewReader(nothings)), 413, "gzip"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("POST", chatPath, tt.body)
			r.Header.Set("Content-Encoding", tt.encoding)
			New(Config{MaxBody: 1000}, &fake{}).ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d: %s", w.Code, tt.status, w.Body)
			}
			if tt.status != 200 {
				readEnvelope(t, w.Result())
			}
		})
	}
}

// endless is a body of blanks.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestDeclaredLengthClaimsNoMemory(t *testing.T) {
	r := httptest.NewRequest("POST", chatPath, iotest.ErrReader(io.ErrUnexpectedEOF))
	r.ContentLength = 30 << 20
	c := call{handler: &handler{maxBody: DefaultMaxBody}, w: httptest.NewRecorder(), r: r}
	var buf jsonx.Buffer
	if err := c.readBody(&buf); err == nil || cap(buf.B) > 2*firstRead {
		t.Errorf("error %v, %d bytes for a body that never came", err, cap(buf.B))
	}
}

func TestRefusedBodyIsNotRead(t *testing.T) {
	r := httptest.NewRequest("POST", chatPath, iotest.ErrReader(io.ErrClosedPipe))
	r.ContentLength = DefaultMaxBody + 1
	w := httptest.NewRecorder()
	New(Config{}, &fake{}).ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", w.Code)
	}
}
