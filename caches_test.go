package gateway_test

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
)

// shelf is a platform that keeps cached contents, and counts tokens by the byte.
// It is a transport.
type shelf struct {
	mu   sync.Mutex
	kept []string // display names in order; "" for one that is deleted
	ends map[int]string
	sent []string
}

func (s *shelf) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, r.Method+" "+r.URL.RequestURI())
	status, answer := s.answer(r, string(body))
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: -1, Request: r,
		Body: io.NopCloser(strings.NewReader(answer)),
	}, nil
}

const shelfPlace = "projects/my-project/locations/global/"

func (s *shelf) answer(r *http.Request, body string) (int, string) {
	path := strings.TrimPrefix(r.URL.Path, "/v1/"+shelfPlace)
	if strings.HasSuffix(path, ":countTokens") {
		return 200, fmt.Sprintf(`{"totalTokens":%d,"promptTokensDetails":[{"modality":"TEXT","tokenCount":%[1]d}]}`, len(body)/4)
	}
	if path == "cachedContents" && r.Method == http.MethodPost {
		s.kept = append(s.kept, member(body, "displayName"))
		s.note(len(s.kept)-1, body)
		return 200, s.show(len(s.kept) - 1)
	}
	if path == "cachedContents" {
		return 200, s.page(r.URL.Query().Get("pageToken"))
	}
	id, err := strconv.Atoi(strings.TrimPrefix(path, "cachedContents/"))
	if err != nil || id >= len(s.kept) || s.kept[id] == "" {
		return 404, `{"error":{"code":404,"message":"Not found: cached content metadata for it.","status":"NOT_FOUND"}}`
	}
	switch r.Method {
	case http.MethodDelete:
		s.kept[id] = ""
		return 200, `{}`
	case http.MethodPatch:
		s.note(id, body)
	}
	return 200, s.show(id)
}

// note keeps when a cached content ends.
func (s *shelf) note(id int, body string) {
	if s.ends == nil {
		s.ends = map[int]string{}
	}
	ttl, _ := time.ParseDuration(member(body, "ttl"))
	s.ends[id] = time.Date(2026, 11, 21, 15, 0, 0, 5000000, time.UTC).Add(ttl).Format(time.RFC3339Nano)
}

func (s *shelf) show(id int) string {
	return fmt.Sprintf(`{"name":"%scachedContents/%d","displayName":%q,"expireTime":%q,"usageMetadata":{"totalTokenCount":5000}}`,
		shelfPlace, id, s.kept[id], s.ends[id])
}

// page shows two places of the shelf; one whose contents are deleted is empty.
func (s *shelf) page(token string) string {
	first, _ := strconv.Atoi(token)
	var list []string
	for id := first; id < min(first+2, len(s.kept)); id++ {
		if s.kept[id] != "" {
			list = append(list, s.show(id))
		}
	}
	next := ""
	if first+2 < len(s.kept) {
		next = fmt.Sprintf(`,"nextPageToken":"%d"`, first+2)
	}
	return `{"cachedContents":[` + strings.Join(list, ",") + `]` + next + `}`
}

// member finds the text of a member.
func member(body, name string) string {
	_, rest, _ := strings.Cut(body, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// shelved returns a client of a shelf.
func shelved(opts ...gateway.ClientOption) (*gateway.Client, *shelf) {
	s := new(shelf)
	client, err := gateway.New(append([]gateway.ClientOption{
		gateway.WithHTTPClient(&http.Client{Transport: s}),
		gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
	}, opts...)...)
	if err != nil {
		panic(err)
	}
	return client, s
}

func book(title string) *gateway.CachedContentRequest {
	return &gateway.CachedContentRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("a book")}, DisplayName: title, TTL: time.Hour,
	}
}

