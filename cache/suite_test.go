package cache_test

import (
	"testing"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/cachetest"
)

func TestMemory(t *testing.T) {
	newStore := func(t *testing.T) cache.Store { return newMemory(t, cache.DefaultMaxBytes) }
	t.Run("in real time", func(t *testing.T) { cachetest.Run(t, newStore) })
	t.Run("in virtual time", func(t *testing.T) {
		cachetest.Run(t, newStore, cachetest.WithVirtualTime(), cachetest.WithOperations(20_000))
	})
}
