package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

// able is a fake with the optional abilities. Each call takes a second.
type able struct {
	fake
	err  error
	next string // of every page
	got  []string
}

var (
	_ providers.TokenCounter  = (*able)(nil)
	_ providers.ContextCacher = (*able)(nil)
)

func (a *able) asked(ctx context.Context, t *providers.Target, what string) providers.Meta {
	a.note(ctx, t)
	a.got = append(a.got, what)
	time.Sleep(time.Second)
	return providers.Meta{Warnings: []providers.Warning{{Code: providers.WarnUnknown}}}
}

func (a *able) CountTokens(ctx context.Context, t *providers.Target, q *providers.ChatCompletionRequest) (*providers.TokenCount, error) {
	return &providers.TokenCount{TotalTokens: 7, Meta: a.asked(ctx, t, "count "+q.Model)}, a.err
}

func (a *able) CreateCachedContent(ctx context.Context, t *providers.Target, q *providers.CachedContentRequest) (*providers.CachedContent, error) {
	return &providers.CachedContent{Name: "n", Meta: a.asked(ctx, t, "create "+q.Model)}, a.err
}

func (a *able) GetCachedContent(ctx context.Context, t *providers.Target, name string) (*providers.CachedContent, error) {
	return &providers.CachedContent{Name: name, Meta: a.asked(ctx, t, "get "+name)}, a.err
}

func (a *able) UpdateCachedContent(ctx context.Context, t *providers.Target, name string, x providers.CachedContentExpiry) (*providers.CachedContent, error) {
	return &providers.CachedContent{Name: name, Meta: a.asked(ctx, t, "update "+name+" "+x.TTL.String())}, a.err
}

func (a *able) DeleteCachedContent(ctx context.Context, t *providers.Target, name string) error {
	a.asked(ctx, t, "delete "+name)
	return a.err
}

func (a *able) ListCachedContents(ctx context.Context, t *providers.Target, token string) (*providers.CachedContentList, error) {
	meta := a.asked(ctx, t, "list "+token)
	return &providers.CachedContentList{CachedContents: []*providers.CachedContent{{Name: "n"}}, NextPageToken: a.next, Meta: meta}, a.err
}

// operation is one call of an ability, with what it must be recorded as.
type operation struct {
	name, model, asked string
	run                func(context.Context, *Engine, *Settings, *Settings) (providers.Meta, error)
}

// meta returns the Meta of an answer unless the call failed.
func meta(m func() providers.Meta, err error) (providers.Meta, error) {
	if err != nil {
		return providers.Meta{}, err
	}
	return m(), nil
}

func abilities() []operation {
	hour := providers.CachedContentExpiry{TTL: time.Hour}
	return []operation{
		{"count_tokens", "@vx/m", "count @vx/m", func(ctx context.Context, e *Engine, client, call *Settings) (providers.Meta, error) {
			out, err := e.CountTokens(ctx, client, call, ask("@vx/m"))
			return meta(func() providers.Meta { return out.Meta }, err)
		}},
		{"cache.create", "@vx/m", "create @vx/m", func(ctx context.Context, e *Engine, client, call *Settings) (providers.Meta, error) {
			out, err := e.CreateCachedContent(ctx, client, call, &providers.CachedContentRequest{Model: "@vx/m", Messages: ask("").Messages})
			return meta(func() providers.Meta { return out.Meta }, err)
		}},
		{"cache.get", "", "get n", func(ctx context.Context, e *Engine, client, call *Settings) (providers.Meta, error) {
			out, err := e.GetCachedContent(ctx, client, call, "n")
			return meta(func() providers.Meta { return out.Meta }, err)
		}},
		{"cache.extend", "", "update n 1h0m0s", func(ctx context.Context, e *Engine, client, call *Settings) (providers.Meta, error) {
			out, err := e.UpdateCachedContent(ctx, client, call, "n", hour)
			return meta(func() providers.Meta { return out.Meta }, err)
		}},
		{"cache.list", "", "list t", func(ctx context.Context, e *Engine, client, call *Settings) (providers.Meta, error) {
			out, err := e.ListCachedContents(ctx, client, call, "t")
			return meta(func() providers.Meta { return out.CachedContents[0].Meta }, err)
		}},
		{"cache.delete", "", "delete n", func(ctx context.Context, e *Engine, client, call *Settings) (providers.Meta, error) {
			return providers.Meta{}, e.DeleteCachedContent(ctx, client, call, "n")
		}},
	}
}

// inCatalog are settings whose provider is the catalog entry vx.
func inCatalog(t *testing.T) *Settings {
	t.Helper()
	return &Settings{
		Catalog:  entries(t, catalog.Entry{Slug: "vx", Provider: "fake", Region: "eu", ProjectID: "ours", AccessToken: "the-secret-token"}),
		Provider: "@vx",
	}
}

