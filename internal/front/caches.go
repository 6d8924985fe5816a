package front

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// CacheBackend keeps the beginnings of prompts at the platform. A name is the
// full resource name, or the id alone.
type CacheBackend interface {
	// CreateCache keeps what the request holds.
	CreateCache(ctx context.Context, req *providers.CachedContentRequest, o *Overrides) (*providers.CachedContent, error)
	// GetCache returns what is known of a cached content.
	GetCache(ctx context.Context, name string, o *Overrides) (*providers.CachedContent, error)
	// ListCaches returns one page; the token is the former page's.
	ListCaches(ctx context.Context, pageToken string, o *Overrides) (*providers.CachedContentList, error)
	// ExtendCache sets when a cached content expires.
	ExtendCache(ctx context.Context, name string, expiry providers.CachedContentExpiry, o *Overrides) (*providers.CachedContent, error)
	// DeleteCache ends a cached content.
	DeleteCache(ctx context.Context, name string, o *Overrides) error
}

// createCache serves POST /v1/cached_contents.
func (c *call) createCache() error {
	req := new(cacheRequest)
	if err := c.readRequest(req); err != nil {
		return err
	}
	out, err := c.backend.CreateCache(c.r.Context(), &req.CachedContentRequest, &c.o)
	if err != nil {
		return err
	}
	return c.writeCache(out)
}

// getCache serves GET /v1/cached_contents/{name}.
func (c *call) getCache() error {
	name, err := c.cacheName()
	if err != nil {
		return err
	}
	out, err := c.backend.GetCache(c.r.Context(), name, &c.o)
	if err != nil {
		return err
	}
	return c.writeCache(out)
}

// extendCache serves PATCH /v1/cached_contents/{name}, whose body has a ttl or an
// expire_time.
func (c *call) extendCache() error {
	name, err := c.cacheName()
	if err != nil {
		return err
	}
	req := new(cacheExpiry)
	if err := c.readRequest(req); err != nil {
		return err
	}
	out, err := c.backend.ExtendCache(c.r.Context(), name, providers.CachedContentExpiry(*req), &c.o)
	if err != nil {
		return err
	}
	return c.writeCache(out)
}

// deleteCache serves DELETE /v1/cached_contents/{name}.
func (c *call) deleteCache() error {
	name, err := c.cacheName()
	if err != nil {
		return err
	}
	if err := c.backend.DeleteCache(c.r.Context(), name, &c.o); err != nil {
		return err
	}
	var w jsonx.Writer
	w.BeginObject()
	w.Key("id")
	w.String(name)
	w.Key("object")
	w.String("cached_content.deleted")
	w.Key("deleted")
	w.Bool(true)
	w.EndObject()
	c.setRequestID()
	writeJSON(c.w, http.StatusOK, w.Bytes())
	return nil
}

// listCaches serves GET /v1/cached_contents, one page for each request: the
// query's page_token is the former page's next_page_token.
func (c *call) listCaches() error {
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return providers.Invalid("page_token", "the query can't be read")
	}
	out, err := c.backend.ListCaches(c.r.Context(), query.Get("page_token"), &c.o)
	if err != nil {
		return err
	}
	var w jsonx.Writer
	w.BeginObject()
	w.Key("object")
	w.String("list")
	w.Key("data")
	w.BeginArray()
	for _, one := range out.CachedContents {
		encodeCache(&w, one)
	}
	w.EndArray()
	w.Key("has_more")
	w.Bool(out.NextPageToken != "")
	if out.NextPageToken != "" {
		w.Key("next_page_token")
		w.String(out.NextPageToken)
	}
	w.EndObject()
	setMeta(c.w.Header(), &out.Meta)
	writeJSON(c.w, http.StatusOK, w.Bytes())
	return nil
}

// maxCacheName bounds a name in bytes.
const maxCacheName = 512

// cacheName returns the name that the path ends in. The platform's own checks
// come later; here nothing passes that could lead to another path.
func (c *call) cacheName() (string, error) {
	name := c.rest
	fine := name != "" && len(name) <= maxCacheName && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.:/", r)
	})
	for segment := range strings.SplitSeq(name, "/") {
		fine = fine && segment != "" && segment != "." && segment != ".."
	}
	if !fine {
		return "", providers.Invalid("name", "the name of a cached content is projects/P/locations/L/cachedContents/ID, cachedContents/ID or ID")
	}
	return name, nil
}

func (c *call) writeCache(out *providers.CachedContent) error {
	var w jsonx.Writer
	encodeCache(&w, out)
	setMeta(c.w.Header(), &out.Meta)
	writeJSON(c.w, http.StatusOK, w.Bytes())
	return nil
}

// setRequestID echoes the request's id where there is no answer that has one.
func (c *call) setRequestID() {
	if c.o.RequestID != "" {
		c.w.Header().Set(headerRequestID, headerText(c.o.RequestID))
	}
}

