package pipeline

import (
	"bytes"
	"context"
	"errors"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/providers"
)

// CacheStats counts what the response cache did.
type CacheStats struct {
	// Hits and SemanticHits count answers that came from the cache; Misses and
	// Refreshes those that a model made; Shared those that came of another call's
	// request.
	Hits, SemanticHits, Misses, Refreshes, Shared int64
	// Stored counts answers that were kept.
	Stored int64
	// Corrupt counts kept answers that could not be read, and were deleted.
	Corrupt int64
	// Faults counts what went wrong with the store; the calls went on.
	Faults int64
	// Embeddings counts texts that were embedded, and EmbeddingFaults those that
	// could not be.
	Embeddings, EmbeddingFaults int64
	// Store is what the store counts itself, if it does.
	Store cache.Stats
}

// CacheStats returns the counts.
func (e *Engine) CacheStats() CacheStats {
	c := &e.cache.count
	out := CacheStats{
		Hits: c.Hits.Load(), SemanticHits: c.SemanticHits.Load(), Misses: c.Misses.Load(), Refreshes: c.Refreshes.Load(),
		Shared: c.Shared.Load(), Stored: c.Stored.Load(), Corrupt: c.Corrupt.Load(), Faults: c.Faults.Load(),
		Embeddings: c.Embeddings.Load(), EmbeddingFaults: c.EmbeddingFaults.Load(),
	}
	if store, err := e.cache.opened(); err == nil {
		if counter, ok := store.(cache.Counter); ok {
			out.Store = counter.Stats()
		}
	}
	return out
}

// cacheError is the error of a store in the management of the cache.
func cacheError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, cache.ErrClosed):
		return &providers.Error{Code: providers.ErrClosed, Message: "the cache was closed", Err: err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &providers.Error{Code: codeOf(err), Message: "the call ended before the cache had answered", Err: err}
	}
	return &providers.Error{Code: providers.ErrServer, Message: "the store of the cache failed", Err: err}
}

// CacheDelete forgets the answer of a key.
func (e *Engine) CacheDelete(ctx context.Context, key string) error {
	k, err := cache.ParseKey(key)
	if err != nil {
		return providers.Invalid("key", "a key is 64 hexadecimal digits, as the Meta of an answer has it")
	}
	store, err := e.cache.opened()
	if err == nil && store != nil {
		err = e.cache.erase(ctx, store, k)
	}
	return cacheError(err)
}

// erase deletes the entry of a key, and the copies of its answer that were given to
// requests that mean the same.
func (c *responses) erase(ctx context.Context, store cache.Store, key cache.Key) error {
	old, _, err := store.Get(ctx, key)
	if err != nil || old == nil || old.Key != key {
		old = &cache.Entry{Key: key}
	}
	mark := func() {
		if c.marks.mark(&key); !old.Group.IsZero() {
			c.marks.mark(&old.Group)
		}
	}
	mark()
	defer mark() // what was found meanwhile
	errs := []error{store.Delete(ctx, key)}
	searcher, ok := store.(cache.Searcher)
	if !ok || old.Group.IsZero() || len(old.Vector) == 0 {
		return errs[0]
	}
	list, err := searcher.Search(ctx, &cache.Query{Group: aliasGroup(old.Group), Vector: old.Vector, Threshold: leastSimilar})
	errs = append(errs, err)
	for i := range list {
		if e := list[i].Entry; e != nil && e.Created.Equal(old.Created) && bytes.Equal(e.Body, old.Body) {
			errs = append(errs, store.Delete(ctx, e.Key))
		}
	}
	return errors.Join(errs...)
}

// leastSimilar takes in all that may have been a semantic hit.
const leastSimilar = 0.01

// keeper returns the store, if it can list; nil when there is none yet.
func (e *Engine) keeper() (cache.Keeper, error) {
	store, err := e.cache.opened()
	if err != nil || store == nil {
		return nil, cacheError(err)
	}
	k, ok := store.(cache.Keeper)
	if !ok {
		return nil, &providers.Error{Code: providers.ErrInvalidConfig, Param: "cache_store", Message: "the store can't list its entries: it is no cache.Keeper"}
	}
	return k, nil
}

// CacheDeleteAll forgets the answers that the filter takes in.
func (e *Engine) CacheDeleteAll(ctx context.Context, f cache.Filter) (int, error) {
	k, err := e.keeper()
	if err != nil || k == nil {
		return 0, err
	}
	e.cache.marks.markAll()
	defer e.cache.marks.markAll() // what was found meanwhile
	n, err := k.DeleteAll(ctx, f)
	return n, cacheError(err)
}

// CacheList returns what the filter takes in, without the answers.
func (e *Engine) CacheList(ctx context.Context, f cache.Filter) ([]*cache.Entry, error) {
	k, err := e.keeper()
	if err != nil || k == nil {
		return nil, err
	}
	var list []*cache.Entry
	for entry, err := range k.List(ctx, f) {
		if err != nil {
			return nil, cacheError(err)
		}
		if entry == nil {
			continue
		}
		own := *entry
		own.Body, own.Vector = nil, nil
		list = append(list, &own)
	}
	return list, nil
}
