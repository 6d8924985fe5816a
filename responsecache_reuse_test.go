package gateway_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers"
)

// keptRecords is an observer that holds on to what it was told.
type keptRecords struct {
	mu   sync.Mutex
	list []providers.Record
}

func (k *keptRecords) CallStart(ctx context.Context, _ providers.Call) context.Context { return ctx }

func (k *keptRecords) CallEnd(_ context.Context, r providers.Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, r)
}

// TestHitsShareNothing has hits at the same time, each with metadata, an id and an
// answer of its own: what a call used is used again by later ones.
func TestHitsShareNothing(t *testing.T) {
	seen := new(keptRecords)
	client := cachedClient(t, "hello there", simple, gateway.WithObserver(seen))
	ask := func(n, i int) *gateway.ChatCompletion {
		who := fmt.Sprint("caller ", n)
		out, err := client.Chat.Completions.Create(t.Context(), says(who),
			gateway.WithMetadata(map[string]string{"who": who}), gateway.WithRequestID(fmt.Sprint(who, " call ", i)))
		if err != nil {
			t.Error(err)
			return new(gateway.ChatCompletion)
		}
		return out
	}
	const callers, calls = 8, 50
	var all sync.WaitGroup
	for n := range callers {
		all.Go(func() {
			for i := range calls {
				out := ask(n, i)
				want := gateway.CacheHit
				if i == 0 {
					want = gateway.CacheMiss
				}
				if id := fmt.Sprint("caller ", n, " call ", i); out.Meta.RequestID != id || out.Meta.CacheStatus != want {
					t.Errorf("%s: %+v", id, out.Meta)
				}
			}
		})
	}
	all.Wait()
	ids := map[string]bool{}
	for i := range seen.list {
		r := &seen.list[i]
		ids[r.ID] = true
		if who := r.Metadata["who"]; len(r.ID) < len(who) || r.ID[:len(who)] != who || r.Err != nil || r.Usage == nil || r.Meta.Cache.Key == "" {
			t.Errorf("%s of %s: %+v", r.ID, who, r)
		}
	}
	if len(ids) != callers*calls {
		t.Errorf("%d ids", len(ids))
	}
}