// encodeCache writes a cached content; times are in Unix seconds, as everywhere
// in the OpenAI schema.
func encodeCache(w *jsonx.Writer, c *providers.CachedContent) {
	w.BeginObject()
	for _, m := range [...]struct{ key, value string }{
		{"id", c.Name}, {"object", "cached_content"}, {"model", c.Model}, {"display_name", c.DisplayName}, {"kms_key_name", c.KMSKeyName},
	} {
		if m.value != "" {
			w.Key(m.key)
			w.String(m.value)
		}
	}
	for _, m := range [...]struct {
		key  string
		time time.Time
	}{{"created_at", c.CreateTime}, {"updated_at", c.UpdateTime}, {"expires_at", c.ExpireTime}} {
		if !m.time.IsZero() {
			w.Key(m.key)
			w.Int(m.time.Unix())
		}
	}
	w.Key("usage")
	w.BeginObject()
	w.Key("total_tokens")
	w.Int(c.Usage.TotalTokens)
	for _, m := range [...]struct {
		key string
		n   int64
	}{
		{"text_characters", c.Usage.TextCount}, {"images", c.Usage.ImageCount},
		{"video_seconds", c.Usage.VideoSeconds}, {"audio_seconds", c.Usage.AudioSeconds},
	} {
		if m.n != 0 {
			w.Key(m.key)
			w.Int(m.n)
		}
	}
	w.EndObject()
	w.EndObject()
}

// cacheRequest is the body of POST /v1/cached_contents: model, messages, tools
// and tool_choice as in a chat completion, display_name, kms_key_name, and ttl or
// expire_time as in [cacheExpiry]. Other members are refused: what is not kept
// would be missed in every request that uses it.
type cacheRequest struct{ providers.CachedContentRequest }

// UnmarshalJSON decodes the body. What it has in common with a chat completion is
// decoded as one.
func (q *cacheRequest) UnmarshalJSON(data []byte) error {
	var chat providers.ChatCompletionRequest
	if err := chat.UnmarshalJSON(data); err != nil {
		return err
	}
	q.CachedContentRequest = providers.CachedContentRequest{
		Model: chat.Model, Messages: chat.Messages, Tools: chat.Tools, ToolChoice: chat.ToolChoice,
	}
	var x cacheExpiry
	r := jsonx.NewReader(data)
	for r.Object(); r.NextKey(); {
		switch key := string(r.Key()); key {
		case "model", "messages", "tools", "tool_choice":
			r.Skip()
		case "display_name":
			q.DisplayName = r.String()
		case "kms_key_name":
			q.KMSKeyName = r.String()
		default:
			if !x.member(key, &r) {
				r.Failf("not a member of a cached content")
			}
		}
	}
	q.TTL, q.ExpireTime = x.TTL, x.ExpireTime
	return r.End()
}

// cacheExpiry is the body of PATCH /v1/cached_contents/{name}: ttl, in seconds or
// as a duration such as "90m", or expire_time, in Unix seconds or as RFC 3339.
type cacheExpiry providers.CachedContentExpiry

// UnmarshalJSON decodes the body.
func (x *cacheExpiry) UnmarshalJSON(data []byte) error {
	r := jsonx.NewReader(data)
	for r.Object(); r.NextKey(); {
		if !x.member(string(r.Key()), &r) {
			r.Failf("not a member of an expiry: give ttl or expire_time")
		}
	}
	return r.End()
}

// maxTTL bounds a ttl in seconds; what is more can't be told in nanoseconds.
const maxTTL = 100 * 365 * 24 * 3600

// member reads a member and reports whether it is one.
func (x *cacheExpiry) member(key string, r *jsonx.Reader) bool {
	switch key {
	case "ttl":
		if r.Kind() == jsonx.String {
			d, err := time.ParseDuration(r.String())
			if err != nil {
				r.Failf("must be a duration, such as 3600s or 90m, or a number of seconds")
			}
			x.TTL = d
			return true
		}
		seconds := r.Float()
		if seconds > maxTTL || seconds < -maxTTL {
			r.Failf("must be a number of seconds, of a hundred years at most")
			return true
		}
		x.TTL = time.Duration(seconds * float64(time.Second))
	case "expire_time":
		if r.Kind() != jsonx.String {
			x.ExpireTime = unixTime(r)
			return true
		}
		at, err := time.Parse(time.RFC3339, r.String())
		if err != nil {
			r.Failf("must be a time as of RFC 3339, such as 2026-01-02T15:04:05Z, or in Unix seconds")
		}
		x.ExpireTime = at
	default:
		return false
	}
	return true
}

// unixTime reads a time in seconds; null is none.
func unixTime(r *jsonx.Reader) time.Time {
	if r.Null() {
		return time.Time{}
	}
	return time.Unix(r.Int(), 0)
}

func sortedKeys(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }
