package pipeline

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/answers"
	"github.com/b650d4bf/gateway/internal/inflight"
	"github.com/b650d4bf/gateway/providers"
)

// Cache is what a client sets of its response cache. Which calls use it, their
// settings say.
type Cache struct {
	// Store keeps the answers; nil makes a store in memory when one is needed.
	Store cache.Store
	// OrganizationTTL is the default of max_age and its most; 0 is none.
	OrganizationTTL time.Duration
	// Embedding says how texts are compared by meaning.
	Embedding Embedding
}

// DefaultCacheBytes bounds the store that is made when none is given.
const DefaultCacheBytes = 64 << 20

// The time that a shared store gets. What takes longer is a fault.
const (
	readTime  = 250 * time.Millisecond
	writeTime = time.Second
)

// responses is the response cache of an engine.
type responses struct {
	cfg   Cache
	rules answers.Rules // of calls that set none
	local bool          // the store is in this process
	made  sync.Once
	store cache.Store
	own   io.Closer // the store, if it was made here
	wrong error     // why none could be made

	flights  inflight.Group[flightKey, *result]
	marks    marks
	reads    breaker
	embeds   breaker
	count    CacheCounts
	asked    atomic.Bool // a store was made
	shutting atomic.Bool
}

// flightKey names what callers share. A stream and a whole answer are made apart,
// and so are answers before and after one was deleted or replaced.
type flightKey struct {
	key    cache.Key
	stream bool
	begun  uint64
}

// CacheCounts counts what the response cache did.
type CacheCounts struct {
	Hits, SemanticHits, Misses, Refreshes, Shared, Stored, Kept, Corrupt, Faults, Embeddings, EmbeddingFaults atomic.Int64
}

// SetCache sets up the response cache, before the engine is used.
func (e *Engine) SetCache(c Cache) { e.cache.cfg = c }

// open returns the store, which is made when it is first asked for.
func (c *responses) open() (cache.Store, error) {
	c.made.Do(func() {
		if c.shutting.Load() {
			c.wrong = cache.ErrClosed
			return
		}
		if c.store = c.cfg.Store; c.store == nil {
			m, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: DefaultCacheBytes})
			if c.wrong = err; err != nil {
				return
			}
			c.store, c.own = m, m
			c.asked.Store(true)
		}
		_, c.local = c.store.(*cache.Memory)
	})
	return c.store, c.wrong
}

// opened returns the store if there is one by now, nil for none.
func (c *responses) opened() (cache.Store, error) {
	if c.cfg.Store == nil && !c.asked.Load() {
		if c.shutting.Load() {
			return nil, cache.ErrClosed
		}
		return nil, nil //nolint:nilnil // nothing was kept yet, and that is no error
	}
	return c.open()
}

// close closes the store that was made here.
func (c *responses) close() error {
	c.shutting.Store(true)
	c.made.Do(func() { c.wrong = cache.ErrClosed })
	if c.own != nil {
		return c.own.Close()
	}
	return nil
}

// errResting says that a store which failed again and again is left alone for a
// while.
var errResting = errors.New("the store failed too often and is left alone for a while")

// use does one thing with the store, within a limit unless that is in this process.
func use[T any](ctx context.Context, c *responses, limit time.Duration, do func(context.Context, cache.Store) (T, error)) (T, error) {
	var none T
	store, err := c.open()
	if err != nil {
		return none, err
	}
	if c.local {
		return do(ctx, store)
	}
	if !c.reads.closed() {
		return none, errResting
	}
	out, err := within(ctx, limit, func(ctx context.Context) (T, error) { return do(ctx, store) })
	if ctx.Err() == nil { // else it says nothing of the store
		c.reads.tell(err == nil || errors.Is(err, cache.ErrTooLarge))
	}
	return out, err
}

// set keeps an entry, and delete forgets one.
func (c *responses) set(ctx context.Context, e *cache.Entry) error {
	_, err := use(ctx, c, writeTime, func(ctx context.Context, s cache.Store) (struct{}, error) { return struct{}{}, s.Set(ctx, e) })
	return err
}

func (c *responses) delete(ctx context.Context, key cache.Key) error {
	_, err := use(ctx, c, writeTime, func(ctx context.Context, s cache.Store) (struct{}, error) { return struct{}{}, s.Delete(ctx, key) })
	return err
}

// get returns the entry of a key, nil for none.
func (c *responses) get(ctx context.Context, key cache.Key) (*cache.Entry, error) {
	if store, err := c.open(); err == nil && c.local { // without a deadline, and trusted
		e, _, err := store.Get(ctx, key)
		return e, err
	}
	e, err := use(ctx, c, readTime, func(ctx context.Context, s cache.Store) (*cache.Entry, error) {
		e, ok, err := s.Get(ctx, key)
		if !ok {
			e = nil
		}
		return e, err
	})
	if err != nil {
		return nil, err
	}
	return matching(e, key), nil
}

// matching returns the entry if it is that of the key, and may be used.
func matching(e *cache.Entry, key cache.Key) *cache.Entry {
	if e == nil || e.Key != key || e.Expired(time.Now()) {
		return nil
	}
	return e
}

