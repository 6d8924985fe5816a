package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// long is a text of n bytes that shows where a piece of it is from.
func long(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%09d\n", i)
	}
	return b.String()[:n]
}

func TestAFileIsKeptAndGivenBack(t *testing.T) {
	client, platform := batchClient(t)
	f, err := client.Files.Create(t.Context(), &gateway.FileRequest{File: strings.NewReader("Hällo"), Filename: "ü.txt", Purpose: "user_data", ExpiresAfter: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Files.Get(t.Context(), f.ID)
	if err != nil || got.Bytes != 6 || got.Filename != "ü.txt" || got.Purpose != "user_data" || got.ExpiresAt-got.CreatedAt < 3599 || got.ID != f.ID {
		t.Errorf("%+v %v", got, err)
	}
	if text := contentOf(t, client, f.ID); text != "Hällo" {
		t.Errorf("content %q", text)
	}
	if err := client.Files.Delete(t.Context(), f.ID); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"get": errOf(client.Files.Get(t.Context(), f.ID)), "content": errOf(client.Files.Content(t.Context(), f.ID)), "delete": client.Files.Delete(t.Context(), f.ID),
	} {
		if !errors.Is(err, gateway.ErrFileNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list := platform.Objects("bucket"); len(list) != 0 {
		t.Errorf("left: %v", list)
	}
}

func errOf[T any](_ T, err error) error { return err }

func TestAFileExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		platform := vertextest.New()
		defer platform.Close()
		client := batchClientOf(t, platform)
		f, err := client.Files.Create(t.Context(), &gateway.FileRequest{File: strings.NewReader("x"), Purpose: "batch", ExpiresAfter: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour - time.Minute)
		if _, err := client.Files.Get(t.Context(), f.ID); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if _, err := client.Files.Get(t.Context(), f.ID); !errors.Is(err, gateway.ErrFileNotFound) {
			t.Error(err)
		}
		for f, err := range client.Files.List(t.Context(), gateway.ListQuery{}) {
			t.Error(f, err)
		}
	})
}

// TestAnUploadGoesOn breaks off uploads and downloads of several chunks.
func TestAnUploadGoesOn(t *testing.T) {
	text := long(9<<20 + 5)
	busy := vertextest.Error(503, "UNAVAILABLE", "busy")
	for _, tt := range []struct {
		name   string
		opts   []vertextest.Option
		script func(*vertextest.Server)
		fails  error
	}{
		{"nothing happens", nil, func(*vertextest.Server) {}, nil},
		{"chunks are refused", nil, func(s *vertextest.Server) {
			s.ScriptVerb("uploadChunk", busy, busy, vertextest.Auto(), busy)
		}, nil},
		{"a connection breaks after the chunk has arrived", nil, func(s *vertextest.Server) {
			s.ScriptVerb("uploadChunk", vertextest.Auto().CutAfterEvents(0), vertextest.Auto(), vertextest.Auto(), vertextest.Auto().CutAfterEvents(0))
		}, nil},
		{"the store takes less than it is given", []vertextest.Option{vertextest.WithChunkLimit(256 << 10)}, func(*vertextest.Server) {}, nil},
		{"the beginning is refused", nil, func(s *vertextest.Server) { s.ScriptVerb("insertObject", busy, busy) }, nil},
		{"downloads break off", nil, func(s *vertextest.Server) {
			s.ScriptVerb("getObject", vertextest.Auto().CutAfterEvents(3), vertextest.Auto().CutAfterEvents(40), busy, vertextest.Auto().CutAfterEvents(0))
		}, nil},
		{"the session is lost", nil, func(s *vertextest.Server) {
			s.ScriptVerb("uploadChunk", vertextest.Auto(), vertextest.Error(410, "", "gone"))
		}, gateway.ErrFileNotFound},
		{"the store stays down", nil, func(s *vertextest.Server) {
			s.ScriptVerb("uploadChunk", busy, busy, busy, busy, busy, busy, busy, busy)
		}, gateway.ErrUnavailable},
		{"nobody may", nil, func(s *vertextest.Server) { s.ScriptVerb("insertObject", vertextest.Error(403, "", "no")) }, gateway.ErrPermission},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				platform := vertextest.New(tt.opts...)
				defer platform.Close()
				client := batchClientOf(t, platform)
				tt.script(platform)
				f, err := client.Files.Create(t.Context(), &gateway.FileRequest{File: strings.NewReader(text), Purpose: "batch"})
				if tt.fails != nil {
					if !errors.Is(err, tt.fails) || len(platform.Objects("bucket")) != 0 {
						t.Errorf("%v, %v", err, platform.Objects("bucket"))
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := contentOf(t, client, f.ID); got != text || f.Bytes != int64(len(text)) {
					t.Errorf("%d of %d bytes came back, %d told", len(got), len(text), f.Bytes)
				}
			})
		})
	}
}

