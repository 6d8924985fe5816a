// Package front serves the schemas of OpenAI and Anthropic over HTTP. It reads
// what a request says in its headers and its body, hands it to a [Backend], and
// writes the answer; it knows neither providers nor credentials.
//
// It serves POST /v1/chat/completions, POST /v1/completions, POST /v1/embeddings,
// POST /v1/images/generations, POST /v1/images/edits, POST /v1/audio/speech,
// GET /v1/models and GET /v1/models/{id} of the one, POST /v1/messages and
// POST /v1/messages/count_tokens of the other, POST /v1/rerank as several vendors
// have it, and the stored prompts: POST /v1/prompts/{id}/completions and
// POST /v1/prompts/{id}/render. Files and batches are /v1/files, /v1/batches and
// what is below; the log and its reports are /v1/logs, /v1/feedback and
// /v1/analytics. Beyond both schemas there are
// POST /v1/chat/completions/count_tokens, which answers to a chat completion with
// the size of its prompt, and the platform's context caching: GET and POST
// /v1/cached_contents, and GET, PATCH and DELETE /v1/cached_contents/{name}.
//
// Google's own schema is served as its clients ask for it: POST
// /v1beta/models/{model}:{method} of the Gemini API, POST
// /v1beta1/projects/{project}/locations/{location}/publishers/google/models/{model}:{method}
// of Vertex AI, both in version v1 too, and GET models and publishers/google/models.
//
// A prefix may stand before the paths that [http.StripPrefix] takes off. The
// request headers are those of [Headers]. Every failure is the error envelope of
// the schema.
//
// # Streams
//
// A stream begins once the backend has its first chunk; what fails before that
// is an error with a status of its own. What fails later is an event
//
//	data: {"error":{…}}
//
// after which the answer ends without "data: [DONE]". Only a stream with that
// last event is whole. In the Anthropic schema the error is an event of that
// name, and what is whole ends with message_stop. In Google's own schema the
// connection is cut behind the event with the error.
//
// The request's context ends when the client goes away, and with it the
// backend's work. No write deadline is set here, and a server's WriteTimeout
// bounds the whole of a stream: leave it at 0.
//
// # Slow clients
//
// A body that pauses for 30 s, or brings less than 1 KiB a second once it was waited
// for 60 s, is refused with 408, and in HTTP/1 the connection ends. A server's
// ReadTimeout stands in place of that. A middleware's ResponseWriter needs Unwrap, as
// [http.ResponseController] has it; behind one without there is no such limit.
package front

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/messages"
	"github.com/b650d4bf/gateway/providers"
)

// DefaultMaxBody is the largest request body in bytes where the [Config] says
// nothing. It leaves room for inline media.
const DefaultMaxBody = 32 << 20

// Overrides is what the headers of one request say. A zero member was not said.
type Overrides struct {
	// Provider is a slug or a provider id, without the @.
	Provider string
	// ProjectID and Region say where to call the platform.
	ProjectID, Region string
	// PathProject and PathRegion are those of a path in Google's own schema. They
	// hold where nothing else says where to call the platform.
	PathProject, PathRegion string
	// ConfigID names a config of the catalog, Config is one that came along; one
	// of them at most is set.
	ConfigID string
	Config   *config.Config
	// Incoming is the header of the HTTP request, which must not be changed.
	Incoming http.Header
	// Token is the platform token that came as Authorization, without
	// "Bearer". It serves only where nothing else has credentials.
	Token string
	// Strict is the compliance setting.
	Strict *bool
	// Metadata is attached to the call for observers.
	Metadata map[string]string
	// Header is to be sent upstream.
	Header http.Header
	// RequestID replaces the generated id.
	RequestID string
	// Timeout bounds the whole call.
	Timeout time.Duration
	// CacheNamespace, CacheRefresh and Debug are for the response cache.
	CacheNamespace string
	CacheRefresh   bool
	Debug          *bool
	// KeyID is a digest of the gateway's API key that the client showed, empty
	// where none is needed. It is the same in every process, and no key.
	KeyID string
	// Surface is where the request came in: [providers.SurfaceHTTP] or
	// [providers.SurfaceTransport].
	Surface string
}

// Stream is a streamed answer. It belongs to the goroutine that serves the
// request.
type Stream interface {
	// Recv returns the next chunk, or io.EOF after the last one of a whole
	// answer. It fails when the context that the stream was made with ends.
	Recv() (*providers.ChatCompletionChunk, error)
	// Meta says what the gateway did, as far as it is known.
	Meta() providers.Meta
	// Close releases the stream. It is called once, whether or not the stream
	// has ended.
	Close() error
}

