package gateway

import (
	"maps"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
)

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

// WithMetadataLabels sends the call's metadata along as labels, which the
// platform's billing can be broken down by: each key with the prefix, such as
// "app_". Keys and values are fitted to what the platform allows. Labels of the
// request win. The default sends none.
func WithMetadataLabels(prefix string) Option {
	return option(func(s *pipeline.Settings) error {
		if !isLabelPrefix(prefix) {
			return invalidOption("metadata_labels", "a prefix is a lower-case letter and up to 30 more, digits, _ and -")
		}
		s.LabelPrefix = &prefix
		return nil
	})
}

// WithMaxInlineBytes bounds the media that one request carries inline, in bytes
// decoded, in place of the limits that the platform documents: 20 MB in all, 7 MB
// for an image or a text, 50 MB for a PDF. More is refused before anything is
// sent; larger media goes by gs:// URL.
func WithMaxInlineBytes(n int) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if n <= 0 {
			return invalidOption("max_inline_bytes", "must be positive")
		}
		cfg.platform.MaxInlineBytes = n
		return nil
	})
}

// MediaFetch says what [WithMediaFetch] may fetch.
type MediaFetch = vertex.MediaFetch

// WithMediaFetch lets the gateway fetch images, PDFs and texts that a request
// names by an https URL, for models that the platform takes no URLs for, such as
// Claude, and send them inline. By default such a URL is refused before anything
// is sent. All of a request's files are fetched before the request is sent; the
// first that fails is the call's error, whose Param names its member.
func WithMediaFetch(m MediaFetch) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if err := m.Validate(); err != nil {
			return err
		}
		cfg.platform.MediaFetch = &m
		return nil
	})
}

// SignatureMemory bounds what a client remembers of thought signatures.
type SignatureMemory = providers.SignatureMemory

// SignatureStats counts what became of thought signatures.
type SignatureStats = providers.SignatureStats

// WithSignatureMemory bounds the memory from which a tool call gets its thought
// signature again, when the conversation comes back without it: many OpenAI
// clients drop members that they do not know, and strict compliance hides them.
// It is on by default. The bounds are those of each platform that signs: Vertex
// AI and the Gemini API.
func WithSignatureMemory(m SignatureMemory) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if m.Entries < 0 || m.Bytes < 0 || m.TTL < 0 {
			return invalidOption("signature_memory", "a limit must not be negative: Off switches the memory off")
		}
		cfg.platform.Signatures = m
		return nil
	})
}

// SignatureStats returns the counts of the client's memory of thought
// signatures. Views of a client share it.
func (c *Client) SignatureStats() SignatureStats { return c.engine.SignatureStats() }

func isLabelPrefix(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return s != "" && len(s) <= 31 && strings.Contains(letters, s[:1]) && strings.Trim(s, letters+"0123456789_-") == ""
}

// WithToolCheck refuses, before anything is sent, a request whose tools the
// model does not take together, with [ErrOneToolOnly]. By default the platform
// refuses it with the same code.
func WithToolCheck() ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		cfg.platform.CheckTools = true
		return nil
	})
}

// WithBetaFeatures says under which name a beta feature of Claude models is sent
// on, by its name with its date or without; an empty one is not sent. What is
// given here goes before the gateway's own table, and features in neither are
// sent as they are. Several of these options add up.
func WithBetaFeatures(names map[string]string) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if cfg.platform.BetaFeatures == nil {
			cfg.platform.BetaFeatures = make(map[string]string, len(names))
		}
		maps.Copy(cfg.platform.BetaFeatures, names)
		return nil
	})
}

// Publisher is a publisher of models beyond those that the platform provider
// knows.
type Publisher = vertex.Publisher

// Wire says how the models of a publisher are spoken to.
type Wire = vertex.Wire

// The wires of published models.
const (
	WireOpenAI  = vertex.WireOpenAI
	WireMistral = vertex.WireMistral
	WireGemini  = vertex.WireGemini
)

// WithPublishers adds publishers of models, or replaces those that are known by
// the same name. Facts about their models belong into WithModels.
func WithPublishers(list ...Publisher) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		for i := range list {
			if err := list[i].Validate(); err != nil {
				return err
			}
		}
		cfg.platform.Publishers = append(cfg.platform.Publishers, list...)
		return nil
	})
}

// Predictor speaks to a self-deployed endpoint that has predict and no chat
// completions.
type Predictor = providers.Predictor

// Prediction is an answer of a [Predictor].
type Prediction = providers.Prediction

// WithPredictor sets how to speak to the self-deployed endpoint of that name.
// Endpoints without a predictor are spoken to in the OpenAI schema.
func WithPredictor(endpoint string, p Predictor) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if endpoint == "" || p.Request == nil || p.Answer == nil {
			return invalidOption("predictor", "the endpoint's name and both functions, Request and Answer, are required")
		}
		if cfg.platform.Predictors == nil {
			cfg.platform.Predictors = map[string]Predictor{}
		}
		cfg.platform.Predictors[endpoint] = p
		return nil
	})
}
