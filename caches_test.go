package gateway_test

import (
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// platformClient returns a client of the emulator.
func platformClient(t *testing.T, srv *vertextest.Server, opts ...gateway.ClientOption) *gateway.Client {
	t.Helper()
	t.Cleanup(srv.Close)
	client, err := gateway.New(append([]gateway.ClientOption{
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: srv.Transport()}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// calls lists the methods and paths of the requests so far.
func calls(srv *vertextest.Server) []string {
	var list []string
	for _, r := range srv.Requests() {
		list = append(list, strings.TrimSuffix(r.Method+" "+r.Path+"?"+r.Query, "?"))
	}
	return list
}

func book(title string) *gateway.CachedContentRequest {
	return &gateway.CachedContentRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage(strings.Repeat("A long book. ", 1000))}, DisplayName: title, TTL: time.Hour,
	}
}

// TestACacheServesConversations goes the way of a cache from its creation to its
// end, as the platform has it.
func TestACacheServesConversations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, ctx := platformClient(t, vertextest.New(vertextest.WithCacheMinimum(100))), t.Context()
		made, err := client.Caches.Create(ctx, &gateway.CachedContentRequest{
			Model: "gemini-2.5-flash", TTL: time.Hour,
			Messages: []gateway.Message{
				gateway.SystemMessage("Answer from the handbook."),
				gateway.UserMessage(strings.Repeat("All about the handbook. ", 100)),
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ask := func() (*gateway.ChatCompletion, error) {
			q := &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("What is new?")}}
			if err := q.Extra.Set("cached_content", []byte(`"`+made.Name+`"`)); err != nil {
				t.Fatal(err)
			}
			return client.Chat.Completions.Create(ctx, q)
		}
		answer, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		if u := answer.Usage; u.PromptTokensDetails.CachedTokens != made.Usage.TotalTokens || u.PromptTokens <= made.Usage.TotalTokens {
			t.Errorf("usage %+v of a cache with %d tokens", u, made.Usage.TotalTokens)
		}
		longer, err := client.Caches.Extend(ctx, made.Name, gateway.CachedContentExpiry{TTL: 3 * time.Hour})
		if err != nil || !longer.ExpireTime.After(made.ExpireTime) {
			t.Errorf("%v: %v, after %v", err, longer, made.ExpireTime)
		}
		listed := 0
		for c, err := range client.Caches.List(ctx) {
			if err != nil || c.Name != made.Name {
				t.Errorf("%v %v", c, err)
			}
			listed++
		}
		if listed != 1 {
			t.Errorf("%d are listed", listed)
		}
		time.Sleep(2 * time.Hour)
		if _, err := ask(); err != nil {
			t.Errorf("before its end: %v", err)
		}
		time.Sleep(2 * time.Hour)
		if _, err := ask(); !errors.Is(err, gateway.ErrCacheNotFound) {
			t.Errorf("after its end: %v", err)
		}
	})
}

func TestCaches_live(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := vertextest.New()
		client, ctx := platformClient(t, srv), t.Context()
		made, err := client.Caches.Create(ctx, book("one"))
		if err != nil {
			t.Fatal(err)
		}
		if made.Meta.RequestID == "" || len(made.Meta.Attempts) != 1 || made.Meta.Provider != "vertex-ai" {
			t.Errorf("meta %+v", made.Meta)
		}
		if !made.ExpireTime.Equal(time.Now().Add(time.Hour)) || made.Usage.TotalTokens == 0 {
			t.Errorf("%+v", made)
		}
		later, err := client.Caches.Extend(ctx, made.Name, gateway.CachedContentExpiry{TTL: 3 * time.Hour})
		if err != nil || !later.ExpireTime.Equal(made.ExpireTime.Add(2*time.Hour)) {
			t.Errorf("extended to %v, %v", later, err)
		}
		id := made.Name[strings.LastIndexByte(made.Name, '/')+1:]
		if err := client.Caches.Delete(ctx, "cachedContents/"+id); err != nil {
			t.Error(err)
		}
		_, err = client.Caches.Get(ctx, id)
		e, _ := errors.AsType[*gateway.Error](err)
		if e == nil || !errors.Is(err, gateway.ErrCacheNotFound) || e.StatusCode != 404 || e.RequestID == "" {
			t.Errorf("get after delete: %v", err)
		}
		const place = "/v1/projects/p/locations/global/cachedContents"
		want := []string{"POST " + place, "PATCH /v1/" + made.Name + "?updateMask=ttl", "DELETE " + place + "/" + id, "GET " + place + "/" + id}
		if diff := cmp.Diff(want, calls(srv)); diff != "" {
			t.Errorf("requests (-want +got)\n%s", diff)
		}
	})
}

