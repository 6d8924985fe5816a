package gateway_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// An answer that was asked for before a refresh or a deletion, and comes after it,
// is given to its caller and not kept.
func TestResponseCacheKeepsNothingThatWasOvertaken(t *testing.T) {
	req, alike := says("[pets] How do I feed my cat?"), says("[pets] How should I feed my cat?")
	for name, overtake := range map[string]func(*cacheKit) string{
		"a refresh": func(k *cacheKit) string {
			k.ask(gateway.CacheRefreshed, req, gateway.WithCacheForceRefresh())
			return "Cache Hit"
		},
		"a refresh of what means the same": func(k *cacheKit) string {
			k.ask(gateway.CacheRefreshed, alike, gateway.WithCacheForceRefresh())
			return "Cache Semantic Hit"
		},
		"a deletion of all": func(k *cacheKit) string {
			if _, err := k.client.ResponseCache.Clear(k.t.Context(), cache.Filter{}); err != nil {
				k.t.Fatal(err)
			}
			return "Cache Miss"
		},
		"a deletion of the key": func(k *cacheKit) string {
			in, err := k.client.ResponseCache.Inspect(k.t.Context(), req)
			if err == nil {
				err = k.client.ResponseCache.Delete(k.t.Context(), in.Key)
			}
			if err != nil {
				k.t.Fatal(err)
			}
			return "Cache Miss"
		},
	} {
		for form, stream := range map[string]bool{"whole": false, "streamed": true} {
			t.Run(name+", "+form, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k := newCacheKit(t, semantic)
					k.srv.Script(vertextest.Text("old").After(10*time.Second), vertextest.Text("new"), vertextest.Text("newer"))
					done := make(chan struct{})
					go func() {
						defer close(done)
						if out, err := answerTo(t, k.client, req, stream); err != nil || out.Text() != "old" || out.Meta.Cache.Reason == "" {
							t.Errorf("%+v, %v", out, err)
						}
					}()
					time.Sleep(time.Second)
					want := overtake(k)
					if want == "Cache Miss" { // who comes now does not join the old request
						if out, err := answerTo(t, k.client, req, stream); err != nil || out.Text() != "new" {
							t.Errorf("%+v, %v", out, err)
						}
						want = "Cache Hit"
					}
					<-done
					if out, err := answerTo(t, k.client, req, stream); err != nil || out.Text() != "new" || out.Meta.CacheStatus.String() != want {
						t.Errorf("%+v, %v; want a %s", out, err, want)
					}
				})
			})
		}
	}
}

// A semantic hit that is being read while its answer is replaced leaves no copy of
// that.
func TestResponseCacheCopiesNothingThatWasReplaced(t *testing.T) {
	k := newCacheKit(t, semantic)
	k.srv.Script(vertextest.Text("old"), vertextest.Text("new"))
	k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
	alike := says("[pets] How should I feed my cat?")
	s, err := k.client.Chat.Completions.CreateStream(t.Context(), alike)
	if err != nil {
		t.Fatal(err)
	}
	k.ask(gateway.CacheRefreshed, says("[pets] How do I feed my cat?"), gateway.WithCacheForceRefresh())
	for err == nil {
		_, err = s.Recv()
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	if out := k.ask(gateway.CacheSemanticHit, alike); out.Text() != "new" {
		t.Errorf("%q", out.Text())
	}
}

// Who deletes an answer deletes it for those who asked in other words too.
func TestResponseCacheDeletesCopies(t *testing.T) {
	k := newCacheKit(t, semantic)
	k.srv.Script(vertextest.Text("wrong"), vertextest.Text("about dogs"), vertextest.Text("right"))
	wrong := k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
	alike := says("[pets] How should I feed my cat?")
	k.ask(gateway.CacheSemanticHit, alike)
	k.ask(gateway.CacheMiss, says("[dogs] How do I feed my dog?"))
	if err := k.client.ResponseCache.Delete(t.Context(), wrong.Meta.Cache.Key); err != nil {
		t.Fatal(err)
	}
	if out := k.ask(gateway.CacheMiss, alike); out.Text() != "right" {
		t.Errorf("%q", out.Text())
	}
	k.ask(gateway.CacheHit, says("[dogs] How do I feed my dog?"))
}
