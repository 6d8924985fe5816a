package vertextest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const cachesURL = place + "cachedContents"

// at is the address of a cache, by the name it was given.
func (c cached) at() string {
	return strings.TrimSuffix(place, "projects/p/locations/global/") + c.Name
}

// cached is what the tests look at in a cache, a list of them or an error.
type cached struct {
	Name, Model, DisplayName, CreateTime, UpdateTime, ExpireTime string
	UsageMetadata                                                struct{ TotalTokenCount, TextCount, ImageCount int }
	CachedContents                                               []cached
	NextPageToken                                                string
	Error                                                        struct{ Message, Status string }
	status                                                       int
}

// onCaches sends a request about caches and holds a success to the schema.
func onCaches(t *testing.T, s *vertextest.Server, method, url, body, message string) cached {
	t.Helper()
	r := newPost(t, url, body)
	r.Method = method
	got := do(t, s, r)
	if got.status == http.StatusOK && message != "" {
		if err := vertextest.Check(message, got.body); err != nil {
			t.Errorf("the answer doesn't fit the schema: %v\n%s", err, got.body)
		}
	}
	c := cached{status: got.status}
	if err := json.Unmarshal(got.body, &c); err != nil {
		t.Fatalf("%v in %s", err, got.body)
	}
	return c
}

// toCache is the body of a cache with n times four characters.
func toCache(model string, n int, more ...string) string {
	return say(strings.Repeat("word", n), append(more, `"model":"projects/p/locations/global/publishers/google/models/`+model+`"`)...)
}

func create(t *testing.T, s *vertextest.Server, body string) cached {
	t.Helper()
	return onCaches(t, s, http.MethodPost, cachesURL, body, "CachedContent")
}

func TestCachesLiveAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := vertextest.New()
		made := create(t, s, toCache("gemini-2.5-flash", 3000, `"displayName":"d"`, `"systemInstruction":{"parts":[{"text":"Be brief."}]}`))
		now := time.Now().UTC()
		if made.status != http.StatusOK || made.ExpireTime != now.Add(time.Hour).Format("2006-01-02T15:04:05.000000Z") {
			t.Fatalf("made %+v", made)
		}
		if u := made.UsageMetadata; u.TotalTokenCount != (12000+9)/4 || u.TextCount != 12009 {
			t.Errorf("usage %+v", u)
		}
		one := made.at()
		if got := onCaches(t, s, http.MethodGet, one, "", "CachedContent"); got.DisplayName != "d" || got.Model != made.Model {
			t.Errorf("got %+v", got)
		}
		time.Sleep(50 * time.Minute)
		if got := onCaches(t, s, http.MethodPatch, one+"?updateMask=ttl", `{"ttl":"1200s"}`, "CachedContent"); got.status != http.StatusOK || got.UpdateTime == made.UpdateTime {
			t.Errorf("updated %+v", got)
		}
		time.Sleep(15 * time.Minute)
		if got := onCaches(t, s, http.MethodGet, one, "", ""); got.status != http.StatusOK {
			t.Errorf("after an update: %+v", got)
		}
		end := time.Now().Add(time.Minute).Format(time.RFC3339)
		if got := onCaches(t, s, http.MethodPatch, one+"?updateMask=expireTime", `{"expireTime":"`+end+`"}`, "CachedContent"); got.status != http.StatusOK {
			t.Errorf("updated %+v", got)
		}
		time.Sleep(time.Minute)
		got := onCaches(t, s, http.MethodGet, one, "", "")
		if got.status != http.StatusNotFound || got.Error.Status != "NOT_FOUND" || !strings.HasPrefix(got.Error.Message, "Not found: cache content metadata ") {
			t.Errorf("after its end: %+v", got)
		}
		if got := onCaches(t, s, http.MethodDelete, one, "", ""); got.status != http.StatusNotFound {
			t.Errorf("deleted after its end: %+v", got)
		}
	})
}

func TestCachesAreListedInPages(t *testing.T) {
	s := vertextest.New(vertextest.WithCacheMinimum(0))
	var want, got []string
	for i := range 5 {
		want = append(want, create(t, s, toCache("gemini-2.5-flash", i+1)).Name)
	}
	if gone := onCaches(t, s, http.MethodDelete, cached{Name: want[1]}.at(), "", ""); gone.status != http.StatusOK {
		t.Fatalf("deleted %+v", gone)
	}
	want = append(want[:1], want[2:]...)
	pages, token := 0, ""
	for pages == 0 || token != "" {
		page := onCaches(t, s, http.MethodGet, cachesURL+"?pageSize=3&pageToken="+token, "", "ListCachedContentsResponse")
		for _, c := range page.CachedContents {
			got = append(got, c.Name)
		}
		pages, token = pages+1, page.NextPageToken
	}
	if diff := cmp.Diff(want, got); diff != "" || pages != 2 {
		t.Errorf("%d pages (-want +got):\n%s", pages, diff)
	}
	elsewhere := strings.Replace(cachesURL, "global", "us", 1)
	if other := onCaches(t, s, http.MethodGet, elsewhere, "", "ListCachedContentsResponse"); len(other.CachedContents) != 0 {
		t.Errorf("in another location: %+v", other)
	}
	s.Reset()
	if after := onCaches(t, s, http.MethodGet, cachesURL, "", ""); len(after.CachedContents) != 0 {
		t.Errorf("after Reset: %+v", after)
	}
}

