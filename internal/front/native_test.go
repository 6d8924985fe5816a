package front

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// fakeNative is what a fake answers with in Google's own schema.
type fakeNative struct {
	native  providers.NativeAnswer
	events  NativeStream
	refusal error

	asked *providers.NativeRequest
	told  Overrides
}

func (f *fakeNative) note(req *providers.NativeRequest, o *Overrides) {
	own := *req
	own.Body = []byte(string(req.Body))
	f.asked, f.told = &own, *o
}

func (f *fakeNative) Native(_ context.Context, req *providers.NativeRequest, o *Overrides) (*providers.NativeAnswer, error) {
	f.note(req, o)
	return &f.native, f.refusal
}

func (f *fakeNative) NativeStream(_ context.Context, req *providers.NativeRequest, o *Overrides) (NativeStream, error) {
	f.note(req, o)
	return f.events, f.refusal
}

// fakeEvents are events, and how they end.
type fakeEvents struct {
	list []string
	end  error
}

func (f *fakeEvents) Recv() ([]byte, error) {
	if len(f.list) == 0 {
		return nil, f.end
	}
	data := f.list[0]
	f.list = f.list[1:]
	return []byte(data), nil
}

func (*fakeEvents) Meta() providers.Meta { return providers.Meta{RequestID: "id"} }
func (*fakeEvents) Close() error         { return nil }

