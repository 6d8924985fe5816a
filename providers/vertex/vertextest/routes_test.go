package vertextest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestPaths(t *testing.T) {
	const host = "https://h/"
	const at = "projects/p/locations/"
	for name, tc := range map[string]struct {
		path string
		want int
		kind string
	}{
		"v1":                             {"v1/" + at + "global/publishers/google/models/gemini-2.5-flash:generateContent", 200, "application/json"},
		"v1beta1":                        {"v1beta1/" + at + "us/publishers/google/models/gemini-3.8-flash:generateContent", 200, "application/json"},
		"tuned endpoint":                 {"v1/" + at + "us-central1/endpoints/123:generateContent", 200, "application/json"},
		"stream of a tuned endpoint":     {"v1/" + at + "us-central1/endpoints/123:streamGenerateContent?alt=sse", 200, "text/event-stream"},
		"version suffix":                 {"v1/" + at + "us-east4/publishers/google/models/gemini-2.5-flash-preview-05-20:generateContent", 200, "application/json"},
		"new model in a single region":   {"v1/" + at + "us-central1/publishers/google/models/gemini-3.8-flash:generateContent", 404, "application/json"},
		"global-only model in us":        {"v1/" + at + "us/publishers/google/models/gemini-3.1-pro-preview:generateContent", 404, "application/json"},
		"unknown model":                  {"v1/" + at + "global/publishers/google/models/gemini-9-neon:generateContent", 404, "application/json"},
		"unknown suffix":                 {"v1/" + at + "global/publishers/google/models/gemini-2.5-flash-falsh:generateContent", 404, "application/json"},
		"unknown publisher":              {"v1/" + at + "global/publishers/nobody/models/m:generateContent", 404, "application/json"},
		"unknown verb":                   {"v1/" + at + "global/publishers/google/models/gemini-2.5-flash:generate", 404, "text/html"},
		"unknown version":                {"v2/" + at + "global/publishers/google/models/gemini-2.5-flash:generateContent", 404, "text/html"},
		"no verb":                        {"v1/" + at + "global/publishers/google/models/gemini-2.5-flash", 404, "text/html"},
		"no project":                     {"v1/projects//locations/global/publishers/google/models/gemini-2.5-flash:generateContent", 404, "text/html"},
		"Gemini API without a key":       {"v1beta/models/gemini-2.5-flash:generateContent", 403, "application/json"},
		"Gemini API of another version":  {"v1alpha/models/gemini-2.5-flash:generateContent", 404, "text/html"},
		"unknown verb of the Gemini API": {"v1beta/models/gemini-2.5-flash:predict", 404, "text/html"},
		"something <b>else</b>":          {"v1/%3Cb%3E", 404, "text/html"},
		"twice the slash before a path":  {"/v1/" + at + "global/publishers/google/models/gemini-2.5-flash:generateContent", 404, "text/html"},
	} {
		t.Run(name, func(t *testing.T) {
			got := post(t, vertextest.New(), host+tc.path, say("a"))
			if got.status != tc.want || !strings.HasPrefix(got.header.Get("Content-Type"), tc.kind) {
				t.Errorf("got %d %s, want %d %s", got.status, got.header.Get("Content-Type"), tc.want, tc.kind)
			}
			if strings.Contains(string(got.body), "<b></") || strings.Contains(string(got.body), "/<b>") {
				t.Errorf("the path isn't escaped: %s", got.body)
			}
			if tc.want == http.StatusNotFound && tc.kind == "application/json" {
				if m := got.decode(t); m.Error.Status != "NOT_FOUND" {
					t.Errorf("status %q", m.Error.Status)
				}
			}
		})
	}
}

func TestOtherMethodsHaveNoRoute(t *testing.T) {
	r := newPost(t, place+"publishers/google/models/gemini-2.5-flash:generateContent", "")
	r.Method = http.MethodGet
	if got := do(t, vertextest.New(), r); got.status != http.StatusNotFound || !strings.Contains(string(got.body), "<!DOCTYPE html>") {
		t.Errorf("got %d: %s", got.status, got.body)
	}
}

func TestContentTypeIsChecked(t *testing.T) {
	for kind, want := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "text/plain": 400, "": 400, "application/": 400,
	} {
		r := newPost(t, place+"publishers/google/models/gemini-2.5-flash:generateContent", say("a"))
		r.Header.Set("Content-Type", kind)
		if got := do(t, vertextest.New(), r); got.status != want {
			t.Errorf("%q: got %d, want %d", kind, got.status, want)
		}
	}
}