func TestCachesAreRefused(t *testing.T) {
	s := vertextest.New()
	for _, tc := range []struct{ name, method, url, body, want string }{
		{"too small on 2.5", "POST", cachesURL, toCache("gemini-2.5-flash", 2047), "The cached content is of 2047 tokens. The minimum token count to start caching is 2048."},
		{"too small on 3", "POST", cachesURL, toCache("gemini-3-flash-preview", 4095), "start caching is 4096"},
		{"on 4", "POST", cachesURL, toCache("gemini-4-neon", 5000), "not supported by this model"},
		{"two ends", "POST", cachesURL, toCache("gemini-2.5-flash", 3000, `"ttl":"1s"`, `"expireTime":"2030-01-01T00:00:00Z"`), "'expiration' is already set"},
		{"an end in the past", "POST", cachesURL, toCache("gemini-2.5-flash", 3000, `"expireTime":"2020-01-01T00:00:00Z"`), "in the future"},
		{"no time at all", "POST", cachesURL, toCache("gemini-2.5-flash", 3000, `"ttl":"0s"`), "greater than 0"},
		{"a model by its short name", "POST", cachesURL, say("a", `"model":"gemini-2.5-flash"`), "Invalid model name"},
		{"a model elsewhere", "POST", cachesURL, say("a", `"model":"projects/p/locations/us/publishers/google/models/gemini-2.5-flash"`), "location of the model"},
		{"an unknown member", "POST", cachesURL, toCache("gemini-2.5-flash", 3000, `"x":1`), `Unknown name "x"`},
		{"a page of -1", "GET", cachesURL + "?pageSize=-1", "", "page_size"},
		{"a page token of another kind", "GET", cachesURL + "?pageToken=x", "", "page token"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := onCaches(t, s, tc.method, tc.url, tc.body, "")
			if got.status != http.StatusBadRequest || !strings.Contains(got.Error.Message, tc.want) {
				t.Errorf("got %+v, want %q", got, tc.want)
			}
		})
	}
	if got := create(t, s, toCache("gemini-9", 3000)); got.status != http.StatusNotFound {
		t.Errorf("unknown model: %+v", got)
	}
	made := create(t, s, toCache("gemini-2.5-flash", 3000))
	one := made.at()
	for _, tc := range []struct{ name, query, body, want string }{
		{"no mask", "", `{"ttl":"1s"}`, "update_mask must be set"},
		{"another field", "?updateMask=displayName", `{"displayName":"x"}`, "Only ttl and expire_time"},
		{"a field that isn't set", "?updateMask=ttl", `{"expireTime":"2100-01-01T00:00:00Z"}`, "isn't set"},
		{"nothing", "?updateMask=expireTime", `{}`, "One of ttl and expire_time"},
	} {
		t.Run("update with "+tc.name, func(t *testing.T) {
			got := onCaches(t, s, http.MethodPatch, one+tc.query, tc.body, "")
			if got.status != http.StatusBadRequest || !strings.Contains(got.Error.Message, tc.want) {
				t.Errorf("got %+v, want %q", got, tc.want)
			}
		})
	}
	if got := do(t, s, newPost(t, one, "{}")); got.status != http.StatusNotFound {
		t.Errorf("POST to a cache: %d", got.status)
	}
}

