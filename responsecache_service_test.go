package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestResponseCacheService(t *testing.T) {
	k := newCacheKit(t, semantic)
	service, ctx := &k.client.ResponseCache, t.Context()
	one := k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
	k.ask(gateway.CacheMiss, says("[cars] How do I wash my car?"), gateway.WithCacheNamespace("n"))
	list, err := service.List(ctx, cache.Filter{})
	if err != nil || len(list) != 2 {
		t.Fatalf("%d entries, %v", len(list), err)
	}
	for _, e := range list {
		if e.Body != nil || e.Model != first || e.Operation != "chat" || len(e.Parts) == 0 {
			t.Errorf("%+v", e)
		}
	}
	t.Run("says why a request misses", func(t *testing.T) {
		req := says("[pets] How do I feed my cat?")
		req.Temperature = new(0.5)
		got, err := service.Inspect(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != gateway.CacheMiss || got.Nearest != one.Meta.Cache.Key || !gocmp.Equal(got.Differs, []string{"params"}) || got.Model != first {
			t.Errorf("%+v", got)
		}
		got, err = service.Inspect(ctx, says("[pets] How do I feed my dog?"))
		if err != nil || got.Status != gateway.CacheMiss || len(got.Similar) != 1 || got.Similar[0].Refused == "" || !gocmp.Equal(got.Differs, []string{"messages"}) {
			t.Errorf("%+v, %v", got, err)
		}
		got, err = service.Inspect(ctx, says("[pets] How can I feed my cat?"))
		if err != nil || got.Status != gateway.CacheSemanticHit || got.Similar[0].Similarity < 0.99 {
			t.Errorf("%+v, %v", got, err)
		}
		got, err = service.Inspect(ctx, says("[pets] How do I feed my cat?"))
		if err != nil || got.Status != gateway.CacheHit || got.Key != one.Meta.Cache.Key {
			t.Errorf("%+v, %v", got, err)
		}
		got, err = service.Inspect(ctx, says("hello"), gateway.WithDebug(false))
		if err != nil || got.Status != gateway.CacheDisabled || got.Reason == "" {
			t.Errorf("%+v, %v", got, err)
		}
		got, err = service.Inspect(ctx, says("hello"), gateway.WithConfig(configOf(t, `{"targets":[{"cache":{"mode":"simple","max_age":60},"override_params":{"model":%q}}]}`, second)))
		if err != nil || got.Model != second || got.MaxAge != time.Minute {
			t.Errorf("%+v, %v", got, err)
		}
		k.asked(2)
	})
	if err := service.Delete(ctx, one.Meta.Cache.Key); err != nil {
		t.Fatal(err)
	}
	k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
	if n, err := service.DeleteNamespace(ctx, "n"); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := service.Clear(ctx, cache.Filter{}); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if s := service.Stats(); s.Misses != 3 || s.Stored != 3 || s.Store.Entries != 0 {
		t.Errorf("%+v", s)
	}
	if err := service.Delete(ctx, "no key"); !errors.Is(err, gateway.ErrInvalidRequest) {
		t.Error(err)
	}
	_ = k.client.Close()
	if _, err := service.List(ctx, cache.Filter{}); !errors.Is(err, gateway.ErrClosed) {
		t.Error(err)
	}
}

// TestResponseCacheKeepsNothingOfTheCaller changes request and answers after the
// fact.
func TestResponseCacheKeepsNothingOfTheCaller(t *testing.T) {
	k := newCacheKit(t, simple)
	req := says("hello")
	one := k.ask(gateway.CacheMiss, req)
	want := one.Text()
	one.Choices[0].Message = gateway.AssistantMessage("changed")
	two := k.ask(gateway.CacheHit, says("hello"))
	two.Choices[0].FinishReason, two.Usage.TotalTokens = "x", 99
	three := k.ask(gateway.CacheHit, says("hello"))
	if three.Text() != want || three.Choices[0].FinishReason != "stop" || three.Usage.TotalTokens == 99 {
		t.Errorf("%+v", three)
	}
	s, err := k.client.Chat.Completions.CreateStream(t.Context(), says("other"))
	if err != nil {
		t.Fatal(err)
	}
	for {
		c, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Choices {
			c.Choices[i].Delta.Content = "changed"
		}
	}
	if got := k.ask(gateway.CacheHit, says("other")).Text(); strings.Contains(got, "changed") {
		t.Errorf("%q", got)
	}
}

func TestResponseCacheInOtherSchemas(t *testing.T) {
	k := newCacheKit(t, simple)
	h := k.client.Handler()
	body := `{"model":"` + first + `","max_tokens":64,"messages":[{"role":"user","content":"hello"}]}`
	for _, want := range []string{"miss", "hit"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/messages", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("X-Gateway-Cache-Status"); got != want || w.Code != http.StatusOK {
			t.Errorf("%s, want %s: %d %s", got, want, w.Code, w.Body)
		}
	}
	k.asked(1)
}

