package vertex

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/gemini"
	"github.com/b650d4bf/gateway/providers"
)

var _ providers.ContextCacher = (*Provider)(nil)

// CreateCachedContent keeps messages and tools at the platform, in the project
// and location of the target, or of the model if that is a full resource name.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-create
func (p *Provider) CreateCachedContent(ctx context.Context, t *providers.Target, req *providers.CachedContentRequest) (*providers.CachedContent, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	c := new(call)
	chat := &providers.ChatCompletionRequest{Messages: req.Messages, Tools: req.Tools, ToolChoice: req.ToolChoice}
	if err := p.about(c, t, chat, "context caching"); err != nil {
		return nil, err
	}
	if c.in.model.facts.NoExplicitCache {
		return nil, badModel("this model has no explicit context caching: it caches the beginnings of prompts by itself")
	}
	at, err := modelPlace(t, &c.in.model)
	if err != nil {
		return nil, err
	}
	u, err := at.url(t, "", "")
	if err != nil {
		return nil, err
	}
	var out *providers.CachedContent
	err = p.taught(c, func() (err error) {
		c.out = outgoing{}
		e := p.gemini.encoder(&c.in, &c.out)
		e.purpose = toCache
		if err = c.write(&e.w, func() error { return e.cacheBody(t, req) }); err == nil {
			out, err = p.cached(ctx, u, c)
		}
		return err
	})
	return out, err
}

// cacheBody writes the body of a new cached content.
func (e *geminiEncoder) cacheBody(t *providers.Target, req *providers.CachedContentRequest) error {
	var name strings.Builder
	writeResource(&name, t, e.m)
	e.w.BeginObject()
	e.w.Key("model")
	e.w.String(name.String())
	if req.DisplayName != "" {
		e.w.Key("displayName")
		e.w.String(req.DisplayName)
	}
	open := e.w.Len()
	for _, write := range []func() error{e.contents, e.system, e.tools} {
		if err := write(); err != nil {
			return err
		}
	}
	if e.w.Len() == open {
		return errNoContent()
	}
	e.leftovers()
	writeExpiry(&e.w, providers.CachedContentExpiry{TTL: req.TTL, ExpireTime: req.ExpireTime})
	if req.KMSKeyName != "" {
		e.w.Key("encryptionSpec")
		e.w.BeginObject()
		e.w.Key("kmsKeyName")
		e.w.String(req.KMSKeyName)
		e.w.EndObject()
	}
	e.w.EndObject()
	return e.w.Err()
}

// writeExpiry writes the member that says when a cached content expires, and
// returns its name, or nothing when the platform's default counts.
func writeExpiry(w *jsonx.Writer, x providers.CachedContentExpiry) string {
	switch {
	case x.TTL != 0:
		w.Key("ttl")
		w.String(durationText(x.TTL))
		return "ttl"
	case !x.ExpireTime.IsZero():
		w.Key("expireTime")
		w.String(x.ExpireTime.UTC().Format(time.RFC3339Nano))
		return "expireTime"
	}
	return ""
}

// durationText writes a positive duration as the platform's JSON has it, such as
// "3600s" or "1.5s".
//
// Source: https://protobuf.dev/programming-guides/json/
func durationText(d time.Duration) string {
	text := strconv.FormatInt(int64(d/time.Second), 10)
	if rest := d % time.Second; rest != 0 {
		fraction := strconv.FormatInt(int64(time.Second+rest), 10)[1:] // nine digits
		text += "." + strings.TrimRight(fraction, "0")
	}
	return text + "s"
}

// GetCachedContent returns what the platform knows of a cached content.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-getinfo
func (p *Provider) GetCachedContent(ctx context.Context, t *providers.Target, name string) (*providers.CachedContent, error) {
	u, err := cacheURL(t, name)
	if err != nil {
		return nil, err
	}
	return p.cached(ctx, u, callOf(t, http.MethodGet))
}

// ListCachedContents returns one page of the cached contents in the project and
// location of the target.
func (p *Provider) ListCachedContents(ctx context.Context, t *providers.Target, pageToken string) (*providers.CachedContentList, error) {
	at, err := targetPlace(t)
	if err != nil {
		return nil, err
	}
	query := ""
	if pageToken != "" {
		query = "pageToken=" + url.QueryEscape(pageToken)
	}
	u, err := at.url(t, "", query)
	if err != nil {
		return nil, err
	}
	var wire gemini.CachedContentList
	if err := p.exchange(ctx, u, callOf(t, http.MethodGet), wire.Decode); err != nil {
		return nil, err
	}
	out := &providers.CachedContentList{NextPageToken: wire.NextPageToken}
	for i := range wire.CachedContents {
		c, err := cachedContent(&wire.CachedContents[i])
		if err != nil {
			return nil, err
		}
		out.CachedContents = append(out.CachedContents, c)
	}
	return out, nil
}

