package engine

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// played answers each request with the same bytes, and keeps what it was sent.
type played struct {
	status int
	body   string
	sent   string
	url    string
}

func (p *played) RoundTrip(r *http.Request) (*http.Response, error) {
	data, err := io.ReadAll(r.Body)
	p.sent, p.url = string(data), r.URL.Path+"?"+r.URL.RawQuery
	_ = r.Body.Close()
	return &http.Response{StatusCode: max(p.status, 200), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(p.body)), ContentLength: -1, Request: r}, err
}

func TestNativeBody(t *testing.T) {
	labels := map[string]string{"Team": "A b", "env": "x"}
	tests := []struct {
		name, method, body, want string
		labels                   map[string]string
		warns                    string
	}{
		{"as it is", providers.NativeGenerate, "{ \"contents\" : [ ],\n\"z\":1.50,\"a\":\"\\u00e9\" }\n", "{ \"contents\" : [ ],\n\"z\":1.50,\"a\":\"\\u00e9\" }\n", nil, ""},
		{"a model within", providers.NativeCount, `{"model":"models/@s/x", "contents":[{"model":"kept"}]}`, `{"model":"models/m", "contents":[{"model":"kept"}]}`, nil, ""},
		{"models of requests", providers.NativeBatchEmbed, `{"requests":[{"model":"models/x"},3,{"content":{"model":"kept"},"model":"y"}]}`, `{"requests":[{"model":"models/m"},3,{"content":{"model":"kept"},"model":"models/m"}]}`, nil, ""},
		{"the model that is counted for", providers.NativeCount, `{"generateContentRequest":{"contents":[],"model":"x","requests":[{"model":"kept"}]}}`, `{"generateContentRequest":{"contents":[],"model":"models/m","requests":[{"model":"kept"}]}}`, nil, ""},
		{"a model that is no name", providers.NativeGenerate, `{"model":{"a":1}}`, `{"model":{"a":1}}`, nil, ""},
		{"a prediction", providers.NativePredict, `{"model":"x"}`, `{"model":"x"}`, nil, ""},
		{"labels", providers.NativeGenerate, `{"a":1}`, `{"labels":{"env":"x","team":"a_b"},"a":1}`, labels, ""},
		{"labels alone", providers.NativeStream, ` {}`, ` {"labels":{"env":"x","team":"a_b"}}`, labels, ""},
		{"labels beside others", providers.NativeGenerate, `{"labels":{"env":"own"},"a":1}`, `{"labels":{"team":"a_b","env":"own"},"a":1}`, labels, ""},
		{"labels in an empty object", providers.NativeGenerate, `{"a":1,"labels": { }}`, `{"a":1,"labels": {"env":"x","team":"a_b" }}`, labels, ""},
		{"labels and a model", providers.NativeGenerate, `{"model":"x"}`, `{"labels":{"env":"x","team":"a_b"},"model":"models/m"}`, labels, ""},
		{"labels that are none", providers.NativeGenerate, `{"labels":[1]}`, `{"labels":[1]}`, labels, "not an object"},
		{"a count has no labels", providers.NativeCount, `{}`, `{}`, labels, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &played{body: `{}`}
			e := New(Config{Transport: p}, testSite{})
			req := &providers.NativeRequest{Model: "m", Method: tt.method, Body: []byte(tt.body)}
			target := &providers.Target{Model: "m", Labels: tt.labels}
			warned := ""
			if tt.method == providers.NativeStream {
				p.body = "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"
				s, err := e.NativeStream(t.Context(), target, req)
				if err != nil {
					t.Fatal(err)
				}
				_ = s.Close()
			} else {
				out, err := e.Native(t.Context(), target, req)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range out.Meta.Warnings {
					warned += w.Message
				}
			}
			if diff := cmp.Diff(tt.want, p.sent); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if string(req.Body) != tt.body {
				t.Error("the caller's body was changed")
			}
			if (warned == "") != (tt.warns == "") || !strings.Contains(warned, tt.warns) {
				t.Errorf("warned %q", warned)
			}
		})
	}
}

