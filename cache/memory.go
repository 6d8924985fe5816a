package cache

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"
)

// The bounds of [MemoryConfig.MaxBytes].
const (
	DefaultMaxBytes = 64 << 20
	MinMaxBytes     = 1 << 20
)

// What the memory is divided into.
const (
	// fixedBytes are taken whatever is kept: the queue of the main region and its
	// tables, with a few entries in each.
	fixedBytes = 480 << 10
	// expectedBytes is what an entry is expected to take; for each there are ten
	// counters of how often it was asked for, at up to 5 bytes.
	expectedBytes            = 4 << 10
	counterBytes             = 5
	minCounters, maxCounters = 10_000, 1_000_000
	// windowEntries of windowEntry bytes fit into the window of a small cache too,
	// unless that takes more than a quarter.
	windowEntries, windowEntry = 256, 5 << 10
)

// MemoryConfig says how a [Memory] is made.
type MemoryConfig struct {
	// MaxBytes bounds the memory that the store takes, with all that it needs
	// beside the entries: at least [MinMaxBytes]; 0 means [DefaultMaxBytes]. An
	// entry may take a twentieth of it, and is refused with [ErrTooLarge] beyond.
	MaxBytes int64
}

// Memory is a store in the memory of the process. It keeps what is asked for
// often, and what came last: a tenth of the memory is a window through which
// each entry passes, so that an answer is found right after it was stored,
// however full the store is.
//
// It is a [Searcher], a [Keeper] and a [Counter], and safe for concurrent use.
// The entries that it returns are shared. Close gives its memory and its
// goroutines back; calls after that fail with [ErrClosed].
type Memory struct {
	main   *ristretto.Cache[uint64, *node]
	seed   maphash.Seed
	shards [shardCount]shard
	window window
	groups groups

	// fixed is what the store takes without entries, budget is for nodes in all
	// regions together, and maxEntry for one.
	fixed, budget, maxEntry int64
	bytes                   atomic.Int64

	count   counts
	closing atomic.Bool
	once    sync.Once
}

var _ interface {
	Searcher
	Keeper
	Counter
	io.Closer
} = (*Memory)(nil)

// counts is what [Memory.Stats] tells of things that are not read often.
type counts struct {
	searches, matches, stored, deleted, rejected, evicted, expired, failed atomic.Int64
}

// NewMemory makes a store in memory. Close it after use.
func NewMemory(c MemoryConfig) (*Memory, error) {
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.MaxBytes < MinMaxBytes {
		return nil, fmt.Errorf("cache: MaxBytes is %d; a store in memory needs at least %d", c.MaxBytes, MinMaxBytes)
	}
	counters := min(max(10*c.MaxBytes/expectedBytes, minCounters), maxCounters)
	fixed := fixedBytes + counterBytes*counters
	budget := c.MaxBytes - fixed
	newest := max(budget/10, min(windowEntries*windowEntry, budget/4))
	m := &Memory{seed: maphash.MakeSeed(), fixed: fixed, budget: budget, maxEntry: newest / 2}
	m.window.max = newest
	m.groups.byKey = make(map[groupKey]*group)
	for i := range m.shards {
		m.shards[i].nodes = make(map[uint64]*node)
	}
	main, err := ristretto.NewCache(&ristretto.Config[uint64, *node]{
		NumCounters: counters, MaxCost: budget - newest - budget/32, BufferItems: 64, IgnoreInternalCost: true,
		KeyToHash: func(hash uint64) (uint64, uint64) { return hash, 0 }, // keys are compared here
		OnExit:    m.left,
	})
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	m.main = main
	return m, nil
}

// Get implements [Store].
func (m *Memory) Get(_ context.Context, key Key) (*Entry, bool, error) {
	hash := m.hash(&key)
	s := m.shard(hash)
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return nil, false, m.failed(ErrClosed)
	}
	n := s.nodes[hash]
	m.main.Get(hash) // it learns what is asked for, kept or not
	s.mu.RUnlock()
	if n == nil || n.entry.Key != key {
		s.misses.Add(1)
		return nil, false, nil
	}
	if n.expired(time.Now()) {
		s.misses.Add(1)
		m.expire(n)
		return nil, false, nil
	}
	s.hits.Add(1)
	return &n.entry, true, nil
}

