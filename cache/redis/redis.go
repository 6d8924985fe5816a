// Package redis keeps answers in Redis or Valkey, for all processes that share the
// server. It is a module of its own, for its client, rueidis.
//
//	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
//	...
//	store, err := redis.New(client)
//
// Credentials, TLS, Sentinel and clusters are matters of the client's options. New
// asks the server nothing, so a server that is down when the program starts is a
// cache that misses.
//
// # What is where
//
// An entry is a string with an expiry, below PREFIX e: and its key in hexadecimal. A
// namespace has a sorted set of its keys; lists and deletions without a namespace
// go over all keys with SCAN. A group of vectors is one key:
//
//   - With vector sets (Redis 8 and later), a vector set with 8-bit quantization. Its
//     neighbours are approximate, what is found is measured again in full precision,
//     and all matches above the threshold are looked for, not just the nearest.
//   - Without (Redis 7, Valkey), a hash of at most [WithScanLimit] vectors, which each
//     search reads whole and measures exactly. When it is full, vectors leave it at
//     random; their entries are still found by key. At 768 dimensions a thousand
//     vectors are 3 MB over the network for each search: put a store in memory in
//     front for more.
//
// Members whose entries are gone leave a group when a search comes across them or
// a later Set to the same group happens to draw them. A group is one key, so a
// server that evicts should evict by volatile-ttl or volatile-lru with room to spare.
//
// Redis 6.2 commands are the least, with scripts (EVAL). In a cluster nothing needs
// two keys of one slot.
//
// # Reading what was just written
//
// The client keeps what it read in memory until the server says that it changed, so
// another process may see the old entry for as long as that message travels. A
// Store never reads its own writes from that memory, nor what [Store.Watch] told it
// has changed.
//
// # Figures
//
// Medians on two busy cores over loopback, with bodies of 4 KB, and searches in a
// group of 1000 vectors of 768 dimensions, from
// bash .ci/servers go -C cache/redis test -run ^$ -bench . ./...:
//
//   - Redis 8, with vector sets: get 0.1 ms, set 0.1 ms, set with a vector 0.9 ms, search 0.7 ms
//   - Redis 7 and Valkey 8, without: get 0.03 to 0.1 ms, set 0.03 to 0.1 ms, set with
//     a vector 0.1 ms, search 8 ms, nearly all of it for the 3 MB
//
// The example puts [cache.NewTiered] in front, which answers from memory what this
// process has seen.
package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway/cache"
)

// Store keeps entries on a server. It is safe for concurrent use.
type Store struct {
	client rueidis.Client
	settings
	owned  bool
	recent recent
	index  atomic.Pointer[bool] // whether the server has vector sets, once known

	done    context.Context //nolint:containedctx // ends the goroutines of Watch
	close   context.CancelFunc
	closing sync.Mutex // guards watchers.Add against Close
	watches sync.WaitGroup

	hits, misses, searches, matches, stored, deleted, rejected, expired, corrupt, failed atomic.Int64
}

var (
	_ cache.Searcher = (*Store)(nil)
	_ cache.Keeper   = (*Store)(nil)
	_ cache.Locker   = (*Store)(nil)
	_ cache.Watcher  = (*Store)(nil)
	_ cache.Counter  = (*Store)(nil)
)

// New returns a store over the caller's client, which the store does not close.
func New(client rueidis.Client, opts ...Option) (*Store, error) {
	set, err := newSettings(opts)
	if client == nil {
		err = errors.Join(err, errors.New("redis: the client is nil"))
	}
	if err != nil {
		return nil, err
	}
	s := &Store{client: client, settings: set}
	s.done, s.close = context.WithCancel(context.Background())
	return s, nil
}

// Open connects with the options of rueidis and returns a store that closes its
// client. It fails when the server cannot be reached; build the client elsewhere
// and use [New] where that must not keep a program from starting.
func Open(o rueidis.ClientOption, opts ...Option) (*Store, error) {
	if _, err := newSettings(opts); err != nil {
		return nil, err
	}
	client, err := rueidis.NewClient(o)
	if err != nil {
		return nil, fmt.Errorf("redis: connecting: %w", err)
	}
	s, err := New(client, opts...)
	if err != nil {
		client.Close()
		return nil, err
	}
	s.owned = true
	return s, nil
}

// Close ends what [Store.Watch] started. Later operations return
// [cache.ErrClosed].
func (s *Store) Close() error {
	s.closing.Lock()
	first := s.done.Err() == nil
	s.close()
	s.closing.Unlock()
	s.watches.Wait()
	if first && s.owned {
		s.client.Close()
	}
	return nil
}

// Stats returns what this process counted. What is kept, the server knows, so
// Entries, Bytes, Vectors and Evicted are 0.
func (s *Store) Stats() cache.Stats {
	return cache.Stats{
		Hits: s.hits.Load(), Misses: s.misses.Load(), Searches: s.searches.Load(), Matches: s.matches.Load(),
		Stored: s.stored.Load(), Deleted: s.deleted.Load(), Rejected: s.rejected.Load(), Expired: s.expired.Load(),
		Corrupt: s.corrupt.Load(), Failed: s.failed.Load(),
	}
}

