// Package engine speaks to models on the wires of their families: it translates
// chat completions, embeddings and context caches to a wire and back, sends them
// and reads the answers. Where the models are, how they are named and who may
// ask is a [Site]'s to say.
package engine

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/fetch"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/schema"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/providers"
)

// DefaultMaxResponse is the most bytes of an answer that are read, decompressed:
// for a stream, of one event.
const DefaultMaxResponse = 64 << 20

// Config holds what an [Engine] is made of. Each zero member has its default.
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
	// take together.
	CheckTools bool
	// Signatures bounds the memory of thought signatures.
	Signatures providers.SignatureMemory
	// MaxInlineBytes bounds the inline media of one request, in bytes decoded,
	// in place of the documented limits.
	MaxInlineBytes int
	// BetaFeatures says under which name a beta feature of Claude models is sent,
	// by its name with its date or without; an empty one is not sent.
	BetaFeatures map[string]string
	// Fetch lets the engine fetch media that a wire takes no URLs of; nil fetches
	// nothing.
	Fetch *FetchConfig
}

// FetchConfig says what may be fetched.
type FetchConfig = fetch.Config

// Engine speaks to the models of one site. It is safe for concurrent use.
type Engine struct {
	site   Site
	client *transport.Client
	models *catalog.Models
	limit  int
	check  bool // Config.CheckTools
	gemini *geminiFamily
	claude *claudeFamily
	folds  sync.Pool   // of *providers.Accumulator, empty
	header http.Header // of each request
	read   readModels
	learnt lessons

	fetcher    *fetch.Fetcher // nil fetches nothing
	signatures *signatures
}

// New returns an engine for the models of a site.
func New(cfg Config, site Site) *Engine {
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 10 * time.Second
	}
	if cfg.Models == nil {
		cfg.Models = catalog.DefaultModels()
	}
	if cfg.MaxResponse <= 0 {
		cfg.MaxResponse = DefaultMaxResponse
	}
	p := &Engine{
		site:   site,
		client: transport.New(cfg.Transport, max(0, cfg.ConnectTimeout)),
		models: cfg.Models,
		limit:  cfg.MaxResponse,
		check:  cfg.CheckTools,
		gemini: &geminiFamily{
			rooms: new(sync.Pool), encoders: new(sync.Pool), maxInline: max(0, cfg.MaxInlineBytes), schemas: schema.NewCache(maxSchemas, maxSchemaBytes),
		},
		header: commonHeader(),
		claude: &claudeFamily{rooms: new(sync.Pool), betas: maps.Clone(cfg.BetaFeatures)},

		signatures: newSignatures(cfg.Signatures),
	}
	if cfg.Fetch != nil {
		p.fetcher = fetch.New(*cfg.Fetch)
	}
	return p
}

// Close closes the idle connections of the own transport, and of the fetcher.
func (p *Engine) Close() error {
	p.client.CloseIdle()
	if p.fetcher != nil {
		p.fetcher.CloseIdle()
	}
	return nil
}

