package vertex

import (
	"context"
	"net/url"
	"strings"

	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/internal/place"
	"github.com/b650d4bf/gateway/providers"
)

// CreateCachedContent keeps messages and tools at the platform, in the project
// and location of the target, or of the model if that is a full resource name.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-create
func (p *Provider) CreateCachedContent(ctx context.Context, t *providers.Target, req *providers.CachedContentRequest) (*providers.CachedContent, error) {
	return p.engine.CreateCachedContent(ctx, t, req)
}

// GetCachedContent returns what the platform knows of a cached content.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-getinfo
func (p *Provider) GetCachedContent(ctx context.Context, t *providers.Target, name string) (*providers.CachedContent, error) {
	return p.engine.GetCachedContent(ctx, t, name)
}

// ListCachedContents returns one page of the cached contents in the project and
// location of the target.
func (p *Provider) ListCachedContents(ctx context.Context, t *providers.Target, pageToken string) (*providers.CachedContentList, error) {
	return p.engine.ListCachedContents(ctx, t, pageToken)
}

// UpdateCachedContent sets when a cached content expires, which is all of it
// that can be changed.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-update
func (p *Provider) UpdateCachedContent(ctx context.Context, t *providers.Target, name string, expiry providers.CachedContentExpiry) (*providers.CachedContent, error) {
	return p.engine.UpdateCachedContent(ctx, t, name, expiry)
}

// DeleteCachedContent ends a cached content before it expires.
func (p *Provider) DeleteCachedContent(ctx context.Context, t *providers.Target, name string) error {
	return p.engine.DeleteCachedContent(ctx, t, name)
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
func modelPlace(t *providers.Target, m *engine.Model) (cachePlace, error) {
	if m.Resource == "" {
		return targetPlace(t)
	}
	return cachePlace{strings.Split(m.Resource, "/")[1], m.Location}, nil
}

// CachesURL is the list of cached contents: of the model's place, or for nil of
// the target's.
func (*site) CachesURL(t *providers.Target, m *engine.Model, query string) (*url.URL, error) {
	place, err := targetPlace(t)
	if m != nil {
		place, err = modelPlace(t, m)
	}
	if err != nil {
		return nil, err
	}
	return place.url(t, "", query)
}

// CacheURL is the address of a cached content. A full name says where it is,
// whatever the settings say.
func (*site) CacheURL(t *providers.Target, name string) (*url.URL, error) {
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

// CacheName is the full name of a cached content, which is where the model is
// unless the name says where.
func (*site) CacheName(t *providers.Target, m *engine.Model, name string) (string, error) {
	at, id, ok := splitCacheName(name)
	if !ok {
		return "", providers.Invalid("name", badCacheName)
	}
	if at.project == "" {
		var err error
		if at, err = modelPlace(t, m); err != nil {
			return "", err
		}
	}
	return "projects/" + at.project + "/locations/" + at.location + "/cachedContents/" + id, nil
}

// ModelName is the model's resource name.
func (*site) ModelName(t *providers.Target, m *engine.Model) string {
	var b strings.Builder
	writeResource(&b, t, m)
	return b.String()
}

// splitCacheName reads a full resource name, "cachedContents/ID" or an ID. The
// place is empty unless the name is full.
func splitCacheName(name string) (at cachePlace, id string, ok bool) {
	if !strings.HasPrefix(name, "projects/") {
		id = strings.TrimPrefix(name, "cachedContents/")
		return at, id, isSegment(id)
	}
	seg := strings.Split(name, "/")
	if len(seg) != 6 || seg[2] != "locations" || seg[4] != "cachedContents" || !place.IsProject(seg[1]) || !place.IsRegion(seg[3]) {
		return at, "", false
	}
	return cachePlace{seg[1], seg[3]}, seg[5], isSegment(seg[5])
}

const badCacheName = "the name of a cached content is projects/P/locations/L/cachedContents/ID, cachedContents/ID or ID"