func TestNativeRefusesAtOnce(t *testing.T) {
	for name, req := range map[string]*providers.NativeRequest{
		"another family": {Model: "anthropic/claude", Method: providers.NativeGenerate, Body: []byte(`{}`)},
		"no JSON":        {Model: "m", Method: providers.NativeGenerate, Body: []byte(`{"a":`)},
		"no object":      {Model: "m", Method: providers.NativeGenerate, Body: []byte(`[]`)},
		"more than JSON": {Model: "m", Method: providers.NativeGenerate, Body: []byte(`{}{}`)},
		"a wrong method": {Model: "m", Method: "rawPredict", Body: []byte(`{}`)},
		"no model":       {Method: providers.NativeGenerate, Body: []byte(`{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			p := &played{body: `{}`}
			_, err := New(Config{Transport: p}, testSite{}).Native(t.Context(), &providers.Target{Model: req.Model}, req)
			if !errors.Is(err, providers.ErrInvalidRequest) || p.url != "" {
				t.Errorf("error %v, asked %q", err, p.url)
			}
		})
	}
}

func TestNativeFacts(t *testing.T) {
	tests := []struct {
		name, method, body string
		want               providers.NativeFacts
	}{
		{
			"an answer", providers.NativeGenerate,
			`{"responseId":"r","modelVersion":"v","candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4,"thoughtsTokenCount":1,"totalTokenCount":8}}`,
			providers.NativeFacts{
				ID: "r", Model: "v", FinishReason: "stop", NativeFinishReason: "STOP",
				Usage: &providers.Usage{PromptTokens: 3, CompletionTokens: 5, TotalTokens: 8, CompletionTokensDetails: providers.CompletionTokensDetails{ReasoningTokens: 1}},
			},
		},
		{"a call", providers.NativeGenerate, `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]}`, providers.NativeFacts{FinishReason: "tool_calls", NativeFinishReason: "STOP"}},
		{"a limit", providers.NativeGenerate, `{"candidates":[{"finishReason":"MAX_TOKENS"}]}`, providers.NativeFacts{FinishReason: "length", NativeFinishReason: "MAX_TOKENS"}},
		{"a second candidate", providers.NativeGenerate, `{"candidates":[{"finishReason":"STOP"},{"index":1,"finishReason":"SAFETY"}]}`, providers.NativeFacts{FinishReason: "stop", NativeFinishReason: "SAFETY"}},
		{"a blocked prompt", providers.NativeGenerate, `{"promptFeedback":{"blockReason":"SAFETY"}}`, providers.NativeFacts{FinishReason: "content_filter"}},
		{"sources", providers.NativeGenerate, `{"candidates":[{"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["a"]}}]}`, providers.NativeFacts{FinishReason: "stop", NativeFinishReason: "STOP", Sources: true, Searches: 1}},
		{"members of other kinds", providers.NativeGenerate, `{"candidates":{"a":1},"usageMetadata":7}`, providers.NativeFacts{}},
		{"a count", providers.NativeCount, `{"totalTokens":5}`, providers.NativeFacts{}},
		{"a prediction", providers.NativePredict, `{"predictions":[{"embeddings":{"values":[1],"statistics":{"token_count":3}}},{"embeddings":{"statistics":{"token_count":4.0}}}]}`, providers.NativeFacts{Usage: &providers.Usage{PromptTokens: 7, TotalTokens: 7}}},
		{"vectors", providers.NativeEmbed, `{"embedding":{"values":[1]},"usageMetadata":{"promptTokenCount":2}}`, providers.NativeFacts{Usage: &providers.Usage{PromptTokens: 2, TotalTokens: 2}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &played{body: tt.body}
			out, err := New(Config{Transport: p}, testSite{}).Native(t.Context(), &providers.Target{Model: "m"}, &providers.NativeRequest{Model: "m", Method: tt.method, Body: []byte(`{}`)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.Facts); diff != "" || string(out.Body) != tt.body {
				t.Errorf("%s (-want +got):\n%s", out.Body, diff)
			}
		})
	}
}

func TestNativeStreams(t *testing.T) {
	const begun, done = `{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, `{"candidates":[{"finishReason":"STOP"}]}`
	event := func(list ...string) string { return "data: " + strings.Join(list, "\r\n\r\ndata: ") + "\r\n\r\n" }
	tests := []struct {
		name, body string
		events     int
		code       error // nil for a whole one
	}{
		{"whole", event(begun, done), 2, nil},
		{"without its last blank line", strings.TrimSpace(event(begun, done)), 2, nil},
		{"with comments and empty events", ": hi\n\ndata:\n\n" + event(begun, done), 2, nil},
		{"blocked", event(`{"promptFeedback":{"blockReason":"SAFETY"}}`), 1, nil},
		{"more behind the finish reason", event(begun, done, `{"usageMetadata":{"totalTokenCount":4}}`), 3, nil},
		{"two candidates", event(`{"candidates":[{"index":0},{"index":1}]}`, `{"candidates":[{"index":1,"finishReason":"STOP"}]}`, done), 3, nil},
		{"one of two without an end", event(`{"candidates":[{"index":0},{"index":1}]}`, done), 2, providers.ErrStreamCut},
		{"without an end", event(begun), 1, providers.ErrStreamCut},
		{"an unspecified reason is no end", event(`{"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}]}`), 1, providers.ErrStreamCut},
		{"cut within an event", event(begun) + `data: {"candidates":[{"fin`, 1, providers.ErrStreamCut},
		{"nothing", "", 0, providers.ErrStreamCut},
		{"no JSON", event(begun, "hello", done), 1, providers.ErrBadResponse},
		{"an error", event(begun, `{"error":{"code":503,"message":"Later","status":"UNAVAILABLE"}}`), 1, providers.ErrUnavailable},
		{"an error without its field", event(begun) + `{"error":{"code":429,"message":"Slow"}}`, 1, providers.ErrRateLimited},
		{"an error in a list", event(begun) + `[{"error":{"code":429,"message":"Slow"}}]`, 1, providers.ErrRateLimited},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &played{body: tt.body}
			s, err := New(Config{Transport: p}, testSite{}).NativeStream(t.Context(), &providers.Target{Model: "m"}, &providers.NativeRequest{Model: "m", Method: providers.NativeStream, Body: []byte(`{}`)})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for {
				var data []byte
				if data, err = s.Recv(); err != nil {
					break
				}
				if n++; !json.Valid(data) {
					t.Errorf("event %q", data)
				}
			}
			if n != tt.events || tt.code == nil && err != io.EOF || tt.code != nil && !errors.Is(err, tt.code) {
				t.Errorf("%d events, %v", n, err)
			}
			if _, again := s.Recv(); again != err {
				t.Errorf("then %v", again)
			}
			if !strings.HasSuffix(p.url, "?alt=sse") {
				t.Errorf("asked %s", p.url)
			}
		})
	}
}

// A line break between members would break an event for clients that read lines.
func TestNativeEventsAreLines(t *testing.T) {
	p := &played{body: "data: {\"candidates\":\ndata:  [{\"content\":{\"parts\":[{\"text\":\"a b\"}]},\ndata: \"finishReason\":\"STOP\"}]}\n\n"}
	s, err := New(Config{Transport: p}, testSite{}).NativeStream(t.Context(), &providers.Target{Model: "m"}, &providers.NativeRequest{Model: "m", Method: providers.NativeStream, Body: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := s.Recv(); err != nil || string(data) != `{"candidates":[{"content":{"parts":[{"text":"a b"}]},"finishReason":"STOP"}]}` {
		t.Errorf("%s, %v", data, err)
	}
}

// The platform's errors come in its own words, and not with remedies in the names of
// another schema.
func TestNativeErrorsAreThePlatforms(t *testing.T) {
	const message = `Invalid JSON payload received. Unknown name "x" at 'contents[0].parts[0]': Cannot find field.`
	p := &played{status: 400, body: `[{"error":{"code":400,"message":` + strconv.Quote(message) + `,"status":"INVALID_ARGUMENT","details":[{"@type":"t","fieldViolations":[{"field":"contents[0].parts[0]"}]}]}}]`}
	_, err := New(Config{Transport: p}, testSite{}).Native(t.Context(), &providers.Target{Model: "m"}, &providers.NativeRequest{Model: "m", Method: providers.NativeGenerate, Body: []byte(`{}`)})
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || e.Message != message || e.NativeStatus != "INVALID_ARGUMENT" || e.Param != "contents[0].parts[0]" || e.StatusCode != 400 {
		t.Errorf("%#v", e)
	}
}

// FuzzNativeBody checks that what is sent is JSON again, and the caller's but for
// what is put in.
func FuzzNativeBody(f *testing.F) {
	for _, seed := range []string{
		`{"model":"x","requests":[{"model":"y"}],"labels":{"a":"b"}}`, `{}`, ` { } `, `{"labels":{}}`, `{"labels":{"a":1},"labels":{}}`,
		`{"generateContentRequest":{"model":"z"}}`, `{"requests":[[{"model":"q"}]]}`, `{"mod\u0065l":"x"}`, `{"a":"{\"model\":1}"}`,
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	e := New(Config{}, testSite{})
	f.Fuzz(func(t *testing.T, body string, labelled bool) {
		req := &providers.NativeRequest{Model: "m", Method: providers.NativeGenerate, Body: []byte(body)}
		c := new(call)
		c.in.target, c.in.model = &providers.Target{Model: "m"}, Model{Name: "m", Family: FamilyGemini}
		if labelled {
			c.in.target.Labels = map[string]string{"env": "x"}
		}
		if req.Validate() != nil {
			return
		}
		got, err := e.nativeBody(c, req, nil)
		if (err == nil) != jsonx.Valid(req.Body) {
			t.Fatalf("%q: %v", body, err)
		}
		if err != nil {
			return
		}
		if !jsonx.Valid(got) {
			t.Fatalf("%q became %q", body, got)
		}
		if !labelled && !strings.Contains(body, "odel") && !strings.Contains(body, `\`) && string(got) != body {
			t.Fatalf("%q became %q", body, got)
		}
	})
}
