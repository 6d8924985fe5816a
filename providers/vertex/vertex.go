// Package vertex speaks to Google's Vertex AI: it translates chat completions
// to the wire of the model's family and back.
//
// A [Provider] keeps connections and the table of model facts, and nothing of a
// caller: project, region and credentials arrive with each call in its
// [providers.Target].
package vertex

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/auth"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/schema"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/providers"
)

// providerName is the provider's id in a catalog.
const providerName = "vertex-ai"

// DefaultMaxResponse is the most bytes of an answer that are read, decompressed:
// for a stream, of one event.
const DefaultMaxResponse = 64 << 20

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
	// Publishers are further publishers of models; those of the provider's own
	// table with the same name are replaced.
	Publishers []Publisher
	// Predictors say how to speak to self-deployed endpoints that do not speak
	// the OpenAI schema, by the endpoint's name.
	Predictors map[string]Predictor
}

// Provider is the Vertex AI provider. It is safe for concurrent use.
type Provider struct {
	client *transport.Client
	models *catalog.Models
	limit  int
	check  bool // Config.CheckTools
	gemini *geminiFamily
	claude *claudeFamily
	folds  sync.Pool // of *providers.Accumulator, empty
	learnt lessons

	signatures *signatures

	publishers []publisher // Config.Publishers
	predictors map[string]Predictor
	hosts      *hosts
}

var _ providers.Provider = (*Provider)(nil)

// New returns a provider.
func New(cfg Config) *Provider {
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 10 * time.Second
	}
	if cfg.Models == nil {
		cfg.Models = catalog.DefaultModels()
	}
	if cfg.MaxResponse <= 0 {
		cfg.MaxResponse = DefaultMaxResponse
	}
	return &Provider{
		client: transport.New(cfg.Transport, max(0, cfg.ConnectTimeout)),
		models: cfg.Models,
		limit:  cfg.MaxResponse,
		check:  cfg.CheckTools,
		gemini: &geminiFamily{
			rooms: new(sync.Pool), maxInline: max(0, cfg.MaxInlineBytes), schemas: schema.NewCache(maxSchemas, maxSchemaBytes),
		},
		claude: &claudeFamily{rooms: new(sync.Pool), betas: maps.Clone(cfg.BetaFeatures)},

		signatures: newSignatures(cfg.Signatures),

		publishers: publishersOf(cfg.Publishers), predictors: maps.Clone(cfg.Predictors), hosts: newHosts(),
	}
}

// Name returns "vertex-ai".
func (p *Provider) Name() string { return providerName }

// Close closes the idle connections of the provider's own transport.
func (p *Provider) Close() error {
	p.client.CloseIdle()
	return nil
}

// ChatCompletion sends req and returns the whole answer: the fold of its
// chunks.
func (p *Provider) ChatCompletion(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	c := new(call)
	shares, err := p.prepare(t, req, c, false)
	if err != nil {
		return nil, err
	}
	if shares > 1 {
		return p.completeShared(ctx, c, shares)
	}
	return p.complete(ctx, c)
}

// complete sends one request and folds its answer.
func (p *Provider) complete(ctx context.Context, c *call) (*providers.ChatCompletion, error) {
	if err := p.open(ctx, c); err != nil {
		return nil, err
	}
	defer func() { _ = c.res.Close() }()
	defer c.decoder.release()
	buf := jsonx.GetBuffer()
	defer buf.Free()
	if err := c.res.ReadInto(buf, p.limit); err != nil {
		return nil, named(err)
	}
	acc, ok := p.folds.Get().(*providers.Accumulator)
	if !ok {
		acc = new(providers.Accumulator)
	}
	defer func() {
		*acc = providers.Accumulator{}
		p.folds.Put(acc)
	}()
	return c.fold(buf.B, acc)
}

// ChatCompletionStream sends req and returns once the platform has begun to
// answer.
func (p *Provider) ChatCompletionStream(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	r := new(reader)
	shares, err := p.prepare(t, req, &r.call, true)
	if err != nil {
		return nil, err
	}
	if shares > 1 {
		return p.streamShared(ctx, &r.call, shares)
	}
	if err := p.start(ctx, r); err != nil {
		return nil, err
	}
	return r, nil
}

