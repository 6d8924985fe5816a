package front

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// fakeCaches is the part of a fake that keeps caches.
type fakeCaches struct {
	asked   []string
	request *providers.CachedContentRequest
	expiry  providers.CachedContentExpiry
	next    string
}

const cacheOne = "projects/p/locations/l/cachedContents/7"

func aCache() *providers.CachedContent {
	return &providers.CachedContent{
		Name: cacheOne, DisplayName: "a book", Model: "projects/p/locations/l/publishers/google/models/m",
		CreateTime: time.Unix(100, 5), ExpireTime: time.Unix(200, 0), Usage: providers.CachedContentUsage{TotalTokens: 9, TextCount: 40},
		Meta: providers.Meta{RequestID: "r-1", Warnings: []providers.Warning{{Code: "c", Message: "m"}}},
	}
}

const cacheJSON = `{"id":"` + cacheOne + `","object":"cached_content","model":"projects/p/locations/l/publishers/google/models/m","display_name":"a book",` +
	`"created_at":100,"expires_at":200,"usage":{"total_tokens":9,"text_characters":40}}`

func (f *fake) CreateCache(_ context.Context, req *providers.CachedContentRequest, _ *Overrides) (*providers.CachedContent, error) {
	f.caches.request = req
	return aCache(), f.err
}

func (f *fake) GetCache(_ context.Context, name string, _ *Overrides) (*providers.CachedContent, error) {
	f.caches.asked = append(f.caches.asked, "get "+name)
	return aCache(), f.err
}

func (f *fake) ListCaches(_ context.Context, token string, _ *Overrides) (*providers.CachedContentList, error) {
	f.caches.asked = append(f.caches.asked, "list "+token)
	return &providers.CachedContentList{CachedContents: []*providers.CachedContent{aCache()}, NextPageToken: f.caches.next}, f.err
}

func (f *fake) ExtendCache(_ context.Context, name string, expiry providers.CachedContentExpiry, _ *Overrides) (*providers.CachedContent, error) {
	f.caches.asked, f.caches.expiry = append(f.caches.asked, "extend "+name), expiry
	return aCache(), f.err
}

func (f *fake) DeleteCache(_ context.Context, name string, _ *Overrides) error {
	f.caches.asked = append(f.caches.asked, "delete "+name)
	return f.err
}

func TestCaches(t *testing.T) {
	const path = "/v1/cached_contents"
	for _, tt := range []struct{ name, method, path, body, next, want, asked string }{
		{"one", "GET", path + "/7", "", "", cacheJSON, "get 7"},
		{"one by its full name", "GET", path + "/" + cacheOne, "", "", cacheJSON, "get " + cacheOne},
		{"one by an escaped name", "GET", path + "/cachedContents%2F7", "", "", cacheJSON, "get cachedContents/7"},
		{"all", "GET", path, "", "", `{"object":"list","data":[` + cacheJSON + `],"has_more":false}`, "list "},
		{"a page", "GET", path + "?page_token=a%26b", "", "t", `{"object":"list","data":[` + cacheJSON + `],"has_more":true,"next_page_token":"t"}`, "list a&b"},
		{"longer", "PATCH", path + "/7", `{"ttl":"90m"}`, "", cacheJSON, "extend 7"},
		{"gone", "DELETE", path + "/7", "", "", `{"id":"7","object":"cached_content.deleted","deleted":true}`, "delete 7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &fake{caches: fakeCaches{next: tt.next}}
			res := ask(t, Config{}, b, tt.method, tt.path, tt.body, "x-gateway-trace-id", "r-1")
			if d := cmp.Diff(tt.want, readBody(t, res)); d != "" || res.StatusCode != 200 {
				t.Errorf("status %d (-want +got)\n%s", res.StatusCode, d)
			}
			if d := cmp.Diff([]string{tt.asked}, b.caches.asked); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if id := res.Header.Get("x-gateway-request-id"); tt.name != "all" && tt.name != "a page" && id != "r-1" {
				t.Errorf("request id %q", id)
			}
		})
	}
}