func TestCountedTokensAreThoseOfTheAnswer(t *testing.T) {
	client := platformClient(t, vertextest.New())
	q := &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash",
		Messages: []gateway.Message{
			gateway.SystemMessage("Be brief."), gateway.UserMessage([]gateway.ContentPart{gateway.TextPart("What is it?"), gateway.ImagePart("gs://b/a.png")}),
		},
		Tools: []gateway.Tool{gateway.FunctionTool("f", "does it", []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`))},
	}
	count, err := client.Chat.Completions.CountTokens(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Chat.Completions.Create(t.Context(), q)
	if err != nil || count.TotalTokens == 0 || count.TotalTokens != answer.Usage.PromptTokens {
		t.Errorf("%v: counted %d, used %+v", err, count.TotalTokens, answer.Usage)
	}
}

// titles ranges over a list, at most n elements of it.
func titles(t *testing.T, client *gateway.Client, n int) (list []string, err error) {
	t.Helper()
	for c, err := range client.Caches.List(t.Context()) {
		if err != nil {
			return list, err
		}
		if list = append(list, c.DisplayName); len(list) == n {
			break
		}
	}
	return list, nil
}

// pages answers with the page of a token, and counts the requests.
type pages struct {
	of   map[string]string
	sent int
}

func (p *pages) RoundTrip(r *http.Request) (*http.Response, error) {
	p.sent++
	return &http.Response{
		StatusCode: 200, Header: http.Header{}, ContentLength: -1, Request: r,
		Body: io.NopCloser(strings.NewReader(p.of[r.URL.Query().Get("pageToken")])),
	}, nil
}

func TestCaches_listIsLazy(t *testing.T) {
	rt := &pages{of: map[string]string{
		"":  `{"cachedContents":[{"name":"1","displayName":"a"},{"name":"2","displayName":"b"}],"nextPageToken":"x"}`,
		"x": `{"nextPageToken":"y"}`,
		"y": `{"cachedContents":[{"name":"3","displayName":"c"}]}`,
	}}
	client := platformClient(t, vertextest.New(), gateway.WithHTTPClient(&http.Client{Transport: rt}))
	for _, tt := range []struct {
		name  string
		most  int
		want  []string
		pages int
	}{
		{"to its end, over an empty page", 9, []string{"a", "b", "c"}, 3},
		{"to the end of a page", 2, []string{"a", "b"}, 1},
		{"to the middle of a page", 1, []string{"a"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt.sent = 0
			got, err := titles(t, client, tt.most)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" || rt.sent != tt.pages {
				t.Errorf("%v, %d pages of %d (-want +got)\n%s", err, rt.sent, tt.pages, diff)
			}
		})
	}
	rt.of["y"] = `{"cachedContents":[{"name":"3","expireTime":"soon"}]}`
	got, err := titles(t, client, 9)
	if diff := cmp.Diff([]string{"a", "b"}, got); !errors.Is(err, gateway.ErrBadResponse) || diff != "" {
		t.Errorf("a page that is broken: %v (-want +got)\n%s", err, diff)
	}
}

func TestCaches_listCanBeRangedAgain(t *testing.T) {
	client := platformClient(t, vertextest.New())
	if _, err := client.Caches.Create(t.Context(), book("a")); err != nil {
		t.Fatal(err)
	}
	list, n := client.Caches.List(t.Context()), 0
	for range 2 {
		for _, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d elements of two rounds", n)
	}
}

func TestCaches_goWhereTheProviderSays(t *testing.T) {
	entries, err := catalog.New(catalog.Entry{Slug: "eu", Provider: "vertex-ai", ProjectID: "theirs", Region: "europe-west4", AccessToken: "t"})
	if err != nil {
		t.Fatal(err)
	}
	srv := vertextest.New()
	client := platformClient(t, srv, gateway.WithCatalog(entries))
	q := book("one")
	q.Model = "@eu/gemini-2.5-flash"
	_, _ = client.Caches.Create(t.Context(), q)
	_, _ = client.Caches.Get(t.Context(), "1", gateway.WithProvider("@eu"))
	_ = firstError(client.Caches.List(t.Context(), gateway.WithProvider("@eu")))
	const place = "/v1/projects/theirs/locations/europe-west4/cachedContents"
	if diff := cmp.Diff([]string{"POST " + place, "GET " + place + "/1", "GET " + place}, calls(srv)); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
	}
}

// firstError is the error of a list's first element.
func firstError(list iter.Seq2[*gateway.CachedContent, error]) error {
	for _, err := range list {
		return err
	}
	return nil
}

func TestCaches_refuseBadInput(t *testing.T) {
	srv := vertextest.New()
	client := platformClient(t, srv)
	ctx, expiry := t.Context(), gateway.CachedContentExpiry{TTL: time.Hour}
	caches := &client.Caches
	four := book("")
	four.Model = "gemini-4-neon"
	for name, tt := range map[string]struct {
		want  gateway.Code
		param string
		run   func() error
	}{
		"nil request":         {gateway.ErrInvalidRequest, "request", func() error { _, err := caches.Create(ctx, nil); return err }},
		"no explicit caching": {gateway.ErrInvalidRequest, "model", func() error { _, err := caches.Create(ctx, four); return err }},
		"no name":             {gateway.ErrInvalidRequest, "name", func() error { _, err := caches.Get(ctx, ""); return err }},
		"a bad name":          {gateway.ErrInvalidRequest, "name", func() error { return caches.Delete(ctx, "a/b") }},
		"no expiry":           {gateway.ErrInvalidRequest, "ttl", func() error { _, err := caches.Extend(ctx, "a", gateway.CachedContentExpiry{}); return err }},
		"bad option, create":  {gateway.ErrInvalidConfig, "region", func() error { _, err := caches.Create(ctx, book(""), gateway.WithRegion("")); return err }},
		"bad option, get":     {gateway.ErrInvalidConfig, "region", func() error { _, err := caches.Get(ctx, "a", gateway.WithRegion("")); return err }},
		"bad option, extend":  {gateway.ErrInvalidConfig, "region", func() error { _, err := caches.Extend(ctx, "a", expiry, gateway.WithRegion("")); return err }},
		"bad option, delete":  {gateway.ErrInvalidConfig, "region", func() error { return caches.Delete(ctx, "a", gateway.WithRegion("")) }},
		"bad option, count": {gateway.ErrInvalidConfig, "region", func() error {
			_, err := client.Chat.Completions.CountTokens(ctx, hello("gemini-2.5-flash"), gateway.WithRegion(""))
			return err
		}},
		"nil count":        {gateway.ErrInvalidRequest, "request", func() error { _, err := client.Chat.Completions.CountTokens(ctx, nil); return err }},
		"bad option, list": {gateway.ErrInvalidConfig, "region", func() error { return firstError(caches.List(ctx, gateway.WithRegion(""))) }},
		"no client":        {gateway.ErrInvalidConfig, "client", func() error { return firstError(new(gateway.CacheService).List(ctx)) }},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := errors.AsType[*gateway.Error](tt.run())
			if e == nil || e.Code != tt.want || e.Param != tt.param || len(calls(srv)) != 0 {
				t.Errorf("%v after %q, want %s about %s", e, calls(srv), tt.want, tt.param)
			}
		})
	}
}

func TestCaches_areBoundedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := platformClient(t, vertextest.New(vertextest.WithLatency(time.Hour)), gateway.WithTimeouts(gateway.Timeouts{FirstByte: time.Minute}))
		start := time.Now()
		if _, err := client.Caches.Get(t.Context(), "1"); !errors.Is(err, gateway.ErrTimeout) || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if _, err := client.Caches.Create(t.Context(), book(""), gateway.WithTimeouts(gateway.Timeouts{FirstByte: 2 * time.Hour})); err != nil {
			t.Errorf("with more patience: %v", err)
		}
	})
}

func TestCountTokens_isRecorded(t *testing.T) {
	srv := vertextest.New()
	client, q := platformClient(t, srv), hello("gemini-2.5-flash")
	q.Stream = true // which does not matter
	got, err := client.Chat.Completions.CountTokens(t.Context(), q, gateway.WithRequestID("mine"))
	if err != nil {
		t.Fatal(err)
	}
	if got.TotalTokens == 0 || got.ByModality["text"] != got.TotalTokens || got.Meta.RequestID != "mine" || got.Meta.Model != q.Model {
		t.Errorf("%+v", got)
	}
	want := []string{"POST /v1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:countTokens"}
	if diff := cmp.Diff(want, calls(srv)); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
	}
}
