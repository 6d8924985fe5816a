package redis_test

import (
	"testing"

	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/cachetest"
	"github.com/b650d4bf/gateway/cache/redis"
)

func TestStore(t *testing.T) {
	for name, opts := range map[string][]redis.Option{
		"as it comes":            nil,
		"without client caching": {redis.WithClientCaching(0)},
		"without vector sets":    {redis.WithoutVectorSets()},
	} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
				cachetest.Run(t,
					func(t *testing.T) cache.Store { return open(t, o, opts...) },
					cachetest.WithoutSizes(),
					cachetest.WithShared(func(t *testing.T) (a, b cache.Store) {
						first := open(t, o, opts...)
						return first, open(t, o, append(opts, redis.WithPrefix(first.Prefix()))...)
					}))
			})
		})
	}
}
