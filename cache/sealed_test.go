package cache_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/cachetest"
)

// openStore is a store that keeps entries as they are handed on, for tests to look at
// and to change.
type openStore map[cache.Key]*cache.Entry

func (p openStore) Get(_ context.Context, k cache.Key) (*cache.Entry, bool, error) {
	e, ok := p[k]
	return e, ok, nil
}
func (p openStore) Set(_ context.Context, e *cache.Entry) error { p[e.Key] = e; return nil }
func (p openStore) Delete(_ context.Context, k cache.Key) error { delete(p, k); return nil }

func sealed(t *testing.T, store cache.Store, keys ...[]byte) *cache.Sealed {
	t.Helper()
	s, err := cache.NewSealed(store, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// memoryLike has the abilities of a store in memory, and locks, which a sealed
// store has over any other.
type memoryLike interface {
	cache.Searcher
	cache.Keeper
	cache.Locker
	cache.Counter
	io.Closer
}

type abilities struct{ memoryLike }

func TestSealedStore(t *testing.T) {
	cachetest.Run(t, func(t *testing.T) cache.Store {
		m, err := cache.NewMemory(cache.MemoryConfig{})
		if err != nil {
			t.Fatal(err)
		}
		s := sealed(t, m, cache.NewSealingKey())
		t.Cleanup(func() { _ = s.Close() })
		return abilities{s}
	})
}

func fresh() *cache.Entry {
	e := whole()
	e.Created = time.UnixMilli(time.Now().UnixMilli())
	e.Expires = e.Created.Add(time.Hour)
	e.Body, e.Text = []byte("the answer is secret"), "the question is too"
	return e
}

func TestSealedEntriesShowNothing(t *testing.T) {
	p := openStore{}
	s := sealed(t, p, cache.NewSealingKey())
	e := fresh()
	if err := s.Set(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	kept := p[e.Key]
	data, err := kept.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"answer", "secret", "question"} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%q is readable", secret)
		}
	}
	if diff := cmp.Diff(e.Vector, kept.Vector); diff != "" || kept.Group != e.Group || kept.Namespace != e.Namespace {
		t.Error("what is searched by is another")
	}
	first := kept.Body
	if err := s.Set(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first, p[e.Key].Body) {
		t.Error("the same entry is sealed to the same bytes")
	}
	got, ok, err := s.Get(t.Context(), e.Key)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if diff := cmp.Diff(e, got); diff != "" {
		t.Errorf("the entry differs (-want +got):\n%s", diff)
	}
}

func TestWhatWasSealedStaysWhereItWas(t *testing.T) {
	for name, change := range map[string]func(*cache.Entry){
		"under another key":        func(e *cache.Entry) { e.Key[5]++ },
		"for longer":               func(e *cache.Entry) { e.Expires = e.Expires.Add(time.Millisecond) },
		"in another group":         func(e *cache.Entry) { e.Group[0]++ },
		"in another namespace":     func(e *cache.Entry) { e.Namespace = "other" },
		"with a changed byte":      func(e *cache.Entry) { e.Body[len(e.Body)/2]++ },
		"with a changed nonce":     func(e *cache.Entry) { e.Body[5]++ },
		"of another version":       func(e *cache.Entry) { e.Body[3]++ },
		"cut off":                  func(e *cache.Entry) { e.Body = e.Body[:len(e.Body)-1] },
		"cut off in the nonce":     func(e *cache.Entry) { e.Body = e.Body[:8] },
		"with nothing in it":       func(e *cache.Entry) { e.Body = nil },
		"readable, by an intruder": func(e *cache.Entry) { e.Body = []byte("not sealed") },
	} {
		t.Run(name, func(t *testing.T) {
			p := openStore{}
			s := sealed(t, p, cache.NewSealingKey())
			e := fresh()
			if err := s.Set(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			changed := *p[e.Key]
			changed.Body = bytes.Clone(changed.Body)
			change(&changed)
			p[changed.Key] = &changed
			if got, ok, err := s.Get(t.Context(), changed.Key); ok || err != nil {
				t.Errorf("%v, %v, %v", got, ok, err)
			}
			if got := s.Stats().Corrupt; got != 1 {
				t.Errorf("%d are counted", got)
			}
		})
	}
}

func TestKeysForSealingAreChanged(t *testing.T) {
	p, oldKey, newKey := openStore{}, cache.NewSealingKey(), cache.NewSealingKey()
	older, newer := fresh(), fresh()
	newer.Key[0]++
	if err := sealed(t, p, oldKey).Set(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	both := sealed(t, p, newKey, oldKey)
	if err := both.Set(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		store      *cache.Sealed
		old, young bool
	}{
		"with both":    {both, true, true},
		"with the new": {sealed(t, p, newKey), false, true},
		"with the old": {sealed(t, p, oldKey), true, false},
		"with another": {sealed(t, p, cache.NewSealingKey()), false, false},
	} {
		for key, want := range map[cache.Key]bool{older.Key: tt.old, newer.Key: tt.young} {
			if _, ok, err := tt.store.Get(t.Context(), key); ok != want || err != nil {
				t.Errorf("%s: %v, %v, want %v", name, ok, err, want)
			}
		}
	}
}

func TestSealedStoreWithoutVectors(t *testing.T) {
	p := openStore{}
	s, err := cache.NewSealedWithoutVectors(p, cache.NewSealingKey())
	if err != nil {
		t.Fatal(err)
	}
	e := fresh()
	if err := s.Set(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if kept := p[e.Key]; kept.Vector != nil || !kept.Group.IsZero() {
		t.Error("the vector is kept")
	}
	if got, ok, err := s.Get(t.Context(), e.Key); !ok || err != nil || !bytes.Equal(got.Body, e.Body) || got.Text != e.Text {
		t.Errorf("%v, %v", ok, err)
	}
	if _, err := s.DeleteAll(t.Context(), cache.Filter{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

func TestKeysForSealingHave32Bytes(t *testing.T) {
	for _, keys := range [][][]byte{nil, {nil}, {make([]byte, 16)}, {make([]byte, 32), make([]byte, 31)}} {
		if _, err := cache.NewSealed(openStore{}, keys...); err == nil {
			t.Errorf("%d keys are not refused", len(keys))
		}
	}
	if _, err := cache.NewSealed(nil, make([]byte, 32)); err == nil {
		t.Error("no store is not refused")
	}
}

// FuzzSealed gives what no key sealed to be opened.
func FuzzSealed(f *testing.F) {
	key := cache.NewSealingKey()
	p := openStore{}
	s, err := cache.NewSealed(p, key)
	if err != nil {
		f.Fatal(err)
	}
	e := fresh()
	if err := s.Set(f.Context(), e); err != nil {
		f.Fatal(err)
	}
	whole := p[e.Key].Body
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add([]byte("gws\x01"))
	f.Fuzz(func(t *testing.T, body []byte) {
		changed := *p[e.Key]
		changed.Body = body
		s, err := cache.NewSealed(openStore{e.Key: &changed}, key)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Get(t.Context(), e.Key); err != nil || ok != bytes.Equal(body, whole) {
			t.Errorf("%v, %v, %v", got, ok, err)
		}
	})
}
