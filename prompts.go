package gateway

import (
	"context"
	"errors"
	"strings"

	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
)

// PromptsService uses stored prompts, which [WithPrompts] gives to a client. It is
// safe for concurrent use.
type PromptsService struct {
	// Completions asks models with stored prompts.
	Completions PromptCompletionsService

	client *Client
}

// PromptCompletionsService asks models with stored prompts. It is safe for
// concurrent use.
type PromptCompletionsService struct{ client *Client }

// Create fills in the prompt and returns the whole answer. The answer's Meta says
// which version of the prompt it was. The caller keeps req, which is not changed.
func (s *PromptCompletionsService) Create(ctx context.Context, req *PromptCompletionRequest, opts ...RequestOption) (*ChatCompletion, error) {
	call, err := s.client.promptOptions(req, opts)
	if err != nil {
		return nil, err
	}
	if req.Overrides.Stream {
		return nil, providers.Invalid("stream", "Create returns the whole answer: use CreateStream for a stream")
	}
	return s.client.promptChat(ctx, call, req)
}

// CreateStream fills in the prompt and returns once the answer has begun, so that
// a refusal is an error here and not in the stream. The stream must be read to
// its end or closed. The caller keeps req, which is not changed.
func (s *PromptCompletionsService) CreateStream(ctx context.Context, req *PromptCompletionRequest, opts ...RequestOption) (*ChatStream, error) {
	call, err := s.client.promptOptions(req, opts)
	if err != nil {
		return nil, err
	}
	stream, err := s.client.promptStream(ctx, call, req)
	if err != nil {
		return nil, err
	}
	return &ChatStream{stream: stream}, nil
}

// Render fills in the prompt and returns the request that Create would send,
// without asking a model. Observers are not told.
func (s *PromptsService) Render(ctx context.Context, req *PromptCompletionRequest) (*RenderedPrompt, error) {
	if _, err := s.client.promptOptions(req, nil); err != nil {
		return nil, err
	}
	return s.client.renderPrompt(ctx, req)
}

// WithPrompts sets where the stored prompts of [Client.Prompts] come from: the
// module github.com/b650d4bf/gateway/prompts reads them from files and catalogs. A
// library gets the context of the call; [WithTimeouts] is not about it.
func WithPrompts(library PromptLibrary) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if library == nil {
			return invalidOption("prompts", "must not be nil")
		}
		cfg.prompts = library
		return nil
	})
}

// Stored prompts, documented in package providers.
type (
	// PromptLibrary finds stored prompts and fills in their variables.
	PromptLibrary = providers.PromptLibrary
	// PromptCompletionRequest asks for a completion of a stored prompt.
	PromptCompletionRequest = providers.PromptCompletionRequest
	// RenderedPrompt is a stored prompt with its variables filled in.
	RenderedPrompt = providers.RenderedPrompt
)

// promptOptions collects the settings of a call. It may be asked of no client.
func (c *Client) promptOptions(req *PromptCompletionRequest, opts []RequestOption) (*pipeline.Settings, error) {
	switch {
	case c == nil:
		return nil, errNoClient()
	case req == nil:
		return nil, providers.Invalid("request", "the request is nil")
	}
	return c.call(opts)
}

func (c *Client) promptChat(ctx context.Context, call *pipeline.Settings, req *PromptCompletionRequest) (*ChatCompletion, error) {
	own, chat, err := c.promptCall(ctx, call, req, false)
	if err != nil {
		return nil, err
	}
	return c.engine.Chat(ctx, c.settings, own, chat)
}

func (c *Client) promptStream(ctx context.Context, call *pipeline.Settings, req *PromptCompletionRequest) (*pipeline.Stream, error) {
	own, chat, err := c.promptCall(ctx, call, req, true)
	if err != nil {
		return nil, err
	}
	return c.engine.ChatStream(ctx, c.settings, own, chat)
}

// promptCall returns the settings and the request of a call with a stored prompt.
// A prompt that can't be rendered is a failed call to observers.
func (c *Client) promptCall(ctx context.Context, call *pipeline.Settings, req *PromptCompletionRequest, stream bool) (*pipeline.Settings, *ChatCompletionRequest, error) {
	own := *call
	rendered, err := c.renderPrompt(ctx, req)
	if err != nil {
		own.Prompt = &RenderedPrompt{ID: req.ID}
		return nil, nil, c.engine.FailPrompt(ctx, c.settings, &own, stream, err)
	}
	own.Prompt = rendered
	rendered.Request.Stream = stream
	return &own, rendered.Request, nil
}

// renderPrompt returns the prompt as the library fills it in, with what the call
// overrides. It and its request are the caller's own.
func (c *Client) renderPrompt(ctx context.Context, req *PromptCompletionRequest) (*RenderedPrompt, error) {
	switch {
	case c.prompts == nil:
		return nil, &Error{Code: ErrPromptNotFound, Message: "the client has no prompt library: give it one with WithPrompts"}
	case strings.TrimSpace(req.ID) == "":
		return nil, providers.Invalid("id", `the id of a prompt is required, such as "welcome" or "welcome@3"`)
	case req.Overrides.Messages != nil:
		return nil, providers.Invalid("messages", "the prompt has the messages: pass a conversation in a variable that the prompt has a placeholder for")
	}
	rendered, err := c.prompts.Render(ctx, req.ID, req.Variables)
	if err != nil {
		return nil, promptError(err)
	}
	if rendered == nil || rendered.Request == nil {
		return nil, &Error{Code: ErrServer, Message: "the prompt library returned no request"}
	}
	own, chat := *rendered, *rendered.Request
	own.Request = &chat
	if err := req.Override(&chat); err != nil {
		return nil, err
	}
	return &own, nil
}

// promptError returns the error of a library as an [Error]. Nothing was sent.
func promptError(err error) error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: ErrTimeout, Message: "the time ran out before the prompt was there", Err: err}
	case errors.Is(err, context.Canceled):
		return &Error{Code: ErrCanceled, Message: "canceled before the prompt was there", Err: err}
	}
	return &Error{Code: ErrServer, Message: "the prompt library failed", Err: err}
}

func (b backend) PromptChat(ctx context.Context, req *PromptCompletionRequest, o *front.Overrides) (*ChatCompletion, error) {
	return b.c.promptChat(ctx, callSettings(o), req)
}

func (b backend) PromptStream(ctx context.Context, req *PromptCompletionRequest, o *front.Overrides) (front.Stream, error) {
	s, err := b.c.promptStream(ctx, callSettings(o), req)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (b backend) PromptRender(ctx context.Context, req *PromptCompletionRequest) (*RenderedPrompt, error) {
	return b.c.renderPrompt(ctx, req)
}