// TestResponseCacheEmbedsWhereTheCallGoes has a config alone say where everything is.
func TestResponseCacheEmbedsWhereTheCallGoes(t *testing.T) {
	list, err := catalog.Parse([]byte(`{"providers":{"eu":{"provider":"vertex-ai","project_id":"p-eu","region":"europe-west4","access_token":"t-eu"}},
		"configs":{"c":{"cache":{"mode":"semantic","threshold":0.8},"targets":[{"provider":"@eu"}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	srv := vertextest.New()
	t.Cleanup(srv.Close)
	client, err := gateway.New(gateway.WithCatalog(list), gateway.WithConfigID("c"), gateway.WithHTTPClient(&http.Client{Transport: srv.Transport()}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	k := &cacheKit{t: t, client: client, srv: srv}
	k.ask(gateway.CacheMiss, says("How do I feed my cat?"))
	k.ask(gateway.CacheSemanticHit, says("How can I feed my cat?"))
	for _, r := range srv.Requests() {
		if !strings.Contains(r.Path, "/projects/p-eu/locations/europe-west4/") {
			t.Errorf("%s was asked", r.Path)
		}
	}
	k.asked(3)
}

// TestResponseCacheComparesWithinOneSpace shares a store between clients with
// different embeddings.
func TestResponseCacheComparesWithinOneSpace(t *testing.T) {
	store, err := cache.NewMemory(cache.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	same := func(context.Context, string) ([]float32, error) { return []float32{1, 0}, nil }
	kit := func(model string) *cacheKit {
		return newCacheKit(t, semantic, gateway.WithCacheStore(store), gateway.WithCacheEmbedding(gateway.CacheEmbedding{Model: model, Func: same}))
	}
	one, two, again := kit("a"), kit("b"), kit("a")
	one.ask(gateway.CacheMiss, says("How do I feed my cat?"))
	two.ask(gateway.CacheMiss, says("How can I feed my cat?"))
	again.ask(gateway.CacheSemanticHit, says("How could I feed my cat?"))
	again.ask(gateway.CacheHit, says("How do I feed my cat?"))
}

// TestResponseCacheRefreshSharesWithNobody has a refresh come while the same is asked.
func TestResponseCacheRefreshSharesWithNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCacheKit(t, simple)
		k.srv.Script(vertextest.Text("first").After(2*time.Second), vertextest.Text("refreshed").After(5*time.Second))
		each(2, func(i int) {
			if i == 0 {
				k.ask(gateway.CacheMiss, says("hello"))
				return
			}
			time.Sleep(time.Second)
			if got := k.ask(gateway.CacheRefreshed, says("hello"), gateway.WithCacheForceRefresh()).Text(); got != "refreshed" {
				t.Errorf("%q", got)
			}
		})
		if got := k.ask(gateway.CacheHit, says("hello")).Text(); got != "refreshed" {
			t.Errorf("%q", got)
		}
	})
}

// TestResponseCacheGoesOnToTheNextTarget has a target run out of its own time, and the
// next one answer: from the cache by then, once the first is late again.
func TestResponseCacheGoesOnToTheNextTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCacheKit(t, gateway.WithConfig(configOf(t, `{"cache":{"mode":"simple"},"strategy":{"mode":"fallback"},"targets":[{"request_timeout":2000},{"override_params":{"temperature":0.5}}]}`)))
		k.srv.Script(vertextest.Text("late").After(time.Minute), vertextest.Text("in time"))
		out := k.ask(gateway.CacheMiss, says("hello"))
		if out.Text() != "in time" || len(out.Meta.Attempts) != 2 || out.Meta.Attempts[0].Code != gateway.ErrTimeout {
			t.Errorf("%q, %+v", out.Text(), out.Meta.Attempts)
		}
		k.srv.Script(vertextest.Text("late").After(time.Minute))
		again, err := k.client.Chat.Completions.Create(t.Context(), says("hello"))
		if err != nil || again.Text() != "in time" || again.Meta.CacheStatus != gateway.CacheHit || len(again.Meta.Attempts) != 1 {
			t.Errorf("%+v, %v", again, err)
		}
	})
}
