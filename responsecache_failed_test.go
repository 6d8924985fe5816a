package gateway_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestCallsThatShareAFailureMadeNoRequest checks that one request which fails for
// several calls is in the trail of the one that made it, and costs the others nothing.
func TestCallsThatShareAFailureMadeNoRequest(t *testing.T) {
	for name, opts := range map[string][]gateway.RequestOption{
		"without a config": nil,
		"with a config":    {gateway.WithConfig(configOf(t, `{"strategy":{"mode":"single"},"targets":[{}]}`))},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, streamed %t", name, stream), func(t *testing.T) {
				client, platform := logged(t, logs.Options{Prices: prices.Default()}, gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}))
				platform.Script(vertextest.Overloaded().After(300 * time.Millisecond))
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() {
						var err error
						if stream {
							_, err = client.Chat.Completions.CreateStream(t.Context(), hello("gemini-2.5-flash"), opts...)
						} else {
							_, err = client.Chat.Completions.Create(t.Context(), hello("gemini-2.5-flash"), opts...)
						}
						if !errors.Is(err, gateway.ErrUnavailable) {
							t.Error(err)
						}
					})
				}
				all.Wait()
				requests, attempts, unknown := len(platform.Requests()), 0, 0
				for _, r := range recorded(t, client) {
					attempts += len(r.Attempts)
					if r.Cost == nil {
						unknown++
					}
				}
				if requests != 1 || attempts != 1 || unknown != 1 {
					t.Errorf("%d requests, %d attempts, %d calls of unknown cost, want 1 of each", requests, attempts, unknown)
				}
			})
		}
	}
}

// TestSemanticHitsSaveTime checks that a hit by meaning tells how long its answer took
// when it was made, whole and streamed.
func TestSemanticHitsSaveTime(t *testing.T) {
	for _, stream := range []bool{false, true} {
		last := &lastRecord{}
		k := newCacheKit(t, semantic, gateway.WithObserver(last))
		k.srv.Script(vertextest.Text("x").After(100 * time.Millisecond))
		k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
		if stream {
			k.stream(gateway.CacheSemanticHit, says("[pets] How can I feed my cat?"))
		} else {
			k.ask(gateway.CacheSemanticHit, says("[pets] How can I feed my cat?"))
		}
		if saved := last.record.Meta.Cache.Saved; saved < 90*time.Millisecond {
			t.Errorf("streamed %t: saved %v", stream, saved)
		}
	}
}
