package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/sqlite"
)

// Answers are kept in a file over restarts, encrypted, and those that are asked for
// often in memory too.
func Example() {
	dir, err := os.MkdirTemp("", "answers")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file, err := sqlite.Open(filepath.Join(dir, "answers.db"), sqlite.WithMaxBytes(256<<20))
	if err != nil {
		fmt.Println(err)
		return
	}
	// A program reads its key from where its secrets are.
	far, err := cache.NewSealed(file, cache.NewSealingKey())
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