func TestNativePaths(t *testing.T) {
	tests := []struct {
		name, path string
		want       nativePath
		status     int // of an error
		says       string
	}{
		{"the Gemini API", "/v1beta/models/gemini-2.5-flash:generateContent", nativePath{model: "gemini-2.5-flash", method: "generateContent", beta: true}, 0, ""},
		{"its first version", "/v1/models/gemini-2.5-flash:countTokens", nativePath{model: "gemini-2.5-flash", method: "countTokens"}, 0, ""},
		{"a slug", "/v1beta/models/@vx/gemini-2.5-flash:generateContent", nativePath{model: "@vx/gemini-2.5-flash", method: "generateContent", beta: true}, 0, ""},
		{"a slug and a publisher", "/v1beta/models/@vx/google/gemini-2.5-flash:generateContent", nativePath{model: "@vx/google/gemini-2.5-flash", method: "generateContent", beta: true}, 0, ""},
		{"a tuned model", "/v1beta/tunedModels/t-1:generateContent", nativePath{model: "tunedModels/t-1", method: "generateContent", beta: true}, 0, ""},
		{"the list", "/v1beta/models", nativePath{beta: true}, 0, ""},
		{"one model", "/v1beta/models/m", nativePath{model: "m", beta: true}, 0, ""},
		{
			"Vertex AI", "/v1beta1/projects/p/locations/us-central1/publishers/google/models/m:streamGenerateContent",
			nativePath{model: "m", method: "streamGenerateContent", project: "p", region: "us-central1", beta: true, vertex: true}, 0, "",
		},
		{
			"a domain's project", "/v1/projects/example.com:p/locations/global/publishers/google/models/m:predict",
			nativePath{model: "m", method: "predict", project: "example.com:p", region: "global", vertex: true}, 0, "",
		},
		{"Vertex AI without a project", "/v1beta1/publishers/google/models/m:embedContent", nativePath{model: "m", method: "embedContent", beta: true, vertex: true}, 0, ""},
		{"a slug for a publisher", "/v1beta1/publishers/@vx/models/m:computeTokens", nativePath{model: "@vx/m", method: "computeTokens", beta: true, vertex: true}, 0, ""},
		{"another publisher", "/v1/publishers/anthropic/models/claude-x@20260101:generateContent", nativePath{model: "anthropic/claude-x@20260101", method: "generateContent", vertex: true}, 0, ""},
		{
			"a tuned endpoint", "/v1beta1/projects/p/locations/l/endpoints/123:generateContent",
			nativePath{model: "projects/p/locations/l/endpoints/123", method: "generateContent", beta: true, vertex: true}, 0, "",
		},
		{"the list of Vertex AI", "/v1beta1/publishers/google/models", nativePath{beta: true, vertex: true}, 0, ""},
		{"an empty segment", "/v1beta/models//m:generateContent", nativePath{}, 400, "empty segment"},
		{"dots", "/v1beta/models/../m:generateContent", nativePath{}, 400, "dots"},
		{"dots for a project", "/v1/projects/../locations/l/publishers/google/models/m:generateContent", nativePath{}, 400, "dots"},
		{"no model", "/v1beta/models/:generateContent", nativePath{}, 400, "name of a model"},
		{"two colons", "/v1beta/models/a:b:generateContent", nativePath{}, 501, "method"},
		{"a query within", "/v1beta/models/a?b:generateContent", nativePath{}, 400, "name of a model"},
		{"a percent sign", "/v1beta/models/a%2f..:generateContent", nativePath{}, 400, "name of a model"},
		{"a bare slug", "/v1beta/models/@vx:generateContent", nativePath{}, 400, "name of a model"},
		{"a slug within", "/v1beta/models/a/@vx:generateContent", nativePath{}, 400, "name of a model"},
		{"a colon for a publisher", "/v1/publishers/:/models/m:generateContent", nativePath{}, 400, "publisher"},
		{"a bad publisher", "/v1/publishers/a;b/models/m:generateContent", nativePath{}, 400, "publisher"},
		{"a bad location", "/v1/projects/p/locations/a.b/publishers/google/models/m:generateContent", nativePath{}, 400, "LOCATION"},
		{"a method that is not passed", "/v1beta/models/m:batchGenerateContent", nativePath{}, 501, "generateContent"},
		{"caches", "/v1beta/cachedContents/c", nativePath{}, 501, "/v1/cached_contents"},
		{"files", "/v1beta/files", nativePath{}, 501, "/v1/files"},
		{"an upload", "/upload/v1beta/files", nativePath{}, 501, "/v1/files"},
		{"tuning", "/v1beta1/projects/p/locations/l/tuningJobs", nativePath{}, 501, "tune at the platform"},
		{"live sessions", "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent", nativePath{}, 501, "live"},
		{"a project's models", "/v1beta1/projects/p/locations/l/models", nativePath{}, 501, "models"},
		{"nothing", "/v1beta", nativePath{}, 501, "serves"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseNative(tt.path)
			if tt.status != 0 {
				e, ok := errors.AsType[*providers.Error](err)
				if !ok || e.HTTPStatus() != tt.status || !strings.Contains(e.Message, tt.says) {
					t.Fatalf("error %v, want %d with %q", err, tt.status, tt.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(nativePath{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzNativePath checks that no path leads out of what it names.
func FuzzNativePath(f *testing.F) {
	for _, seed := range []string{
		"/v1beta/models/gemini-2.5-flash:generateContent", "/v1beta/models/@vx/m:countTokens", "/v1/models/a:b:c", "/v1beta/models/a%2fb:generateContent",
		"/v1beta1/projects/p/locations/l/publishers/google/models/m:predict", "/v1beta1/projects/p/locations/l/endpoints/1:generateContent",
		"/v1beta1/publishers/@vx/models/m", "//v1beta//models", "/v1beta/models/..:generateContent", "/v1beta/tunedModels/x:embedContent", "/v1beta1/projects/p/locations/l/publishers/../models/x:predict",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		p, err := parseNative(path)
		if err != nil {
			if e, ok := errors.AsType[*providers.Error](err); !ok || e.HTTPStatus() < 400 || strings.Contains(e.Message, path) && len(path) > 8 {
				t.Fatalf("error %v", err)
			}
			return
		}
		if p.method != "" && p.model == "" {
			t.Fatal("a method of nothing")
		}
		for _, s := range []string{p.model, p.project, p.region} {
			if strings.ContainsAny(s, "?#%\\ \r\n") || strings.HasPrefix(s, "/") || strings.HasSuffix(s, "/") {
				t.Fatalf("%q", s)
			}
			for seg := range strings.SplitSeq(s, "/") {
				if seg == "." || seg == ".." || seg == "" && s != "" {
					t.Fatalf("the segment %q of %q", seg, s)
				}
			}
		}
		if strings.Contains(strings.TrimPrefix(p.model, "projects/"), ":") && !strings.HasPrefix(p.model, "projects/") {
			t.Fatalf("the model %q", p.model)
		}
	})
}

func TestNativeGoesThrough(t *testing.T) {
	const body = `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],  "unknown":{"b":1,"a":2}}`
	f := &fake{fakeServices: fakeServices{}}
	f.fakeNative.native = providers.NativeAnswer{Body: []byte("{\n \"candidates\": [ ]\n}\n"), Meta: providers.Meta{CacheStatus: "hit"}}
	res := ask(t, Config{}, f, "POST", "/v1beta1/projects/p/locations/eu/publishers/google/models/m:generateContent", body)
	data, _ := io.ReadAll(res.Body)
	if res.StatusCode != 200 || string(data) != "{\n \"candidates\": [ ]\n}\n" || res.Header.Get("X-Gateway-Cache-Status") != "hit" {
		t.Errorf("%d %q", res.StatusCode, data)
	}
	want := &providers.NativeRequest{Model: "m", Method: "generateContent", Beta: true, Body: []byte(body)}
	if diff := cmp.Diff(want, f.asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f.told.PathProject != "p" || f.told.PathRegion != "eu" || f.told.ProjectID != "" {
		t.Errorf("told %+v", f.told)
	}
}

func TestNativeRefusals(t *testing.T) {
	const envelope = `"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":`
	tests := []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"a stream that is no event stream", "POST", "/v1beta/models/m:streamGenerateContent", `{}`, 400, `"status":"INVALID_ARGUMENT"`},
		{"a query that is lost", "POST", "/v1beta/models/m:generateContent?fields=a", `{}`, 400, `"metadata":{"param":"fields"}`},
		{"a wrong method", "PATCH", "/v1beta/models/m", `{}`, 405, `"status":"UNIMPLEMENTED"`},
		{"what is not there", "DELETE", "/v1beta/cachedContents/c", ``, 501, envelope},
		{"another type", "POST", "/v1/publishers/google/models/m:nothing", `{}`, 501, `"code":501`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := ask(t, Config{}, &fake{}, tt.method, tt.path, tt.body)
			data, _ := io.ReadAll(res.Body)
			if res.StatusCode != tt.status || !strings.Contains(string(data), tt.want) || !strings.HasPrefix(string(data), `{"error":{"code":`) {
				t.Errorf("%d %s", res.StatusCode, data)
			}
		})
	}
}

func TestNativeErrors(t *testing.T) {
	tests := []struct {
		name string
		err  *providers.Error
		want string
	}{
		{
			"the platform's", &providers.Error{Code: providers.ErrRateLimited, StatusCode: 429, Message: "Slow down", NativeStatus: "RESOURCE_EXHAUSTED", Provider: "vertex-ai", Details: []byte(`[{"@type":"x","future":1}]`)},
			`{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x","future":1}]}}`,
		},
		{
			"another vendor's", &providers.Error{Code: providers.ErrUnavailable, StatusCode: 529, Message: "Overloaded", NativeStatus: "overloaded_error", Details: []byte(`{"request_id":"r"}`)},
			`{"error":{"code":529,"message":"Overloaded","status":"UNAVAILABLE","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_UNAVAILABLE","domain":"gateway","metadata":{}}]}}`,
		},
		{
			"ours", &providers.Error{Code: providers.ErrInvalidConfig, Param: "guards", Message: "no", RequestID: "i"},
			`{"error":{"code":400,"message":"no","status":"FAILED_PRECONDITION","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"INVALID_CONFIG","domain":"gateway","metadata":{"param":"guards","request_id":"i"}}]}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{}
			f.refusal = tt.err
			res := ask(t, Config{}, f, "POST", "/v1beta/models/m:generateContent", `{}`)
			data, _ := io.ReadAll(res.Body)
			if diff := cmp.Diff(tt.want, string(data)); diff != "" || res.StatusCode != tt.err.HTTPStatus() {
				t.Errorf("%d (-want +got):\n%s", res.StatusCode, diff)
			}
		})
	}
}

// A stream ends cleanly after a whole answer alone.
func TestNativeStreams(t *testing.T) {
	const path, whole = "/v1beta/models/m:streamGenerateContent?alt=sse", "data: {\"a\":1}\r\n\r\ndata: {\"b\":2}\r\n\r\n"
	tests := []struct {
		name string
		end  error
		want string
		cut  bool
	}{
		{"whole", io.EOF, whole, false},
		{"cut", &providers.Error{Code: providers.ErrStreamCut, Message: "cut", Err: io.EOF}, whole + `data: {"error":{"code":502,"message":"cut","status":"UNAVAILABLE",`, true},
	}
	for _, tt := range tests {
		for _, inside := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				f := &fake{}
				f.fakeNative.events = &fakeEvents{list: []string{`{"a":1}`, `{"b":2}`}, end: tt.end}
				client, url := &http.Client{Transport: NewTransport(Config{}, f)}, "http://gateway.example"
				if !inside {
					server := httptest.NewServer(New(Config{}, f))
					defer server.Close()
					client, url = server.Client(), server.URL
				}
				res, err := client.Post(url+path, "application/json", strings.NewReader(`{}`))
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				data, err := io.ReadAll(res.Body)
				if !strings.HasPrefix(string(data), tt.want) || errors.Is(err, io.ErrUnexpectedEOF) != tt.cut || (err != nil) != tt.cut {
					t.Errorf("%q, %v", data, err)
				}
			})
		}
	}
}

func TestNativeKeys(t *testing.T) {
	const path = "/v1beta/models/m:generateContent"
	tests := []struct {
		name, query string
		header      map[string]string
		status      int
		token       string
	}{
		{"none", "", nil, 401, ""},
		{"as Google's clients send it", "", map[string]string{"x-goog-api-key": "key"}, 200, ""},
		{"in the query", "?key=key", nil, 200, ""},
		{"a wrong one", "", map[string]string{"x-goog-api-key": "other"}, 401, ""},
		{"a wrong one beside a bearer's", "", map[string]string{"x-goog-api-key": "other", "Authorization": "Bearer key"}, 200, ""},
		{"as bearer", "", map[string]string{"Authorization": "Bearer key"}, 200, ""},
		{"ours beside the service's", "", map[string]string{"x-goog-api-key": "other", "x-gateway-api-key": "key"}, 200, ""},
		{"with a token", "", map[string]string{"x-goog-api-key": "key", "Authorization": "Bearer platform"}, 200, "platform"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{}
			r := httptest.NewRequest("POST", path+tt.query, strings.NewReader(`{}`))
			for k, v := range tt.header {
				r.Header.Set(k, v)
			}
			w := httptest.NewRecorder()
			New(Config{Keys: []string{"key"}}, f).ServeHTTP(w, r)
			if w.Code != tt.status || f.told.Token != tt.token {
				t.Errorf("%d %s, token %q", w.Code, w.Body, f.told.Token)
			}
			if tt.status == 401 && (!strings.Contains(w.Body.String(), "x-goog-api-key") || !strings.Contains(w.Body.String(), "UNAUTHENTICATED")) {
				t.Errorf("%s", w.Body)
			}
		})
	}
}

func TestNativeModels(t *testing.T) {
	chat := &ModelFacts{Type: "chat", Provider: "vertex-ai", ContextWindow: 1000, MaxOutputTokens: 10}
	f := &fake{models: []Model{
		{ID: "@vx/gemini", OwnedBy: "google", Facts: chat}, {ID: "@vx/claude", OwnedBy: "anthropic", Facts: chat}, {ID: "gemini", OwnedBy: "google", Facts: chat},
	}}
	const one = `"displayName":"gemini","inputTokenLimit":1000,"outputTokenLimit":10,"supportedGenerationMethods":["generateContent","streamGenerateContent","countTokens"]}`
	for path, want := range map[string]string{
		"/v1beta/models?pageSize=1":              `{"models":[{"name":"models/@vx/gemini",` + strings.Replace(one, "gemini", "@vx/gemini", 1) + `],"nextPageToken":"1"}`,
		"/v1beta/models?pageToken=1&pageSize=5":  `{"models":[{"name":"models/gemini",` + one + `]}`,
		"/v1beta/models/gemini":                  `{"name":"models/gemini",` + one,
		"/v1beta1/publishers/google/models":      `{"publisherModels":[{"name":"publishers/@vx/models/gemini"},{"name":"publishers/google/models/gemini"}]}`,
		"/v1beta1/publishers/@vx/models/gemini":  `{"name":"publishers/@vx/models/gemini"}`,
		"/v1beta1/publishers/google/models/none": `{"error":{"code":404,`,
		"/v1beta/models?pageToken=9":             `{"error":{"code":400,`,
	} {
		res := ask(t, Config{}, f, "GET", path, "")
		if data, _ := io.ReadAll(res.Body); !strings.HasPrefix(string(data), want) || res.StatusCode == 200 && string(data) != want {
			t.Errorf("%s: %s\nwant %s", path, data, want)
		}
	}
}
