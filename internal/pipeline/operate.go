package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// The operations, as observers and logs name them.
const (
	opChat        = "chat"
	opEmbeddings  = "embeddings"
	opCountTokens = "count_tokens"
	opCacheCreate = "cache.create"
	opCacheGet    = "cache.get"
	opCacheList   = "cache.list"
	opCacheExtend = "cache.extend"
	opCacheDelete = "cache.delete"
)

// operations says what an operation is in the message of its log entry.
var operations = map[string]string{
	opChat: "chat completion", opEmbeddings: "embeddings", opCountTokens: "token count", opCacheCreate: "cached content creation",
	opCacheGet: "cached content lookup", opCacheList: "cached content listing",
	opCacheExtend: "cached content extension", opCacheDelete: "cached content deletion",
	opImages: "images", opSpeech: "speech", opRerank: "rerank",
	opFileCreate: "file upload", opFileGet: "file lookup", opFileContent: "file download", opFileList: "file listing", opFileDelete: "file deletion",
	opBatchCreate: "batch creation", opBatchGet: "batch lookup", opBatchList: "batch listing", opBatchCancel: "batch cancellation",
	opBatchResults:                      "batch results",
	opNative + providers.NativeGenerate: "native generation", opNative + providers.NativeCount: "native token count",
	opNative + providers.NativeCompute: "native tokens", opNative + providers.NativeEmbed: "native embedding",
	opNative + providers.NativeBatchEmbed: "native embeddings", opNative + providers.NativePredict: "native prediction",
}

// task is one call of an optional ability of a provider.
type task struct {
	client, call *Settings
	operation    string
	model        string       // empty when the operation names none
	check        func() error // finds what is wrong before anything else; may be nil
	lasts        bool         // what it answers is read later, under the same context
}

// within bounds the task by the limit on the whole call, pauses and the wait for
// credentials included. The providers bound by it the requests of one that lasts.
func (t *task) within(ctx context.Context, start time.Time) (context.Context, context.CancelFunc) {
	total := timeouts(t.client.Timeouts, t.call.Timeouts).Total
	if total <= 0 || t.lasts {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, start.Add(total))
}

// run runs a task on a provider that implements the interface A, as
// record(resolve(do)). What do returns is the answer's Meta: it holds the
// provider's warnings, and run fills in the rest.
func run[A any](ctx context.Context, e *Engine, t *task, do func(context.Context, A, *providers.Target) (*providers.Meta, error)) error {
	rec := newRecorder(t.client, t.call, t.operation, t.model, nil)
	ctx, cancel := t.within(rec.start(ctx), rec.record.Start)
	defer cancel()
	meta, err := attempt(ctx, e, t, rec, do)
	if err != nil {
		err = rec.fail(err)
		rec.end()
		return err
	}
	rec.warnings(meta.Warnings)
	rec.attempt(nil)
	*meta = rec.record.Meta
	rec.end()
	return nil
}

func attempt[A any](ctx context.Context, e *Engine, t *task, rec *recorder, do func(context.Context, A, *providers.Target) (*providers.Meta, error)) (*providers.Meta, error) {
	if err := e.allowed(rec); err != nil {
		return nil, err
	}
	if t.check != nil {
		if err := t.check(); err != nil {
			return nil, err
		}
	}
	if err := e.resolve(ctx, t.client, t.call, t.model, &rec.route); err != nil {
		return nil, err
	}
	p, err := abilityOf[A](&rec.route)
	if err != nil {
		return nil, err
	}
	rec.routed()
	return do(ctx, p, &rec.route.target)
}

// abilityOf returns the route's provider as the ability A.
func abilityOf[A any](r *route) (A, error) {
	p, ok := r.provider.(A)
	if !ok {
		return p, &providers.Error{
			Code: providers.ErrInvalidConfig, Param: "provider",
			Message: fmt.Sprintf("the provider %q can't do this: it does not implement %s", r.target.Provider, fmt.Sprintf("%T", (*A)(nil))[1:]),
		}
	}
	return p, nil
}

// CountTokens counts the tokens of the prompt that req makes.
func (e *Engine) CountTokens(ctx context.Context, client, call *Settings, req *providers.ChatCompletionRequest) (*providers.TokenCount, error) {
	rec := newRecorder(client, call, opCountTokens, req.Model, metadataOf(req))
	if ctx = rec.start(ctx); rec.shows() {
		rec.request(req.AppendJSON(nil))
	}
	out, err := e.countTokens(ctx, rec, client, call, req)
	if err != nil {
		err = rec.fail(err)
		rec.end()
		return nil, err
	}
	rec.warnings(out.Meta.Warnings)
	rec.attempt(nil)
	out.Meta = rec.record.Meta
	rec.end()
	return out, nil
}