// begin bounds an operation.
func (s *Store) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if s.done.Err() != nil {
		return nil, nil, cache.ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	return ctx, cancel, ctx.Err()
}

// failure names the operation that failed, and counts it.
func (s *Store) failure(what string, err error) error {
	if errors.Is(err, cache.ErrClosed) {
		return err
	}
	s.failed.Add(1)
	return fmt.Errorf("redis: %s: %w", what, err)
}

func (s *Store) entryKey(k cache.Key) string { return s.prefix + "e:" + k.String() }

// Get implements [cache.Store].
func (s *Store) Get(ctx context.Context, key cache.Key) (*cache.Entry, bool, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, false, s.failure("get", err)
	}
	defer cancel()
	var res rueidis.RedisResult
	if s.clientCaching > 0 && !s.recent.has(key) {
		res = s.client.DoCache(ctx, s.client.B().Get().Key(s.entryKey(key)).Cache(), s.clientCaching)
	} else {
		res = s.client.Do(ctx, s.client.B().Get().Key(s.entryKey(key)).Build())
	}
	e, err := s.entry(res, key)
	if err != nil {
		return nil, false, s.failure("get", err)
	}
	if e == nil {
		s.misses.Add(1)
		return nil, false, nil
	}
	s.hits.Add(1)
	return e, true, nil
}

// entry reads an entry out of what the server says for its key: nil when there is
// none, or none that is whole, of that key and in its time.
func (s *Store) entry(res rueidis.RedisResult, key cache.Key) (*cache.Entry, error) {
	data, err := res.ToString()
	switch {
	case rueidis.IsRedisNil(err):
		return nil, nil //nolint:nilnil // there is none
	case wrongType(err):
		s.corrupt.Add(1)
		return nil, nil //nolint:nilnil // somebody else's value is none
	case err != nil:
		return nil, err
	}
	e, err := cache.ParseEntry([]byte(data))
	if err != nil || e.Key != key {
		s.corrupt.Add(1)
		return nil, nil //nolint:nilnil,nilerr // a broken entry is none
	}
	if e.Expired(time.Now()) {
		s.expired.Add(1)
		return nil, nil //nolint:nilnil // its time is over
	}
	return e, nil
}

// wrongType reports whether the server holds something of another type.
func wrongType(err error) bool {
	e, ok := rueidis.IsRedisErr(err)
	return ok && strings.HasPrefix(e.Error(), "WRONGTYPE")
}

// setScript keeps an entry and tells those who watch when it replaced one.
const setScript = `local was = redis.call('EXISTS', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if was == 1 then redis.call('PUBLISH', ARGV[3], ARGV[4]) end
return was`

// Set implements [cache.Store].
func (s *Store) Set(ctx context.Context, e *cache.Entry) error {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return s.failure("set", err)
	}
	defer cancel()
	ttl := time.Until(e.Expires).Milliseconds()
	if ttl <= 0 {
		s.rejected.Add(1)
		return s.Delete(ctx, e.Key) // it would have taken the place of that one
	}
	data, err := e.AppendBinary(nil)
	if err != nil {
		return s.failure("set", err)
	}
	if len(data) > s.maxEntry {
		s.rejected.Add(1)
		return errors.Join(cache.ErrTooLarge, s.Delete(ctx, e.Key))
	}
	// The namespace first: an entry must not escape the deletion of its namespace.
	cmds := s.join(nil, e)
	at := len(cmds)
	cmds = append(cmds, s.eval(setScript, s.entryKey(e.Key), string(data), strconv.FormatInt(ttl, 10), s.channel(), changedMessage(e.Key)))
	s.recent.add(e.Key)
	results := s.client.DoMulti(ctx, cmds...)
	for i, r := range results {
		if err := r.Error(); err != nil && (i >= at || !wrongType(err)) {
			return s.failure("set", err)
		}
	}
	s.recent.add(e.Key)
	if indexable(e) {
		if err := s.addVector(ctx, e); err != nil {
			return s.failure("set", err)
		}
	}
	s.stored.Add(1)
	return nil
}

// eval runs a script over one key.
func (s *Store) eval(script, key string, args ...string) rueidis.Completed {
	return s.client.B().Eval().Script(script).Numkeys(1).Key(key).Arg(args...).Build()
}

// deleteScript forgets an entry, tells those who watch, and returns what it was.
const deleteScript = `local was = redis.pcall('GET', KEYS[1])
if redis.call('DEL', KEYS[1]) == 0 then return false end
redis.call('PUBLISH', ARGV[1], ARGV[2])
if type(was) == 'table' then return '' end
return was`

// Delete implements [cache.Store].
func (s *Store) Delete(ctx context.Context, key cache.Key) error {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return s.failure("delete", err)
	}
	defer cancel()
	s.recent.add(key)
	was, err := s.client.Do(ctx, s.eval(deleteScript, s.entryKey(key), s.channel(), changedMessage(key))).ToString()
	s.recent.add(key)
	if rueidis.IsRedisNil(err) {
		return nil
	}
	if err != nil {
		return s.failure("delete", err)
	}
	s.deleted.Add(1)
	if e, err := cache.ParseEntry([]byte(was)); err == nil {
		s.leave(ctx, e)
	}
	return nil
}

// Prefix returns what begins all keys of the store.
func (s *Store) Prefix() string { return s.prefix }
