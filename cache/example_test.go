package cache_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

func ExampleNewMemory() {
	store, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: 256 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	now := time.Now()
	err = store.Set(context.Background(), &cache.Entry{
		Key: cache.Key{1}, Body: []byte("Paris"), Created: now, Expires: now.Add(cache.DefaultMaxAge),
		Group: cache.Key{2}, Vector: []float32{0.6, 0.8}, Text: "What is the capital of France?",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, ok, err := store.Get(context.Background(), cache.Key{1})
	fmt.Printf("%s %v %v\n", e.Body, ok, err)
	found, err := store.Search(context.Background(), &cache.Query{Group: cache.Key{2}, Vector: []float32{0.64, 0.7683749}, Threshold: 0.95})
	fmt.Printf("%s %.3f %v\n", found[0].Entry.Body, found[0].Similarity, err)
	// Output:
	// Paris true <nil>
	// Paris 0.999 <nil>
}

// A far store that is gone makes for misses, and no errors.
func ExampleNewTiered() {
	near, err := cache.NewMemory(cache.MemoryConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := cache.NewTiered(near, unreachable{}, cache.TieredConfig{
		Timeout: 100 * time.Millisecond,
		Failed:  func(err error) { fmt.Println("to the log:", err) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	now := time.Now()
	err = store.Set(context.Background(), &cache.Entry{Key: cache.Key{1}, Body: []byte("Paris"), Created: now, Expires: now.Add(time.Hour)})
	e, ok, _ := store.Get(context.Background(), cache.Key{1})
	fmt.Printf("%s %v %v\n", e.Body, ok, err)
	// Output:
	// to the log: no route to host
	// Paris true <nil>
}

// unreachable is a store that always fails.
type unreachable struct{}

var errUnreachable = errors.New("no route to host")

func (unreachable) Get(context.Context, cache.Key) (*cache.Entry, bool, error) {
	return nil, false, errUnreachable
}
func (unreachable) Set(context.Context, *cache.Entry) error { return errUnreachable }
func (unreachable) Delete(context.Context, cache.Key) error { return errUnreachable }