func (e *Engine) countTokens(ctx context.Context, rec *recorder, client, call *Settings, req *providers.ChatCompletionRequest) (*providers.TokenCount, error) {
	if err := e.allowed(rec); err != nil {
		return nil, err
	}
	plan, err := e.plan(client, call)
	if err != nil {
		return nil, err
	}
	if plan != nil {
		if err := e.check(req); err != nil {
			return nil, err
		}
		op := chatRequest(req, counted)
		op.free = true
		return planned(ctx, e, rec, client, call, plan, op)
	}
	if err := e.prepare(ctx, rec, client, call, req); err != nil {
		return nil, err
	}
	return counted(ctx, &rec.route, req, nil)
}

// counted asks the provider of a route for the size of a prompt.
func counted(ctx context.Context, at *route, req *providers.ChatCompletionRequest, _ *routing.Try) (*providers.TokenCount, error) {
	p, err := abilityOf[providers.TokenCounter](at)
	if err != nil {
		return nil, err
	}
	at.target.Labels = nil // they are for the bill, and a count has none
	return p.CountTokens(ctx, &at.target, req)
}

// CreateCachedContent keeps what req holds at the platform.
func (e *Engine) CreateCachedContent(ctx context.Context, client, call *Settings, req *providers.CachedContentRequest) (*providers.CachedContent, error) {
	t := task{client: client, call: call, operation: opCacheCreate, model: req.Model, check: req.Validate}
	return cached(ctx, e, &t, func(ctx context.Context, p providers.ContextCacher, to *providers.Target) (*providers.CachedContent, error) {
		return p.CreateCachedContent(ctx, to, req)
	})
}

// GetCachedContent returns what the platform knows of a cached content.
func (e *Engine) GetCachedContent(ctx context.Context, client, call *Settings, name string) (*providers.CachedContent, error) {
	t := task{client: client, call: call, operation: opCacheGet, check: named(name)}
	return cached(ctx, e, &t, func(ctx context.Context, p providers.ContextCacher, to *providers.Target) (*providers.CachedContent, error) {
		return p.GetCachedContent(ctx, to, name)
	})
}

// UpdateCachedContent sets when a cached content expires.
func (e *Engine) UpdateCachedContent(ctx context.Context, client, call *Settings, name string, expiry providers.CachedContentExpiry) (*providers.CachedContent, error) {
	t := task{client: client, call: call, operation: opCacheExtend, check: func() error {
		if err := named(name)(); err != nil {
			return err
		}
		return expiry.Validate()
	}}
	return cached(ctx, e, &t, func(ctx context.Context, p providers.ContextCacher, to *providers.Target) (*providers.CachedContent, error) {
		return p.UpdateCachedContent(ctx, to, name, expiry)
	})
}

// cached runs a task whose answer is one cached content.
func cached(ctx context.Context, e *Engine, t *task, do func(context.Context, providers.ContextCacher, *providers.Target) (*providers.CachedContent, error)) (*providers.CachedContent, error) {
	var out *providers.CachedContent
	err := run(ctx, e, t, func(ctx context.Context, p providers.ContextCacher, to *providers.Target) (*providers.Meta, error) {
		got, err := do(ctx, p, to)
		if err != nil {
			return nil, err
		}
		out = got
		return &out.Meta, nil
	})
	return out, err
}

// DeleteCachedContent ends a cached content.
func (e *Engine) DeleteCachedContent(ctx context.Context, client, call *Settings, name string) error {
	t := task{client: client, call: call, operation: opCacheDelete, check: named(name)}
	return run(ctx, e, &t, func(ctx context.Context, p providers.ContextCacher, to *providers.Target) (*providers.Meta, error) {
		return new(providers.Meta), p.DeleteCachedContent(ctx, to, name)
	})
}

// ListCachedContents returns one page of cached contents. Each of them has the
// Meta of the page.
func (e *Engine) ListCachedContents(ctx context.Context, client, call *Settings, pageToken string) (*providers.CachedContentList, error) {
	var out *providers.CachedContentList
	t := task{client: client, call: call, operation: opCacheList}
	err := run(ctx, e, &t, func(ctx context.Context, p providers.ContextCacher, to *providers.Target) (*providers.Meta, error) {
		var err error
		if out, err = p.ListCachedContents(ctx, to, pageToken); err != nil {
			return nil, err
		}
		if pageToken != "" && out.NextPageToken == pageToken {
			return nil, &providers.Error{
				Code: providers.ErrBadResponse, Provider: to.Provider, Sent: true,
				Message: "the platform's list does not end: a page names itself as the next one",
			}
		}
		return &out.Meta, nil
	})
	if err != nil {
		return nil, err
	}
	for _, c := range out.CachedContents {
		c.Meta = out.Meta
	}
	return out, nil
}

// named refuses a name that is missing.
func named(name string) func() error {
	return func() error {
		if name == "" {
			return providers.Invalid("name", "the name of a cached content is required")
		}
		return nil
	}
}
