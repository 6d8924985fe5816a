package cache

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync/atomic"
	"time"
)

// The form of a sealed body: magic and version, nonce, what AES-256-GCM made of the
// lengths of text, namespace and body and these three.
const (
	sealedMagic   = "gws\x01"
	sealedKeySize = 32
)

// Sealed is a store that encrypts what it hands on to another, which keeps it where
// others might read it: bodies, and the texts that vectors were made of. The key of
// an entry, the end of its time, its group and its namespace are bound to that, so
// what was sealed cannot be moved to another entry or live longer. Its vector is not,
// since stores may keep vectors less precisely: who can write to the store can make
// a search find an entry, though not another answer for its key or its text.
//
// What is searched and listed by stays readable: keys, which are digests, groups,
// vectors, namespaces, operations, models, and the parts of keys. A vector says
// roughly what its text was about. See [NewSealedWithoutVectors].
//
// It has the abilities of a [Searcher], a [Keeper], a [Locker], a [Watcher] and a
// [Counter], as the stores of the modules redis, postgres and sqlite have them. Over a
// store without, a search finds nothing, locks hold within the process, and List,
// DeleteAll and Watch fail with [errors.ErrUnsupported].
type Sealed struct {
	store   Store
	seals   []cipher.AEAD
	vectors bool
	locks   locks // where the store below has none
	hits    atomic.Int64
	broken  atomic.Int64
}

var (
	_ Searcher  = (*Sealed)(nil)
	_ Keeper    = (*Sealed)(nil)
	_ Locker    = (*Sealed)(nil)
	_ Watcher   = (*Sealed)(nil)
	_ Counter   = (*Sealed)(nil)
	_ io.Closer = (*Sealed)(nil)
)

// NewSealed returns a store that encrypts what it hands on, with AES-256-GCM. Keys
// have 32 random bytes each. The first one seals, and all open: to change keys, put
// the new one in front, and take the old one out when what it sealed has expired.
// An entry that no key opens is missed, and counted as [Stats].Corrupt. One key
// should seal at most 2^32 entries.
func NewSealed(store Store, keys ...[]byte) (*Sealed, error) { return newSealed(store, true, keys) }

// NewSealedWithoutVectors is [NewSealed] for a store that is not to know vectors
// either: its entries are found by their keys alone.
func NewSealedWithoutVectors(store Store, keys ...[]byte) (*Sealed, error) {
	return newSealed(store, false, keys)
}

