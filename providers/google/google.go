// Package google speaks to the Gemini API, Google's own service for its models,
// with an API key. Vertex AI has the same models, in another package.
//
// A [Provider] keeps connections and the table of model facts, and nothing of a
// caller: the key arrives with each call in its [providers.Target], whose token
// source gives it. The service knows no projects and no regions; those of the
// target are not looked at.
package google

import (
	"context"
	"net/http"
	"time"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

// Name is the provider's id in a catalog.
const Name = "google"

// DefaultMaxResponse is the most bytes of an answer that are read, decompressed:
// for a stream, of one event.
const DefaultMaxResponse = engine.DefaultMaxResponse

// Config holds what a [Provider] is made of. The zero value is ready for use.
type Config struct {
	// Transport sends the requests. nil means a tuned transport of its own. Its
	// redirects are never followed.
	Transport http.RoundTripper
	// ConnectTimeout bounds a new connection of the own transport; default
	// 10 s, negative for no limit.
	ConnectTimeout time.Duration
	// Models is the table of model facts; default [catalog.DefaultModels].
	Models *catalog.Models
	// MaxResponse bounds an answer, or one event of a stream, in bytes; default
	// [DefaultMaxResponse].
	MaxResponse int
	// CheckTools refuses, before anything is sent, tools that the model does not
	// take together. By default the service refuses them, whose rules change.
	CheckTools bool
	// Signatures bounds the memory of thought signatures.
	Signatures SignatureMemory
	// MaxInlineBytes bounds the inline media of one request, in bytes decoded,
	// in place of the limits that the service documents: 75 MB in all, which is
	// 100 MB of base64, and 50 MB for a PDF. Default 0, the documented limits.
	MaxInlineBytes int
}

// SignatureMemory bounds the memory of thought signatures; see
// [providers.SignatureMemory].
type SignatureMemory = providers.SignatureMemory

// SignatureStats counts what became of thought signatures; see
// [providers.SignatureStats].
type SignatureStats = providers.SignatureStats

// Provider is the provider of the Gemini API. It is safe for concurrent use.
type Provider struct{ engine *engine.Engine }

var (
	_ providers.Keyed         = (*Provider)(nil)
	_ providers.Embedder      = (*Provider)(nil)
	_ providers.TokenCounter  = (*Provider)(nil)
	_ providers.ContextCacher = (*Provider)(nil)
)

// New returns a provider.
func New(cfg Config) *Provider {
	return &Provider{engine.New(engine.Config{
		Transport: cfg.Transport, ConnectTimeout: cfg.ConnectTimeout, Models: cfg.Models, MaxResponse: cfg.MaxResponse,
		CheckTools: cfg.CheckTools, Signatures: cfg.Signatures, MaxInlineBytes: cfg.MaxInlineBytes,
	}, site{})}
}

// Name returns "google".
func (p *Provider) Name() string { return Name }

// APIKeyHeader returns the header that the key is sent in.
func (p *Provider) APIKeyHeader() string { return keyHeader }

// Close closes the idle connections of the provider's own transport.
func (p *Provider) Close() error { return p.engine.Close() }

// ChatCompletion sends req and returns the whole answer: the fold of its
// chunks.
//
// Source: https://ai.google.dev/api/generate-content
func (p *Provider) ChatCompletion(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	return p.engine.ChatCompletion(ctx, t, req)
}

// ChatCompletionStream sends req and returns once the service has begun to
// answer.
func (p *Provider) ChatCompletionStream(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	return p.engine.ChatCompletionStream(ctx, t, req)
}

// Embeddings returns a vector for each input. Inputs that do not fit into one
// request are shared among several, some of them at a time; the first failure
// ends them all. Vectors of a reduced length are made unit vectors where the
// service leaves them as they were cut.
//
// Source: https://ai.google.dev/api/embeddings
func (p *Provider) Embeddings(ctx context.Context, t *providers.Target, req *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
	return p.engine.Embeddings(ctx, t, req)
}

// CountTokens counts the tokens of the prompt that req makes. Of what a chat
// completion sends, messages, tools and generation parameters are counted.
//
// Source: https://ai.google.dev/api/tokens
func (p *Provider) CountTokens(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.TokenCount, error) {
	return p.engine.CountTokens(ctx, t, req)
}

// SignatureStats returns the counts so far.
func (p *Provider) SignatureStats() SignatureStats { return p.engine.SignatureStats() }

// CreateCachedContent keeps messages and tools at the service, for the project
// of the key.
//
// Source: https://ai.google.dev/api/caching
func (p *Provider) CreateCachedContent(ctx context.Context, t *providers.Target, req *providers.CachedContentRequest) (*providers.CachedContent, error) {
	return p.engine.CreateCachedContent(ctx, t, req)
}

// GetCachedContent returns what the service knows of a cached content.
func (p *Provider) GetCachedContent(ctx context.Context, t *providers.Target, name string) (*providers.CachedContent, error) {
	return p.engine.GetCachedContent(ctx, t, name)
}

// ListCachedContents returns one page of the cached contents of the key's
// project.
func (p *Provider) ListCachedContents(ctx context.Context, t *providers.Target, pageToken string) (*providers.CachedContentList, error) {
	return p.engine.ListCachedContents(ctx, t, pageToken)
}

// UpdateCachedContent sets when a cached content expires, which is all of it
// that can be changed.
func (p *Provider) UpdateCachedContent(ctx context.Context, t *providers.Target, name string, expiry providers.CachedContentExpiry) (*providers.CachedContent, error) {
	return p.engine.UpdateCachedContent(ctx, t, name, expiry)
}

// DeleteCachedContent ends a cached content before it expires.
func (p *Provider) DeleteCachedContent(ctx context.Context, t *providers.Target, name string) error {
	return p.engine.DeleteCachedContent(ctx, t, name)
}
