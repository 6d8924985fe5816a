package bench_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	langcache "github.com/tmc/langchaingo/llms/cache"
	"github.com/tmc/langchaingo/llms/cache/inmemory"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/bench/internal/plan"
)

// counted counts the requests that reach the service.
type counted struct {
	next http.RoundTripper
	n    int
}

func (c *counted) RoundTrip(req *http.Request) (*http.Response, error) {
	c.n++
	return c.next.RoundTrip(req)
}

// openCached makes the call of a library whose cache has the answer, after it was
// checked that the cache gives it, and gives it right.
func openCached(tb testing.TB, lib string, w *work) call {
	tb.Helper()
	l := peer(tb, lib)
	rt := &counted{next: &fixed{ctype: w.ctype(), body: l.schema(w)}}
	ask := cachedGateway
	if lib != plan.Gateway {
		ask = cachedLangChain
	}
	c := ask(tb, w, place{transport: rt})
	for range 3 {
		verify(tb, l, w, c)
	}
	if rt.n != 1 {
		tb.Fatalf("%d requests of 3 reached the service, want 1", rt.n)
	}
	return c
}

func cachedGateway(tb testing.TB, w *work, p place) call {
	tb.Helper()
	c := newGateway(tb, p, gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple, MaxAge: 24 * time.Hour}))
	req := chat(w)
	return func(ctx context.Context, a *got) error {
		out, err := c.Chat.Completions.Create(ctx, req)
		if err == nil {
			a.add(out.Text())
		}
		return err
	}
}

func cachedLangChain(tb testing.TB, w *work, p place) call {
	tb.Helper()
	store, err := inmemory.New(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	c := langcache.New(newLangChain(tb, p), store)
	list, opts := langChainChat(w)
	return func(ctx context.Context, a *got) error {
		out, err := c.GenerateContent(ctx, list, opts...)
		if err == nil && len(out.Choices) > 0 {
			a.add(out.Choices[0].Content)
		}
		return err
	}
}

func TestEveryCacheAnswers(t *testing.T) {
	group := plan.Find("cache")
	for _, row := range group.Rows {
		for _, lib := range row.Libs {
			t.Run(row.Name+"/"+lib, func(t *testing.T) { openCached(t, lib, find(row.Name)) })
		}
	}
}

// BenchmarkCache is a hit, from the request's value to the answer's.
func BenchmarkCache(b *testing.B) {
	group := plan.Find("cache")
	for _, row := range group.Rows {
		b.Run(group.Key+"="+row.Name, func(b *testing.B) {
			for _, lib := range row.Libs {
				b.Run("lib="+lib, func(b *testing.B) { loop(b, openCached(b, lib, find(row.Name))) })
			}
		})
	}
}