func TestOperationsAreResolvedAndRecorded(t *testing.T) {
	for _, op := range abilities() {
		t.Run(op.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, w := &able{fake: fake{name: "fake"}, next: "u"}, &watcher{name: "w"}
				core, logs := observer.New(zap.DebugLevel)
				client, start := inCatalog(t), time.Now()
				client.Observers, client.Logger = []providers.Observer{w}, zap.New(core)
				got, err := op.run(t.Context(), New(p), client, &Settings{RequestID: "id", Region: "us", Metadata: map[string]string{"a": "b"}})
				if err != nil {
					t.Fatal(err)
				}
				model := strings.TrimPrefix(op.model, "@vx/")
				want := providers.Meta{
					RequestID: "id", Provider: "fake", Slug: "vx", Model: model, CacheStatus: providers.CacheDisabled,
					Warnings: []providers.Warning{{Code: providers.WarnUnknown}},
					Attempts: []providers.Attempt{{Provider: "fake", Slug: "vx", Model: model, StatusCode: 200, Duration: time.Second}},
				}
				if op.name == "cache.delete" { // which has no answer to warn beside
					got, want.Warnings = w.last().Meta, nil
				}
				wantEqual(t, want, got)
				made := providers.Call{ID: "id", Operation: op.name, Model: op.model, Metadata: map[string]string{"a": "b"}, Start: start}
				wantEqual(t, []providers.Call{made}, w.starts)
				wantEqual(t, []providers.Record{{Call: made, Meta: want, Billed: providers.Billed{Region: "us"}, Duration: time.Second}}, w.records)
				wantEqual(t, []string{op.asked}, p.got)
				wantEqual(t, []string{"us", "ours", "vx", model}, []string{p.target.Region, p.target.ProjectID, p.target.Slug, p.target.Model})
				wantEqual(t, "call 1", p.ctx.Value(mark("w")))
				wantEqual(t, 1, logs.Len())
				wantEqual(t, operations[op.name], logs.All()[0].Message)
			})
		})
	}
}

func TestOperationsThatFailAreRecorded(t *testing.T) {
	for _, op := range abilities() {
		t.Run(op.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &able{fake: fake{name: "fake"}, err: &providers.Error{Code: providers.ErrCacheNotFound, Provider: "fake", StatusCode: 404}}
				w := &watcher{}
				core, logs := observer.New(zap.DebugLevel)
				client := inCatalog(t)
				client.Observers, client.Logger = []providers.Observer{w}, zap.New(core)
				_, err := op.run(t.Context(), New(p), client, &Settings{RequestID: "id"})
				e := known(t, err)
				wantEqual(t, []any{providers.ErrCacheNotFound, "id"}, []any{e.Code, e.RequestID})
				if r := w.last(); r.Err != err || len(r.Meta.Attempts) != 1 || r.Meta.Attempts[0].StatusCode != 404 {
					t.Errorf("recorded %+v", r)
				}
				wantEqual(t, operations[op.name]+" failed", logs.All()[0].Message)
			})
		})
	}
}

func TestAnAbilityMayBeMissing(t *testing.T) {
	for _, op := range abilities() {
		t.Run(op.name, func(t *testing.T) {
			p, w := answering(rich), &watcher{}
			client := inCatalog(t)
			client.Observers = []providers.Observer{w}
			_, err := op.run(t.Context(), New(p), client, &Settings{})
			e := known(t, err)
			ability := "providers.ContextCacher"
			if op.name == "count_tokens" {
				ability = "providers.TokenCounter"
			}
			if e.Code != providers.ErrInvalidConfig || e.Param != "provider" || !strings.Contains(e.Message, `"fake"`) ||
				!strings.HasSuffix(e.Message, " "+ability) || e.Sent || p.calls != 0 || len(w.last().Meta.Attempts) != 0 {
				t.Errorf("%v, %+v", err, w.last())
			}
		})
	}
}

func TestOperationsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	p := &able{fake: fake{name: "fake"}}
	e, client, none := New(p), inCatalog(t), &Settings{}
	ctx := t.Context()
	for name, run := range map[string]func() error{
		"no messages to count": func() error {
			_, err := e.CountTokens(ctx, client, none, &providers.ChatCompletionRequest{Model: "m"})
			return err
		},
		"no model to keep for": func() error {
			_, err := e.CreateCachedContent(ctx, client, none, &providers.CachedContentRequest{})
			return err
		},
		"no name to get":    func() error { _, err := e.GetCachedContent(ctx, client, none, ""); return err },
		"no name to delete": func() error { return e.DeleteCachedContent(ctx, client, none, "") },
		"no name to extend": func() error {
			_, err := e.UpdateCachedContent(ctx, client, none, "", providers.CachedContentExpiry{TTL: 1})
			return err
		},
		"no expiry": func() error {
			_, err := e.UpdateCachedContent(ctx, client, none, "n", providers.CachedContentExpiry{})
			return err
		},
	} {
		if err := run(); !errors.Is(err, providers.ErrInvalidRequest) || p.calls != 0 {
			t.Errorf("%s: %v after %d calls", name, err, p.calls)
		}
	}
	_, err := e.GetCachedContent(ctx, client, &Settings{Provider: "@other"}, "n")
	if !errors.Is(err, providers.ErrProviderNotFound) {
		t.Errorf("an unknown slug: %v", err)
	}
	if _, err := e.GetCachedContent(ctx, &Settings{}, none, "n"); !errors.Is(err, providers.ErrInvalidConfig) {
		t.Errorf("no provider: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, op := range abilities() {
		if _, err := op.run(ctx, e, client, none); !errors.Is(err, providers.ErrClosed) {
			t.Errorf("%s after Close: %v", op.name, err)
		}
	}
}

func TestAListThatDoesNotEndIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := &able{fake: fake{name: "fake"}, next: "t"}, &watcher{}
		e := New(p)
		if _, err := e.ListCachedContents(t.Context(), watched(w), &Settings{}, ""); err != nil {
			t.Fatal(err)
		}
		out, err := e.ListCachedContents(t.Context(), watched(w), &Settings{}, "t")
		if fault := known(t, err); out != nil || fault.Code != providers.ErrBadResponse || !fault.Sent || fault.Provider != "fake" {
			t.Errorf("%v, %v", out, err)
		}
	})
}
