package vertex_test

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	cacheModel = "gemini-2.5-flash"
	cacheName  = "projects/p/locations/global/cachedContents/123"
	cachesURL  = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/cachedContents"
	// kept is the platform's answer about a cached content.
	kept = `{"name":"projects/99/locations/global/cachedContents/123","model":"projects/p/locations/global/publishers/google/models/gemini-2.5-flash",` +
		`"createTime":"2026-11-21T14:00:00.123456789Z","updateTime":"2026-11-21T14:00:00.5Z","expireTime":"2026-11-21T17:00:00+02:00","displayName":"book",` +
		`"usageMetadata":{"totalTokenCount":4096,"textCount":16000,"imageCount":2,"videoDurationSeconds":3,"audioDurationSeconds":4},` +
		`"encryptionSpec":{"kmsKeyName":"projects/p/locations/global/keyRings/r/cryptoKeys/k"}}`
)

func keptContent() *providers.CachedContent {
	return &providers.CachedContent{
		Name: "projects/99/locations/global/cachedContents/123", DisplayName: "book",
		Model:      "projects/p/locations/global/publishers/google/models/gemini-2.5-flash",
		CreateTime: time.Date(2026, 11, 21, 14, 0, 0, 123456789, time.UTC),
		UpdateTime: time.Date(2026, 11, 21, 14, 0, 0, 500000000, time.UTC),
		ExpireTime: time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC),
		KMSKeyName: "projects/p/locations/global/keyRings/r/cryptoKeys/k",
		Usage:      providers.CachedContentUsage{TotalTokens: 4096, TextCount: 16000, ImageCount: 2, VideoSeconds: 3, AudioSeconds: 4},
	}
}

// keep is a request to keep a book.
func keep() *providers.CachedContentRequest {
	return &providers.CachedContentRequest{Model: cacheModel, Messages: []providers.Message{providers.UserMessage("a book")}}
}

// TestCachedContentBodies compares bodies with testdata/caches; -update rewrites
// them.
func TestCachedContentBodies(t *testing.T) {
	weather := providers.FunctionTool("get_weather", "", []byte(`{"type":"object","properties":{"z":{},"a":{}}}`))
	for name, tt := range map[string]struct {
		model  string
		change func(*providers.CachedContentRequest)
	}{
		"least": {cacheModel, func(*providers.CachedContentRequest) {}},
		"most": {cacheModel, func(q *providers.CachedContentRequest) {
			q.Messages = []providers.Message{
				providers.SystemMessage("Be terse."),
				providers.UserMessage([]providers.ContentPart{providers.TextPart("Read it."), providers.ImagePart("gs://bucket/book.pdf")}),
			}
			q.Tools, q.ToolChoice = []providers.Tool{weather}, providers.ChooseFunction("get_weather")
			q.DisplayName, q.TTL, q.KMSKeyName = "book \"1\"", 3600*time.Second, "projects/p/locations/global/keyRings/r/cryptoKeys/k"
		}},
		"system_alone": {cacheModel, func(q *providers.CachedContentRequest) {
			q.Messages = []providers.Message{providers.SystemMessage("Be terse.")}
		}},
		"tools_alone":   {cacheModel, func(q *providers.CachedContentRequest) { q.Messages, q.Tools = nil, []providers.Tool{weather} }},
		"with_fraction": {cacheModel, func(q *providers.CachedContentRequest) { q.TTL = 90*time.Minute + 50*time.Millisecond }},
		"until": {cacheModel, func(q *providers.CachedContentRequest) {
			q.ExpireTime = time.Date(2100, 1, 1, 1, 0, 0, 1000, time.FixedZone("", 3600))
		}},
		"ends_with_the_model": {"gemini-3.6-flash", func(q *providers.CachedContentRequest) {
			q.Messages = append(q.Messages, providers.AssistantMessage("Interesting."))
		}},
		"full_model_name": {"projects/other/locations/us-central1/publishers/google/models/gemini-2.5-pro", func(*providers.CachedContentRequest) {}},
		"strict_tool": {cacheModel, func(q *providers.CachedContentRequest) {
			strict := weather
			strict.Function.Strict = new(true)
			q.Tools = []providers.Tool{strict}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			q := keep()
			q.Model = tt.model
			tt.change(q)
			rt := plays([]byte(kept))
			got, err := newProvider(t, rt).CreateCachedContent(t.Context(), target(q.Model), q)
			if err != nil {
				t.Fatal(err)
			}
			if err := vertextest.Check("CachedContent", rt.sent); err != nil {
				t.Errorf("the body does not fit the schema: %v", err)
			}
			path := "testdata/caches/" + name + ".txtar"
			testkit.Golden(t, path, testkit.ReadArchive(t, path), []string{"request.txt", "body.json", "warnings.txt"}, map[string][]byte{
				"request.txt":  []byte(rt.method + " " + rt.url + "\n"),
				"body.json":    outcome.Indent(t, rt.sent),
				"warnings.txt": []byte(outcome.WarningLines(got.Meta.Warnings)),
			})
		})
	}
}