// Backend does the work. It is safe for concurrent use. An error that is no
// *[providers.Error] is shown to the client without its text.
type Backend interface {
	// Chat returns a whole answer.
	Chat(ctx context.Context, req *providers.ChatCompletionRequest, o *Overrides) (*providers.ChatCompletion, error)
	// ChatStream returns once the first chunk is there, so that a failure
	// before it is an error here.
	ChatStream(ctx context.Context, req *providers.ChatCompletionRequest, o *Overrides) (Stream, error)
	// Embeddings returns the vectors of all inputs.
	Embeddings(ctx context.Context, req *providers.EmbeddingRequest, o *Overrides) (*providers.EmbeddingResponse, error)
	// Messages returns a whole answer in the Anthropic schema. Strict compliance
	// does not matter.
	Messages(ctx context.Context, req *messages.Request, o *Overrides) (*MessageAnswer, error)
	// MessagesStream is that for a stream, which begins as ChatStream's does.
	MessagesStream(ctx context.Context, req *messages.Request, o *Overrides) (MessageStream, error)
	// MessagesTokens counts the tokens of the prompt that the request makes.
	MessagesTokens(ctx context.Context, req *messages.Request, o *Overrides) (*providers.TokenCount, error)
	// PromptChat returns a whole answer to a stored prompt.
	PromptChat(ctx context.Context, req *providers.PromptCompletionRequest, o *Overrides) (*providers.ChatCompletion, error)
	// PromptStream is that for a stream, which begins as ChatStream's does.
	PromptStream(ctx context.Context, req *providers.PromptCompletionRequest, o *Overrides) (Stream, error)
	// PromptRender returns what would be asked, without asking.
	PromptRender(ctx context.Context, req *providers.PromptCompletionRequest) (*providers.RenderedPrompt, error)
	// ImageBackend, SpeechBackend and RerankBackend do what is not about texts alone.
	ImageBackend
	SpeechBackend
	RerankBackend
	// Models lists what can be asked for.
	Models(ctx context.Context) ([]Model, error)
	CompletionBackend
	NativeBackend
	CacheBackend
	FilesBackend
	LogsBackend
}

// Config holds what the operator decides.
type Config struct {
	// Keys are the API keys that clients must have one of. None at all means
	// that no key is needed; empty keys count but fit no client, so that a
	// setting lost on the way does not open the door.
	Keys []string
	// AdminKeys are keys too, and the only ones for the log.
	AdminKeys []string
	// MaxBody is the largest request body in bytes, after decompression; 0
	// means [DefaultMaxBody].
	MaxBody int64
	// MaxFile is the largest file that is kept, in bytes; 0 means
	// [providers.DefaultMaxFile].
	MaxFile int64
}

// New returns the handler of the backend. It is safe for concurrent use.
func New(cfg Config, b Backend) http.Handler { return newHandler(cfg, b) }

func newHandler(cfg Config, b Backend) *handler {
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = DefaultMaxBody
	}
	return &handler{
		backend: b, maxBody: cfg.MaxBody, maxFile: cfg.MaxFile,
		keys: newKeyring(cfg.Keys).with(cfg.AdminKeys), admin: newKeyring(cfg.AdminKeys), headers: headerRules(), routes: routes(), bodyIdle: bodyIdle,
	}
}

// handler is immutable.
type handler struct {
	backend  Backend
	maxBody  int64
	maxFile  int64 // 0 for the default
	keys     keyring
	admin    keyring           // of the log; off where no keys are for it alone
	inside   bool              // the caller is in the process: its credentials are not looked at
	headers  map[string]Header // by canonical name
	bodyIdle time.Duration     // see the constant
	routes   []route
}

// route is one operation. A path that ends in a slash takes everything below
// it, a star one segment; rows with a star come first. A path with several
// methods has a row for each, one after the other.
type route struct {
	path, method string
	serve        func(*call) error
	// anthropic says that the route is of Anthropic's schema.
	anthropic bool
}