// Set implements [Store]. An entry that is not kept, since it is too large or
// faulty or has expired, still takes the place of the one before.
func (m *Memory) Set(ctx context.Context, e *Entry) error { return m.SetUntil(ctx, e, e.Expires) }

// SetUntil is Set for an entry that is kept no longer than until, whatever it says
// itself: a copy of what others may change.
func (m *Memory) SetUntil(_ context.Context, e *Entry, until time.Time) error {
	n, err := m.newNode(e, until)
	if err != nil {
		m.count.rejected.Add(1)
	}
	hash := m.hash(&e.Key)
	s := m.shard(hash)
	s.write.Lock()
	if s.closed {
		s.write.Unlock()
		return m.failed(ErrClosed)
	}
	if old := s.put(hash, n); old != nil {
		m.release(old)
	}
	var leaving *node
	if n != nil {
		m.groups.add(n)
		m.bytes.Add(n.cost)
		m.count.stored.Add(1)
		leaving = m.window.push(n)
	}
	s.write.Unlock()
	m.offer(leaving)
	if m.bytes.Load() > m.budget {
		m.settle(s)
	}
	if errors.Is(err, errExpired) {
		return nil
	}
	return err
}

// errExpired is what [Memory.newNode] says of an entry that Set passes over.
var errExpired = errors.New("cache: the entry has expired")

// newNode returns what is kept of an entry.
func (m *Memory) newNode(e *Entry, until time.Time) (*node, error) {
	if e.Expires.Before(until) {
		until = e.Expires
	}
	if !time.Now().Before(until) {
		return nil, errExpired
	}
	if err := checkVector(e.Vector); err != nil {
		return nil, err
	}
	n := &node{entry: own(e), until: until, hash: m.hash(&e.Key)}
	if n.cost = nodeBytes(&n.entry); n.cost > m.maxEntry {
		return nil, fmt.Errorf("%w: it takes %d bytes of at most %d", ErrTooLarge, n.cost, m.maxEntry)
	}
	return n, nil
}

// offer gives nodes that left the window to the main region, which keeps what is
// asked for more often than what it has.
func (m *Memory) offer(list *node) {
	for list != nil {
		n := list
		list, n.next = n.next, nil
		s := m.shard(n.hash)
		s.write.Lock()
		if !s.closed && s.has(n) {
			m.admit(s, n)
		}
		s.write.Unlock()
	}
}

// admit is offer for one node, with its shard locked for writing.
func (m *Memory) admit(s *shard, n *node) {
	now := time.Now()
	if n.expired(now) {
		m.drop(s, n, &m.count.expired)
		return
	}
	n.main = true
	if !m.main.SetWithTTL(n.hash, n, n.cost, roundUp(n.until, now).Sub(now)) {
		n.main = false
		m.drop(s, n, &m.count.evicted)
	}
}

// settle waits until the main region has judged all that queues up for it, which
// takes memory too.
func (m *Memory) settle(s *shard) {
	s.write.Lock()
	defer s.write.Unlock()
	if !s.closed {
		m.main.Wait()
	}
}

// roundUp returns a time by which the main region may forget what expires then.
// It has a table for each such time, which it does not give back before.
func roundUp(expires, now time.Time) time.Time {
	unit := time.Hour
	if expires.Sub(now) > 48*time.Hour {
		unit = 24 * time.Hour
	}
	return expires.Truncate(unit).Add(unit)
}

// left hears of each node that leaves the main region, mostly on its goroutine.
func (m *Memory) left(n *node) {
	if n == nil || m.closing.Load() {
		return
	}
	s := m.shard(n.hash)
	if !s.take(n) {
		return // replaced or deleted
	}
	m.groups.remove(n)
	m.bytes.Add(-n.cost)
	if n.expired(time.Now()) {
		m.count.expired.Add(1)
	} else {
		m.count.evicted.Add(1)
	}
}

// drop takes a node out, if it is still there, and counts that. The shard is
// locked for writing.
func (m *Memory) drop(s *shard, n *node, why *atomic.Int64) bool {
	if !s.take(n) {
		return false
	}
	m.release(n)
	why.Add(1)
	return true
}