// TestKeptBodiesAreThoseOfChat holds, for each scenario, what is kept against
// what is sent for an answer.
func TestKeptBodiesAreThoseOfChat(t *testing.T) {
	compared := 0
	for name, s := range geminiScenarios(t) {
		t.Run(name, func(t *testing.T) {
			q := *s.request
			q.Extra = nil // which a cached content has none of
			chat, _, err := encoded(t, &q)
			if err != nil {
				return
			}
			rt := plays([]byte(kept))
			_, err = newProvider(t, rt).CreateCachedContent(t.Context(), target(q.Model), &providers.CachedContentRequest{
				Model: q.Model, Messages: q.Messages, Tools: q.Tools, ToolChoice: q.ToolChoice,
			})
			if rt.calls == 0 && strings.Contains(err.Error(), "no explicit context caching") {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := vertextest.Check("CachedContent", rt.sent); err != nil {
				t.Errorf("the body does not fit the schema: %v", err)
			}
			wantMembers(t, chat, rt.sent, "contents", "systemInstruction", "tools", "toolConfig")
			compared++
		})
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

func TestCachedContentsAreRead(t *testing.T) {
	if err := vertextest.Check("CachedContent", []byte(kept)); err != nil {
		t.Errorf("the answer is not the platform's: %v", err)
	}
	expiry := providers.CachedContentExpiry{TTL: time.Hour}
	for _, tt := range []struct {
		name, method, url, body string
		call                    func(p providers.ContextCacher, g *providers.Target) (*providers.CachedContent, error)
	}{
		{"create", "POST", cachesURL, "", func(p providers.ContextCacher, g *providers.Target) (*providers.CachedContent, error) {
			return p.CreateCachedContent(t.Context(), g, keep())
		}},
		{"get", "GET", cachesURL + "/123", "", func(p providers.ContextCacher, g *providers.Target) (*providers.CachedContent, error) {
			return p.GetCachedContent(t.Context(), g, "123")
		}},
		{"update the ttl", "PATCH", cachesURL + "/123?updateMask=ttl", `{"ttl":"3600s"}`, func(p providers.ContextCacher, g *providers.Target) (*providers.CachedContent, error) {
			return p.UpdateCachedContent(t.Context(), g, "123", expiry)
		}},
		{"update the time", "PATCH", cachesURL + "/123?updateMask=expireTime", `{"expireTime":"2100-01-01T00:00:00Z"}`, func(p providers.ContextCacher, g *providers.Target) (*providers.CachedContent, error) {
			return p.UpdateCachedContent(t.Context(), g, "123", providers.CachedContentExpiry{ExpireTime: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(kept))
			got, err := tt.call(newProvider(t, rt), target(cacheModel))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(keptContent(), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if rt.method != tt.method || rt.url != tt.url || rt.head.Get("Authorization") != "Bearer token" {
				t.Errorf("%s %s with %v, want %s %s", rt.method, rt.url, rt.head, tt.method, tt.url)
			}
			if tt.name != "create" && string(rt.sent) != tt.body {
				t.Errorf("body %s, want %s", rt.sent, tt.body)
			}
		})
	}
}

func TestCachedContentsAreDeleted(t *testing.T) {
	rt := plays([]byte("{}\n"))
	if err := newProvider(t, rt).DeleteCachedContent(t.Context(), target(""), cacheName); err != nil {
		t.Fatal(err)
	}
	if rt.method != "DELETE" || rt.url != cachesURL+"/123" || rt.sent != nil {
		t.Errorf("%s %s with %q", rt.method, rt.url, rt.sent)
	}
}

func TestADeletionNeedsNoAnswer(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		ok     bool
	}{{200, "", true}, {200, "{}", true}, {200, " \n", true}, {204, "", true}, {200, `{"error":null}`, true}, {202, "", false}, {200, "<html>", false}} {
		rt := &shares{each: []func(*http.Request) (*http.Response, error){says(tt.status, tt.body)}}
		if err := newProvider(t, rt).DeleteCachedContent(t.Context(), target(""), "1"); (err == nil) != tt.ok {
			t.Errorf("%d %q: %v", tt.status, tt.body, err)
		}
	}
	rt := &shares{each: []func(*http.Request) (*http.Response, error){says(200, ""), says(204, "")}}
	p := newProvider(t, rt)
	for range rt.each {
		if _, err := p.GetCachedContent(t.Context(), target(""), "1"); code(err) != providers.ErrBadResponse {
			t.Errorf("%v", err)
		}
	}
}

func TestCachedContentsAreListedInPages(t *testing.T) {
	for _, tt := range []struct {
		name, token, query, answer string
		want                       *providers.CachedContentList
	}{
		{"a first page", "", "", `{"cachedContents":[` + kept + `,{"name":"n"}],"nextPageToken":"a b"}`, &providers.CachedContentList{
			CachedContents: []*providers.CachedContent{keptContent(), {Name: "n"}}, NextPageToken: "a b",
		}},
		{"a further page", "a b&c=d", "?pageToken=a+b%26c%3Dd", `{"cachedContents":[]}`, &providers.CachedContentList{}},
		{"nothing at all", "", "", `{}`, &providers.CachedContentList{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(tt.answer))
			got, err := newProvider(t, rt).ListCachedContents(t.Context(), target(""), tt.token)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if rt.method != "GET" || rt.url != cachesURL+tt.query || rt.sent != nil {
				t.Errorf("%s %s with %q", rt.method, rt.url, rt.sent)
			}
		})
	}
}

func TestNamesOfCachedContents(t *testing.T) {
	for _, tt := range []struct{ name, base, want string }{
		{"123", "", cachesURL + "/123"},
		{"cachedContents/123", "", cachesURL + "/123"},
		{cacheName, "", cachesURL + "/123"},
		{"projects/other/locations/us-central1/cachedContents/9", "", "https://us-central1-aiplatform.googleapis.com/v1/projects/other/locations/us-central1/cachedContents/9"},
		{"projects/example.com:p/locations/eu/cachedContents/9", "", "https://aiplatform.eu.rep.googleapis.com/v1/projects/example.com:p/locations/eu/cachedContents/9"},
		{"123", "https://proxy.example/x/", "https://proxy.example/x/v1/projects/p/locations/global/cachedContents/123"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(kept))
			g := target("")
			g.BaseURL = tt.base
			if _, err := newProvider(t, rt).GetCachedContent(t.Context(), g, tt.name); err != nil {
				t.Fatal(err)
			}
			if rt.url != tt.want {
				t.Errorf("%s, want %s", rt.url, tt.want)
			}
		})
	}
	for _, name := range []string{
		"", ".", "..", "a b", "a/b", "a?b", "a:b", "cachedContents/", "cachedContents/a/b", "cachedContents/..", "models/a",
		"projects/p/locations/global/cachedContents/", "projects/p/locations/global/cachedContents/..", "projects/p/locations/global/models/1",
		"projects/p/locations/global/cachedContents/1/x", "projects/p/locations/evil.example%2F/cachedContents/1", "projects/../locations/global/cachedContents/1",
		"projects/p/regions/global/cachedContents/1", "projects//locations/global/cachedContents/1",
	} {
		rt := plays([]byte(kept))
		err := newProvider(t, rt).DeleteCachedContent(t.Context(), target(""), name)
		e, _ := errors.AsType[*providers.Error](err)
		if e == nil || e.Code != providers.ErrInvalidRequest || e.Param != "name" || rt.calls != 0 {
			t.Errorf("%q: %v after %d calls", name, err, rt.calls)
		}
	}
}

// FuzzCacheName checks that a name is refused or becomes one segment of a path
// that nothing else is in.
func FuzzCacheName(f *testing.F) {
	for _, name := range []string{
		"123", "cachedContents/123", cacheName, "projects/a:b/locations/us/cachedContents/x@1", "..", "a/../b", "x?y", "cachedContents/cachedContents/1",
	} {
		f.Add(name)
	}
	path := regexp.MustCompile(`^/v1/projects/[a-z0-9.:-]+/locations/[a-z0-9-]+/cachedContents/[A-Za-z0-9._@-]+$`)
	f.Fuzz(func(t *testing.T, name string) {
		rt := plays([]byte(kept))
		_, err := newProvider(t, rt).GetCachedContent(t.Context(), target(""), name)
		if err != nil {
			if !errors.Is(err, providers.ErrInvalidRequest) || rt.calls != 0 {
				t.Errorf("%v after %d calls", err, rt.calls)
			}
			return
		}
		u, err := url.Parse(rt.url)
		if err != nil || !path.MatchString(u.Path) || strings.HasSuffix(u.Path, "/..") || strings.HasSuffix(u.Path, "/.") ||
			u.RawQuery != "" || !strings.HasSuffix(u.Host, "aiplatform.googleapis.com") && !strings.HasSuffix(u.Host, ".rep.googleapis.com") {
			t.Errorf("%q: %s, %v", name, rt.url, err)
		}
	})
}

// A full name needs neither project nor region, as a short one does.
func TestAFullNameSaysWhereItIs(t *testing.T) {
	g := target("")
	g.ProjectID, g.Region = "", ""
	p := newProvider(t, plays([]byte(kept)))
	if _, err := p.GetCachedContent(t.Context(), g, cacheName); err != nil {
		t.Error(err)
	}
	if _, err := p.GetCachedContent(t.Context(), g, "123"); code(err) != providers.ErrInvalidConfig {
		t.Error(err)
	}
	if _, err := p.ListCachedContents(t.Context(), g, ""); code(err) != providers.ErrInvalidConfig {
		t.Error(err)
	}
}

func TestCachedContentsThatAreRefusedHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time stands still
		for _, tt := range []struct {
			name, model, param string
			change             func(*providers.CachedContentRequest)
		}{
			{"a model without explicit caching", "gemini-4-neon", "model", nil},
			{"another publisher", "meta.llama", "model", nil},
			{"no content in the message", cacheModel, "messages", func(q *providers.CachedContentRequest) { q.Messages[0] = providers.UserMessage("") }},
			{"media of no known type", cacheModel, "messages[0].content[0].image_url.url", func(q *providers.CachedContentRequest) {
				q.Messages[0] = providers.UserMessage([]providers.ContentPart{providers.ImagePart("https://example.com/x")})
			}},
			{"a tool choice without tools", cacheModel, "tool_choice", func(q *providers.CachedContentRequest) { q.ToolChoice = providers.ChooseFunction("f") }},
			{"a negative ttl", cacheModel, "ttl", func(q *providers.CachedContentRequest) { q.TTL = -1 }},
			{"two expiries", cacheModel, "expire_time", func(q *providers.CachedContentRequest) { q.TTL, q.ExpireTime = 1, time.Now().Add(1) }},
			{"an expiry now", cacheModel, "expire_time", func(q *providers.CachedContentRequest) { q.ExpireTime = time.Now() }},
		} {
			q := keep()
			q.Model = tt.model
			if tt.change != nil {
				tt.change(q)
			}
			rt := plays([]byte(kept))
			_, err := newProvider(t, rt).CreateCachedContent(t.Context(), target(tt.model), q)
			e, _ := errors.AsType[*providers.Error](err)
			if e == nil || e.Code != providers.ErrInvalidRequest || e.Param != tt.param || rt.calls != 0 {
				t.Errorf("%s: %v after %d calls, want %s", tt.name, err, rt.calls, tt.param)
			}
		}
		q := keep()
		q.ExpireTime = time.Now().Add(time.Nanosecond)
		if _, err := newProvider(t, plays([]byte(kept))).CreateCachedContent(t.Context(), target(cacheModel), q); err != nil {
			t.Errorf("an expiry in a moment: %v", err)
		}
		_, err := newProvider(t, plays([]byte(kept))).UpdateCachedContent(t.Context(), target(""), "123", providers.CachedContentExpiry{})
		if code(err) != providers.ErrInvalidRequest {
			t.Errorf("an update to nothing: %v", err)
		}
	})
}

func TestCachedContentsThatThePlatformRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   providers.Code
		remedy string
	}{
		{"one that is gone", 404, rpcError(404, "NOT_FOUND", "Not found: cached content metadata for 123."), providers.ErrCacheNotFound, "create it again"},
		{"one that is gone, in other words", 404, rpcError(404, "NOT_FOUND", "Not found: cache content metadata 123."), providers.ErrCacheNotFound, "create it again"},
		{"no permission", 403, rpcError(403, "PERMISSION_DENIED", "Permission 'aiplatform.cachedContents.get' denied on resource"), providers.ErrPermission, "roles/aiplatform.user"},
		{"too small", 400, rpcError(400, "INVALID_ARGUMENT", "The cached content is of 10 tokens. The minimum token count to start caching is 2048."), providers.ErrInvalidRequest, ""},
		{"a name is missing", 200, `{"model":"m"}`, providers.ErrBadResponse, ""},
		{"a time that is none", 200, `{"name":"n","expireTime":"tomorrow"}`, providers.ErrBadResponse, "expireTime"},
		{"an error in a good answer", 200, rpcError(503, "UNAVAILABLE", "overloaded"), providers.ErrUnavailable, ""},
		{"a cut answer", 200, `{"name":"n`, providers.ErrBadResponse, ""},
		{"an answer of another kind", 200, `{"name":["n"]}`, providers.ErrBadResponse, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(tt.body))
			rt.status = tt.status
			_, err := newProvider(t, rt).GetCachedContent(t.Context(), target(""), "123")
			e, _ := errors.AsType[*providers.Error](err)
			if e == nil || e.Code != tt.want || e.Provider != "vertex-ai" || !strings.Contains(e.Message, tt.remedy) || strings.Contains(e.Message, "endpoints.predict") {
				t.Errorf("%v, want %s with %q", err, tt.want, tt.remedy)
			}
		})
	}
	list := plays([]byte(`{"cachedContents":[{"name":"n"},{"model":"m"}]}`))
	if _, err := newProvider(t, list).ListCachedContents(t.Context(), target(""), ""); code(err) != providers.ErrBadResponse {
		t.Errorf("a list with one that has no name: %v", err)
	}
}

