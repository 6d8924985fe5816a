package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/sqlite/internal/dbfile"
)

// Lock implements [cache.Locker] with a row that has a time of its own. Unlocking
// compares a random token, so a lock that was lost to its ttl and taken by another
// stays with that one.
func (s *Store) Lock(ctx context.Context, key cache.Key, ttl time.Duration) (unlock func(), free bool, err error) {
	token := rand.Text()
	err = s.with(ctx, "lock", func(ctx context.Context, f *dbfile.File) error {
		now := time.Now()
		// Rounded up: a lock holds at least as long as was said.
		until := now.Add(ttl + time.Millisecond - 1).UnixMilli()
		res, err := f.Write.ExecContext(ctx, `INSERT INTO locks (key, token, expires) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET token = excluded.token, expires = excluded.expires WHERE locks.expires <= ?`, key[:], token, until, now.UnixMilli())
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		free = n > 0
		return err
	})
	if err != nil {
		return nil, false, err
	}
	if !free {
		return func() {}, false, nil
	}
	return sync.OnceFunc(func() {
		// The caller's context may be over; the lock is given back all the same.
		_ = s.with(context.WithoutCancel(ctx), "unlock", func(ctx context.Context, f *dbfile.File) error {
			_, err := f.Write.ExecContext(ctx, `DELETE FROM locks WHERE key = ? AND token = ?`, key[:], token)
			return err
		})
	}), true, nil
}

// Watch implements [cache.Watcher] by looking again and again; see [WithPoll].
// changed and reset are called one at a time, for the store's own changes too.
func (s *Store) Watch(ctx context.Context, changed func(cache.Key), reset func()) error {
	w := &watch{store: s, changed: changed, reset: reset}
	if err := s.with(ctx, "watch", w.begin); err != nil {
		return err
	}
	begun := false
	s.file.WhileOpen(func() {
		if begun = s.done.Err() == nil; begun {
			s.running.Go(func() { w.run(ctx) })
		}
	})
	if !begun {
		return cache.ErrClosed
	}
	return nil
}

// watch is one call of Watch.
type watch struct {
	store   *Store
	changed func(cache.Key)
	reset   func()
	opened  int64 // which opening of the file
	last    int64 // the change that was heard last
}

// begin takes what has changed so far for known.
func (w *watch) begin(ctx context.Context, f *dbfile.File) error {
	w.opened = w.store.file.Opened.Load()
	err := f.Read.QueryRowContext(ctx, `SELECT seq FROM sqlite_sequence WHERE name = 'changes'`).Scan(&w.last)
	if errors.Is(err, sql.ErrNoRows) {
		w.last = 0
		return nil
	}
	return err
}

func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(w.store.poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.store.done.Done():
			return
		case <-tick.C:
		}
		var keys []cache.Key
		missed := false
		err := w.store.with(ctx, "watch", func(ctx context.Context, f *dbfile.File) (err error) {
			keys, missed, err = w.look(ctx, f)
			return err
		})
		if err != nil {
			continue
		}
		if missed {
			w.reset()
		}
		for _, k := range keys {
			w.changed(k)
		}
	}
}

// look returns what was changed since the last time, and whether some of that is
// not known any more.
func (w *watch) look(ctx context.Context, f *dbfile.File) (keys []cache.Key, missed bool, err error) {
	if w.opened != w.store.file.Opened.Load() {
		return nil, true, w.begin(ctx, f)
	}
	rows, err := f.Read.QueryContext(ctx, `SELECT seq, key FROM changes WHERE seq > ? ORDER BY seq`, w.last)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has what went wrong
	last := w.last
	for rows.Next() {
		var seq int64
		var key []byte
		if err := rows.Scan(&seq, &key); err != nil {
			return nil, false, err
		}
		missed = missed || seq != last+1 || len(key) != len(cache.Key{})
		if last = seq; len(key) == len(cache.Key{}) {
			keys = append(keys, cache.Key(key))
		}
	}
	if err := rows.Err(); err != nil {
		return nil, false, err
	}
	w.last = last
	return keys, missed, nil
}