// start sends the reader's request.
func (p *Provider) start(ctx context.Context, r *reader) error {
	if err := p.open(ctx, &r.call); err != nil {
		return err
	}
	r.events = sse.NewDecoder(r.call.res, p.limit)
	return nil
}

// call is one request, from its model to the answer that is being read.
type call struct {
	in      request
	out     outgoing
	known   []providers.Warning // of the model, whatever is asked of it
	res     *transport.Response
	decoder decoder
	payload *transport.Payload // nil for a request without a body
	room    transport.Payload  // of the first try
	method  string             // POST when empty
	bearer  [1]string          // the authorization header's value
}

// hold makes buf the body of the next try. Each try has a payload of its own,
// since a transport may still read that of a refused one.
func (c *call) hold(buf *jsonx.Buffer) {
	if c.payload == nil {
		c.payload = &c.room
	} else {
		c.payload = new(transport.Payload)
	}
	c.payload.Hold(buf)
}

// warnings are all that the caller is told.
func (c *call) warnings() []providers.Warning {
	if len(c.known) == 0 {
		return c.out.warnings
	}
	return append(slices.Clip(c.known), c.out.warnings...)
}

// fold decodes a whole answer as a single event.
func (c *call) fold(body []byte, acc *providers.Accumulator) (*providers.ChatCompletion, error) {
	chunks, err := c.decoder.push(sse.Event{Data: body})
	if err == nil {
		err = addAll(acc, chunks)
	}
	if err != nil {
		return nil, err
	}
	if chunks, err = c.decoder.finish(); err == nil {
		err = addAll(acc, chunks)
	}
	if err != nil {
		return nil, err
	}
	out := acc.Completion()
	out.Meta.Warnings = c.warnings()
	return out, nil
}

func addAll(acc *providers.Accumulator, chunks []*providers.ChatCompletionChunk) error {
	for _, chunk := range chunks {
		if err := acc.Add(chunk); err != nil {
			return err
		}
	}
	return nil
}

// prepare finds the model with its facts, and the number of requests that the
// choices asked for take. Whatever can be known to be wrong is an error before
// anything is sent.
func (p *Provider) prepare(t *providers.Target, req *providers.ChatCompletionRequest, c *call, stream bool) (shares int, err error) {
	c.in = request{chat: req, target: t, stream: stream, oneTool: p.check, signatures: p.signatures}
	if c.in.model, err = parseModel(t.Model, p.publishers...); err != nil {
		return 0, err
	}
	c.known = c.in.model.lookup(p.models)
	p.learnt.apply(&c.in)
	if _, asked := t.Header[betaHeader]; asked && c.in.model.family != familyClaude {
		c.known = append(c.known, providers.Warning{
			Code: providers.WarnUnsupported, Param: "anthropic-beta", Message: "left out: the header is for Claude models",
		})
	}
	c.in.choices, shares, err = shareChoices(req.N, c.in.model.facts.MaxCandidates)
	return shares, err
}

// open translates the request and sends it.
func (p *Provider) open(ctx context.Context, c *call) error {
	verb, query := p.family(&c.in.model).verb(c.in.stream)
	u, err := endpoint(c.in.target, &c.in.model, verb, query)
	if err != nil {
		return err
	}
	try := func() error { return p.attempt(ctx, c, u) }
	if c.in.model.family == familyEndpoint {
		try = func() error { return p.attemptEndpoint(ctx, c, u) }
	}
	if err := p.taught(c, try); err != nil {
		return err
	}
	c.decoder = p.family(&c.in.model).newDecoder(&c.in, &c.out)
	return nil
}

// family returns the wire that the model is spoken to on.
func (p *Provider) family(m *model) family {
	switch m.family {
	case familyClaude:
		return p.claude
	case familyOpen:
		return openFamily{}
	case familyMistral:
		return mistralFamily{}
	case familyEndpoint:
		return p.endpointFamily(m)
	}
	return p.gemini
}

