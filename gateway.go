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
// Any OpenAI client reaches the same models over HTTP through [Client.Handler].
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
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

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
	// Embeddings turns texts and media into vectors.
	Embeddings EmbeddingsService
	// Messages speaks the Anthropic schema.
	Messages MessagesService
	// Caches holds the platform's context caching.
	Caches CacheService
	// Prompts uses stored prompts.
	Prompts PromptsService

	engine   *pipeline.Engine
	platform *vertex.Provider
	settings *pipeline.Settings
	none     *pipeline.Settings // the settings of a call without options
	models   *catalog.Models
	prompts  PromptLibrary
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
	err := errors.Join(cfg.addCredentials(engine.Sources()), engine.CheckPlan(cfg.settings.Plan))
	if cfg.settings.Catalog != nil {
		err = errors.Join(err, engine.CheckCatalog(cfg.settings.Catalog))
	}
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return newClient(&Client{engine: engine, platform: platform, models: cfg.platform.Models, prompts: cfg.prompts}, &cfg.settings), nil
}

// newClient returns a view of the client with the settings.
func newClient(shared *Client, settings *pipeline.Settings) *Client {
	c := &Client{
		engine: shared.engine, platform: shared.platform, models: shared.models, prompts: shared.prompts,
		settings: settings, none: &pipeline.Settings{},
	}
	c.Chat.Completions.client, c.Messages.client, c.Embeddings.client, c.Caches.client = c, c, c, c
	c.Prompts.client, c.Prompts.Completions.client = c, c
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
// go on; later ones fail with [ErrClosed]. It is idempotent and may be called
// at any time.
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

// WithProvider chooses the catalog entry, by its slug with or without the @, or
// a provider id such as "vertex-ai". A slug in the model wins over it.
func WithProvider(slug string) Option {
	return option(func(s *pipeline.Settings) error {
		if strings.TrimPrefix(slug, "@") == "" {
			return invalidOption("provider", "must not be empty")
		}
		s.Provider = slug
		return nil
	})
}

// WithRegion sets the platform location: a region such as "us-central1", or
// "global", "us" or "eu". There is no default.
func WithRegion(region string) Option {
	return place("region", region, func(e *catalog.Entry, s *pipeline.Settings) { e.Region, s.Region = region, region })
}

// WithProjectID sets the platform project, by id or number. The default is the
// credentials' own project.
func WithProjectID(id string) Option {
	return place("project_id", id, func(e *catalog.Entry, s *pipeline.Settings) { e.ProjectID, s.ProjectID = id, id })
}

// WithBaseURL replaces scheme and host of the platform, for private endpoints,
// proxies and tests; the path stays, after the URL's own. It must be https,
// except for a loopback host. The access token goes there. It is not about
// entries that lead to other services.
func WithBaseURL(url string) Option {
	return place("base_url", url, func(e *catalog.Entry, s *pipeline.Settings) { e.BaseURL, s.BaseURL = url, url })
}

// WithUniverseDomain replaces "googleapis.com" in platform hosts, for sovereign
// clouds. The default is the credentials' own.
func WithUniverseDomain(domain string) Option {
	return place("universe_domain", domain, func(e *catalog.Entry, s *pipeline.Settings) {
		e.UniverseDomain, s.UniverseDomain = domain, domain
	})
}

// WithAccessToken sends a ready OAuth 2.0 access token to the platform. It is
// never refreshed; of a call it wins over all other credentials. Entries that
// lead to other services are asked with their own.
func WithAccessToken(token string) Option {
	return option(func(s *pipeline.Settings) error {
		if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return invalidOption("access_token", "must be the bare token, without \"Bearer\"")
		}
		s.Token = pipeline.NewStaticToken(token)
		return nil
	})
}

// WithStrictCompliance says whether answers hold only what the OpenAI schema
// has, and the provider's name, which is the default. With false they also carry
// content_blocks, thought signatures, native finish reasons, safety ratings and
// grounding, and a stream always ends with a chunk for the usage.
func WithStrictCompliance(strict bool) Option {
	return option(func(s *pipeline.Settings) error {
		s.Strict = &strict
		return nil
	})
}

// WithMetadata attaches entries to calls for observers and logs. Entries of a
// call are added to the client's.
func WithMetadata(metadata map[string]string) Option {
	return option(func(s *pipeline.Settings) error {
		if s.Metadata == nil {
			s.Metadata = make(map[string]string, len(metadata))
		}
		maps.Copy(s.Metadata, metadata)
		return nil
	})
}

// WithHeader sends a header along to the platform, and to the other services that
// catalog entries lead to. There a client's header for credentials, by its name,
// does not go, nor X-Goog-Api-Key and its like of a call: what an entry needs
// belongs into its headers. Authorization is refused: use the options for
// credentials.
func WithHeader(name, value string) Option {
	return option(func(s *pipeline.Settings) error {
		e := catalog.Entry{Headers: map[string]catalog.Secret{name: catalog.Secret(value)}}
		if err := e.CheckPlace(); err != nil {
			return invalidOption("", err.Error())
		}
		if s.Header == nil {
			s.Header = http.Header{}
		}
		s.Header.Set(name, value)
		return nil
	})
}

// WithTimeouts bounds the phases of calls. A zero member keeps the default, a
// negative one means no limit. Connect counts for a client's own transport
// only, and not for a single call.
func WithTimeouts(t Timeouts) Option {
	return option(func(s *pipeline.Settings) error {
		s.Timeouts = pipeline.Overlay(s.Timeouts, t)
		return nil
	})
}

// WithObserver adds an observer, which is told of every call.
func WithObserver(o Observer) Option {
	return option(func(s *pipeline.Settings) error {
		if o == nil {
			return invalidOption("observer", "must not be nil")
		}
		s.Observers = append(s.Observers, o)
		return nil
	})
}

// WithLogger writes one entry for each call: ids, model, status, tokens and
// times, and never a prompt, an answer, a header or a token. The default logs
// nothing.
func WithLogger(l *zap.Logger) Option {
	return option(func(s *pipeline.Settings) error {
		s.Logger = l
		return nil
	})
}

// WithRequestID gives the call an id of the caller's own in place of a random
// one.
func WithRequestID(id string) RequestOption {
	return requestOption(func(s *pipeline.Settings) error {
		s.RequestID = id
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
