// Package openai speaks to OpenAI's API, and to other servers that speak its
// schema, such as vLLM, Ollama, Groq or Azure OpenAI.
//
// A [Provider] keeps connections and nothing of a caller: the base URL and the
// API key arrive with each call in its [providers.Target].
package openai

import (
	"context"
	"net/http"
	"time"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

// The provider ids in a catalog.
const (
	// Name is OpenAI's own API.
	Name = "openai"
	// CompatibleName is any server that speaks the schema: its entry needs a base
	// URL.
	CompatibleName = "openai-compatible"
)

// DefaultBaseURL is the address of OpenAI's own API.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config holds what a [Provider] is made of. The zero value is ready for use.
type Config struct {
	// Compatible makes a provider for other servers that speak the schema.
	Compatible bool
	// Transport sends the requests. nil means a tuned transport of its own. Its
	// redirects are never followed.
	Transport http.RoundTripper
	// ConnectTimeout bounds a new connection of the own transport; default
	// 10 s, negative for no limit.
	ConnectTimeout time.Duration
	// Models is the table of model facts; default [catalog.DefaultModels]. Rows of
	// the publisher "openai-api" are about models of OpenAI's own API, those of
	// "openai-compatible" about models of other servers. Models without a row are
	// asked as they are.
	Models *catalog.Models
	// MaxResponse bounds an answer, or one event of a stream, in bytes; default
	// 64 MiB.
	MaxResponse int
}

// Provider speaks to OpenAI's API or to a server like it. It is safe for
// concurrent use.
type Provider struct {
	engine *engine.Engine
	site   *site
}

var (
	_ providers.Keyed    = (*Provider)(nil)
	_ providers.Embedder = (*Provider)(nil)
)

// New returns a provider.
func New(cfg Config) *Provider {
	s := &site{compatible: cfg.Compatible}
	return &Provider{site: s, engine: engine.New(engine.Config{
		Transport: cfg.Transport, ConnectTimeout: cfg.ConnectTimeout, Models: cfg.Models, MaxResponse: cfg.MaxResponse,
		Signatures: providers.SignatureMemory{Off: true},
	}, s)}
}

// Name returns "openai", or "openai-compatible".
func (p *Provider) Name() string { return p.site.Name() }

// APIKeyHeader returns "Authorization".
func (*Provider) APIKeyHeader() string { return "Authorization" }

// Close closes the idle connections of the provider's own transport.
func (p *Provider) Close() error { return p.engine.Close() }

// ChatCompletion sends req and returns the whole answer: the fold of its
// chunks.
//
// Source: https://platform.openai.com/docs/api-reference/chat/create
func (p *Provider) ChatCompletion(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	return p.engine.ChatCompletion(ctx, t, req)
}

// ChatCompletionStream sends req and returns once the server has begun to
// answer.
func (p *Provider) ChatCompletionStream(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	return p.engine.ChatCompletionStream(ctx, t, req)
}

// Embeddings returns a vector for each input, which may be texts or tokens. Inputs
// that do not fit into one request are shared among several, some of them at a
// time; the first failure ends them all. Vectors are as the server gives them.
//
// Source: https://platform.openai.com/docs/api-reference/embeddings/create
func (p *Provider) Embeddings(ctx context.Context, t *providers.Target, req *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
	return p.engine.Embeddings(ctx, t, req)
}