// UpdateCachedContent sets when a cached content expires, which is all of it
// that can be changed.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-update
func (p *Provider) UpdateCachedContent(ctx context.Context, t *providers.Target, name string, expiry providers.CachedContentExpiry) (*providers.CachedContent, error) {
	if err := expiry.Validate(); err != nil {
		return nil, err
	}
	u, err := cacheURL(t, name)
	if err != nil {
		return nil, err
	}
	c := callOf(t, http.MethodPatch)
	var w jsonx.Writer
	err = c.write(&w, func() error {
		w.BeginObject()
		u.RawQuery = "updateMask=" + writeExpiry(&w, expiry)
		w.EndObject()
		return w.Err()
	})
	if err != nil {
		return nil, err
	}
	return p.cached(ctx, u, c)
}

// DeleteCachedContent ends a cached content before it expires.
func (p *Provider) DeleteCachedContent(ctx context.Context, t *providers.Target, name string) error {
	u, err := cacheURL(t, name)
	if err != nil {
		return err
	}
	return p.exchange(ctx, u, callOf(t, http.MethodDelete), (*jsonx.Reader).Skip)
}

// callOf returns a call that is about no model.
func callOf(t *providers.Target, method string) *call {
	return &call{in: request{target: t}, method: method}
}

// cached makes a call whose answer is one cached content.
func (p *Provider) cached(ctx context.Context, u *url.URL, c *call) (*providers.CachedContent, error) {
	var wire gemini.CachedContent
	if err := p.exchange(ctx, u, c, wire.Decode); err != nil {
		return nil, err
	}
	out, err := cachedContent(&wire)
	if err != nil {
		return nil, err
	}
	out.Meta.Warnings = c.warnings()
	return out, nil
}

// cachedContent gives the platform's answer its types.
func cachedContent(w *gemini.CachedContent) (*providers.CachedContent, error) {
	if w.Name == "" {
		return nil, answerError(providers.ErrBadResponse, "the platform's answer is no cached content")
	}
	out := &providers.CachedContent{
		Name: w.Name, DisplayName: w.DisplayName, Model: w.Model, KMSKeyName: w.KMSKeyName,
		Usage: providers.CachedContentUsage{
			TotalTokens: w.TotalTokens, TextCount: w.TextCount, ImageCount: w.ImageCount,
			VideoSeconds: w.VideoSeconds, AudioSeconds: w.AudioSeconds,
		},
	}
	for _, m := range []struct {
		text string
		to   *time.Time
		name string
	}{{w.CreateTime, &out.CreateTime, "createTime"}, {w.UpdateTime, &out.UpdateTime, "updateTime"}, {w.ExpireTime, &out.ExpireTime, "expireTime"}} {
		if m.text == "" {
			continue
		}
		var err error
		if *m.to, err = time.Parse(time.RFC3339Nano, m.text); err != nil {
			return nil, answerError(providers.ErrBadResponse, "the platform's "+m.name+" is no RFC 3339 time")
		}
	}
	return out, nil
}

// cachePlace is where cached contents live.
type cachePlace struct{ project, location string }

// url returns the URL of one cached content, or of all of the place.
func (at cachePlace) url(t *providers.Target, id, query string) (*url.URL, error) {
	u := &url.URL{Scheme: "https", RawQuery: query}
	var host strings.Builder
	if t.BaseURL != "" {
		if err := writeBase(&host, u, t.BaseURL); err != nil {
			return nil, err
		}
	} else {
		writeHost(&host, at.location, t.UniverseDomain) // host and path must agree
		u.Host = host.String()
	}
	u.Path += "/v1/projects/" + at.project + "/locations/" + at.location + "/cachedContents"
	if id != "" {
		u.Path += "/" + id
	}
	return u, nil
}

// targetPlace is the project and location of the settings.
func targetPlace(t *providers.Target) (cachePlace, error) {
	return cachePlace{t.ProjectID, t.Region}, checkPlace(t)
}

// modelPlace is where the model is: requests to it find cached contents nowhere
// else.
func modelPlace(t *providers.Target, m *model) (cachePlace, error) {
	if m.resource == "" {
		return targetPlace(t)
	}
	return cachePlace{strings.Split(m.resource, "/")[1], m.location}, nil
}

// cacheURL returns the URL of a cached content. A full name says where it is,
// whatever the settings say.
func cacheURL(t *providers.Target, name string) (*url.URL, error) {
	at, id, ok := splitCacheName(name)
	if !ok {
		return nil, providers.Invalid("name", badCacheName)
	}
	if at.project == "" {
		var err error
		if at, err = targetPlace(t); err != nil {
			return nil, err
		}
	}
	return at.url(t, id, "")
}

// splitCacheName reads a full resource name, "cachedContents/ID" or an ID. The
// place is empty unless the name is full.
func splitCacheName(name string) (at cachePlace, id string, ok bool) {
	if !strings.HasPrefix(name, "projects/") {
		id = strings.TrimPrefix(name, "cachedContents/")
		return at, id, isSegment(id)
	}
	seg := strings.Split(name, "/")
	if len(seg) != 6 || seg[2] != "locations" || seg[4] != "cachedContents" || !isProject(seg[1]) || !isRegion(seg[3]) {
		return at, "", false
	}
	return cachePlace{seg[1], seg[3]}, seg[5], isSegment(seg[5])
}

const badCacheName = "the name of a cached content is projects/P/locations/L/cachedContents/ID, cachedContents/ID or ID"
