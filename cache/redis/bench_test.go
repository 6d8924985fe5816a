package redis_test

import (
	"testing"

	"github.com/b650d4bf/gateway/cache/cachetest"
	"github.com/b650d4bf/gateway/cache/redis"
)

func BenchmarkStore(b *testing.B) {
	for _, name := range servers {
		b.Run(name, func(b *testing.B) { cachetest.Bench(b, open(b, option(b, name), redis.WithClientCaching(0))) })
	}
}