func TestCachesAreUsed(t *testing.T) {
	s := vertextest.New()
	made := create(t, s, toCache("gemini-2.5-flash", 3000, weatherTool))
	if !regexp.MustCompile(`^projects/[0-9]{12}/locations/global/cachedContents/[0-9]+$`).MatchString(made.Name) {
		t.Errorf("name %s", made.Name)
	}
	using := func(name string) string { return say("weather in Paris", fmt.Sprintf(`"cachedContent":%q`, name)) }
	m := unary(t, s, "gemini-2.5-flash", using(made.Name)).decode(t)
	if parts := m.parts(); len(parts) != 1 || parts[0].FunctionCall == nil {
		t.Errorf("the cached function isn't called: %+v", parts)
	}
	u := m.UsageMetadata
	if u.CachedContentTokenCount != made.UsageMetadata.TotalTokenCount || u.PromptTokenCount <= u.CachedContentTokenCount {
		t.Errorf("usage %+v, cache of %+v", u, made.UsageMetadata)
	}
	_, id, _ := strings.Cut(made.Name, "/cachedContents/")
	if got := unary(t, s, "gemini-2.5-flash", using("projects/p/locations/global/cachedContents/"+id)); got.status != http.StatusOK {
		t.Errorf("by the id of its project: %d %s", got.status, got.body)
	}
	for _, tc := range []struct {
		name, model, cache, want string
		status                   int
	}{
		{"another model", "gemini-2.5-pro", made.Name, "Cached content model does not match the model in the request.", 400},
		{"another location", "gemini-2.5-flash", strings.Replace(made.Name, "global", "us", 1), "same project and location", 400},
		{"a cache that isn't there", "gemini-2.5-flash", "projects/p/locations/global/cachedContents/42", "Not found: cache content metadata 42.", 404},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := unary(t, s, tc.model, using(tc.cache))
			if m := got.decode(t); got.status != tc.status || !strings.Contains(m.Error.Message, tc.want) {
				t.Errorf("%d %q, want %d %q", got.status, m.Error.Message, tc.status, tc.want)
			}
		})
	}
}

func TestAnyCacheNameWillDoUntilOneIsMade(t *testing.T) {
	m := unary(t, vertextest.New(), "gemini-2.5-flash", say("a", `"cachedContent":"projects/p/locations/global/cachedContents/42"`)).decode(t)
	if u := m.UsageMetadata; u.CachedContentTokenCount != 2048 || u.PromptTokenCount <= 2048 {
		t.Errorf("usage %+v", u)
	}
}

func TestCountsAgreeWithUsage(t *testing.T) {
	s := vertextest.New()
	const model = place + "publishers/google/models/gemini-2.5-flash"
	for _, body := range []string{
		say("How many are these?"),
		say("Größe\n", `"systemInstruction":{"parts":[{"text":"Be brief."}]}`),
		holding(inline("image/png", onePixel)),
		say("weather", weatherTool),
	} {
		got := post(t, s, model+":countTokens", body)
		if err := vertextest.Check("CountTokensResponse", got.body); got.status != http.StatusOK || err != nil {
			t.Fatalf("status %d, %v: %s", got.status, err, got.body)
		}
		var count struct {
			TotalTokens, TotalBillableCharacters int
			PromptTokensDetails                  []struct {
				Modality   string
				TokenCount int
			}
		}
		if err := json.Unmarshal(got.body, &count); err != nil {
			t.Fatal(err)
		}
		u := unary(t, s, "gemini-2.5-flash", body).decode(t).UsageMetadata
		if count.TotalTokens != u.PromptTokenCount || count.TotalBillableCharacters == 0 {
			t.Errorf("counted %+v, used %+v", count, u)
		}
		if diff := cmp.Diff(u.PromptTokensDetails, count.PromptTokensDetails); diff != "" {
			t.Errorf("details (-usage +count):\n%s", diff)
		}
	}
	for name, tc := range map[string]struct {
		url, body string
		want      int
	}{
		"an endpoint":       {place + "endpoints/1:countTokens", say("a"), 200},
		"no contents":       {model + ":countTokens", `{"contents":[]}`, 400},
		"an unknown member": {model + ":countTokens", say("a", `"safetySettings":[]`), 400},
		"an unknown model":  {place + "publishers/google/models/x:countTokens", say("a"), 404},
	} {
		if got := post(t, s, tc.url, tc.body); got.status != tc.want {
			t.Errorf("%s: status %d, want %d: %s", name, got.status, tc.want, got.body)
		}
	}
}

func TestScriptsOfVerbs(t *testing.T) {
	s := vertextest.New(vertextest.WithCacheMinimum(0))
	s.Script(vertextest.Text("scripted"))
	s.ScriptVerb("createCachedContent", vertextest.RateLimited(0))
	if n := s.Pending(); n != 2 {
		t.Errorf("%d pending", n)
	}
	if got := create(t, s, toCache("gemini-2.5-flash", 1)); got.status != http.StatusTooManyRequests {
		t.Errorf("scripted: %+v", got)
	}
	if got := create(t, s, toCache("gemini-2.5-flash", 1)); got.status != http.StatusOK {
		t.Errorf("by itself: %+v", got)
	}
	if got := unary(t, s, "gemini-2.5-flash", say("a")).decode(t).text(); got != "scripted" {
		t.Errorf("answer %q", got)
	}
	if verb := s.Requests()[0].Verb; verb != "createCachedContent" {
		t.Errorf("verb %q", verb)
	}
}
