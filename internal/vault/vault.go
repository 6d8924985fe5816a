// Package vault keeps the thought signatures that a model gave out with its
// tool calls, and gives one back when the caller's history lost it: clients of
// the OpenAI schema drop members that they do not know. What a signature is
// for: https://cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures
//
// A vault belongs to one process and is bounded in entries, bytes and time. Of
// a call it keeps a digest, neither its name nor its arguments.
package vault

import (
	"strings"
	"sync"
	"time"
)

// What a member of [Limits] is when it is not given.
const (
	DefaultEntries = 50_000
	DefaultBytes   = 64 << 20
	DefaultTTL     = 24 * time.Hour
)

const (
	// overhead is about what an entry takes beside its signature, in bytes:
	// itself, and a slot in a map that is half full.
	overhead = 208
	// maxShare is the part of all bytes that one signature may take.
	maxShare = 8
)

// Limits bound a [Vault]. A member that is not positive has its default.
type Limits struct {
	// Entries is how many signatures are kept.
	Entries int
	// Bytes is how much memory they take, with about 200 bytes for each beside
	// the signature itself. One longer than an eighth of it is not kept.
	Bytes int64
	// TTL is how long a signature is kept after it was last put in or given
	// back: a conversation that goes on keeps its own.
	TTL time.Duration
}

// Key names a tool call. Get finds what Put was given when all members are the
// same; a key without an issuer or an id names nothing.
type Key struct {
	// Issuer tells who takes the signature back: provider, model family, and
	// project or tenant, as the caller joins them.
	Issuer string
	// ID and Name are the tool call's.
	ID, Name string
	// Arguments is the JSON text of the tool call's arguments. It is compared by
	// content: neither the order of members, nor white space, nor the spelling
	// of strings and numbers matters, and blank text is the empty object. Text
	// that is not valid JSON is compared byte by byte.
	Arguments string
}

// Stats tells what a [Vault] holds, and has done since it was made. Entries is
// always Stored - Evicted - Expired.
type Stats struct {
	Entries int
	Bytes   int64 // as Limits counts them

	Stored   int64 // signatures under a key that was not held
	Replaced int64 // signatures under a key that was
	Refused  int64 // signatures that are too long, or under a key that names nothing
	Evicted  int64 // entries dropped to keep the limits
	Expired  int64 // entries dropped because of their age

	Restored int64 // signatures given back
	Missed   int64 // keys asked for in vain
}

// Vault keeps signatures. When it is full, the one that was not used for the
// longest time makes room. Age is looked at when the vault is used, so an idle
// one holds what it has. A Vault is safe for concurrent use; a nil one is
// switched off: it takes nothing and holds nothing.
type Vault struct {
	limits Limits
	rooms  sync.Pool // of *room

	mu      sync.Mutex
	entries map[digest]*entry
	ring    entry // its next is the entry used last, its prev the one to go first
	stats   Stats
}

// entry is one signature, in a ring ordered by the time of its last use.
type entry struct {
	key        digest
	signature  string
	used       time.Time
	prev, next *entry
}

// New returns an empty vault.
func New(limits Limits) *Vault {
	if limits.Entries <= 0 {
		limits.Entries = DefaultEntries
	}
	if limits.Bytes <= 0 {
		limits.Bytes = DefaultBytes
	}
	if limits.TTL <= 0 {
		limits.TTL = DefaultTTL
	}
	v := &Vault{limits: limits, entries: map[digest]*entry{}}
	v.ring.prev, v.ring.next = &v.ring, &v.ring
	return v
}

// Put keeps the signature of a tool call, in place of any that was kept under
// the key before. An empty signature is none and changes nothing.
func (v *Vault) Put(k Key, signature string) {
	if v == nil || signature == "" {
		return
	}
	if !k.names() {
		v.mu.Lock()
		v.stats.Refused++
		v.mu.Unlock()
		return
	}
	key := v.digest(&k)
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	v.expire(now)
	old := v.entries[key]
	switch {
	case !v.fits(signature):
		v.stats.Refused++
		if old != nil { // it is out of date now
			v.drop(old)
			v.stats.Evicted++
		}
		return
	case old != nil:
		v.replace(old, signature)
		v.touch(old, now)
	default:
		v.insert(key, signature, now)
	}
	v.evict()
}

// Get returns the signature that was put under the key.
func (v *Vault) Get(k Key) (signature string, ok bool) {
	if v == nil {
		return "", false
	}
	var key digest // of a key that names nothing, under which nothing is put
	if k.names() {
		key = v.digest(&k)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	v.expire(now)
	e := v.entries[key]
	if e == nil {
		v.stats.Missed++
		return "", false
	}
	v.stats.Restored++
	v.touch(e, now)
	return e.signature, true
}

// Stats returns the counters, after what is too old was dropped.
func (v *Vault) Stats() Stats {
	if v == nil {
		return Stats{}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.expire(time.Now())
	s := v.stats
	s.Entries = len(v.entries)
	return s
}

func (k *Key) names() bool { return k.Issuer != "" && k.ID != "" }

// fits reports whether there can be room for the signature.
func (v *Vault) fits(signature string) bool {
	n := int64(len(signature))
	return n <= v.limits.Bytes/maxShare && n+overhead <= v.limits.Bytes
}

func (v *Vault) insert(key digest, signature string, now time.Time) {
	// The clone keeps the signature from holding on to a text it was cut from.
	e := &entry{key: key, signature: strings.Clone(signature), used: now}
	v.entries[key] = e
	v.link(e)
	v.stats.Stored++
	v.stats.Bytes += int64(len(signature)) + overhead
}

func (v *Vault) replace(e *entry, signature string) {
	v.stats.Replaced++
	if e.signature == signature {
		return
	}
	v.stats.Bytes += int64(len(signature)) - int64(len(e.signature))
	e.signature = strings.Clone(signature)
}

// touch makes e the entry used last.
func (v *Vault) touch(e *entry, now time.Time) {
	e.used = now
	e.unlink()
	v.link(e)
}

// expire drops the entries that are too old. The ring is in the order of age.
func (v *Vault) expire(now time.Time) {
	for e := v.ring.prev; e != &v.ring && now.Sub(e.used) >= v.limits.TTL; e = v.ring.prev {
		v.drop(e)
		v.stats.Expired++
	}
}

// evict drops entries until the limits are kept. The entry used last stays: it
// fits alone.
func (v *Vault) evict() {
	for len(v.entries) > v.limits.Entries || v.stats.Bytes > v.limits.Bytes {
		v.drop(v.ring.prev)
		v.stats.Evicted++
	}
}

func (v *Vault) drop(e *entry) {
	e.unlink()
	delete(v.entries, e.key)
	v.stats.Bytes -= int64(len(e.signature)) + overhead
}

func (v *Vault) link(e *entry) {
	e.prev, e.next = &v.ring, v.ring.next
	e.prev.next, e.next.prev = e, e
}

func (e *entry) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
}
