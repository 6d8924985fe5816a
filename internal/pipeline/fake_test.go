package pipeline

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"cloud.google.com/go/auth"
	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

func wantEqual(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// fake is a provider that answers as told, and keeps what it was asked.
type fake struct {
	name   string
	answer func(context.Context) (*providers.ChatCompletion, error)
	stream func(context.Context) (providers.ChunkReader, error)

	mu      sync.Mutex
	ctx     context.Context
	target  providers.Target
	calls   int
	closed  int
	closing error
}

func (f *fake) Name() string { return f.name }

func (f *fake) note(ctx context.Context, t *providers.Target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ctx, f.target = ctx, *t
	f.calls++
}

func (f *fake) ChatCompletion(ctx context.Context, t *providers.Target, _ *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	f.note(ctx, t)
	return f.answer(ctx)
}

func (f *fake) ChatCompletionStream(ctx context.Context, t *providers.Target, _ *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	f.note(ctx, t)
	return f.stream(ctx)
}

func (f *fake) Close() error {
	f.closed++
	return f.closing
}

// answering is a fake that makes its answer anew each time.
func answering(answer func() providers.ChatCompletion) *fake {
	return &fake{name: "fake", answer: func(context.Context) (*providers.ChatCompletion, error) {
		return new(answer()), nil
	}}
}

// refusing is a fake that fails before any answer.
func refusing(err error) *fake {
	return &fake{
		name:   "fake",
		answer: func(context.Context) (*providers.ChatCompletion, error) { return nil, err },
		stream: func(context.Context) (providers.ChunkReader, error) { return nil, err },
	}
}

// streaming is a fake whose streams have the chunks and then the error. The
// chunks share what they point to, and serve one stream that is projected.
func streaming(err error, chunks ...providers.ChatCompletionChunk) *fake {
	return &fake{name: "fake", stream: func(context.Context) (providers.ChunkReader, error) {
		return &script{chunks: append([]providers.ChatCompletionChunk(nil), chunks...), err: err}, nil
	}}
}

// script is a reader of given chunks. It repeats its error as the contract
// says, and counts how often it is closed.
type script struct {
	chunks []providers.ChatCompletionChunk
	err    error
	closed int
	fail   error // of Close
}

func (s *script) Recv() (*providers.ChatCompletionChunk, error) {
	if len(s.chunks) == 0 {
		return nil, s.err
	}
	c := s.chunks[0]
	s.chunks = s.chunks[1:]
	c.Choices = append([]providers.ChunkChoice(nil), c.Choices...)
	return &c, nil
}

func (s *script) Close() error {
	s.closed++
	return s.fail
}

// token is a source of one access token.
func token(value string) auth.TokenProvider { return NewStaticToken(value) }

// tokenOf is the value a source gives, or "" for no source.
func tokenOf(t *testing.T, src auth.TokenProvider) string {
	t.Helper()
	if src == nil {
		return ""
	}
	tok, err := src.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tok.Value
}

// placed is a token source that knows where it belongs.
type placed struct {
	auth.TokenProvider
	project, universe string
	err               error
}

func (p placed) ProjectID(context.Context) (string, error) { return p.project, p.err }

func (p placed) UniverseDomain(context.Context) (string, error) { return p.universe, p.err }

// entries is a catalog of the given entries.
func entries(t *testing.T, list ...catalog.Entry) *catalog.Memory {
	t.Helper()
	c, err := catalog.New(list...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// brokenCatalog cannot be asked.
type brokenCatalog struct{ err error }

func (b brokenCatalog) Lookup(string) (catalog.Entry, error) { return catalog.Entry{}, b.err }

func (brokenCatalog) Slugs() []string { return nil }

// here are settings that say by themselves where to go and as whom.
func here() *Settings {
	return &Settings{ProjectID: "p", Region: "r", Token: token("client")}
}

func ask(model string) *providers.ChatCompletionRequest {
	return &providers.ChatCompletionRequest{
		Model: model, Messages: []providers.Message{providers.UserMessage("the secret prompt")},
	}
}

// known returns the error as an Error, or fails the test.
func known(t *testing.T, err error) *providers.Error {
	t.Helper()
	var e *providers.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an Error", err)
	}
	return e
}

// read reads a stream to its end.
func read(s *Stream) (chunks []*providers.ChatCompletionChunk, err error) {
	for {
		c, err := s.Recv()
		if err == io.EOF { // the contract is io.EOF itself
			return chunks, nil
		}
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, c)
	}
}