// attempt translates the request and sends it once.
func (p *Provider) attempt(ctx context.Context, c *call, u *url.URL) error {
	buf := jsonx.GetBuffer()
	var err error
	c.out = outgoing{}
	buf.B, err = p.family(&c.in.model).encode(&c.in, &c.out, buf.B)
	c.hold(buf)
	if err != nil {
		c.payload.Release()
		return err
	}
	c.res, err = p.send(ctx, c, u)
	return err
}

// send sends the payload and returns an answer that is no refusal. A token that
// the platform refuses is renewed once.
func (p *Provider) send(ctx context.Context, c *call, u *url.URL) (*transport.Response, error) {
	defer c.payload.Release()
	t := c.in.target
	for attempt := 0; ; attempt++ {
		header, token, err := requestHeader(ctx, t, &c.bearer)
		if err != nil {
			return nil, err
		}
		delete(header, betaHeader)
		maps.Copy(header, c.out.header)
		c.payload.Retain()
		res, err := p.client.Do(ctx, &transport.Request{
			Method: c.method, URL: u, Header: header, Body: c.payload, Stream: c.in.stream, Timeouts: t.Timeouts,
		})
		if err != nil {
			return nil, named(err)
		}
		if res.Status == http.StatusOK || res.Status == http.StatusNoContent && c.method == http.MethodDelete {
			return res, nil
		}
		if res.Status == http.StatusUnauthorized && attempt == 0 {
			if src, ok := t.Token.(providers.TokenRenewer); ok && src.Refreshable() {
				src.Invalidate(token)
				res.Drain()
				continue
			}
		}
		return nil, p.refusal(res)
	}
}

// maxErrorBody bounds what is read of a refusal.
const maxErrorBody = 1 << 20

// refusal reads the platform's error.
func (p *Provider) refusal(res *transport.Response) error {
	defer func() { _ = res.Close() }()
	buf := jsonx.GetBuffer()
	defer buf.Free()
	_ = res.ReadInto(buf, maxErrorBody) // a cut error body still has its status
	if res.Status < 400 {
		return unreadable(res.Status, buf.B)
	}
	return responseError(res.Status, res.Header, buf.B)
}

// headerSource is a token source that has the authorization header ready.
type headerSource interface {
	Header(ctx context.Context) (authorization, quotaProject string, err error)
}

// The values that are the same in each request.
var (
	contentJSON = []string{"application/json"}
	userAgent   = []string{"b650d4bf-gateway gl-go/" + strings.TrimPrefix(runtime.Version(), "go")}
)

// requestHeader builds the header, with the token in it, and returns the token.
func requestHeader(ctx context.Context, t *providers.Target, bearer *[1]string) (http.Header, string, error) {
	h := make(http.Header, 8)
	maps.Copy(h, t.Header)
	h["Content-Type"] = contentJSON
	h["User-Agent"] = userAgent
	h["X-Goog-Api-Client"] = userAgent
	if t.Token == nil {
		return h, "", nil
	}
	authorization, quota, err := authorize(ctx, t.Token)
	if err != nil {
		return nil, "", authError(ctx, err)
	}
	if authorization != "" {
		bearer[0] = authorization
		h["Authorization"] = bearer[:]
	}
	if quota != "" {
		h["X-Goog-User-Project"] = []string{quota}
	}
	return h, strings.TrimPrefix(authorization, "Bearer "), nil
}

func authorize(ctx context.Context, src auth.TokenProvider) (authorization, quotaProject string, err error) {
	if s, ok := src.(headerSource); ok {
		return s.Header(ctx)
	}
	token, err := src.Token(ctx)
	if err != nil || token == nil || token.Value == "" {
		return "", "", err
	}
	return "Bearer " + token.Value, "", nil
}

// authError says that there is no token. The cause comes from the token source,
// which keeps secrets out of it.
func authError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return transport.ContextError(ctx, false)
	}
	if _, ok := errors.AsType[*providers.Error](err); ok {
		return err
	}
	return &providers.Error{Code: providers.ErrAuthentication, Message: "no access token could be had", Err: err}
}

// named adds the provider to an error of the transport.
func named(err error) error {
	var e *providers.Error
	if errors.As(err, &e) && e.Provider == "" && !errors.Is(err, io.EOF) {
		e.Provider = providerName
	}
	return err
}
