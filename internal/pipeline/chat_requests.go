package pipeline

import (
	"context"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// chatRequest is a whole chat completion that a plan asks for.
func (e *Engine) chatRequest(rec *recorder, plan *Plan, req *providers.ChatCompletionRequest) request[*providers.ChatCompletionRequest, *providers.ChatCompletion] {
	op := chatRequest(req, completed)
	op.share = shareChat
	if len(plan.guards) > 0 {
		guards := e.targetGuards(rec)
		op.before = guards.request
		op.after = func(ctx context.Context, t *routing.Try, req *providers.ChatCompletionRequest, out *providers.ChatCompletion) (*providers.ChatCompletion, error) {
			return guards.panel(t).answer(ctx, req, out)
		}
	}
	return op
}

// streamRequest is a streamed chat completion that a plan asks for.
func (e *Engine) streamRequest(rec *recorder, plan *Plan, req *providers.ChatCompletionRequest) request[*providers.ChatCompletionRequest, opened] {
	op := chatRequest(req, atOnce)
	if plan.again {
		op.ask = heldBack
	}
	op.stream, op.share, op.encode = true, shareStream, encodeStream
	if len(plan.guards) > 0 {
		guards := e.targetGuards(rec)
		op.before = guards.request
		op.after = func(ctx context.Context, t *routing.Try, req *providers.ChatCompletionRequest, o opened) (opened, error) {
			o, _, err := guards.panel(t).stream(ctx, req, o)
			return o, err
		}
	}
	return op
}

// encodeStream says that the request is for a stream, as one over HTTP does: a
// caller in the process says so by the call.
func encodeStream(req *providers.ChatCompletionRequest) ([]byte, error) {
	own := *req
	own.Stream = true
	return own.AppendJSON(nil)
}

func shareChat(ctx context.Context, p *place, req *providers.ChatCompletionRequest, ask asker[*providers.ChatCompletionRequest, *providers.ChatCompletion]) (*providers.ChatCompletion, bool, error) {
	return through(ctx, p, &chatKind, req, ask)
}

func shareStream(ctx context.Context, p *place, req *providers.ChatCompletionRequest, ask asker[*providers.ChatCompletionRequest, opened]) (opened, bool, error) {
	return streamed(ctx, p, req, ask)
}

// completion answers from the cache, or asks the only target.
func (p *place) completion(ctx context.Context, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	out, _, err := shareChat(ctx, p, req, func(ctx context.Context, p *place, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
		return p.at.provider.ChatCompletion(ctx, &p.at.target, req)
	})
	return out, err
}

// begin is that for a stream.
func (p *place) begin(ctx context.Context, req *providers.ChatCompletionRequest) (opened, error) {
	out, _, err := shareStream(ctx, p, req, func(ctx context.Context, p *place, req *providers.ChatCompletionRequest) (opened, error) {
		return begin(ctx, p.at, req, false)
	})
	return out, err
}