// forget deletes what is of no use.
func (c *responses) forget(ctx context.Context, key cache.Key) {
	_ = c.delete(context.WithoutCancel(ctx), key)
}

// breaker leaves alone what failed several times in a row.
type breaker struct {
	failed atomic.Int32
	until  atomic.Int64 // in Unix nanoseconds
}

const (
	breakAfter = 5
	breakFor   = 15 * time.Second
)

// closed reports whether it may be asked. A time further off than it is ever opened
// for is that of a clock which was set back since.
func (b *breaker) closed() bool {
	left := b.until.Load() - time.Now().UnixNano()
	return left <= 0 || left > int64(breakFor)
}

func (b *breaker) tell(ok bool) {
	if ok {
		b.failed.Store(0)
		return
	}
	if b.failed.Add(1) >= breakAfter {
		b.failed.Store(breakAfter - 1) // the next failure opens it again
		b.until.Store(time.Now().Add(breakFor).UnixNano())
	}
}

// cacheOf returns the cache setting of a call to a target: the call's, the
// target's, which inherits that of its config, or the client's. nil is none.
func cacheOf(client, call *Settings, target *config.Cache) *config.Cache {
	switch {
	case call.Cache != nil:
		return call.Cache
	case target != nil:
		return target
	}
	return client.Cache
}

// either returns the call's setting, the client's, or the default.
func either(call, client *bool, otherwise bool) bool {
	switch {
	case call != nil:
		return *call
	case client != nil:
		return *client
	}
	return otherwise
}

// place is where a request to one target finds its answer in the cache.
type place struct {
	engine       *Engine
	cache        *responses
	rec          *recorder
	client, call *Settings
	at           *route
	set          config.Cache
	life         time.Duration
	rules        *answers.Rules
	scope        answers.Scope
	key          cache.Key
	named        string // the key for people, once it was told
	begun        uint64 // the mark of the key when the call looked for it
	refresh      bool
	stream       bool
	inline       bool      // the work is done on the goroutine of the call
	deadline     time.Time // of the call, the stream included; zero for none
	// parts explains the key, and chat is the request if it is one for a chat.
	parts func() []cache.Part
	// outcome and trail are those of the request that was made here, and owed is the
	// outcome of one that another call began and this one owes for. carried are
	// attempts of such ones that failed, and were not the last.
	outcome, owed  any
	trail, carried []providers.Attempt
	chat           *providers.ChatCompletionRequest
}

// placeOf returns where the answer is kept, or nil when the cache is not used, and
// notes the status that the call has by now. It fills room.
func (e *Engine) placeOf(room *place, rec *recorder, client, call *Settings, set *config.Cache, at *route, strict bool) *place {
	m := &rec.record.Meta
	m.CacheStatus, m.Cache, rec.spared = providers.CacheDisabled, providers.CacheInfo{}, false
	if set == nil {
		return nil
	}
	if !either(call.Debug, client.Debug, true) {
		m.Cache.Reason = "debug is false"
		return nil
	}
	life, err := cache.Lifetime(set.MaxAge, e.cache.cfg.OrganizationTTL)
	if err != nil { // the config was checked
		m.Cache.Err = err
		return nil
	}
	p := room
	*p = place{
		engine: e, cache: &e.cache, rec: rec, client: client, call: call, at: at, set: *set, life: life,
		refresh: call.CacheRefresh, rules: call.CacheRules,
	}
	if p.rules == nil {
		p.rules = client.CacheRules
	}
	if p.rules == nil {
		p.rules = &e.cache.rules
	}
	p.scope = answers.Scope{
		Operation: rec.record.Operation, Target: &at.target, Visitor: call.KeyID,
		Namespace: first(call.CacheNamespace, client.CacheNamespace),
		Metadata:  rec.record.Metadata, ConfigID: first(call.ConfigID, client.ConfigID), Strict: strict,
	}
	p.identify()
	return p
}

// identify notes credentials that are the call's own: who brings other ones must
// not get the answers. A namespace does away with that for a Go program, which
// may say so, but not for what HTTP clients bring.
func (p *place) identify() {
	token, ok := p.at.target.Token.(*StaticToken)
	switch {
	case !ok:
	case p.call.FallbackToken != nil && p.at.target.Token == p.call.FallbackToken:
		p.scope.Visitor += "\n" + token.header
	default:
		p.scope.Token = token.header
	}
}

// status notes what part the cache had by now.
func (p *place) status(s providers.CacheStatus, info *providers.CacheInfo) {
	m := &p.rec.record.Meta
	fault := m.Cache.Err
	m.CacheStatus, m.Cache = s, *info
	if p.named == "" {
		var text [2 * len(p.key)]byte
		hex.Encode(text[:], p.key[:])
		p.named = string(text[:])
	}
	m.Cache.Key = p.named
	if m.Cache.Err == nil {
		m.Cache.Err = fault
	}
	p.rec.spared = s.IsHit() || info.Shared
}

// fault notes a fault of the cache that the call does without.
func (p *place) fault(err error) {
	if err != nil && p.rec.record.Meta.Cache.Err == nil {
		p.rec.record.Meta.Cache.Err = err
	}
	p.cache.count.Faults.Add(1)
}