func routes() []route {
	return append(slices.Concat(nativeRoutes(), logRoutes(), fileRoutes()), []route{
		{"/v1/chat/completions", http.MethodPost, (*call).chat, false},
		{"/v1/chat/completions/count_tokens", http.MethodPost, (*call).countChat, false},
		{"/v1/completions", http.MethodPost, (*call).complete, false},
		{"/v1/embeddings", http.MethodPost, (*call).embeddings, false},
		{"/v1/images/generations", http.MethodPost, (*call).imageGenerations, false},
		{"/v1/images/edits", http.MethodPost, (*call).imageEdits, false},
		{"/v1/audio/speech", http.MethodPost, (*call).speech, false},
		{"/v1/rerank", http.MethodPost, (*call).rerank, false},
		{"/v1/messages", http.MethodPost, (*call).messages, true},
		{"/v1/messages/count_tokens", http.MethodPost, (*call).countTokens, true},
		{"/v1/prompts/", http.MethodPost, (*call).prompts, false},
		{"/v1/models", http.MethodGet, (*call).listModels, false},
		{"/v1/models/", http.MethodPost, (*call).native, false},
		{"/v1/models/", http.MethodGet, (*call).showModel, false},
		{"/v1/cached_contents", http.MethodGet, (*call).listCaches, false},
		{"/v1/cached_contents", http.MethodPost, (*call).createCache, false},
		{"/v1/cached_contents/", http.MethodGet, (*call).getCache, false},
		{"/v1/cached_contents/", http.MethodPatch, (*call).extendCache, false},
		{"/v1/cached_contents/", http.MethodDelete, (*call).deleteCache, false},
	}...)
}

// match reports whether the path is the route's, and what stands where the route
// says nothing.
func (rt *route) match(path string) (rest string, ok bool) {
	before, behind, starred := strings.Cut(rt.path, "*")
	if rest, ok = strings.CutPrefix(path, before); !ok {
		return "", false
	}
	if starred {
		rest, ok = strings.CutSuffix(rest, behind)
		return rest, ok && rest != "" && !strings.Contains(rest, "/")
	}
	return rest, (rest == "") != strings.HasSuffix(rt.path, "/")
}

// takes reports whether the route is for the method.
func (rt *route) takes(method string) bool {
	return method == rt.method || method == http.MethodHead && rt.method == http.MethodGet
}

// allowed lists the methods that the path of the route has.
func (h *handler) allowed(rt *route) string {
	var list []string
	for i := range h.routes {
		other := &h.routes[i]
		if other.path != rt.path {
			continue
		}
		if list = append(list, other.method); other.method == http.MethodGet {
			list = append(list, http.MethodHead)
		}
	}
	return strings.Join(append(list, http.MethodOptions), ", ")
}

// call is one request on its way.
type call struct {
	*handler
	w     http.ResponseWriter
	r     *http.Request
	route *route // nil for an unknown path
	// rest is the path below that of the route.
	rest string
	o    Overrides
	in   timedBody // see body
}

// ServeHTTP serves one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := call{handler: h, w: w, r: r}
	c.route = c.find()
	err := c.serve()
	c.body().end()
	if err != nil {
		c.fail(err)
	}
}

// serve does the work. It returns an error only as long as nothing has been
// written.
func (c *call) serve() error {
	rt := c.route
	var token, id string
	if !c.inside {
		var err error
		if token, id, err = c.admit(); err != nil {
			return err
		}
	}
	if rt == nil {
		if p := c.r.URL.Path; p == "/v1/responses" || strings.HasPrefix(p, "/v1/responses/") {
			return errOtherSchema()
		}
		return errNoRoute()
	}
	if !rt.takes(c.r.Method) {
		allowed := c.allowed(rt)
		c.w.Header().Set("Allow", allowed)
		if c.r.Method != http.MethodOptions {
			return errMethod(allowed)
		}
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err := c.readHeaders(); err != nil {
		return err
	}
	c.o.Token, c.o.Incoming, c.o.KeyID = token, c.r.Header, id
	if c.o.Surface = providers.SurfaceHTTP; c.inside {
		c.o.Surface = providers.SurfaceTransport
	}
	switch c.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodDelete:
		if err := c.skipBody(); err != nil {
			return err
		}
	}
	return rt.serve(c)
}

// find returns the route of the path and the method, one of the path alone, or
// nil. A prefix that was taken off with its slash is no matter.
func (c *call) find() *route {
	path := c.r.URL.Path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	var found *route
	for i := range c.routes {
		rt := &c.routes[i]
		if found != nil && (found.takes(c.r.Method) || found.path != rt.path) {
			break
		}
		if rest, ok := rt.match(path); ok {
			c.rest, found = rest, rt
		}
	}
	return found
}
