package engine

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

var _ providers.ContextCacher = (*Engine)(nil)

// CreateCachedContent keeps messages and tools at the platform, in the project
// and location of the target, or of the model if that is a full resource name.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-create
func (p *Engine) CreateCachedContent(ctx context.Context, t *providers.Target, req *providers.CachedContentRequest) (*providers.CachedContent, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	site, err := p.cacheSite()
	if err != nil {
		return nil, err
	}
	c := new(call)
	chat := &providers.ChatCompletionRequest{Messages: req.Messages, Tools: req.Tools, ToolChoice: req.ToolChoice}
	if err := p.about(c, t, chat, "context caching"); err != nil {
		return nil, err
	}
	if c.in.model.Own && req.KMSKeyName != "" {
		return nil, providers.Invalid("kms_key_name", "the service has no encryption with keys of one's own: leave it out, or keep the content on Vertex AI")
	}
	if c.in.model.facts.NoExplicitCache {
		return nil, badModel("this model has no explicit context caching: it caches the beginnings of prompts by itself")
	}
	u, err := site.CachesURL(t, &c.in.model, "")
	if err != nil {
		return nil, err
	}
	var out *providers.CachedContent
	err = p.taught(c, func() (err error) {
		c.out = outgoing{}
		e := p.gemini.encoder(&c.in, &c.out)
		e.purpose = toCache
		if err = c.write(&e.w, func() error { return e.cacheBody(site.ModelName(t, e.m), req) }); err == nil {
			out, err = p.cached(ctx, u, c)
		}
		return err
	})
	return out, err
}

// cacheBody writes the body of a new cached content.
func (e *geminiEncoder) cacheBody(model string, req *providers.CachedContentRequest) error {
	e.w.BeginObject()
	e.w.Key("model")
	e.w.String(model)
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
func (p *Engine) GetCachedContent(ctx context.Context, t *providers.Target, name string) (*providers.CachedContent, error) {
	u, err := p.cacheURL(t, name)
	if err != nil {
		return nil, err
	}
	return p.cached(ctx, u, callOf(p.site, t, http.MethodGet))
}

// ListCachedContents returns one page of the cached contents in the project and
// location of the target.
func (p *Engine) ListCachedContents(ctx context.Context, t *providers.Target, pageToken string) (*providers.CachedContentList, error) {
	site, err := p.cacheSite()
	if err != nil {
		return nil, err
	}
	query := ""
	if pageToken != "" {
		query = "pageToken=" + url.QueryEscape(pageToken)
	}
	u, err := site.CachesURL(t, nil, query)
	if err != nil {
		return nil, err
	}
	var wire gemini.CachedContentList
	call := callOf(p.site, t, http.MethodGet)
	if err := p.exchange(ctx, u, call, wire.Decode); err != nil {
		return nil, err
	}
	out := &providers.CachedContentList{NextPageToken: wire.NextPageToken}
	for i := range wire.CachedContents {
		c, err := cachedContent(&wire.CachedContents[i])
		if err != nil {
			return nil, call.named(err)
		}
		out.CachedContents = append(out.CachedContents, c)
	}
	return out, nil
}

// UpdateCachedContent sets when a cached content expires, which is all of it
// that can be changed.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-update
func (p *Engine) UpdateCachedContent(ctx context.Context, t *providers.Target, name string, expiry providers.CachedContentExpiry) (*providers.CachedContent, error) {
	if err := expiry.Validate(); err != nil {
		return nil, err
	}
	u, err := p.cacheURL(t, name)
	if err != nil {
		return nil, err
	}
	c := callOf(p.site, t, http.MethodPatch)
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
func (p *Engine) DeleteCachedContent(ctx context.Context, t *providers.Target, name string) error {
	u, err := p.cacheURL(t, name)
	if err != nil {
		return err
	}
	return p.exchange(ctx, u, callOf(p.site, t, http.MethodDelete), (*jsonx.Reader).Skip)
}

// cacheSite returns the site, if it keeps contents.
func (p *Engine) cacheSite() (CacheSite, error) {
	site, ok := p.site.(CacheSite)
	if !ok {
		return nil, badModel(p.site.Name() + " keeps no contents by name")
	}
	return site, nil
}

func (p *Engine) cacheURL(t *providers.Target, name string) (*url.URL, error) {
	site, err := p.cacheSite()
	if err != nil {
		return nil, err
	}
	return site.CacheURL(t, name)
}

// callOf returns a call that is about no model.
func callOf(site Site, t *providers.Target, method string) *call {
	return &call{in: request{target: t, site: site}, method: method}
}

// cached makes a call whose answer is one cached content.
func (p *Engine) cached(ctx context.Context, u *url.URL, c *call) (*providers.CachedContent, error) {
	var wire gemini.CachedContent
	if err := p.exchange(ctx, u, c, wire.Decode); err != nil {
		return nil, err
	}
	out, err := cachedContent(&wire)
	if err != nil {
		return nil, c.named(err)
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