// failing is a reader that breaks after some bytes.
type failing struct{ r io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if errors.Is(err, io.EOF) {
		err = errors.New("the disk is gone")
	}
	return n, err
}

func TestNoPartOfAFileStays(t *testing.T) {
	for name, q := range map[string]*gateway.FileRequest{
		"a small one whose reader fails": {File: failing{strings.NewReader("x")}, Purpose: "batch"},
		"a large one whose reader fails": {File: failing{strings.NewReader(long(9 << 20))}, Purpose: "batch"},
		"one that is too large":          {File: strings.NewReader(long(9 << 20)), Purpose: "batch", MaxBytes: 8 << 20},
		"one that is a byte too large":   {File: strings.NewReader("12345"), Purpose: "batch", MaxBytes: 4},
		"no purpose":                     {File: strings.NewReader("x")},
		"no file":                        {Purpose: "batch"},
		"a short life":                   {File: strings.NewReader("x"), Purpose: "batch", ExpiresAfter: time.Minute},
		"a name of two lines":            {File: strings.NewReader("x"), Purpose: "batch", Filename: "a\nb"},
	} {
		client, platform := batchClient(t)
		_, err := client.Files.Create(t.Context(), q)
		var e *gateway.Error
		if !errors.As(err, &e) || e.HTTPStatus() >= 500 {
			t.Errorf("%s: %v", name, err)
		}
		if list := platform.Objects("bucket"); len(list) != 0 {
			t.Errorf("%s: %v is left", name, list)
		}
	}
}

