package vertextest

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Server emulates the platform. It is an [http.Handler], safe for concurrent
// use. Make one with [New].
type Server struct {
	cfg config

	mu        sync.Mutex
	requests  []Request
	queue     []Reply
	queues    map[string][]Reply // by model
	verbs     map[string][]Reply
	inFlight  map[*flight]struct{}
	listening *listening
	closed    bool
	answered  uint64
	sentinels int

	prefixes map[prefixKey]time.Time // of Claude prompts, with their ends

	caches     []*cache // oldest first, some of them ended
	cachesMade uint64

	store bucketStore
	jobs  []*batchJob // oldest first
}

// flight is one request being served, so that Close can end it.
type flight struct{ cancel context.CancelFunc }

type config struct {
	tokens                     []string
	withoutAuth, withoutChecks bool
	latency                    time.Duration
	chunkDelay                 time.Duration
	models                     []modelFacts
	endpoints                  map[string]string
	cacheMinimum               *int
	withoutIDs                 []forModels
	denied                     []forModels
	claudes                    []claudeFacts
	chats                      []chatFacts
	served                     map[string]Endpoint
	refused                    []refusedField
	instances                  []instanceLimit
	batches                    batchConfig
	chunkMost                  int64 // bytes that the store takes of a chunk, 0 for all
}

// Option configures a [Server].
type Option func(*config)

// WithToken accepts these bearer tokens and API keys only. By default any that is
// not empty will do. Repeated use adds tokens.
func WithToken(tokens ...string) Option {
	return func(c *config) { c.tokens = append(c.tokens, tokens...) }
}

// WithoutAuth accepts requests without a token. It overrides [WithToken].
func WithoutAuth() Option { return func(c *config) { c.withoutAuth = true } }

// WithoutChecks accepts any JSON body, so that a script can be played to
// requests the platform would refuse. Token, path and model are still checked.
func WithoutChecks() Option { return func(c *config) { c.withoutChecks = true } }

// WithLatency waits before each answer. [Reply.After] overrides it.
func WithLatency(d time.Duration) Option { return func(c *config) { c.latency = d } }

// WithChunkDelay waits between the chunks of a stream. [Reply.Paced] overrides it.
func WithChunkDelay(d time.Duration) Option { return func(c *config) { c.chunkDelay = d } }

// WithModel serves a further model that behaves like a known one, Gemini, Claude
// or other. Models of endpoints/openapi are named with their publisher, as in
// meta/llama-4. It is ignored when like isn't known.
func WithModel(name, like string) Option {
	return func(c *config) {
		c.models = withModel(c.models, name, like)
		c.claudes = withClaude(c.claudes, name, like)
		c.chats = withChat(c.chats, name, like)
	}
}

// WithEndpoint makes a tuned endpoint behave like the given model. Endpoints not
// named this way are tuned from gemini-2.5-flash; one tuned from an unknown
// model is a 404.
func WithEndpoint(id, model string) Option {
	return func(c *config) { c.endpoints[id] = model }
}

// New returns an emulator that listens nowhere yet: use it as a handler, through
// [Server.Transport], or after [Server.Start].
func New(opts ...Option) *Server {
	s := &Server{
		cfg: config{
			models: modelTable(), claudes: claudeTable(), chats: chatTable(),
			endpoints: map[string]string{}, served: map[string]Endpoint{},
		},
		queues:   map[string][]Reply{},
		prefixes: map[prefixKey]time.Time{},
		verbs:    map[string][]Reply{},
		inFlight: map[*flight]struct{}{},
	}
	for _, o := range opts {
		o(&s.cfg)
	}
	return s
}

// Request is one request as it arrived, refused or not.
type Request struct {
	Method   string
	Path     string // as sent, unescaped
	Query    string // without the question mark
	Header   http.Header
	Body     []byte
	Project  string
	Location string
	Model    string // or the id of an endpoint; empty for caches
	Verb     string // such as generateContent, rawPredict, chat/completions or createCachedContent
	Time     time.Time
}

// Requests returns the requests so far, oldest first. The slice is the caller's;
// headers and bodies are shared and must not be changed.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Reset forgets recorded requests, scripted replies, explicit caches, objects,
// batches, cached prefixes and the sentinel count.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.queue, s.sentinels = nil, nil, 0
	s.caches, s.cachesMade = nil, 0
	s.store, s.jobs = bucketStore{}, nil
	clear(s.prefixes)
	clear(s.queues)
	clear(s.verbs)
}

// Script queues replies. Each request for an answer of a model that passes the
// checks takes the next one; when none is left the emulator answers by itself
// again. Requests that count tokens, embed, keep caches or ask about endpoints
// take none.
func (s *Server) Script(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, replies...)
}

// ScriptFor queues replies for one model, or one endpoint by its id. A model of
// endpoints/openapi goes by publisher and name, as in meta/llama-4. They are
// taken before those of [Server.Script]. The model count-tokens of Anthropic has
// no other replies than these.
func (s *Server) ScriptFor(model string, replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queues[model] = append(s.queues[model], replies...)
}

// ScriptVerb queues replies for one verb, spelled as in [Request]. They are taken
// before all others, and are the only ones for verbs that don't generate.
func (s *Server) ScriptVerb(verb string, replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verbs[verb] = append(s.verbs[verb], replies...)
}

// Pending returns how many scripted replies nobody has taken yet.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.queue)
	for _, queues := range []map[string][]Reply{s.queues, s.verbs} {
		for _, q := range queues {
			n += len(q)
		}
	}
	return n
}

// SentinelUses returns how often a request carried the literal
// skip_thought_signature_validator in place of a thought signature.
func (s *Server) SentinelUses() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sentinels
}

// next takes the next scripted reply for a request. The zero Reply is the
// emulator's own answer.
func (s *Server) next(at route, of target) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	var r Reply
	model := of.called()
	switch byVerb, q := s.verbs[at.verb], s.queues[model]; {
	case len(byVerb) > 0 && at.model != countModel:
		r, s.verbs[at.verb] = byVerb[0], byVerb[1:]
	case !at.generates() && at.model != countModel:
	case len(q) > 0:
		r, s.queues[model] = q[0], q[1:]
	case at.model == countModel:
	case len(s.queue) > 0:
		r, s.queue = s.queue[0], s.queue[1:]
	}
	return r
}

// serial returns a number no earlier answer had.
func (s *Server) serial() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered++
	return s.answered
}

func (s *Server) countSentinels(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sentinels += n
}

func (s *Server) record(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
}

// enter registers a request that is being served. The returned context ends with
// parent, with leave, and with Close.
func (s *Server) enter(parent context.Context) (ctx context.Context, leave func()) {
	ctx, cancel := context.WithCancel(parent)
	f := &flight{cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		cancel()
	}
	s.inFlight[f] = struct{}{}
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.inFlight, f)
	}
}
