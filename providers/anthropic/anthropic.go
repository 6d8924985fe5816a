// Package anthropic speaks to Anthropic's own API with an API key: the same
// models as Claude on Vertex AI, with what only the vendor's own service has,
// such as URLs, files, code execution and MCP servers.
//
// A [Provider] keeps connections and the table of model facts, and nothing of a
// caller: the API key arrives with each call as the token of its
// [providers.Target].
package anthropic

import (
	"context"
	"net/http"
	"time"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

// Name is the provider's id in a catalog.
const Name = "anthropic"

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
	// BetaFeatures says under which name a beta feature is sent, by its name with
	// its date or without; an empty one is not sent. Others are sent as they are.
	BetaFeatures map[string]string
}

// Provider is the provider of Anthropic's own API. It is safe for concurrent
// use.
type Provider struct{ engine *engine.Engine }

var (
	_ providers.Keyed        = (*Provider)(nil)
	_ providers.TokenCounter = (*Provider)(nil)
)

// New returns a provider.
func New(cfg Config) *Provider {
	return &Provider{engine.New(engine.Config{
		Transport: cfg.Transport, ConnectTimeout: cfg.ConnectTimeout, Models: cfg.Models, MaxResponse: cfg.MaxResponse,
		BetaFeatures: cfg.BetaFeatures,
	}, site{})}
}

// Name returns "anthropic".
func (p *Provider) Name() string { return Name }

// APIKeyHeader returns the header that carries the API key.
func (p *Provider) APIKeyHeader() string { return keyHeader }

// Close closes the idle connections of the provider's own transport.
func (p *Provider) Close() error { return p.engine.Close() }

// ChatCompletion sends req and returns the whole answer: the fold of its
// chunks.
func (p *Provider) ChatCompletion(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	return p.engine.ChatCompletion(ctx, t, req)
}

// ChatCompletionStream sends req and returns once the service has begun to
// answer.
func (p *Provider) ChatCompletionStream(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	return p.engine.ChatCompletionStream(ctx, t, req)
}

// CountTokens counts the tokens of the prompt that req makes. The service does
// so for free, under a limit of its own, and takes what makes the prompt.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/token-counting
func (p *Provider) CountTokens(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.TokenCount, error) {
	return p.engine.CountTokens(ctx, t, req)
}
