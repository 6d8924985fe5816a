package providertest_test

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync/atomic"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/providertest"
)

// The faults that a fake can have; the zero fake has none.
const (
	faultSilent      = "answers without text"
	faultNoRole      = "forgets the role"
	faultEndMoves    = "returns an error after io.EOF"
	faultNoFinish    = "streams without a finish reason"
	faultEarlyUsage  = "sends the usage first"
	faultOtherShape  = "streams another answer"
	faultSignature   = "signs no call when streaming"
	faultSameIDs     = "gives all calls one id"
	faultPlainError  = "refuses with a plain error"
	faultLateRefusal = "refuses in the stream"
	faultToken       = "tells the token"
	faultDeaf        = "does not look at the context"
	faultCloseTwice  = "closes once only"
	faultEndless     = "goes on after Close"
	faultGreedy      = "changes the request"
	faultNameless    = "does not name itself"
)

// fake is a provider with a platform of its own inside. It signs its calls, and
// wants the signatures back.
type fake struct {
	fault string
	calls atomic.Int64
}

func (f *fake) Name() string { return "fake" }

func (f *fake) provider() string {
	if f.fault == faultNameless {
		return ""
	}
	return "fake"
}

// refuse checks what the platform would.
func (f *fake) refuse(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) error {
	if err := ctx.Err(); err != nil && f.fault != faultDeaf {
		code := providers.ErrCanceled
		if errors.Is(err, context.DeadlineExceeded) {
			code = providers.ErrTimeout
		}
		return &providers.Error{Code: code, Provider: "fake", Err: err}
	}
	if t.Model == providertest.UnknownModel {
		return f.unknown(ctx, t)
	}
	for i := range req.Messages {
		for _, c := range req.Messages[i].ToolCalls {
			if c.Function.ThoughtSignature != "signed "+c.ID {
				return &providers.Error{Code: providers.ErrInvalidRequest, Message: "a signature is missing", Provider: "fake", StatusCode: 400}
			}
		}
	}
	return nil
}

func (f *fake) unknown(ctx context.Context, t *providers.Target) error {
	message := "no such model"
	switch f.fault {
	case faultPlainError:
		return errors.New(message)
	case faultToken:
		if token, err := t.Token.Token(ctx); err == nil {
			message += " for " + token.Value
		}
	}
	return &providers.Error{Code: providers.ErrModelNotFound, Message: message, Provider: f.provider(), StatusCode: 404}
}

// answer makes the chunks of an answer.
func (f *fake) answer(req *providers.ChatCompletionRequest, stream bool) []providers.ChatCompletionChunk {
	if f.fault == faultGreedy {
		req.Messages[0].Name = "changed"
	}
	first, second, finish := providers.Delta{Role: "assistant", Content: "Yes, "}, providers.Delta{Content: "here."}, "stop"
	switch {
	case req.ToolChoice != nil:
		first, second, finish = f.call(0, stream), f.call(1, stream), "tool_calls"
		first.Role = "assistant"
	case f.fault == faultSilent, f.fault == faultOtherShape && stream:
		first.Content, second.Content = "", ""
	}
	if f.fault == faultNoRole && stream {
		first.Role = ""
	}
	if f.fault == faultNoFinish && stream {
		finish = ""
	}
	usage := &providers.Usage{PromptTokens: 3, CompletionTokens: 2, TotalTokens: 5}
	out := []providers.ChatCompletionChunk{
		{Choices: []providers.ChunkChoice{{Delta: first}}},
		{Choices: []providers.ChunkChoice{{Delta: second}}},
		{Choices: []providers.ChunkChoice{{FinishReason: finish}}},
		{Usage: usage},
	}
	if f.fault == faultEarlyUsage {
		out[0].Usage = usage
	}
	for i := range out {
		out[i].ID, out[i].Created, out[i].Model, out[i].Provider = "id", 1, "model-1", f.provider()
	}
	return out
}

func (f *fake) call(index int, stream bool) providers.Delta {
	id := "call_" + strconv.FormatInt(f.calls.Add(1), 10)
	if f.fault == faultSameIDs {
		id = "call_1"
	}
	signature := "signed " + id
	if f.fault == faultSignature && stream {
		signature = ""
	}
	return providers.Delta{ToolCalls: []providers.ToolCallDelta{{Index: index, ID: id, Type: "function", Function: providers.FunctionCall{
		Name: providertest.ToolName, Arguments: `{"city":"Paris"}`, ThoughtSignature: signature,
	}}}}
}

func (f *fake) ChatCompletion(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	if err := f.refuse(ctx, t, req); err != nil {
		return nil, err
	}
	var acc providers.Accumulator
	for _, c := range f.answer(req, false) {
		if err := acc.Add(&c); err != nil {
			return nil, err
		}
	}
	return acc.Completion(), nil
}

func (f *fake) ChatCompletionStream(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	err := f.refuse(ctx, t, req)
	if err != nil && f.fault != faultLateRefusal {
		return nil, err
	}
	r := &reader{fake: f, ctx: ctx, err: err}
	if err == nil {
		r.chunks, r.err = f.answer(req, true), io.EOF
	}
	return r, nil
}

// reader gives out the chunks of a fake's answer.
type reader struct {
	fake   *fake
	ctx    context.Context
	chunks []providers.ChatCompletionChunk
	err    error
	ended  bool
	closed bool
}

func (r *reader) Recv() (*providers.ChatCompletionChunk, error) {
	if r.fake.fault == faultEndless && r.closed {
		return &providers.ChatCompletionChunk{}, nil
	}
	if r.ctx.Err() != nil && len(r.chunks) > 0 && r.fake.fault != faultDeaf {
		r.chunks, r.err = nil, &providers.Error{Code: providers.ErrCanceled, Provider: "fake", Err: r.ctx.Err()}
	}
	if len(r.chunks) == 0 {
		err := r.err
		if r.ended && r.fake.fault == faultEndMoves {
			err = errors.New("nothing is left")
		}
		r.ended = true
		return nil, err
	}
	c := r.chunks[0]
	r.chunks = r.chunks[1:]
	return &c, nil
}

func (r *reader) Close() error {
	if r.closed && r.fake.fault == faultCloseTwice {
		return errors.New("closed already")
	}
	r.closed = true
	return nil
}
