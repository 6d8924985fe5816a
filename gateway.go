// Package gateway lets a Go service talk to the models of a cloud AI platform in
// the OpenAI schema, with no gateway to host: translation, thinking and thought
// signatures, the provider catalog and an HTTP front run inside the caller's
// process.
//
//	client, err := gateway.New(gateway.WithProjectID("my-project"), gateway.WithRegion("global"))
//	if err != nil { … }
//	defer client.Close()
//	answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
//		Model:    "gemini-2.5-flash",
//		Messages: []gateway.Message{gateway.UserMessage("Say hello.")},
//	})
//
// The schema's types are aliases of those in package
// [github.com/b650d4bf/gateway/providers], where their fields are documented.
// Any OpenAI client reaches the same models over HTTP through [Client.Handler], and
// one for Go in the process through [Client.RoundTripper].
// Tests and first steps need no platform: see
// [github.com/b650d4bf/gateway/providers/vertex/vertextest].
//
// # Model references
//
// A request's model is "gemini-2.5-flash", "google.gemini-2.5-flash",
// "anthropic.claude-sonnet-5", "qwen.MODEL" or "qwen/MODEL" for any other
// publisher's, "endpoints.NAME" for an endpoint of your own, or a full resource
// name for a tuned model; "@slug/" before it names a catalog entry. The slug in
// the model wins over [WithProvider] of the call, and that one over the client's.
//
// # Settings
//
// An [Option] works for a client and for a single call. The call's setting wins
// over the catalog entry's, and that one over the client's.
//
// A [Config] says where calls go and what happens when that fails; see
// [WithConfig].
//
// # Errors
//
// Every error is an *[Error]; errors.Is finds its kind ([ErrRateLimited] and the
// others). [Error.Sent] says whether the request may have reached a model.
//
// # Concurrency
//
// One [Client] serves all goroutines. A [ChatStream] belongs to one goroutine at
// a time, but its Close may be called from any.
//
// # Caveats
//
// Strict compliance is on unless [WithStrictCompliance] turns it off: thinking,
// signatures and safety ratings are left out of answers. Gemini 3 and later want
// the signatures of tool calls back. A client that hid or lost them gets them
// from its memory ([WithSignatureMemory]), which ends with the process: where a
// conversation may go on elsewhere, turn strict compliance off in every call and
// send the messages back as they came. A signature that is nowhere to be found
// is stood in for, which may cost quality, and a warning says so.
//
// What a model can't take is left out or adjusted, and reported in the answer's
// [Meta] as a [Warning]: look there when an answer surprises.
//
// A stream that is neither read to its end nor closed keeps its connection.
package gateway

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/b650d4bf/gateway/analytics"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/gcpauth"
	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers/vertex"
)

// The limits of a client that sets none with [WithTimeouts]. Nothing limits a
// call as a whole unless asked for: a long answer is no fault.
const (
	DefaultConnectTimeout   = 10 * time.Second
	DefaultFirstByteTimeout = 10 * time.Minute
	DefaultIdleTimeout      = 2 * time.Minute
)

// Client calls models. Make one with [New] and share it; it is safe for
// concurrent use.
type Client struct {
	// Chat holds the chat completions.
	Chat ChatService
	// Completions completes texts, in the older schema.
	Completions TextCompletionsService
	// Embeddings turns texts and media into vectors.
	Embeddings EmbeddingsService
	// Messages speaks the Anthropic schema.
	Messages MessagesService
	// Caches holds the platform's context caching.
	Caches CacheService
	// Images draws.
	Images ImagesService
	// Audio speaks.
	Audio AudioService
	// Rerank orders documents by how well they answer a query.
	Rerank RerankService
	// Prompts uses stored prompts.
	Prompts PromptsService
	// Files keeps files in a bucket.
	Files FilesService
	// Batches runs files of requests.
	Batches BatchesService
	// ResponseCache looks at the answers that [WithCache] keeps.
	ResponseCache ResponseCacheService

	engine   *pipeline.Engine
	platform *vertex.Provider
	settings *pipeline.Settings
	none     *pipeline.Settings // the settings of a call without options
	models   *catalog.Models
	prompts  PromptLibrary
	reports  analytics.Source
}