// gate is a transport that takes one token only, and keeps the bodies it got.
type gate struct {
	token string
	sent  []string
}

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	p := plays([]byte(kept))
	if r.Header.Get("Authorization") != "Bearer "+g.token {
		p = plays([]byte(rpcError(401, "UNAUTHENTICATED", "no")))
		p.status = http.StatusUnauthorized
	}
	res, err := p.RoundTrip(r)
	g.sent = append(g.sent, r.Method+" "+string(p.sent))
	return res, err
}

func TestATokenIsRenewedForEveryMethod(t *testing.T) {
	rt := &gate{token: "new"}
	p := newProvider(t, rt)
	g := target("")
	g.Token = &renewer{tokens: []string{"old", "new"}}
	if _, err := p.GetCachedContent(t.Context(), g, "123"); err != nil {
		t.Error(err)
	}
	g.Token = &renewer{tokens: []string{"old", "new"}}
	if _, err := p.UpdateCachedContent(t.Context(), g, "123", providers.CachedContentExpiry{TTL: time.Hour}); err != nil {
		t.Error(err)
	}
	want := []string{"GET ", "GET ", `PATCH {"ttl":"3600s"}`, `PATCH {"ttl":"3600s"}`}
	if diff := cmp.Diff(want, rt.sent); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
