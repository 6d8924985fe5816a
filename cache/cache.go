// Package cache keeps whole answers, so that a request that was answered before
// need not be asked again. It holds the contract of stores, their entries, the
// store in memory and the one that puts it in front of a shared one; it knows keys
// and bytes, and nothing of chat.
//
// A [Store] keeps entries by their [Key]. What else a store can do is in
// interfaces of their own: find entries that mean the same ([Searcher]), list and
// delete many ([Keeper]), keep several processes from asking the same at once
// ([Locker]) and tell them what was deleted ([Watcher]). Package cachetest has the
// suite that all of them pass.
//
// [Memory] keeps entries in the process; [Tiered] puts it in front of a store that
// processes share, and [Sealed] encrypts what a store keeps. The modules sqlite,
// redis and postgres below this one keep entries elsewhere.
//
// # Faults
//
// A store may fail, lose entries, or return what is broken: whoever uses it takes
// that for a miss. It must never return the entry of another key, and the key is
// compared again after each read.
//
// # Concurrency
//
// Stores are safe for concurrent use. An [Entry] does not change once a store has
// it: neither the caller of Set nor the caller of Get may write to it.
package cache

import (
	"context"
	"errors"
	"iter"
	"time"
)

// The errors of stores that callers tell apart.
var (
	// ErrTooLarge says that an entry exceeds what the store keeps of one entry.
	ErrTooLarge = errors.New("cache: the entry is larger than the store keeps")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("cache: the store is closed")
	// ErrCorrupt says that stored bytes are no entry: cut off, changed, or of
	// another version.
	ErrCorrupt = errors.New("cache: the stored entry is corrupt")
)

// Store keeps entries. Implementations pass the suite of package cachetest.
type Store interface {
	// Get returns the entry of a key, or false when there is none that has not
	// expired.
	Get(ctx context.Context, key Key) (*Entry, bool, error)
	// Set keeps an entry until it expires, in place of one with the same key. A
	// Get that begins after Set has returned without an error finds it, unless
	// the store has lost it to its bounds since. An entry that has expired is not
	// kept, and the one before is gone all the same.
	Set(ctx context.Context, e *Entry) error
	// Delete forgets the entry of a key. That there is none is no error.
	Delete(ctx context.Context, key Key) error
}

// Searcher is a [Store] that finds entries by what they mean.
type Searcher interface {
	Store
	// Search returns the entries of the group whose vectors are at least as
	// similar as the threshold, but for rounding, the most similar first, and none
	// that has expired. Entries whose vectors have another length are passed over.
	Search(ctx context.Context, q *Query) ([]Match, error)
}

// Query asks for similar entries.
type Query struct {
	// Group is what must be the same; see [Entry.Group].
	Group Key
	// Vector is what is looked for, of length 1.
	Vector []float32
	// Threshold is the least cosine similarity, above 0 and at most 1.
	Threshold float64
	// Limit bounds the matches; 0 returns all.
	Limit int
}

// Match is an entry that was found.
type Match struct {
	Entry *Entry
	// Similarity is the cosine of the two vectors, computed from the entry's
	// stored vector.
	Similarity float64
}

// Keeper is a [Store] whose entries can be listed, and deleted together.
type Keeper interface {
	Store
	// List yields the entries that the filter takes in and that have not expired,
	// in no order. The bodies may be left out. After an error it ends.
	List(ctx context.Context, f Filter) iter.Seq2[*Entry, error]
	// DeleteAll forgets the entries that the filter takes in and returns how many
	// there were.
	DeleteAll(ctx context.Context, f Filter) (int, error)
}

// Filter takes entries in. The zero value takes in all.
type Filter struct {
	// Namespace takes in the entries of one namespace; nil means any, and a
	// pointer to "" those without one.
	Namespace *string
	// Model and Operation take in the entries of one model or operation; empty
	// means any.
	Model, Operation string
}

// Takes reports whether the filter takes the entry in.
func (f *Filter) Takes(e *Entry) bool {
	return (f.Namespace == nil || *f.Namespace == e.Namespace) &&
		(f.Model == "" || f.Model == e.Model) && (f.Operation == "" || f.Operation == e.Operation)
}

// Locker is a [Store] that several processes share, of which one at a time is to
// ask for an answer that is missing.
type Locker interface {
	Store
	// Lock takes the lock of a key for at most ttl and reports whether it was
	// free. The function gives it back; it may be called once the lock is lost.
	Lock(ctx context.Context, key Key, ttl time.Duration) (unlock func(), free bool, err error)
}

// Watcher is a [Store] that several processes share and that tells what any of
// them deleted or replaced, so that nearer copies can be dropped.
type Watcher interface {
	Store
	// Watch calls changed with the key of each entry that was deleted or replaced,
	// and reset when some may have been missed, until the context ends or the
	// store is closed. It returns without waiting once it listens.
	Watch(ctx context.Context, changed func(Key), reset func()) error
}

// Stats counts what became of entries since the store was made.
type Stats struct {
	// Entries and Bytes are kept now; Bytes is memory or storage, overheads
	// included.
	Entries, Bytes int64
	// Vectors are kept now for searches.
	Vectors int64
	// Hits and Misses count Gets.
	Hits, Misses int64
	// Searches counts calls of Search, and Matches what they found.
	Searches, Matches int64
	// Stored counts entries that were kept by Set, and Deleted those that were
	// deleted.
	Stored, Deleted int64
	// Rejected counts entries that were not kept: too large, expired, or faulty.
	Rejected int64
	// Evicted counts entries that had to make room, and Expired those whose time
	// was over.
	Evicted, Expired int64
	// Corrupt counts entries that were read broken and passed over, and Failed
	// the operations that failed otherwise.
	Corrupt, Failed int64
}

// Counter is a [Store] that counts.
type Counter interface {
	Stats() Stats
}