func TestTokens(t *testing.T) {
	for name, tc := range map[string]struct {
		opts          []vertextest.Option
		authorization string
		want          int
		reason        string
	}{
		"any token":            {nil, "Bearer x", 200, ""},
		"scheme in lower case": {nil, "bearer x", 200, ""},
		"no header":            {nil, "", 401, "CREDENTIALS_MISSING"},
		"empty token":          {nil, "Bearer ", 401, "CREDENTIALS_MISSING"},
		"other scheme":         {nil, "Basic x", 401, "CREDENTIALS_MISSING"},
		"one of two":           {[]vertextest.Option{vertextest.WithToken("a", "b")}, "Bearer b", 200, ""},
		"none of two":          {[]vertextest.Option{vertextest.WithToken("a"), vertextest.WithToken("b")}, "Bearer c", 401, "ACCESS_TOKEN_EXPIRED"},
		"without auth":         {[]vertextest.Option{vertextest.WithToken("a"), vertextest.WithoutAuth()}, "", 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPost(t, place+"publishers/google/models/gemini-2.5-flash:generateContent", say("a"))
			r.Header.Set("Authorization", tc.authorization)
			got := do(t, vertextest.New(tc.opts...), r)
			if got.status != tc.want {
				t.Fatalf("status %d, want %d", got.status, tc.want)
			}
			if tc.want == 200 {
				return
			}
			m := got.decode(t)
			if m.Error.Status != "UNAUTHENTICATED" || m.Error.Details[0]["reason"] != tc.reason {
				t.Errorf("got %+v, want reason %s", m.Error, tc.reason)
			}
			if got.header.Get("WWW-Authenticate") == "" {
				t.Error("no WWW-Authenticate header")
			}
		})
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	s := vertextest.New()
	stream(t, s, "gemini-2.5-flash", say("a"))
	post(t, s, "https://h/nowhere", "x")
	type brief struct{ Method, Path, Query, Token, Body, Project, Location, Model, Verb string }
	var got []brief
	for _, r := range s.Requests() {
		if r.Time.IsZero() {
			t.Error("no time")
		}
		got = append(got, brief{r.Method, r.Path, r.Query, r.Header.Get("Authorization"), string(r.Body), r.Project, r.Location, r.Model, r.Verb})
	}
	want := []brief{
		{"POST", "/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:streamGenerateContent", "alt=sse",
			"Bearer token", say("a"), "p", "global", "gemini-2.5-flash", "streamGenerateContent"},
		{Method: "POST", Path: "/nowhere", Token: "Bearer token", Body: "x"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	s.Reset()
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests after Reset", n)
	}
}

func TestFurtherModelsAndEndpoints(t *testing.T) {
	s := vertextest.New(
		vertextest.WithModel("gemini-5-neon", "gemini-4-neon"),
		vertextest.WithModel("nothing", "like-it"),
		vertextest.WithModel("mine-1", "gemini-4-neon"),
		vertextest.WithModel("mine", "gemini-2.5-flash"),
		vertextest.WithEndpoint("42", "gemini-3.8-flash"),
	)
	xhigh := say("a", config(`"thinkingConfig":{"thinkingLevel":"XHIGH"}`))
	if got := unary(t, s, "gemini-5-neon", xhigh); got.status != 200 || got.decode(t).ModelVersion != "gemini-5-neon" {
		t.Errorf("added model: %d %s", got.status, got.body)
	}
	if got := unary(t, s, "mine-1", xhigh); got.status != 200 {
		t.Errorf("longest of two names: %d %s", got.status, got.body)
	}
	if got := unary(t, s, "nothing", say("a")); got.status != 404 {
		t.Errorf("model like an unknown one: %d", got.status)
	}
	high := say("a", config(`"thinkingConfig":{"thinkingLevel":"HIGH"}`))
	if got := post(t, s, place+"endpoints/42:generateContent", high); got.status != 200 || got.decode(t).ModelVersion != "gemini-3.8-flash" {
		t.Errorf("named endpoint: %d %s", got.status, got.body)
	}
	if got := post(t, s, place+"endpoints/43:generateContent", high); got.status != 400 {
		t.Errorf("other endpoint: %d, want a refused level", got.status)
	}
}
