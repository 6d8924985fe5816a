package gateway_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// wild is a store that does not keep to the contract: it runs bad in each
// operation, and what it finds is nothing or means nothing.
type wild struct{ bad func() }

func (s wild) Get(context.Context, cache.Key) (*cache.Entry, bool, error) {
	s.bad()
	return nil, true, nil
}

func (s wild) Set(context.Context, *cache.Entry) error { s.bad(); return nil }

func (s wild) Delete(context.Context, cache.Key) error { s.bad(); return nil }

func (s wild) Search(_ context.Context, q *cache.Query) ([]cache.Match, error) {
	s.bad()
	e := &cache.Entry{Group: q.Group, Vector: q.Vector, Created: time.Now(), Expires: time.Now().Add(time.Hour), Body: []byte("x")}
	return []cache.Match{{Similarity: 1}, {Entry: e, Similarity: math.NaN()}}, nil
}

func (s wild) Lock(context.Context, cache.Key, time.Duration) (func(), bool, error) {
	s.bad()
	return func() {}, true, nil
}

// A fault of the cache is never one of a call, whatever a store or an embedding
// function does.
func TestResponseCacheOutlivesWhatBreaksContracts(t *testing.T) {
	for name, breaking := range map[string]func(done <-chan struct{}) func(){
		"that answer nonsense": func(<-chan struct{}) func() { return func() {} },
		"that panic":           func(<-chan struct{}) func() { return func() { panic("the prompt") } },
		"that hang":            func(done <-chan struct{}) func() { return func() { <-done } },
	} {
		for _, stream := range []bool{false, true} {
			t.Run("stores "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					done := make(chan struct{})
					defer close(done)
					k := newCacheKit(t, semantic, gateway.WithCacheStore(wild{breaking(done)}))
					k.outlives(stream)
					k.ask(gateway.CacheRefreshed, says("[pets] hello"), gateway.WithCacheForceRefresh())
					if _, err := k.client.ResponseCache.Inspect(t.Context(), says("[pets] hello")); err != nil {
						t.Error(err)
					}
				})
			})
			t.Run("embedding functions "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					done := make(chan struct{})
					defer close(done)
					bad := breaking(done)
					k := newCacheKit(t, semantic, gateway.WithCacheEmbedding(gateway.CacheEmbedding{Model: "wild",
						Func: func(context.Context, string) ([]float32, error) { bad(); return nil, nil }}))
					k.outlives(stream)
				})
			})
		}
	}
}

// outlives expects answers of the model, in time.
func (k *cacheKit) outlives(stream bool) {
	k.t.Helper()
	k.srv.Script(vertextest.Text("one"), vertextest.Text("two"), vertextest.Text("three"))
	for _, want := range []string{"one", "two"} {
		begin := time.Now()
		out, err := answerTo(k.t, k.client, says("[pets] hello "+want), stream)
		if err != nil || out.Text() != want || out.Meta.CacheStatus != gateway.CacheMiss {
			k.t.Errorf("%+v, %v", out, err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			k.t.Errorf("the answer took %v", took)
		}
	}
}
