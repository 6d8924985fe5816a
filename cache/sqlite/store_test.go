package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/cachetest"
	"github.com/b650d4bf/gateway/cache/sqlite"
)

func TestStore(t *testing.T) {
	open := func(t *testing.T, path string) *sqlite.Store {
		return open(t, path, sqlite.WithPoll(20*time.Millisecond), sqlite.WithTimeout(20*time.Second))
	}
	cachetest.Run(t,
		func(t *testing.T) cache.Store { return open(t, filepath.Join(t.TempDir(), "a b%20?#.db")) },
		cachetest.WithLife(800*time.Millisecond), cachetest.WithOperations(300),
		cachetest.WithShared(func(t *testing.T) (a, b cache.Store) {
			path := filepath.Join(t.TempDir(), "answers.db")
			return open(t, path), open(t, path)
		}))
}

func open(t testing.TB, path string, opts ...sqlite.Option) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSealedStore(t *testing.T) {
	key := cache.NewSealingKey()
	open := func(t *testing.T, path string) cache.Store {
		s, err := cache.NewSealed(open(t, path, sqlite.WithPoll(20*time.Millisecond), sqlite.WithTimeout(20*time.Second)), key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	cachetest.Run(t,
		func(t *testing.T) cache.Store { return open(t, filepath.Join(t.TempDir(), "answers.db")) },
		cachetest.WithLife(800*time.Millisecond), cachetest.WithOperations(150),
		cachetest.WithShared(func(t *testing.T) (a, b cache.Store) {
			path := filepath.Join(t.TempDir(), "answers.db")
			return open(t, path), open(t, path)
		}))
}
