package schema

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// Cache remembers what schemas were turned into. It is bounded, and drops what
// was not asked for the longest. It is safe for concurrent use. A nil *Cache
// remembers nothing.
type Cache struct {
	seed     maphash.Seed
	entries  int // at most
	maxBytes int

	mu    sync.Mutex
	byKey map[uint64]*entry
	head  entry // of a ring; next was used last, prev the longest ago
	bytes int
}

// entry is one result with its key. It does not change.
type entry struct {
	next, prev *entry
	hash       uint64
	size       int
	raw        []byte
	options    Options

	out     []byte
	changes []Change
	err     error
}

// overhead is roughly what an entry takes beside its bytes.
const overhead = 256

// NewCache returns a cache of so many entries and bytes at most.
func NewCache(entries, maxBytes int) *Cache {
	c := &Cache{seed: maphash.MakeSeed(), entries: entries, maxBytes: maxBytes, byKey: make(map[uint64]*entry)}
	c.head.next, c.head.prev = &c.head, &c.head
	return c
}

// Transform is the function [Transform] with a memory. The result is shared and
// must not be changed; raw is the caller's again when it returns.
func (c *Cache) Transform(raw []byte, o Options) ([]byte, []Change, error) {
	if c == nil {
		return Transform(raw, o)
	}
	hash := maphash.Bytes(c.seed, raw)
	hash ^= (uint64(o.Form)<<2 | bit(o.Ordering)<<1 | bit(o.Parameters)) * 0x9E3779B97F4A7C15
	if e := c.find(hash, raw, o); e != nil {
		return e.out, e.changes, e.err
	}
	e := &entry{hash: hash, raw: bytes.Clone(raw), options: o}
	e.out, e.changes, e.err = Transform(e.raw, o)
	e.size = overhead + len(e.raw) + len(e.out)
	for i := range e.changes {
		e.size += len(e.changes[i].Path) + len(e.changes[i].Message) + overhead/4
	}
	c.add(e)
	return e.out, e.changes, e.err
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (c *Cache) find(hash uint64, raw []byte, o Options) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[hash]
	if e == nil || e.options != o || !bytes.Equal(e.raw, raw) {
		return nil
	}
	if c.head.next != e {
		e.unlink()
		c.push(e)
	}
	return e
}

// add remembers an entry unless it would take more than an eighth of the room.
func (c *Cache) add(e *entry) {
	if e.size > c.maxBytes/8 || c.entries < 1 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.byKey[e.hash]; old != nil {
		c.drop(old)
	}
	c.byKey[e.hash] = e
	c.bytes += e.size
	c.push(e)
	for c.bytes > c.maxBytes || len(c.byKey) > c.entries {
		c.drop(c.head.prev)
	}
}

func (c *Cache) push(e *entry) {
	e.prev, e.next = &c.head, c.head.next
	e.prev.next, e.next.prev = e, e
}

func (e *entry) unlink() { e.prev.next, e.next.prev = e.next, e.prev }

func (c *Cache) drop(e *entry) {
	e.unlink()
	delete(c.byKey, e.hash)
	c.bytes -= e.size
}
