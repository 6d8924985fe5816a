// Package vertex speaks to Google's Vertex AI: it translates chat completions
// to the wire of the model's family and back.
//
// A [Provider] keeps connections and the table of model facts, and nothing of a
// caller: project, region and credentials arrive with each call in its
// [providers.Target].
package vertex

import (
	"context"
	"net/http"
	"time"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

// providerName is the provider's id in a catalog.
const providerName = "vertex-ai"

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
	// take together. By default the platform refuses them, whose rules change.
	CheckTools bool
	// Signatures bounds the memory of thought signatures.
	Signatures SignatureMemory
	// MaxInlineBytes bounds the inline media of one request, in bytes decoded,
	// in place of the limits that the platform documents: 20 MB in all, 7 MB for
	// an image or a text, 50 MB for a PDF. Default 0, the documented limits.
	MaxInlineBytes int
	// BetaFeatures says under which name a beta feature of Claude models is sent,
	// by its name with its date or without; an empty one is not sent. It goes
	// before the gateway's own table, and features in neither are sent as they
	// are.
	BetaFeatures map[string]string
	// MediaFetch lets the gateway fetch media that the platform takes no URLs of;
	// nil, the default, fetches nothing.
	MediaFetch *MediaFetch
	// Publishers are further publishers of models; those of the provider's own
	// table with the same name are replaced.
	Publishers []Publisher
	// Predictors say how to speak to self-deployed endpoints that do not speak
	// the OpenAI schema, by the endpoint's name.
	Predictors map[string]Predictor
}

// SignatureMemory bounds the memory of thought signatures; see
// [providers.SignatureMemory].
type SignatureMemory = providers.SignatureMemory

// SignatureStats counts what became of thought signatures; see
// [providers.SignatureStats].
type SignatureStats = providers.SignatureStats

// Predictor speaks to a self-deployed endpoint that has predict and no chat
// completions; see [providers.Predictor].
type Predictor = providers.Predictor

// Prediction is an answer of a [Predictor]; see [providers.Prediction].
type Prediction = providers.Prediction

// Provider is the Vertex AI provider. It is safe for concurrent use.
type Provider struct {
	engine *engine.Engine
	site   *site
}

var (
	_ providers.Provider      = (*Provider)(nil)
	_ providers.Embedder      = (*Provider)(nil)
	_ providers.TokenCounter  = (*Provider)(nil)
	_ providers.ContextCacher = (*Provider)(nil)
	_ providers.ObjectStore   = (*Provider)(nil)
	_ providers.BatchRunner   = (*Provider)(nil)
)

// New returns a provider.
func New(cfg Config) *Provider {
	if cfg.Models == nil {
		cfg.Models = catalog.DefaultModels()
	}
	s := &site{
		models: cfg.Models, publishers: publishersOf(cfg.Publishers), predictors: make(map[string]*Predictor, len(cfg.Predictors)), hosts: newHosts(),
	}
	for name, own := range cfg.Predictors {
		s.predictors[name] = &own
	}
	s.engine = engine.New(engine.Config{
		Transport: cfg.Transport, ConnectTimeout: cfg.ConnectTimeout, Models: cfg.Models, MaxResponse: cfg.MaxResponse,
		CheckTools: cfg.CheckTools, Signatures: cfg.Signatures, MaxInlineBytes: cfg.MaxInlineBytes, BetaFeatures: cfg.BetaFeatures,
		Fetch: cfg.MediaFetch.config(),
	}, s)
	return &Provider{engine: s.engine, site: s}
}

// Name returns "vertex-ai".
func (p *Provider) Name() string { return providerName }

// Close closes the idle connections of the provider's own transport.
func (p *Provider) Close() error { return p.engine.Close() }

// Publisher returns who published the model of a reference without its slug,
// such as "google"; "" for one that is no reference.
func (p *Provider) Publisher(ref string) string {
	m, err := p.site.Model(ref)
	if err != nil {
		return ""
	}
	return m.Publisher
}

// ChatCompletion sends req and returns the whole answer: the fold of its
// chunks.
func (p *Provider) ChatCompletion(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	return p.engine.ChatCompletion(ctx, t, req)
}

// ChatCompletionStream sends req and returns once the platform has begun to
// answer.
func (p *Provider) ChatCompletionStream(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	return p.engine.ChatCompletionStream(ctx, t, req)
}

// Embeddings returns a vector for each input. Inputs that do not fit into one
// request are shared among several, some of them at a time; the first failure
// ends them all. Vectors of a reduced length are made unit vectors where the
// platform leaves them as they were cut.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings
func (p *Provider) Embeddings(ctx context.Context, t *providers.Target, req *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
	return p.engine.Embeddings(ctx, t, req)
}

// CountTokens counts the tokens of the prompt that req makes, for models of
// Gemini and of Claude. The platform does so for free, under a quota of its own.
// Of what a chat completion sends it takes messages and tools, for Gemini also
// the generation parameters, for Claude also thinking.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens
// and https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/count-tokens
func (p *Provider) CountTokens(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.TokenCount, error) {
	return p.engine.CountTokens(ctx, t, req)
}

// SignatureStats returns the counts so far.
func (p *Provider) SignatureStats() SignatureStats { return p.engine.SignatureStats() }
