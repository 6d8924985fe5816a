package gateway

import (
	"context"
	"iter"

	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
)

// CacheService keeps the beginnings of prompts at the platform: a document, a
// long instruction, the tools. Requests to the same model then name one in
// cached_content, and pay less for its tokens. It is the platform's own context
// caching, and no cache of answers. It is safe for concurrent use.
//
// The model of Create may have a slug, "@slug/model". The other operations go
// where [WithProvider] or the client's settings say; a full resource name says
// by itself in which project and location.
type CacheService struct{ client *Client }

// Create keeps the messages and tools of req. What it returns has the Name that
// requests use. The caller keeps req, which is not changed.
func (s *CacheService) Create(ctx context.Context, req *CachedContentRequest, opts ...RequestOption) (*CachedContent, error) {
	call, err := s.prepare(opts)
	switch {
	case err != nil:
		return nil, err
	case req == nil:
		return nil, providers.Invalid("request", "the request is nil")
	}
	return s.client.engine.CreateCachedContent(ctx, s.client.settings, call, req)
}

// Get returns what the platform knows of a cached content. The name is the full
// one, "cachedContents/ID" or the ID. One that has expired or was deleted is an
// [ErrCacheNotFound].
func (s *CacheService) Get(ctx context.Context, name string, opts ...RequestOption) (*CachedContent, error) {
	call, err := s.prepare(opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.GetCachedContent(ctx, s.client.settings, call, name)
}

// List returns the cached contents of the project and location for a range
// loop. Pages are fetched as the loop needs them, each as a call of its own. An
// error is the last element. Ranging again begins anew.
//
//	for cached, err := range client.Caches.List(ctx) {
//		if err != nil { … }
//	}
func (s *CacheService) List(ctx context.Context, opts ...RequestOption) iter.Seq2[*CachedContent, error] {
	return func(yield func(*CachedContent, error) bool) {
		call, err := s.prepare(opts)
		if err != nil {
			yield(nil, err)
			return
		}
		for token, more := "", true; more; more = token != "" {
			page, err := s.client.engine.ListCachedContents(ctx, s.client.settings, call, token)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, c := range page.CachedContents {
				if !yield(c, nil) {
					return
				}
			}
			token = page.NextPageToken
		}
	}
}

// Extend sets when a cached content expires: after TTL from now, or at
// ExpireTime, which may also be sooner than before. Nothing else of a cached
// content can be changed.
func (s *CacheService) Extend(ctx context.Context, name string, expiry CachedContentExpiry, opts ...RequestOption) (*CachedContent, error) {
	call, err := s.prepare(opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.UpdateCachedContent(ctx, s.client.settings, call, name, expiry)
}

// Delete ends a cached content, and its costs, before it expires.
func (s *CacheService) Delete(ctx context.Context, name string, opts ...RequestOption) error {
	call, err := s.prepare(opts)
	if err != nil {
		return err
	}
	return s.client.engine.DeleteCachedContent(ctx, s.client.settings, call, name)
}

func (s *CacheService) prepare(opts []RequestOption) (*pipeline.Settings, error) {
	if s.client == nil {
		return nil, errNoClient()
	}
	return s.client.call(opts)
}

// CreateCache and the others below are what the HTTP front asks for.
func (b backend) CreateCache(ctx context.Context, req *CachedContentRequest, o *front.Overrides) (*CachedContent, error) {
	return b.c.engine.CreateCachedContent(ctx, b.c.settings, callSettings(o), req)
}

func (b backend) GetCache(ctx context.Context, name string, o *front.Overrides) (*CachedContent, error) {
	return b.c.engine.GetCachedContent(ctx, b.c.settings, callSettings(o), name)
}

func (b backend) ListCaches(ctx context.Context, pageToken string, o *front.Overrides) (*CachedContentList, error) {
	return b.c.engine.ListCachedContents(ctx, b.c.settings, callSettings(o), pageToken)
}

func (b backend) ExtendCache(ctx context.Context, name string, expiry CachedContentExpiry, o *front.Overrides) (*CachedContent, error) {
	return b.c.engine.UpdateCachedContent(ctx, b.c.settings, callSettings(o), name, expiry)
}

func (b backend) DeleteCache(ctx context.Context, name string, o *front.Overrides) error {
	return b.c.engine.DeleteCachedContent(ctx, b.c.settings, callSettings(o), name)
}

// Context caching and token counting, documented in package providers.
type (
	// CachedContentRequest says what to keep at the platform, and how long.
	CachedContentRequest = providers.CachedContentRequest
	// CachedContent is what the platform tells of a cached content.
	CachedContent = providers.CachedContent
	// CachedContentExpiry says when a cached content expires.
	CachedContentExpiry = providers.CachedContentExpiry
	// CachedContentUsage is the size of a cached content.
	CachedContentUsage = providers.CachedContentUsage
	// CachedContentList is one page of cached contents.
	CachedContentList = providers.CachedContentList
	// TokenCount is the size of a prompt.
	TokenCount = providers.TokenCount
	// ContextCacher is the ability of a [Provider] to keep cached contents.
	ContextCacher = providers.ContextCacher
	// TokenCounter is the ability of a [Provider] to count tokens.
	TokenCounter = providers.TokenCounter
)
