package cache

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// shardCount is a power of two, so that many readers rarely share a lock.
const shardCount = 64

// node is an entry in memory, with what leads to it.
type node struct {
	entry Entry
	// until is when it is to be gone, at the latest when the entry expires.
	until time.Time
	hash  uint64
	cost  int64

	// main is set once the node was offered to the main region; its shard's write
	// lock guards it.
	main bool

	// prev and next are the neighbours in the window, and windowed is set while
	// it has the node; its lock guards them.
	prev, next *node
	windowed   bool

	// group is where its vector is, if anywhere, and row which it is there.
	group *group
	row   int
}

func (n *node) expired(now time.Time) bool { return !now.Before(n.until) }

// shard has the nodes of some of the keys, in whichever region they are.
//
// Whoever changes it holds write while it tells the other parts, so that they
// hear of the changes of a key in their order. mu guards the map alone, and is
// held for moments: the main region takes it when nodes leave.
type shard struct {
	write sync.Mutex
	mu    sync.RWMutex
	nodes map[uint64]*node
	// closed is written with both locks held.
	closed bool

	hits, misses atomic.Int64
	_            [32]byte // the next shard is for another processor's cache
}

// hash says where a key is. Equal hashes do not mean equal keys.
func (m *Memory) hash(key *Key) uint64 { return maphash.Bytes(m.seed, key[:]) }

func (m *Memory) shard(hash uint64) *shard { return &m.shards[hash%shardCount] }

func (s *shard) get(hash uint64) *node {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.nodes[hash]
}

// has reports whether the node is the one of its key.
func (s *shard) has(n *node) bool { return s.get(n.hash) == n }

// put sets the node of a hash, or deletes it for nil, and returns the one before.
func (s *shard) put(hash uint64, n *node) *node {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.nodes[hash]
	if n != nil {
		s.nodes[hash] = n
	} else if old != nil {
		delete(s.nodes, hash)
	}
	return old
}

// take deletes the node, and reports whether it was there.
func (s *shard) take(n *node) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nodes[n.hash] != n {
		return false
	}
	delete(s.nodes, n.hash)
	return true
}

// takenIn returns the nodes that the filter takes in.
func (s *shard) takenIn(f *Filter) ([]*node, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	var out []*node
	for _, n := range s.nodes {
		if f.Takes(&n.entry) {
			out = append(out, n)
		}
	}
	return out, nil
}

func (s *shard) close() {
	s.write.Lock()
	defer s.write.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.nodes = true, nil
}

// window is a queue of the nodes that were stored last.
type window struct {
	mu         sync.Mutex
	head, tail *node // oldest and newest
	bytes, max int64
}

// push adds a node and returns those that have to leave for it, oldest first,
// chained by next.
func (w *window) push(n *node) (leaving *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n.prev = w.tail; n.prev != nil {
		n.prev.next = n
	} else {
		w.head = n
	}
	w.tail, n.windowed = n, true
	last := &leaving
	for w.bytes += n.cost; w.bytes > w.max; { // no node takes all of it
		out := w.head
		w.unlink(out)
		*last, last = out, &out.next
	}
	return leaving
}

// remove takes a node out, if it is in.
func (w *window) remove(n *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n.windowed {
		w.unlink(n)
	}
}

func (w *window) unlink(n *node) {
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		w.head = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	} else {
		w.tail = n.prev
	}
	n.prev, n.next, n.windowed = nil, nil, false
	w.bytes -= n.cost
}

func (w *window) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head, w.tail, w.bytes = nil, nil, 0
}

// nodeOverhead is what an entry takes beside its own bytes: the node, and its
// places in the tables of the shard and of the main region.
const nodeOverhead = 600

// partBytes is the size of a [Part].
const partBytes = 24

// own returns the entry with strings that keep nothing else in memory.
func own(e *Entry) Entry {
	out := *e
	out.Namespace, out.Operation, out.Model, out.Text = strings.Clone(e.Namespace), strings.Clone(e.Operation), strings.Clone(e.Model), strings.Clone(e.Text)
	if waste := cap(out.Body) - len(out.Body); waste > len(out.Body)/8 {
		out.Body = slices.Clone(out.Body)
	}
	return out
}

// nodeBytes is the memory that an entry takes.
func nodeBytes(e *Entry) int64 {
	n := nodeOverhead + allocated(cap(e.Body)) + len(e.Namespace) + len(e.Operation) + len(e.Model) + len(e.Text) + partBytes*cap(e.Parts) + allocated(4*cap(e.Vector))
	if !e.Group.IsZero() && len(e.Vector) > 0 {
		n += rowBytes + len(e.Vector)/4
	}
	return int64(n)
}

// allocated is about what is taken for that many bytes: sizes are rounded up to
// one of a few, and large ones to pages.
func allocated(n int) int {
	const large, page = 32 << 10, 8 << 10
	if n <= large {
		return n + n/16
	}
	return (n + page - 1) / page * page
}