// New returns a client. All mistakes in the options are reported at once. It
// does not touch the network: credentials are looked up when a call needs them,
// and without an option for them they are the application-default ones.
func New(opts ...ClientOption) (*Client, error) {
	cfg := clientConfig{
		platform:    vertex.Config{Models: catalog.DefaultModels()},
		credentials: gcpauth.Config{Kind: gcpauth.ApplicationDefault},
		settings: pipeline.Settings{Timeouts: Timeouts{
			Connect: DefaultConnectTimeout, FirstByte: DefaultFirstByteTimeout, Idle: DefaultIdleTimeout,
		}},
	}
	errs := make([]error, 0, len(opts))
	for _, o := range opts {
		errs = append(errs, o.applyClient(&cfg))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	cfg.platform.ConnectTimeout = cfg.settings.Timeouts.Connect
	platform := vertex.New(cfg.platform)
	engine := pipeline.New(slices.Concat([]Provider{platform}, cfg.direct(), cfg.providers)...)
	engine.AddGuards(cfg.guards)
	engine.SetCache(cfg.cache)
	err := errors.Join(cfg.addCredentials(engine.Sources()), engine.CheckPlan(cfg.settings.Plan))
	if cfg.settings.Catalog != nil {
		err = errors.Join(err, engine.CheckCatalog(cfg.settings.Catalog))
	}
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return newClient(&Client{engine: engine, platform: platform, models: cfg.platform.Models, prompts: cfg.prompts, reports: cfg.reports}, &cfg.settings), nil
}

// newClient returns a view of the client with the settings.
func newClient(shared *Client, settings *pipeline.Settings) *Client {
	c := &Client{
		engine: shared.engine, platform: shared.platform, models: shared.models, prompts: shared.prompts, reports: shared.reports,
		settings: settings, none: &pipeline.Settings{},
	}
	c.Chat.Completions.client, c.Messages.client, c.Embeddings.client, c.Caches.client = c, c, c, c
	c.Prompts.client, c.Prompts.Completions.client, c.Completions.client = c, c, c
	c.ResponseCache.client = c
	c.Images.client, c.Audio.Speech.client, c.Rerank.client = c, c, c
	c.Files.client, c.Batches.client = c, c
	return c
}

// With returns a view of the client with further settings. The view shares
// connections, tokens and everything else with the client, and neither changes
// the other. Closing one closes all.
func (c *Client) With(opts ...Option) (*Client, error) {
	settings := c.settings.Clone()
	errs := make([]error, 0, len(opts))
	for _, o := range opts {
		errs = append(errs, o.applyRequest(settings))
	}
	errs = append(errs, c.engine.CheckPlan(settings.Plan))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return newClient(c, settings), nil
}

// Close ends background refreshes and closes idle connections. Calls under way
// go on, with the access tokens that there are; later ones fail with [ErrClosed],
// and so does one under way that needs a new token. It is idempotent and may be
// called at any time.
func (c *Client) Close() error { return c.engine.Close() }

// call collects the settings of one call.
func (c *Client) call(opts []RequestOption) (*pipeline.Settings, error) {
	if len(opts) == 0 {
		return c.none, nil
	}
	s := &pipeline.Settings{}
	var errs []error
	for _, o := range opts {
		if err := o.applyRequest(s); err != nil {
			errs = append(errs, err)
		}
	}
	return s, errors.Join(errs...)
}

func invalidOption(param, message string) error {
	return &Error{Code: ErrInvalidConfig, Param: param, Message: message}
}

// ClientOption sets something of a client. Every [Option] is one.
type ClientOption interface{ applyClient(*clientConfig) error }

// RequestOption sets something of a single call. Every [Option] is one.
type RequestOption interface {
	applyRequest(*pipeline.Settings) error
}

// Option works for a client, for a view of it and for a single call.
type Option interface {
	ClientOption
	RequestOption
}

// clientConfig is what client options fill.
type clientConfig struct {
	settings    pipeline.Settings
	credentials gcpauth.Config
	platform    vertex.Config
	providers   []Provider
	prompts     PromptLibrary
	guards      []Guard
	cache       pipeline.Cache
	reports     analytics.Source
}

// option sets a setting that clients and calls share.
type option func(*pipeline.Settings) error

func (o option) applyClient(c *clientConfig) error       { return o(&c.settings) }
func (o option) applyRequest(s *pipeline.Settings) error { return o(s) }

type clientOption func(*clientConfig) error

func (o clientOption) applyClient(c *clientConfig) error { return o(c) }

type requestOption func(*pipeline.Settings) error

func (o requestOption) applyRequest(s *pipeline.Settings) error { return o(s) }

// place is an option that sets one member saying where to go, after the check
// that the catalog makes too: it ends up in a host name or a path.
func place(name, value string, set func(*catalog.Entry, *pipeline.Settings)) Option {
	return option(func(s *pipeline.Settings) error {
		if value == "" {
			return invalidOption(name, "must not be empty")
		}
		var e catalog.Entry
		set(&e, s)
		if err := e.CheckPlace(); err != nil {
			return invalidOption("", err.Error())
		}
		return nil
	})
}

// WithCatalog resolves the slugs of model references and of [WithProvider]. Each
// entry's provider must be "vertex-ai", "google", "anthropic", "openai",
// "openai-compatible" or one of [WithCustomProvider].
func WithCatalog(c catalog.Catalog) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		cfg.settings.Catalog = c
		return nil
	})
}

// WithModels replaces the table of model facts, as in
// catalog.DefaultModels().With(row).
func WithModels(m *catalog.Models) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if m == nil {
			return invalidOption("models", "must not be nil")
		}
		cfg.platform.Models = m
		return nil
	})
}

// WithHTTPClient sends requests over the client's Transport, and takes its
// Timeout as the total of [WithTimeouts]. Its cookies are not used, and
// redirects are never followed.
func WithHTTPClient(c *http.Client) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if c == nil {
			return invalidOption("http_client", "must not be nil")
		}
		cfg.platform.Transport = c.Transport
		if cfg.platform.Transport == nil {
			cfg.platform.Transport = http.DefaultTransport
		}
		if c.Timeout > 0 {
			cfg.settings.Timeouts.Total = c.Timeout
		}
		return nil
	})
}

// WithMaxResponseBytes bounds an answer, and one event of a stream, in bytes;
// the default is 64 MiB.
func WithMaxResponseBytes(n int) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if n <= 0 {
			return invalidOption("max_response_bytes", "must be positive")
		}
		cfg.platform.MaxResponse = n
		return nil
	})
}

// WithCustomProvider adds a provider that catalog entries can name by its id.
func WithCustomProvider(p Provider) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if p == nil || p.Name() == "" {
			return invalidOption("provider", "must not be nil and must have a name")
		}
		cfg.providers = append(cfg.providers, p)
		return nil
	})
}
