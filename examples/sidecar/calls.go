package main

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/b650d4bf/gateway"
)

// callLog writes one line for each call, without any prompt or answer.
type callLog struct{}

var _ gateway.Observer = callLog{}

// CallStart adds nothing to the call.
func (callLog) CallStart(ctx context.Context, _ gateway.Call) context.Context { return ctx }

// CallEnd writes the line. The error is written with its cause, which HTTP
// clients are not shown.
func (callLog) CallEnd(ctx context.Context, r gateway.Record) {
	attrs := []slog.Attr{
		slog.String("request_id", r.ID), slog.String("slug", r.Meta.Slug), slog.String("model", cmp.Or(r.Meta.Model, r.Model)),
		slog.Bool("stream", r.Stream), slog.Duration("duration", r.Duration), slog.Int("warnings", len(r.Meta.Warnings)),
		slog.String("retry", r.Meta.Retry.String()), slog.String("fallback", r.Meta.Fallback.String()), slog.String("loadbalance", r.Meta.LoadBalance.String()),
	}
	if r.Prompt != "" {
		attrs = append(attrs, slog.String("prompt", r.Prompt), slog.String("prompt_version", r.PromptVersion))
	}
	if u := r.Usage; u != nil {
		attrs = append(attrs, slog.Int64("prompt_tokens", u.PromptTokens), slog.Int64("completion_tokens", u.CompletionTokens))
	}
	level := slog.LevelInfo
	if r.Err != nil {
		level = slog.LevelWarn
		attrs = append(attrs, slog.Any("error", r.Err))
	}
	slog.LogAttrs(ctx, level, "call", attrs...)
}
