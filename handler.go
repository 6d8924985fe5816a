package gateway

import (
	"context"
	"net/http"

	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/internal/messages"
	"github.com/b650d4bf/gateway/internal/pipeline"
)

// HandlerOption sets something of a [Client.Handler].
type HandlerOption interface{ applyHandler(*front.Config) }

type handlerOption func(*front.Config)

func (o handlerOption) applyHandler(c *front.Config) { o(c) }

// WithAPIKeys demands one of the keys from every HTTP client, in the header
// x-gateway-api-key or as the bearer token; Anthropic clients may also send it
// as x-api-key, and clients of Google's schema as x-goog-api-key. Without this option none is needed; with it and no key nobody is
// let in.
func WithAPIKeys(keys ...string) HandlerOption {
	return handlerOption(func(c *front.Config) {
		c.Keys = append(c.Keys, keys...)
		if len(keys) == 0 {
			c.Keys = append(c.Keys, "") // fits nobody
		}
	})
}

// WithMaxBodyBytes bounds a request's body, decompressed; the default, also for
// 0, is 32 MiB.
func WithMaxBodyBytes(n int64) HandlerOption {
	return handlerOption(func(c *front.Config) { c.MaxBody = n })
}

// Handler serves three schemas over HTTP, for every model that the client reaches.
// Of OpenAI: POST /v1/chat/completions and POST /v1/completions, whole and
// streamed, POST /v1/embeddings, POST /v1/images/generations, POST
// /v1/images/edits, POST /v1/audio/speech, GET /v1/models with what is known of
// each, and files and batches: /v1/files and /v1/batches with what is below, for
// clients with [WithBucket]. POST /v1/rerank is as several vendors have it.
// Beyond it, POST /v1/chat/completions/count_tokens tells the size of a prompt,
// and /v1/cached_contents serves what [Client] has in Caches. Stored prompts are used by POST /v1/prompts/{id}/completions,
// whole and streamed, and looked at by POST /v1/prompts/{id}/render.
// Of Anthropic: POST /v1/messages, whole and streamed, and
// POST /v1/messages/count_tokens, with errors in the form that its clients read.
// Of Google, for models of Gemini: what google.golang.org/genai asks of models for
// both of its backends, passed through as it is; docs/native.md says how.
//
// With a response cache, x-gateway-cache-force-refresh, x-gateway-cache-namespace and
// x-gateway-debug are for it, and x-gateway-cache-status says in each answer what part
// it had. Different API keys, and different tokens, never share answers.
//
// The x-gateway-* request headers choose provider, project, region, config and
// compliance for a call; the response headers say what was done. A platform
// token in Authorization is used only where neither the catalog entry nor the
// client has credentials.
func (c *Client) Handler(opts ...HandlerOption) http.Handler {
	var cfg front.Config
	for _, o := range opts {
		o.applyHandler(&cfg)
	}
	return front.New(cfg, backend{c})
}

// RoundTripper answers the requests of any OpenAI, Anthropic or Google client for Go in
// this process, as [Client.Handler] does, with no socket and no goroutine: a stream
// is read from the platform as its body is read.
//
//	sdk := openai.NewClient(option.WithHTTPClient(&http.Client{Transport: client.RoundTripper()}))
//
// Of a request's URL the path counts alone, and the credentials it brings are not
// looked at: options of the client say as whom it asks. [Client.With] makes views
// with other settings, and the x-gateway-* headers choose for a call. Of the
// options [WithMaxBodyBytes] has a meaning here.
func (c *Client) RoundTripper(opts ...HandlerOption) http.RoundTripper {
	var cfg front.Config
	for _, o := range opts {
		o.applyHandler(&cfg)
	}
	return front.NewTransport(cfg, backend{c})
}

// backend is the client as the HTTP front sees it.
type backend struct{ c *Client }

func (b backend) Chat(ctx context.Context, req *ChatCompletionRequest, o *front.Overrides) (*ChatCompletion, error) {
	return b.c.engine.Chat(ctx, b.c.settings, callSettings(o), req)
}

func (b backend) Embeddings(ctx context.Context, req *EmbeddingRequest, o *front.Overrides) (*EmbeddingResponse, error) {
	return b.c.engine.Embeddings(ctx, b.c.settings, callSettings(o), req)
}

func (b backend) ChatStream(ctx context.Context, req *ChatCompletionRequest, o *front.Overrides) (front.Stream, error) {
	s, err := b.c.engine.ChatStream(ctx, b.c.settings, callSettings(o), req)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (b backend) Messages(ctx context.Context, req *messages.Request, o *front.Overrides) (*front.MessageAnswer, error) {
	out, err := b.c.message(ctx, callSettings(o), req)
	return (*front.MessageAnswer)(out), err
}

func (b backend) MessagesStream(ctx context.Context, req *messages.Request, o *front.Overrides) (front.MessageStream, error) {
	s, err := b.c.messageStream(ctx, callSettings(o), req)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (b backend) MessagesTokens(ctx context.Context, req *messages.Request, o *front.Overrides) (*TokenCount, error) {
	return b.c.messageTokens(ctx, callSettings(o), req)
}

// callSettings turns what the headers say into the settings of a call.
func callSettings(o *front.Overrides) *pipeline.Settings {
	s := &pipeline.Settings{
		Provider: o.Provider, ProjectID: o.ProjectID, Region: o.Region, Strict: o.Strict,
		Metadata: o.Metadata, Header: o.Header, RequestID: o.RequestID,
		Timeouts: Timeouts{Total: o.Timeout},
		ConfigID: o.ConfigID, Config: o.Config, Incoming: o.Incoming,
		CacheNamespace: o.CacheNamespace, CacheRefresh: o.CacheRefresh, Debug: o.Debug, KeyID: o.KeyID, Surface: o.Surface,
		PathProjectID: o.PathProject, PathRegion: o.PathRegion,
	}
	if o.Token != "" {
		s.FallbackToken = pipeline.NewStaticToken(o.Token)
	}
	return s
}
