package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/b650d4bf/gateway"
)

// viaClient asks the client in its process.
type viaClient struct{ client *gateway.Client }

// requestOf is the request of a job.
func requestOf(j *job) *gateway.ChatCompletionRequest {
	req := &gateway.ChatCompletionRequest{
		Model: "@" + j.Proto + "/" + j.model(), Messages: []gateway.Message{gateway.UserMessage(j.prompt())},
	}
	if !j.Unary {
		req.StreamOptions = &gateway.StreamOptions{IncludeUsage: true}
	}
	if j.Shape == shapeTools {
		req.Tools = []gateway.Tool{gateway.FunctionTool(toolName, "Keeps a piece.", json.RawMessage(toolSchema))}
	}
	if j.Shape == shapeThinking {
		req.Thinking = &gateway.Thinking{Type: "enabled", BudgetTokens: new(thinkingBudget)}
		req.MaxTokens = new(2 * thinkingBudget)
	}
	return req
}

func (v *viaClient) ask(ctx context.Context, j *job, a *answer) error {
	strict := gateway.WithStrictCompliance(j.Shape != shapeThinking)
	if j.Unary {
		whole, err := v.client.Chat.Completions.Create(ctx, requestOf(j), strict)
		if err != nil {
			return err
		}
		v.whole(whole, a)
		return nil
	}
	stream, err := v.client.Chat.Completions.CreateStream(ctx, requestOf(j), strict)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			a.done, a.hit = true, stream.Meta().CacheStatus == gateway.CacheHit
			return nil
		}
		if err != nil {
			return err
		}
		v.chunk(chunk, a)
		if a.leaves() {
			return stream.Close()
		}
	}
}

func (*viaClient) whole(whole *gateway.ChatCompletion, a *answer) {
	seen := time.Now()
	for _, c := range whole.Choices {
		for _, b := range c.Message.ContentBlocks {
			a.thought(b.Thinking, seen)
		}
		a.text(c.Message.Content.Text(), seen)
		for i, call := range c.Message.ToolCalls {
			a.argument(i, call.Function.Arguments, seen)
		}
		a.finish = c.FinishReason
	}
	a.use(whole.Usage.PromptTokens, whole.Usage.CompletionTokens)
	a.done, a.hit = true, whole.Meta.CacheStatus == gateway.CacheHit
}

func (*viaClient) chunk(chunk *gateway.ChatCompletionChunk, a *answer) {
	seen := time.Now()
	for _, c := range chunk.Choices {
		for _, b := range c.Delta.ContentBlocks {
			a.thought(b.Delta.Thinking, seen)
		}
		a.text(c.Delta.Content, seen)
		for _, call := range c.Delta.ToolCalls {
			a.argument(call.Index, call.Function.Arguments, seen)
		}
		if c.FinishReason != "" {
			a.finish = c.FinishReason
		}
	}
	if chunk.Usage != nil {
		a.use(chunk.Usage.PromptTokens, chunk.Usage.CompletionTokens)
	}
}

func (*viaClient) code(err error) string {
	if e, ok := errors.AsType[*gateway.Error](err); ok {
		return string(e.Code)
	}
	return ""
}
