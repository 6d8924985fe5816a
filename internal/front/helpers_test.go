package front

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/b650d4bf/gateway/internal/messages"
	"github.com/b650d4bf/gateway/providers"
)

const (
	chatPath = "/v1/chat/completions"
	hello    = `{"model":"m","messages":[{"role":"user","content":"Hello"}]}`
	helloSSE = `{"model":"m","messages":[{"role":"user","content":"Hello"}],"stream":true}`
)

// fake is a backend that answers what it is told to and keeps what it was
// asked.
type fake struct {
	fakeServices
	fakeNative
	FilesBackend // nil: its tests have one of their own

	answer *providers.ChatCompletion
	stream Stream
	models []Model
	count  providers.TokenCount
	err    error

	vectors *providers.EmbeddingResponse
	prompt  *providers.PromptCompletionRequest
	text    fakeText
	caches  fakeCaches

	mu        sync.Mutex
	calls     int
	embedding *providers.EmbeddingRequest
	request   *providers.ChatCompletionRequest
	overrides Overrides
}

var _ Backend = (*fake)(nil)

func (f *fake) note(req *providers.ChatCompletionRequest, o *Overrides) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	f.request, f.overrides = req, *o
}

func (f *fake) Chat(_ context.Context, req *providers.ChatCompletionRequest, o *Overrides) (*providers.ChatCompletion, error) {
	f.note(req, o)
	if f.err != nil {
		return nil, f.err
	}
	return cmp.Or(f.answer, &providers.ChatCompletion{ID: "a", Model: "m-1", Created: 7}), nil
}

func (f *fake) ChatStream(ctx context.Context, req *providers.ChatCompletionRequest, o *Overrides) (Stream, error) {
	f.note(req, o)
	if f.err != nil {
		return nil, f.err
	}
	if s, ok := f.stream.(*script); ok {
		s.ctx = ctx
	}
	return f.stream, nil
}

func (f *fake) Embeddings(_ context.Context, req *providers.EmbeddingRequest, o *Overrides) (*providers.EmbeddingResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	f.embedding, f.overrides = req, *o
	if f.err != nil {
		return nil, f.err
	}
	return cmp.Or(f.vectors, &providers.EmbeddingResponse{Model: req.Model}), nil
}

func (f *fake) Messages(ctx context.Context, req *messages.Request, o *Overrides) (*MessageAnswer, error) {
	out, err := f.Chat(ctx, &req.Chat, o)
	if err != nil {
		return nil, err
	}
	body, warnings, err := messages.AppendMessage(nil, out, true)
	out.Meta.Warnings = append(out.Meta.Warnings, warnings...)
	return &MessageAnswer{body, out.Meta}, err
}

func (f *fake) MessagesStream(ctx context.Context, req *messages.Request, o *Overrides) (MessageStream, error) {
	s, err := f.ChatStream(ctx, &req.Chat, o)
	if err != nil {
		return nil, err
	}
	return messages.NewStream(s, req, true), nil
}

func (f *fake) MessagesTokens(_ context.Context, req *messages.Request, o *Overrides) (*providers.TokenCount, error) {
	f.note(&req.Chat, o)
	return &f.count, f.err
}

func (f *fake) PromptChat(ctx context.Context, req *providers.PromptCompletionRequest, o *Overrides) (*providers.ChatCompletion, error) {
	f.prompt = req
	return f.Chat(ctx, &req.Overrides, o)
}

func (f *fake) PromptStream(ctx context.Context, req *providers.PromptCompletionRequest, o *Overrides) (Stream, error) {
	f.prompt = req
	return f.ChatStream(ctx, &req.Overrides, o)
}

func (f *fake) PromptRender(_ context.Context, req *providers.PromptCompletionRequest) (*providers.RenderedPrompt, error) {
	f.prompt = req
	out := &providers.RenderedPrompt{ID: req.ID, Version: "3", Request: &req.Overrides}
	return out, f.err
}

func (f *fake) Models(context.Context) ([]Model, error) { return f.models, f.err }

// script is a stream of texts that ends in err. With hold set it then waits
// for the end of its context instead.
type script struct {
	texts []string
	err   error
	hold  bool
	meta  providers.Meta

	ctx    context.Context
	closed chan struct{} // is closed by Close
}

func newScript(err error, texts ...string) *script {
	return &script{texts: texts, err: err, closed: make(chan struct{})}
}

func (s *script) Recv() (*providers.ChatCompletionChunk, error) {
	if len(s.texts) > 0 {
		chunk := textChunk(s.texts[0])
		s.texts = s.texts[1:]
		return chunk, nil
	}
	if s.hold {
		<-s.ctx.Done()
		return nil, s.ctx.Err()
	}
	return nil, s.err
}

func (s *script) Meta() providers.Meta { return s.meta }

// Close fails loudly when it is called twice.
func (s *script) Close() error {
	close(s.closed)
	return nil
}

func (s *script) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

func textChunk(text string) *providers.ChatCompletionChunk {
	return &providers.ChatCompletionChunk{
		ID: "a", Model: "m-1", Created: 7,
		Choices: []providers.ChunkChoice{{Delta: providers.Delta{Content: text}}},
	}
}

// ask sends one request to a new handler, without a socket. header holds
// names and values in turn.
func ask(t *testing.T, cfg Config, b Backend, method, path, body string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	New(cfg, b).ServeHTTP(w, r)
	return w.Result()
}

// envelope is the OpenAI error envelope.
type envelope struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
	Provider string `json:"provider"`
}

func (e *envelope) param() string {
	if e.Error.Param == nil {
		return ""
	}
	return *e.Error.Param
}

// readEnvelope checks that the answer is an error as it should be.
func readEnvelope(t *testing.T, res *http.Response) envelope {
	t.Helper()
	var e envelope
	body := readBody(t, res)
	if err := json.Unmarshal([]byte(body), &e); err != nil || e.Error.Code == "" || e.Error.Type == "" || e.Error.Message == "" {
		t.Fatalf("status %d, body %q is no error envelope: %v", res.StatusCode, body, err)
	}
	if got := res.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type = %q", got)
	}
	if res.Header.Get("x-gateway-request-id") == "" {
		t.Error("no request id")
	}
	return e
}

func readBody(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
