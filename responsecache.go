package gateway

import (
	"context"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/answers"
	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
)

// Cache is the setting of the response cache; see [WithCache].
type Cache = config.Cache

// The modes of the response cache.
const (
	CacheSimple   = config.CacheSimple
	CacheSemantic = config.CacheSemantic
)

// CacheStatus is the part that the response cache had in an answer.
type CacheStatus = providers.CacheStatus

// CacheInfo says more of that part.
type CacheInfo = providers.CacheInfo

// The statuses of the response cache.
const (
	CacheDisabled    = providers.CacheDisabled
	CacheMiss        = providers.CacheMiss
	CacheRefreshed   = providers.CacheRefreshed
	CacheHit         = providers.CacheHit
	CacheSemanticHit = providers.CacheSemanticHit
)

// WithCache has answers kept, and equal requests answered from them: chat
// completions, whole and streamed alike, those with stored prompts, and embeddings.
// The cache member of a [Config] wins over the client's setting, that of a target
// over that of the config; what a call itself sets wins over all.
//
// An answer is given again only to a request that is the same in all that an answer
// depends on, that goes to the same target with the same parameters, and that comes
// with the same metadata, headers, config and compliance setting, or from the same
// namespace: see [WithCacheNamespace]. Only whole answers are kept. In the mode
// [CacheSemantic] a chat request may also be answered by one that means the same:
// see [WithCacheEmbedding].
//
// This is not the platform's context caching, which [CacheService] is about: that
// makes long prompts cheaper, and the model is still asked.
func WithCache(c Cache) Option {
	return option(func(s *pipeline.Settings) error {
		if err := (&Config{Settings: config.Settings{Cache: &c}}).Validate(); err != nil {
			return invalidOption("cache", err.Error())
		}
		s.Cache = &c
		return nil
	})
}

// WithCacheStore keeps answers in that store, which stays the caller's to close, and
// which several clients and processes may share. The default is a store in memory of
// 64 MiB, made when a call first needs it and closed with the client.
func WithCacheStore(s cache.Store) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if s == nil {
			return invalidOption("cache_store", "must not be nil")
		}
		cfg.cache.Store = s
		return nil
	})
}

// WithOrganizationTTL sets how long answers are kept where no max_age says anything,
// and the longest that one can ask for: whole seconds, at most 25 923 000.
func WithOrganizationTTL(d time.Duration) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if _, err := cache.Lifetime(0, d); err != nil || d <= 0 {
			return invalidOption("organization_ttl", "must be whole seconds, from 1 to 25923000")
		}
		cfg.cache.OrganizationTTL = d
		return nil
	})
}

// WithCacheForceRefresh has a new answer made and kept in place of the one there is,
// and in the semantic mode of all that mean the same. While the new one is made, and
// when that fails, the old one serves others. It has no effect without a cache, and
// it is for single calls: a config can't ask for it.
func WithCacheForceRefresh() RequestOption {
	return requestOption(func(s *pipeline.Settings) error {
		s.CacheRefresh = true
		return nil
	})
}

// WithCacheNamespace parts the cache by that name alone, in place of metadata,
// headers, the config's id, the compliance setting and a call's own access token:
// whoever gives the same namespace shares answers. API keys and access tokens that
// HTTP clients bring part it all the same.
func WithCacheNamespace(name string) Option {
	return option(func(s *pipeline.Settings) error {
		if name == "" {
			return invalidOption("cache_namespace", "must not be empty")
		}
		s.CacheNamespace = name
		return nil
	})
}

// WithDebug with false keeps calls out of the response cache: nothing is looked up
// and nothing is kept. The default is true. Of calls with false no log has prompts and
// answers, whatever [WithLog] says.
func WithDebug(debug bool) Option {
	return option(func(s *pipeline.Settings) error {
		s.Debug = &debug
		return nil
	})
}

// WithStrictContext with true has the first message, which is the system message as
// a rule, be the same for a semantic hit too. The default, false, leaves its text
// out of the comparison.
func WithStrictContext(strict bool) Option {
	return option(func(s *pipeline.Settings) error {
		s.StrictContext = &strict
		return nil
	})
}