func TestCachesThatAreMade(t *testing.T) {
	b := &fake{}
	res := ask(t, Config{}, b, "POST", "/v1/cached_contents", `{"model":"@vx/m","messages":[{"role":"user","content":"a book"}],`+
		`"tools":[{"type":"function","function":{"name":"f","parameters":{"b":1,"a":2}}}],"tool_choice":"auto","display_name":"d","kms_key_name":"k","ttl":1.5}`)
	if d := cmp.Diff(cacheJSON, readBody(t, res)); d != "" || res.Header.Get("x-gateway-warnings") == "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	q := b.caches.request
	if q.Model != "@vx/m" || q.Messages[0].Content.Text() != "a book" || string(q.Tools[0].Function.Parameters) != `{"b":1,"a":2}` || q.ToolChoice == nil ||
		q.DisplayName != "d" || q.KMSKeyName != "k" || q.TTL != 1500*time.Millisecond {
		t.Errorf("%+v", q)
	}
}

func TestWhenCachesExpire(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		body string
		want providers.CachedContentExpiry
	}{
		{`{"ttl":3600}`, providers.CachedContentExpiry{TTL: time.Hour}},
		{`{"ttl":"3600s"}`, providers.CachedContentExpiry{TTL: time.Hour}},
		{`{"expire_time":"2030-01-02T03:04:05Z"}`, providers.CachedContentExpiry{ExpireTime: at}},
		{`{"expire_time":1893553445,"ttl":null}`, providers.CachedContentExpiry{ExpireTime: at}},
	} {
		b := &fake{}
		res := ask(t, Config{}, b, "PATCH", "/v1/cached_contents/7", tt.body)
		if d := cmp.Diff(tt.want, b.caches.expiry); d != "" || res.StatusCode != 200 {
			t.Errorf("%s: status %d (-want +got)\n%s", tt.body, res.StatusCode, d)
		}
	}
}

func TestCachesThatAreRefused(t *testing.T) {
	const path = "/v1/cached_contents"
	for _, tt := range []struct{ name, method, path, body, param string }{
		{"a path upwards", "GET", path + "/..", "", "name"},
		{"a path upwards within", "DELETE", path + "/a/../b", "", "name"},
		{"an escaped path upwards", "DELETE", path + "/%2e%2e%2fmodels", "", "name"},
		{"a dot", "GET", path + "/./7", "", "name"},
		{"an empty segment", "GET", path + "/a//b", "", "name"},
		{"a query", "GET", path + "/7%3Fx=1", "", "name"},
		{"a fragment", "GET", path + "/7%23", "", "name"},
		{"a percent sign", "GET", path + "/7%2525", "", "name"},
		{"a line break", "GET", path + "/7%0d%0aX:1", "", "name"},
		{"a name without end", "PATCH", path + "/" + strings.Repeat("a", 513), "{}", "name"},
		{"a member that is not kept", "POST", path, `{"model":"m","messages":[],"temperature":1}`, "temperature"},
		{"a model of another kind", "POST", path, `{"model":5}`, "model"},
		{"a ttl that is none", "POST", path, `{"model":"m","ttl":"soon"}`, "ttl"},
		{"a ttl without end", "PATCH", path + "/7", `{"ttl":1e18}`, "ttl"},
		{"a time that is none", "PATCH", path + "/7", `{"expire_time":"tomorrow"}`, "expire_time"},
		{"a time of another kind", "PATCH", path + "/7", `{"expire_time":[]}`, "expire_time"},
		{"another change", "PATCH", path + "/7", `{"display_name":"x"}`, "display_name"},
		{"no JSON", "PATCH", path + "/7", `{`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &fake{}
			res := ask(t, Config{}, b, tt.method, tt.path, tt.body)
			e := readEnvelope(t, res)
			if res.StatusCode != 400 || tt.param != "" && e.param() != tt.param {
				t.Errorf("%d about %q: %s", res.StatusCode, e.param(), e.Error.Message)
			}
			if len(b.caches.asked) > 0 || b.caches.request != nil {
				t.Errorf("the backend was asked %v", b.caches.asked)
			}
		})
	}
	t.Run("what the backend refuses", func(t *testing.T) {
		gone := &providers.Error{Code: providers.ErrCacheNotFound, StatusCode: 404, Message: "it is gone"}
		for _, request := range [][2]string{{"GET", path}, {"GET", path + "/7"}, {"DELETE", path + "/7"}, {"POST", path}, {"PATCH", path + "/7"}} {
			if res := ask(t, Config{}, &fake{err: gone}, request[0], request[1], "{}"); res.StatusCode != 404 {
				t.Errorf("%v: status %d", request, res.StatusCode)
			}
		}
	})
	t.Run("without a key", func(t *testing.T) {
		if res := ask(t, Config{Keys: []string{"k"}}, &fake{}, "DELETE", path+"/7", ""); res.StatusCode != 401 {
			t.Errorf("status %d", res.StatusCode)
		}
	})
}