// release frees what a node has outside of its shard, which no longer has it and
// is locked for writing.
func (m *Memory) release(n *node) {
	if n.main {
		m.main.Del(n.hash)
	} else {
		m.window.remove(n)
	}
	m.groups.remove(n)
	m.bytes.Add(-n.cost)
}

// expire takes out a node whose time is over.
func (m *Memory) expire(n *node) {
	s := m.shard(n.hash)
	s.write.Lock()
	defer s.write.Unlock()
	if !s.closed {
		m.drop(s, n, &m.count.expired)
	}
}

// Delete implements [Store].
func (m *Memory) Delete(_ context.Context, key Key) error {
	hash := m.hash(&key)
	s := m.shard(hash)
	s.write.Lock()
	defer s.write.Unlock()
	if s.closed {
		return m.failed(ErrClosed)
	}
	if n := s.get(hash); n != nil && n.entry.Key == key {
		m.drop(s, n, &m.count.deleted)
	}
	return nil
}

// List implements [Keeper].
func (m *Memory) List(ctx context.Context, f Filter) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for i := range m.shards {
			nodes, err := m.shards[i].takenIn(&f)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, m.failed(err))
				return
			}
			for _, n := range nodes {
				if !n.expired(time.Now()) && !yield(&n.entry, nil) {
					return
				}
			}
		}
	}
}

// DeleteAll implements [Keeper].
func (m *Memory) DeleteAll(ctx context.Context, f Filter) (int, error) {
	deleted := 0
	for i := range m.shards {
		s := &m.shards[i]
		nodes, err := s.takenIn(&f)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return deleted, m.failed(err)
		}
		for _, n := range nodes {
			live := !n.expired(time.Now())
			if m.dropLocked(s, n, live) && live {
				deleted++
			}
		}
	}
	return deleted, nil
}

// dropLocked is drop with the lock taken.
func (m *Memory) dropLocked(s *shard, n *node, live bool) bool {
	why := &m.count.deleted
	if !live {
		why = &m.count.expired
	}
	s.write.Lock()
	defer s.write.Unlock()
	return !s.closed && m.drop(s, n, why)
}

// Search implements [Searcher].
func (m *Memory) Search(_ context.Context, q *Query) ([]Match, error) {
	if m.closing.Load() {
		return nil, m.failed(ErrClosed)
	}
	if err := checkVector(q.Vector); err != nil {
		return nil, m.failed(err)
	}
	m.count.searches.Add(1)
	found := m.groups.search(q, time.Now())
	if len(found) > 0 {
		m.touch(found[0].Entry)
	}
	m.count.matches.Add(int64(len(found)))
	return found, nil
}

// touch lets the main region know that an entry was asked for.
func (m *Memory) touch(e *Entry) {
	hash := m.hash(&e.Key)
	s := m.shard(hash)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.closed {
		m.main.Get(hash)
	}
}

// Stats implements [Counter]. What has expired is counted as kept until it is
// come upon.
func (m *Memory) Stats() Stats {
	c := &m.count
	st := Stats{
		Bytes: m.bytes.Load() + m.fixed, Vectors: m.groups.vectors.Load(), Searches: c.searches.Load(), Matches: c.matches.Load(),
		Stored: c.stored.Load(), Deleted: c.deleted.Load(), Rejected: c.rejected.Load(), Evicted: c.evicted.Load(), Expired: c.expired.Load(),
		Failed: c.failed.Load(),
	}
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.RLock()
		st.Entries += int64(len(s.nodes))
		s.mu.RUnlock()
		st.Hits += s.hits.Load()
		st.Misses += s.misses.Load()
	}
	return st
}

// Close gives the memory and the goroutines of the store back. It may be called
// at any time, and more than once; it returns once all is given back.
func (m *Memory) Close() error {
	m.once.Do(func() {
		m.closing.Store(true)
		for i := range m.shards {
			m.shards[i].close()
		}
		m.main.Close() // nobody is in it, or comes in: they see their shard closed
		m.window.clear()
		m.groups.clear()
		m.bytes.Store(0)
	})
	return nil
}

func (m *Memory) failed(err error) error {
	m.count.failed.Add(1)
	return err
}