// ChatCompletion sends req and returns the whole answer: the fold of its
// chunks.
func (p *Engine) ChatCompletion(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	c := new(call)
	shares, err := p.prepare(t, req, c, false)
	if err == nil {
		err = p.gather(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	if shares > 1 {
		return p.completeShared(ctx, c, shares)
	}
	return p.complete(ctx, c)
}

// complete sends one request and folds its answer.
func (p *Engine) complete(ctx context.Context, c *call) (*providers.ChatCompletion, error) {
	if err := p.open(ctx, c); err != nil {
		return nil, err
	}
	defer func() { _ = c.res.Close() }()
	defer c.decoder.release()
	buf := jsonx.GetBuffer()
	defer buf.Free()
	if err := c.res.ReadInto(buf, p.limit); err != nil {
		return nil, c.named(err)
	}
	acc, ok := p.folds.Get().(*providers.Accumulator)
	if !ok {
		acc = new(providers.Accumulator)
	}
	defer func() {
		*acc = providers.Accumulator{}
		p.folds.Put(acc)
	}()
	out, err := c.fold(buf.B, acc)
	if err != nil {
		return nil, c.named(err)
	}
	out.Provider = p.site.Name()
	return out, nil
}

// ChatCompletionStream sends req and returns once the platform has begun to
// answer.
func (p *Engine) ChatCompletionStream(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	r := new(reader)
	shares, err := p.prepare(t, req, &r.call, true)
	if err == nil {
		err = p.gather(ctx, &r.call)
	}
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
func (p *Engine) start(ctx context.Context, r *reader) error {
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
	faulty  bool               // an answer may have an error among its members and be none
	native  bool               // the caller speaks the platform's own schema, and reads its errors
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
func (p *Engine) prepare(t *providers.Target, req *providers.ChatCompletionRequest, c *call, stream bool) (shares int, err error) {
	c.in = request{chat: req, target: t, site: p.site, stream: stream, oneTool: p.check, signatures: p.signatures}
	if c.in.model, c.known, err = p.readModel(t.Model); err != nil {
		return 0, err
	}
	p.learnt.apply(&c.in)
	if _, asked := t.Header[betaHeader]; asked && c.in.model.Family != FamilyClaude {
		c.known = append(c.known, providers.Warning{
			Code: providers.WarnUnsupported, Param: "anthropic-beta", Message: "left out: the header is for Claude models",
		})
	}
	c.in.choices, shares, err = shareChoices(req.N, c.in.model.facts.MaxCandidates)
	return shares, err
}

// open translates the request and sends it.
func (p *Engine) open(ctx context.Context, c *call) error {
	verb, query := p.translator(&c.in.model).verb(c.in.stream)
	u, err := p.site.URL(c.in.target, &c.in.model, verb, query)
	if err != nil {
		return err
	}
	try := func() error { return p.attempt(ctx, c, u) }
	if site, ok := p.site.(Locator); ok && c.in.model.Family == FamilyEndpoint {
		try = func() error {
			return site.Locate(ctx, c.in.target, &c.in.model, u, func(u *url.URL) error { return p.attempt(ctx, c, u) })
		}
	}
	if err := p.taught(c, try); err != nil {
		return err
	}
	c.decoder = p.translator(&c.in.model).newDecoder(&c.in, &c.out)
	return nil
}

// translator returns that of the wire that the model is spoken to on.
func (p *Engine) translator(m *Model) translator {
	switch m.Family {
	case FamilyClaude:
		if m.Own {
			return claudeService{p.claude}
		}
		return p.claude
	case FamilyOpen, FamilyOpenAI:
		return openFamily{}
	case FamilyMistral:
		return mistralFamily{}
	case FamilyEndpoint:
		if m.Predictor != nil {
			return predictFamily{m.Predictor}
		}
		return openFamily{}
	}
	return p.gemini
}

// attempt translates the request and sends it once.
func (p *Engine) attempt(ctx context.Context, c *call, u *url.URL) error {
	buf := jsonx.GetBuffer()
	var err error
	c.out = outgoing{}
	buf.B, err = p.translator(&c.in.model).encode(&c.in, &c.out, buf.B)
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
func (p *Engine) send(ctx context.Context, c *call, u *url.URL) (*transport.Response, error) {
	defer c.payload.Release()
	t := c.in.target
	for attempt := 0; ; attempt++ {
		header := p.requestHeader(t)
		token, err := p.site.Authorize(ctx, t, header, &c.bearer)
		if err != nil {
			return nil, err
		}
		maps.Copy(header, c.out.header)
		c.payload.Retain()
		res, err := p.client.Do(ctx, &transport.Request{
			Method: c.method, URL: u, Header: header, Body: c.payload, Stream: c.in.stream, Timeouts: t.Timeouts,
		})
		if err != nil {
			return nil, c.named(err)
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
		return nil, c.named(refusal(res, c.native))
	}
}

// maxErrorBody bounds what is read of a refusal.
const maxErrorBody = 1 << 20

// refusal reads the platform's error.
func refusal(res *transport.Response, native bool) error {
	defer func() { _ = res.Close() }()
	buf := jsonx.GetBuffer()
	defer buf.Free()
	_ = res.ReadInto(buf, maxErrorBody) // a cut error body still has its status
	if res.Status < 400 {
		return unreadable(res.Status, buf.B)
	}
	if native {
		return nativeRefusal(res.Status, res.Header, buf.B)
	}
	return responseError(res.Status, res.Header, buf.B)
}

// The values that are the same in each request.
var (
	contentJSON = []string{"application/json"}
	userAgent   = []string{"b650d4bf-gateway gl-go/" + strings.TrimPrefix(runtime.Version(), "go")}
)

// commonHeader is what the headers of all requests have, with room for what each
// has of its own, which its copies keep.
func commonHeader() http.Header {
	h := make(http.Header, 8)
	h["Content-Type"] = contentJSON
	h["User-Agent"] = userAgent
	return h
}

// requestHeader is the header but for the credentials.
func (p *Engine) requestHeader(t *providers.Target) http.Header {
	h := maps.Clone(p.header)
	for name, values := range t.Header {
		if _, own := p.header[name]; !own && name != betaHeader {
			h[name] = values
		}
	}
	return h
}

// named adds the provider to an error about an answer, or about none, and what
// helps against a refusal, and takes out of it the credentials that were sent.
func (c *call) named(err error) error {
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || e.Provider != "" {
		return err
	}
	e.Provider = c.in.site.Name()
	c.hide(e)
	if site, ok := c.in.site.(Remedier); ok && e.NativeStatus != "" && !c.native {
		if hint := site.Remedy(e); hint != "" {
			e.Message += " (" + hint + ")"
		}
	}
	return err
}
