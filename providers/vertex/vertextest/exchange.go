package vertextest

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// exchange is one request on its way through the emulator.
type exchange struct {
	server *Server
	cfg    *config
	target target
	route  route
	sse    bool // alt=sse was asked for
	host   string
	header http.Header
	query  url.Values
	body   []byte

	// Set by the checks.
	req    request
	facts  modelFacts
	rules  generation
	silent bool      // the answer has to be empty
	tier   string    // serviceTier of a call to the Gemini API
	cached *cache    // the explicit cache in use
	expire time.Time // when it is to end from now on

	// Set by the checks of the other wires, which fill req too.
	claude  claudeCall
	chat    chatCall
	thinks  bool // the model thinks on this request
	oneCall bool // parallel calls are off

	requestID string // of a Claude, once somebody has asked for it
}

// inArray reports whether a JSON answer comes as an array: that of a stream
// without alt=sse, and an error of the shared OpenAI surface.
func (x *exchange) inArray() bool {
	return x.route.wire == wireGemini && x.route.stream && !x.sse || x.route.wire == wireMaaS
}

// streams reports whether the answer is a stream.
func (x *exchange) streams() bool {
	return x.route.stream || x.chat.Stream || x.route.own && x.claude.Stream
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, leave := s.enter(r.Context())
	defer leave()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		abort()
	}
	if s.serveJobs(ctx, w, r, body) {
		return
	}
	t, ok := parseOwnPath(r.URL.Path)
	if !ok {
		t, ok = parsePath(r.Method, r.URL.Path)
	}
	switch {
	case t.verb == chatVerb && t.model == sharedEndpoint, t.model == openaiServer:
		t.named = namedModel(body)
	case t.own:
		t.model = namedModel(body)
	}
	s.record(Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body,
		Project: t.project, Location: t.location, Model: t.called(), Verb: t.verb, Time: time.Now(),
	})
	found, known := findRoute(t)
	if !ok || !known || r.Method != found.http {
		s.deliver(ctx, w, HTML404(), pageNotFound(r.URL.Path))
		return
	}
	query := r.URL.Query()
	x := &exchange{
		server: s, cfg: &s.cfg, target: t, route: found, host: r.Host, header: r.Header, query: query, body: body,
		sse: query.Get("alt") == "sse",
	}
	reply, res := s.respond(x)
	s.deliver(ctx, w, reply, compressed(x, reply, res))
}

// respond checks the request, then renders the reply it gets.
func (s *Server) respond(x *exchange) (Reply, response) {
	if err := x.check(); err != nil {
		return Reply{}, x.refuse(err)
	}
	reply := s.next(x.route, x.target)
	render := reply.render
	if render == nil {
		render = x.route.answer
	}
	res, err := render(x)
	if err != nil {
		return reply, x.refuse(err)
	}
	return x.failing(reply, res)
}

// check applies everything that can refuse the request, in the platform's order:
// who asks, what is sent, what it is sent to.
func (x *exchange) check() error {
	if err := x.checkCredentials(); err != nil {
		return err
	}
	hasBody := x.route.http == http.MethodPost || x.route.http == http.MethodPatch
	kind, _, err := mime.ParseMediaType(x.header.Get("Content-Type"))
	if hasBody && (err != nil || kind != "application/json") {
		return invalid("Unsupported content type. Expected application/json.")
	}
	if x.route.serve == nil {
		return notFound(x.target)
	}
	if err := x.checkPermission(); err != nil {
		return err
	}
	return x.route.serve(x)
}

func (x *exchange) checkToken() error {
	if x.target.direct {
		return x.checkKey()
	}
	token := bearer(x.header)
	switch {
	case x.cfg.withoutAuth:
		return nil
	case token == "":
		return unauthenticated(true, x.route.rpc)
	case len(x.cfg.tokens) > 0 && !slices.Contains(x.cfg.tokens, token):
		return unauthenticated(false, x.route.rpc)
	}
	return nil
}

// checkGenerate checks the body of generateContent and its streaming form.
func checkGenerate(x *exchange) error {
	if err := x.decodeRequest("GenerateContentRequest"); err != nil {
		return err
	}
	sentinels := countSentinels(x.req.Contents)
	if !x.cfg.withoutChecks {
		if err := x.applyRules(); err != nil {
			return err
		}
	}
	x.server.countSentinels(sentinels)
	return nil
}

// decodeRequest decodes the body, which has to fit the schema, and finds the
// model.
func (x *exchange) decodeRequest(message string) error {
	v, err := decodeBody(x.body)
	if err != nil {
		return err
	}
	if err := x.checkRefused(v); err != nil {
		return err
	}
	if v, x.body, err = x.adapt(v); err != nil {
		return err
	}
	if !x.cfg.withoutChecks {
		if err := checkValue(message, v); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(x.body, &x.req); err != nil && !x.cfg.withoutChecks {
		return invalid("Invalid JSON payload received.")
	}
	return x.findModel()
}

// findModel looks up the facts of the model or tuned endpoint.
func (x *exchange) findModel() error {
	name := x.target.model
	if x.target.publisher == "" {
		name = "gemini-2.5-flash"
		if base, ok := x.cfg.endpoints[x.target.model]; ok {
			name = base
		}
	}
	facts, ok := lookUp(x.cfg.models, name)
	if !ok || !facts.where.serves(x.target.location) {
		return notFound(x.target)
	}
	x.facts, x.rules = facts, generationOf(facts.version)
	if x.target.direct { // which has one schema for all generations
		x.rules.callIDs, x.rules.jsonSchemas = true, true
	}
	for _, models := range x.cfg.withoutIDs {
		if models.include(x.target.model, facts.name) {
			x.rules.callIDs = false
		}
	}
	return nil
}

// pause waits for d of the clock, or reports false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