func TestCaches_live(t *testing.T) {
	client, s := shelved()
	defer client.Close()
	ctx := t.Context()
	made, err := client.Caches.Create(ctx, book("one"))
	if err != nil {
		t.Fatal(err)
	}
	if made.Meta.RequestID == "" || len(made.Meta.Attempts) != 1 || made.Meta.Provider != "vertex-ai" {
		t.Errorf("meta %+v", made.Meta)
	}
	until := time.Date(2026, 11, 21, 16, 0, 0, 5000000, time.UTC)
	if !made.ExpireTime.Equal(until) || made.Usage.TotalTokens != 5000 {
		t.Errorf("%+v", made)
	}
	later, err := client.Caches.Extend(ctx, made.Name, gateway.CachedContentExpiry{TTL: 3 * time.Hour})
	if err != nil || !later.ExpireTime.Equal(until.Add(2*time.Hour)) {
		t.Errorf("extended to %v, %v", later, err)
	}
	if err := client.Caches.Delete(ctx, "cachedContents/0"); err != nil {
		t.Error(err)
	}
	_, err = client.Caches.Get(ctx, "0")
	e, _ := errors.AsType[*gateway.Error](err)
	if e == nil || !errors.Is(err, gateway.ErrCacheNotFound) || e.StatusCode != 404 || e.RequestID == "" {
		t.Errorf("get after delete: %v", err)
	}
	const one = "/v1/" + shelfPlace + "cachedContents/0"
	want := []string{"POST /v1/" + shelfPlace + "cachedContents", "PATCH " + one + "?updateMask=ttl", "DELETE " + one, "GET " + one}
	if diff := cmp.Diff(want, s.sent); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
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

func TestCaches_listIsLazy(t *testing.T) {
	client, s := shelved()
	defer client.Close()
	s.kept, s.ends = []string{"a", "b", "", "", "e"}, map[int]string{0: "2026-01-01T00:00:00Z", 1: "2026-01-01T00:00:00Z", 4: "2026-01-01T00:00:00Z"}
	for _, tt := range []struct {
		name  string
		most  int
		want  []string
		pages int
	}{
		{"to its end, over an empty page", 9, []string{"a", "b", "e"}, 3},
		{"to the end of a page", 2, []string{"a", "b"}, 1},
		{"to the middle of a page", 1, []string{"a"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.sent = nil
			got, err := titles(t, client, tt.most)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
			if len(s.sent) != tt.pages {
				t.Errorf("requests %q, want %d", s.sent, tt.pages)
			}
		})
	}
	s.ends[4] = "soon"
	got, err := titles(t, client, 9)
	if diff := cmp.Diff([]string{"a", "b"}, got); !errors.Is(err, gateway.ErrBadResponse) || diff != "" {
		t.Errorf("a page that is broken: %v (-want +got)\n%s", err, diff)
	}
}

func TestCaches_listCanBeRangedAgain(t *testing.T) {
	client, s := shelved()
	defer client.Close()
	s.kept, s.ends = []string{"a"}, map[int]string{0: "2026-01-01T00:00:00Z"}
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
	client, s := shelved(gateway.WithCatalog(entries))
	defer client.Close()
	q := book("one")
	q.Model = "@eu/gemini-2.5-flash"
	_, _ = client.Caches.Create(t.Context(), q)
	_, _ = client.Caches.Get(t.Context(), "1", gateway.WithProvider("@eu"))
	_ = firstError(client.Caches.List(t.Context(), gateway.WithProvider("@eu")))
	const place = "/v1/projects/theirs/locations/europe-west4/cachedContents"
	if diff := cmp.Diff([]string{"POST " + place, "GET " + place + "/1", "GET " + place}, s.sent); diff != "" {
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
	client, s := shelved()
	defer client.Close()
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
			if e == nil || e.Code != tt.want || e.Param != tt.param || len(s.sent) != 0 {
				t.Errorf("%v after %q, want %s about %s", e, s.sent, tt.want, tt.param)
			}
		})
	}
}

// slowShelf takes an hour.
type slowShelf struct{ shelf }

func (s *slowShelf) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(time.Hour):
		return s.shelf.RoundTrip(r)
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func TestCaches_areBoundedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := gateway.New(
			gateway.WithHTTPClient(&http.Client{Transport: new(slowShelf)}), gateway.WithAccessToken("token"),
			gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithTimeouts(gateway.Timeouts{FirstByte: time.Minute}),
		)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
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
	client, s := shelved()
	defer client.Close()
	q := hello("gemini-2.5-flash")
	q.Stream = true // which does not matter
	got, err := client.Chat.Completions.CountTokens(t.Context(), q, gateway.WithRequestID("mine"))
	if err != nil {
		t.Fatal(err)
	}
	if got.TotalTokens == 0 || got.ByModality["text"] != got.TotalTokens || got.Meta.RequestID != "mine" || got.Meta.Model != q.Model {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]string{"POST /v1/" + shelfPlace + "publishers/google/models/gemini-2.5-flash:countTokens"}, s.sent); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
	}
}