// WithCacheCoalescing with false has every call that misses the cache ask by itself.
// By default those that ask for the same at the same time share one request, which
// goes on as long as one of them waits for it.
func WithCacheCoalescing(on bool) Option {
	return option(func(s *pipeline.Settings) error {
		s.Coalesce = &on
		return nil
	})
}

// CacheRules say which answers are kept beyond, or less than, the default: whole
// answers of chat completions whose finish reasons are stop or tool_calls, of
// requests without tools that the platform runs.
type CacheRules = answers.Rules

// WithCacheRules changes which answers are kept.
func WithCacheRules(rules CacheRules) Option {
	return option(func(s *pipeline.Settings) error {
		if rules.MaxBytes < 0 {
			return invalidOption("cache_rules.max_bytes", "must not be negative")
		}
		s.CacheRules = &rules
		return nil
	})
}

// CacheEmbedding says how the semantic mode turns texts into vectors. The zero value
// asks gemini-embedding-001 for 768 dimensions, where the call goes unless the client
// has a provider of its own. Calls made for that are told to observers as embeddings
// with the metadata _purpose=response-cache. One that fails, or takes longer than its
// Timeout, is a miss.
type CacheEmbedding = pipeline.Embedding

// WithCacheEmbedding sets how the semantic mode turns texts into vectors. Vectors of
// different settings are never compared.
func WithCacheEmbedding(e CacheEmbedding) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		switch {
		case e.Func != nil && e.Model == "":
			return invalidOption("cache_embedding.model", "name what the function does: vectors of different models are never compared")
		case e.Dimensions < 0 || e.MaxTokens < 0 || e.Timeout < 0:
			return invalidOption("cache_embedding", "a number must not be negative")
		}
		cfg.cache.Embedding = e
		return nil
	})
}

// ResponseCacheService looks at the response cache and deletes from it. It is safe
// for concurrent use. Views of a client share one cache.
type ResponseCacheService struct{ client *Client }

// CacheStats counts what the response cache did since the client was made.
type CacheStats = pipeline.CacheStats

// CacheInspection says what the response cache would do for a request, and why.
type CacheInspection = pipeline.CacheInspection

// Stats returns the counts.
func (s *ResponseCacheService) Stats() CacheStats {
	if s.client == nil {
		return CacheStats{}
	}
	return s.client.engine.CacheStats()
}

// Delete forgets the answer with a key, as [CacheInfo] has it. That there is none is
// no error.
func (s *ResponseCacheService) Delete(ctx context.Context, key string) error {
	if s.client == nil {
		return errNoClient()
	}
	return s.client.engine.CacheDelete(ctx, key)
}

// DeleteNamespace forgets all answers of a namespace and returns how many there were;
// "" are those without one. HTTP clients with several API keys may have shared the
// name: it is all of theirs.
func (s *ResponseCacheService) DeleteNamespace(ctx context.Context, namespace string) (int, error) {
	if s.client == nil {
		return 0, errNoClient()
	}
	return s.client.engine.CacheDeleteAll(ctx, cache.Filter{Namespace: &namespace})
}

// Clear forgets all answers that the filter takes in, and returns how many there
// were. The zero Filter takes in all.
func (s *ResponseCacheService) Clear(ctx context.Context, f cache.Filter) (int, error) {
	if s.client == nil {
		return 0, errNoClient()
	}
	return s.client.engine.CacheDeleteAll(ctx, f)
}

// List returns what is kept and the filter takes in, without the answers, in no
// order.
func (s *ResponseCacheService) List(ctx context.Context, f cache.Filter) ([]*cache.Entry, error) {
	if s.client == nil {
		return nil, errNoClient()
	}
	return s.client.engine.CacheList(ctx, f)
}

// Inspect says what the cache would do for a chat request with the options, without
// asking a model: the key, whether there is an answer, the nearest one that there is
// and what it differs by. Of a config with several targets it is about the first one
// that would be asked. In the semantic mode the request's text is embedded.
func (s *ResponseCacheService) Inspect(ctx context.Context, req *ChatCompletionRequest, opts ...RequestOption) (*CacheInspection, error) {
	switch {
	case s.client == nil:
		return nil, errNoClient()
	case req == nil:
		return nil, providers.Invalid("request", "the request is nil")
	}
	call, err := s.client.call(opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.CacheInspect(ctx, s.client.settings, call, req)
}