func TestFilesNeedABucket(t *testing.T) {
	platform := vertextest.New()
	defer platform.Close()
	client, err := gateway.New(gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = client.Files.Page(t.Context(), gateway.ListQuery{})
	if !errors.Is(err, gateway.ErrInvalidConfig) || !strings.Contains(err.Error(), "WithBucket") || len(platform.Requests()) != 0 {
		t.Error(err)
	}
	if _, err := client.Files.Page(t.Context(), gateway.ListQuery{}, gateway.WithBucket("gs://bucket")); err != nil {
		t.Error(err)
	}
	if _, err := gateway.New(gateway.WithBucket("bucket")); !errors.Is(err, gateway.ErrInvalidConfig) {
		t.Error(err)
	}
}

func TestFilesAreListedInPages(t *testing.T) {
	client, _ := batchClient(t)
	var want, got []string
	for i := range 7 {
		purpose := "batch"
		if i%3 == 0 {
			purpose = "other"
		}
		f, err := client.Files.Create(t.Context(), &gateway.FileRequest{File: strings.NewReader("x"), Purpose: purpose, Filename: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		if purpose == "batch" {
			want = append([]string{f.Filename}, want...)
		}
		time.Sleep(2 * time.Millisecond) // the order is that of their times
	}
	pages := 0
	for q := (gateway.ListQuery{Limit: 2, Purpose: "batch"}); ; pages++ {
		page, err := client.Files.Page(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range page.Data {
			got = append(got, f.Filename)
			q.After = f.ID
		}
		if !page.HasMore {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || pages != 1 {
		t.Errorf("%d further pages (-want +got)\n%s", pages, diff)
	}
	for _, q := range []gateway.ListQuery{{Limit: -1}, {Limit: 10_001}, {After: "x"}} {
		if _, err := client.Files.Page(t.Context(), q); !errors.Is(err, gateway.ErrInvalidRequest) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// form is a multipart form of the fields, in order; a file has a name before its
// content.
func form(t *testing.T, fields ...string) (io.Reader, string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		var part io.Writer
		var err error
		if name, ok := strings.CutPrefix(fields[i], "file:"); ok {
			part, err = w.CreateFormFile("file", name)
		} else {
			part, err = w.CreateFormField(fields[i])
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(part, fields[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b, w.FormDataContentType()
}

func TestFilesOverHTTP(t *testing.T) {
	client, platform := batchClient(t)
	handler := client.Handler(gateway.WithMaxBodyBytes(100), gateway.WithMaxFileBytes(5<<20))
	do := func(method, path, kind string, body io.Reader) (int, string, http.Header) {
		r := httptest.NewRequest(method, path, body)
		if kind != "" {
			r.Header.Set("Content-Type", kind)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code, w.Body.String(), w.Header()
	}
	for _, tt := range []struct {
		name   string
		fields []string
		status int
		says   string
	}{
		{"the purpose before the file", []string{"purpose", "batch", "file:a.jsonl", "x"}, 200, `"purpose":"batch"`},
		{"the purpose behind the file", []string{"file:a.jsonl", long(1 << 20), "purpose", "batch", "expires_after[anchor]", "created_at", "expires_after[seconds]", "3600"}, 200, `"expires_at":`},
		{"a field that means nothing", []string{"file:a.jsonl", "x", "purpose", "batch", "colour", "red"}, 200, `"filename":"a.jsonl"`},
		{"no purpose", []string{"file:a.jsonl", "x"}, 400, "a purpose is required"},
		{"no file", []string{"purpose", "batch"}, 400, "no file"},
		{"a purpose twice", []string{"purpose", "batch", "purpose", "other", "file:a", "x"}, 400, `"param":"purpose"`},
		{"a purpose twice, around the file", []string{"purpose", "batch", "file:a", "x", "purpose", "other"}, 400, "more than once"},
		{"two files", []string{"purpose", "batch", "file:a", "x", "file:b", "y"}, 400, "more than one file"},
		{"a file that is too large", []string{"purpose", "batch", "file:a", long(5<<20 + 1)}, 413, "over the limit of 5242880 bytes"},
		{"seconds that are none", []string{"purpose", "batch", "expires_after[seconds]", "soon", "file:a", "x"}, 400, "number of seconds"},
		{"another anchor", []string{"purpose", "batch", "expires_after[anchor]", "now", "file:a", "x"}, 400, "must be created_at"},
		{"a field that is too long", []string{"purpose", long(5000), "file:a", "x"}, 400, "too long"},
	} {
		before := len(platform.Objects("bucket"))
		body, kind := form(t, tt.fields...)
		status, text, header := do("POST", "/v1/files", kind, body)
		if status != tt.status || !strings.Contains(text, tt.says) {
			t.Errorf("%s: %d %s", tt.name, status, text)
		}
		if left := len(platform.Objects("bucket")) - before; (left == 1) != (tt.status == 200) {
			t.Errorf("%s: %d objects are left", tt.name, left)
		}
		if warned := header.Get("X-Gateway-Warnings") != ""; warned != strings.Contains(tt.name, "means nothing") {
			t.Errorf("%s: warnings %q", tt.name, header.Get("X-Gateway-Warnings"))
		}
	}
	body, kind := form(t, "purpose", "batch", "file:a", "x")
	whole, _ := io.ReadAll(body)
	before := len(platform.Objects("bucket"))
	for n := range whole[:len(whole)-4] { // all but the end of its last boundary
		if status, text, _ := do("POST", "/v1/files", kind, bytes.NewReader(whole[:n])); status != 400 || !strings.Contains(text, "not a whole form") {
			t.Fatalf("a form that is cut after %d of %d bytes: %d %s", n, len(whole), status, text)
		}
	}
	if left := len(platform.Objects("bucket")) - before; left != 0 {
		t.Errorf("%d objects are left of forms that were cut", left)
	}
	status, text, _ := do("GET", "/v1/files?limit=2", "", nil)
	var list struct {
		Data []struct{ ID string }
		More bool   `json:"has_more"`
		Last string `json:"last_id"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || status != 200 || len(list.Data) != 2 || !list.More || list.Last != list.Data[1].ID {
		t.Errorf("%d %s", status, text)
	}
	id := list.Last
	for _, tt := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/v1/files/" + id, 200, `"object":"file"`},
		{"HEAD", "/v1/files/" + id + "/content", 200, ""},
		{"GET", "/v1/files/" + id + "/content", 200, "000000001\n"},
		{"GET", "/v1/files/" + id + "/other", 404, "no such path"},
		{"GET", "/v1/files/" + id + "0", 404, "file_not_found"},
		{"GET", "/v1/files/..%2f..%2fx", 404, "no such path"},
		{"POST", "/v1/files/" + id, 405, "wrong method"},
		{"PATCH", "/v1/files", 405, "wrong method"},
		{"DELETE", "/v1/files/" + id, 200, `"deleted":true`},
		{"DELETE", "/v1/files/" + id, 404, "file_not_found"},
		{"GET", "/v1/files?order=asc", 400, "must be desc"},
		{"GET", "/v1/files?limit=0", 400, "limit"},
		{"GET", "/v1/batches/batch_x", 404, "batch_not_found"},
		{"POST", "/v1/batches/batch_x/cancel", 404, "batch_not_found"},
		{"POST", "/v1/batches/batch_x", 405, "use GET, HEAD"},
		{"GET", "/v1/batches/batch_x/cancel", 405, "use POST"},
		{"DELETE", "/v1/files/" + id + "/content", 405, "use GET, HEAD"},
		{"GET", "/v1/files//content", 404, "no such path"},
		{"POST", "/v1/batches//cancel", 405, "wrong method"},
		{"GET", "/v1/batches", 200, `"data":[],"first_id":null`},
	} {
		if status, text, _ := do(tt.method, tt.path, "", nil); status != tt.status || !strings.Contains(text, tt.says) {
			t.Errorf("%s %s: %d %.200s", tt.method, tt.path, status, text)
		}
	}
}

// TestAnIdempotencyKeyIsAHeader has a batch made twice over HTTP, and once more.
func TestAnIdempotencyKeyIsAHeader(t *testing.T) {
	client, platform := batchClient(t)
	id := upload(t, client, chatLine("a", "Hello"))
	ids := map[string]bool{}
	for _, key := range []string{"one", "one", "two"} {
		r := httptest.NewRequest(http.MethodPost, "/v1/batches", strings.NewReader(`{"input_file_id":"`+id+`","endpoint":"/v1/chat/completions","completion_window":"24h","output_expires_after":{}}`))
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		client.Handler().ServeHTTP(w, r)
		var b struct{ ID string }
		if err := json.Unmarshal(w.Body.Bytes(), &b); err != nil || w.Code != 200 || !strings.Contains(w.Header().Get("X-Gateway-Warnings"), "output_expires_after") {
			t.Fatalf("%d %s %v", w.Code, w.Body, w.Header())
		}
		ids[b.ID] = true
	}
	if n := verbs(platform, "createBatchPredictionJob"); len(ids) != 2 || n != 2 {
		t.Errorf("%d batches, %d jobs", len(ids), n)
	}
}

// TestAContentThatBreaksOffBreaksTheConnection asks over a socket.
func TestAContentThatBreaksOffBreaksTheConnection(t *testing.T) {
	client, platform := batchClient(t, vertextest.WithBatchShards(500))
	var lines strings.Builder
	for i := range 1000 {
		lines.WriteString(chatLine(fmt.Sprint(i), "Hello"))
	}
	b := runBatch(t, client, &gateway.BatchRequest{InputFileID: upload(t, client, lines.String()), Endpoint: gateway.BatchChat})
	for _, name := range platform.Objects("bucket") {
		if strings.HasSuffix(name, "predictions_00001.jsonl") {
			platform.RemoveObject("bucket", name)
		}
	}
	server := httptest.NewServer(client.Handler())
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/files/"+b.OutputFileID+"/content", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || bytes.Count(data, []byte("\n")) == 0 {
		t.Errorf("%d lines, then %v", bytes.Count(data, []byte("\n")), err)
	}
}

// TestATokenThatIsRefusedIsRenewed asks the store and the platform with a token
// that has run out.
func TestATokenThatIsRefusedIsRenewed(t *testing.T) {
	platform := vertextest.New(vertextest.WithToken("token-2"))
	defer platform.Close()
	client, err := gateway.New(gateway.WithTokenSource(&tokenSource{}), gateway.WithProjectID("p"), gateway.WithRegion("global"),
		gateway.WithBucket("gs://bucket"), gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	b := runBatch(t, client, &gateway.BatchRequest{InputFileID: upload(t, client, chatLine("a", long(6<<20))), Endpoint: gateway.BatchChat})
	if b.Status != gateway.BatchCompleted || b.RequestCounts.Completed != 1 {
		t.Errorf("%s %+v", b.Status, b.RequestCounts)
	}
	for _, r := range platform.Requests() {
		if r.Verb == "uploadChunk" && r.Header.Get("Authorization") != "" {
			t.Error("the token goes along with a session that needs none")
		}
	}
}
