package gateway

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/b650d4bf/gateway/internal/completions"
	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
)

// TextCompletionsService completes texts, in the schema that is older than that
// of chat completions. Every model that the client reaches can be asked in it:
// a prompt goes as a chat completion, with one user message, so that configs,
// guards and everything else of a chat completion work. Observers are told of
// one call for each prompt. It is safe for concurrent use.
//
// Source: https://platform.openai.com/docs/api-reference/completions
type TextCompletionsService struct{ client *Client }

// Create completes the prompts and returns the whole answer. Several prompts are
// asked about a few at a time; the first failure ends the call. The caller keeps
// req, which is not changed. A request with Stream set is refused: use
// CreateStream.
func (s *TextCompletionsService) Create(ctx context.Context, req *CompletionRequest, opts ...RequestOption) (*Completion, error) {
	call, err := s.prepare(req, opts)
	if err != nil {
		return nil, err
	}
	if req.Stream {
		return nil, providers.Invalid("stream", "Create returns the whole answer: use CreateStream for a stream")
	}
	return s.client.complete(ctx, call, req)
}

// CreateStream completes the prompts and returns once an answer has begun, so
// that a refusal before it is an error here and not in the stream. The pieces of
// several prompts come as they are made: their Index tells them apart. The stream
// must be read to its end or closed. The caller keeps req, which is not changed.
func (s *TextCompletionsService) CreateStream(ctx context.Context, req *CompletionRequest, opts ...RequestOption) (*CompletionStream, error) {
	call, err := s.prepare(req, opts)
	if err != nil {
		return nil, err
	}
	stream, err := s.client.completeStream(ctx, call, req)
	if err != nil {
		return nil, err
	}
	return &CompletionStream{stream}, nil
}

func (s *TextCompletionsService) prepare(req *CompletionRequest, opts []RequestOption) (*pipeline.Settings, error) {
	switch {
	case s.client == nil:
		return nil, errNoClient()
	case req == nil:
		return nil, providers.Invalid("request", "the request is nil")
	}
	return s.client.call(opts)
}

func (c *Client) complete(ctx context.Context, call *pipeline.Settings, req *CompletionRequest) (*Completion, error) {
	call = inSchema(call, providers.SchemaTextCompletion)
	return completions.Create(ctx, req, c.total(call), func(ctx context.Context, chat *ChatCompletionRequest) (*ChatCompletion, error) {
		return c.engine.Chat(ctx, c.settings, call, chat)
	})
}

// inSchema returns the settings of a call whose request came in another schema than
// that of its operation.
func inSchema(call *pipeline.Settings, schema string) *pipeline.Settings {
	own := *call
	own.Schema = schema
	return &own
}

func (c *Client) completeStream(ctx context.Context, call *pipeline.Settings, req *CompletionRequest) (*completions.Stream, error) {
	call = inSchema(call, providers.SchemaTextCompletion)
	return completions.Open(ctx, req, c.total(call), func(ctx context.Context, chat *ChatCompletionRequest) (completions.Source, error) {
		s, err := c.engine.ChatStream(ctx, c.settings, call, chat)
		if err != nil {
			return nil, err
		}
		return s, nil
	})
}

// Complete and the others below are what the HTTP front asks for.
func (b backend) Complete(ctx context.Context, req *CompletionRequest, o *front.Overrides) (*Completion, error) {
	return b.c.complete(ctx, callSettings(o), req)
}

func (b backend) CompleteStream(ctx context.Context, req *CompletionRequest, o *front.Overrides) (front.CompletionStream, error) {
	s, err := b.c.completeStream(ctx, callSettings(o), req)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (b backend) ChatTokens(ctx context.Context, req *ChatCompletionRequest, o *front.Overrides) (*TokenCount, error) {
	return b.c.engine.CountTokens(ctx, b.c.settings, callSettings(o), req)
}

// total is the limit of a whole call, 0 for none.
func (c *Client) total(call *pipeline.Settings) time.Duration {
	return max(0, pipeline.Overlay(c.settings.Timeouts, call.Timeouts).Total)
}

// CompletionStream is a streamed text completion. Range over Pieces, or pull with
// Recv, or take the whole with Collect. It belongs to one goroutine at a time;
// only Close may be called from any.
type CompletionStream struct{ stream *completions.Stream }

// Recv returns the next piece, io.EOF after the last one of a whole answer, or an
// *[Error]. After the first error each further call repeats it.
func (s *CompletionStream) Recv() (*Completion, error) { return s.stream.Recv() }

// Pieces returns the pieces for a range loop. It can be ranged over once. An
// error is the last element; leaving the loop closes the stream.
//
//	for piece, err := range stream.Pieces() {
//		if err != nil { … }
//	}
func (s *CompletionStream) Pieces() iter.Seq2[*Completion, error] {
	return func(yield func(*Completion, error) bool) {
		defer func() { _ = s.Close() }()
		for {
			piece, err := s.Recv()
			var e *Error // one that has io.EOF for a cause is not the end
			if errors.Is(err, io.EOF) && !errors.As(err, &e) {
				return
			}
			if !yield(piece, err) || err != nil {
				return
			}
		}
	}
}

// Collect reads the stream to its end and returns the whole answer, the same
// that Create would have returned.
func (s *CompletionStream) Collect() (*Completion, error) { return s.stream.Collect() }

// Meta says what the gateway did for the answer. It is complete at the stream's
// end.
func (s *CompletionStream) Meta() Meta { return s.stream.Meta() }

// Close ends the stream and releases its connections. It is idempotent, and
// needed only when the stream was not read to its end.
func (s *CompletionStream) Close() error { return s.stream.Close() }

// Text completions, documented in package providers.
type (
	// CompletionRequest is the body of a text completion.
	CompletionRequest = providers.CompletionRequest
	// CompletionPrompt is what to complete: one text or a list of them.
	CompletionPrompt = providers.CompletionPrompt
	// Completion is the whole answer, or a piece of a streamed one.
	Completion = providers.Completion
	// CompletionChoice is one text of a [Completion].
	CompletionChoice = providers.CompletionChoice
	// CompletionLogprobs holds the log probabilities of a text's tokens.
	CompletionLogprobs = providers.CompletionLogprobs
	// CompletionAlternative is a token that could have been at a place.
	CompletionAlternative = providers.CompletionAlternative
)

// PromptText is a prompt of one text.
func PromptText(text string) CompletionPrompt { return providers.PromptText(text) }

// PromptTexts is a prompt of several texts, each of which is completed for
// itself.
func PromptTexts(texts ...string) CompletionPrompt { return providers.PromptTexts(texts...) }
