package cache_test

import (
	"context"
	"iter"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

// A sealed store is a Watcher only if the one below is.
func TestTieredOverASealedStoreThatCannotWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := newMemory(t, 0)
		var told atomic.Int64
		s := &tiers{T: t, tiered: newTiered(t, sealed(t, plain{far}, cache.NewSealingKey()), cache.TieredConfig{
			Failed: func(error) { told.Add(1) },
		})}
		other := sealed(t, plain{far}, cache.NewSealingKey())
		synctest.Wait()
		s.set(s.tiered, 1, 1)
		s.gets(1, 1)
		s.set(other, 1, 2) // unheard, and of another key
		time.Sleep(time.Minute)
		s.gets(1, 0)
		time.Sleep(time.Hour)
		if n := told.Load(); n > 0 {
			t.Errorf("%d failures are told of", n)
		}
	})
}

func TestTieredKeepsCopiesLongerWhileItListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		s := &tiers{T: t, tiered: newTiered(t, newProcess(server), cache.TieredConfig{})}
		synctest.Wait()
		e := s.set(server, 1, 1)
		s.gets(1, 1)
		if err := server.Memory.Delete(t.Context(), e.Key); err != nil { // unheard
			t.Fatal(err)
		}
		time.Sleep(9 * time.Minute)
		s.gets(1, 1)
		time.Sleep(time.Minute)
		s.gets(1, 0)
	})
}

// empty answers everything with nothing, and says that it is something.
type empty struct{ cache.Store }

func (empty) Get(context.Context, cache.Key) (*cache.Entry, bool, error) { return nil, true, nil }
func (empty) Search(_ context.Context, q *cache.Query) ([]cache.Match, error) {
	bad := fresh()
	bad.Group, bad.Vector = q.Group, make([]float32, len(q.Vector))
	for i := range bad.Vector {
		bad.Vector[i] = float32(math.NaN())
	}
	return []cache.Match{{Similarity: 1}, {Entry: bad, Similarity: 1}}, nil
}
func (empty) DeleteAll(context.Context, cache.Filter) (int, error) { return 0, nil }
func (empty) List(context.Context, cache.Filter) iter.Seq2[*cache.Entry, error] {
	return func(yield func(*cache.Entry, error) bool) { yield(nil, nil) }
}

func TestStoresOverOneThatReturnsNoEntries(t *testing.T) {
	tiered, err := cache.NewTiered(empty{}, empty{}, cache.TieredConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]cache.Searcher{"sealed": sealed(t, empty{}, cache.NewSealingKey()), "tiered": tiered} {
		t.Run(name, func(t *testing.T) {
			if e, ok, err := s.Get(t.Context(), number(1)); e != nil || ok || err != nil {
				t.Errorf("Get: %v, %v, %v", e, ok, err)
			}
			if found, err := s.Search(t.Context(), &cache.Query{Group: number(2), Vector: []float32{1, 0}, Threshold: 0.5}); len(found) > 0 || err != nil {
				t.Errorf("Search: %v, %v", found, err)
			}
		})
	}
	for e, err := range sealed(t, empty{}, cache.NewSealingKey()).List(t.Context(), cache.Filter{}) {
		t.Errorf("List: %v, %v", e, err)
	}
}