func newSealed(store Store, vectors bool, keys [][]byte) (*Sealed, error) {
	if store == nil {
		return nil, errors.New("cache: the store to seal for is nil")
	}
	if len(keys) == 0 {
		return nil, errors.New("cache: sealing needs a key of 32 random bytes")
	}
	s := &Sealed{store: store, vectors: vectors}
	for i, key := range keys {
		if len(key) != sealedKeySize {
			return nil, fmt.Errorf("cache: key %d for sealing has %d bytes, and has to have %d", i+1, len(key), sealedKeySize)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		seal, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		s.seals = append(s.seals, seal)
	}
	return s, nil
}

// bound is what a sealed body belongs to.
func bound(e *Entry) []byte {
	out := append([]byte(sealedMagic), e.Key[:]...)
	out = binary.BigEndian.AppendUint64(out, uint64(e.Expires.UnixMilli()))
	out = append(out, e.Group[:]...)
	return appendString(out, e.Namespace)
}

// seal returns the entry as the store below is to have it.
func (s *Sealed) seal(e *Entry) *Entry {
	out := *e
	if !s.vectors {
		out.Group, out.Vector = Key{}, nil
	}
	plain := appendString(make([]byte, 0, len(e.Text)+len(e.Body)+binary.MaxVarintLen64), e.Text)
	plain = append(plain, e.Body...)
	out.Text = ""
	//nolint:gosec // the cipher makes a random nonce itself, and takes none
	out.Body = s.seals[0].Seal([]byte(sealedMagic), nil, plain, bound(&out))
	return &out
}

// open returns the entry that was sealed, or nil.
func (s *Sealed) open(e *Entry) *Entry {
	if e == nil {
		s.broken.Add(1)
		return nil
	}
	body := e.Body
	if len(body) < len(sealedMagic) || string(body[:len(sealedMagic)]) != sealedMagic {
		s.broken.Add(1)
		return nil
	}
	extra := bound(e)
	for _, seal := range s.seals {
		plain, err := seal.Open(nil, nil, body[len(sealedMagic):], extra)
		if err != nil {
			continue
		}
		r := fields{data: plain}
		out := *e
		out.Text = string(r.bytes())
		if out.Body = r.data; r.bad {
			break
		}
		if len(out.Body) == 0 {
			out.Body = nil
		}
		return &out
	}
	s.broken.Add(1)
	return nil
}

// Get implements [Store].
func (s *Sealed) Get(ctx context.Context, key Key) (*Entry, bool, error) {
	e, ok, err := s.store.Get(ctx, key)
	if err != nil || !ok || e == nil || e.Key != key {
		return nil, false, err
	}
	if e = s.open(e); e == nil {
		return nil, false, nil
	}
	s.hits.Add(1)
	return e, true, nil
}

// Set implements [Store].
func (s *Sealed) Set(ctx context.Context, e *Entry) error { return s.store.Set(ctx, s.seal(e)) }

// Delete implements [Store].
func (s *Sealed) Delete(ctx context.Context, key Key) error { return s.store.Delete(ctx, key) }

// unsupported names an ability that the store below has not.
func unsupported(what string) error {
	return fmt.Errorf("cache: the sealed store cannot %s: %w", what, errors.ErrUnsupported)
}

// Search implements [Searcher]. An entry that no key opens is passed over.
func (s *Sealed) Search(ctx context.Context, q *Query) ([]Match, error) {
	below, ok := s.store.(Searcher)
	if !ok || !s.vectors {
		return nil, nil
	}
	found, err := below.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make([]Match, 0, len(found))
	for _, m := range found {
		if e := s.open(m.Entry); e != nil {
			out = append(out, Match{Entry: e, Similarity: m.Similarity})
		}
	}
	return out, nil
}

// List implements [Keeper]. An entry that no key opens is listed without its body.
func (s *Sealed) List(ctx context.Context, f Filter) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		below, ok := s.store.(Keeper)
		if !ok {
			yield(nil, unsupported("list"))
			return
		}
		for e, err := range below.List(ctx, f) {
			if err == nil && e == nil {
				s.broken.Add(1)
				continue
			}
			if err == nil {
				listed := *e
				listed.Body = nil
				if opened := s.open(e); len(e.Body) > 0 && opened != nil {
					listed = *opened
				}
				e = &listed
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// DeleteAll implements [Keeper].
func (s *Sealed) DeleteAll(ctx context.Context, f Filter) (int, error) {
	below, ok := s.store.(Keeper)
	if !ok {
		return 0, unsupported("delete all")
	}
	return below.DeleteAll(ctx, f)
}

// Lock implements [Locker].
func (s *Sealed) Lock(ctx context.Context, key Key, ttl time.Duration) (unlock func(), free bool, err error) {
	below, ok := s.store.(Locker)
	if !ok {
		if unlock, free = s.locks.lock(key, ttl); !free {
			unlock = func() {}
		}
		return unlock, free, nil
	}
	return below.Lock(ctx, key, ttl)
}

// Watch implements [Watcher].
func (s *Sealed) Watch(ctx context.Context, changed func(Key), reset func()) error {
	below, ok := s.store.(Watcher)
	if !ok {
		return unsupported("watch")
	}
	return below.Watch(ctx, changed, reset)
}

// Stats implements [Counter]: what the store below counted, with the entries that
// no key opened as misses and as corrupt.
func (s *Sealed) Stats() Stats {
	var out Stats
	if below, ok := s.store.(Counter); ok {
		out = below.Stats()
	}
	broken := s.broken.Load()
	out.Corrupt += broken
	out.Misses += max(0, out.Hits-s.hits.Load())
	out.Hits = s.hits.Load()
	return out
}

// Close closes the store below, if it can be closed.
func (s *Sealed) Close() error {
	if below, ok := s.store.(io.Closer); ok {
		return below.Close()
	}
	return nil
}

// NewSealingKey returns a random key for [NewSealed].
func NewSealingKey() []byte {
	key := make([]byte, sealedKeySize)
	_, _ = rand.Read(key) // never fails, see its documentation
	return key
}
