package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/cache/sqlite/internal/dbfile"
)

const (
	// usedEvery is how often it is written down what was used.
	usedEvery = 5 * time.Second
	// changesFor is how long changes are kept for those who watch, at least.
	changesFor = time.Minute
	// sweepBatch bounds the rows that one transaction deletes.
	sweepBatch = 500
)

// used notes what was read, to be written together.
type used struct {
	mu  sync.Mutex
	ids map[int64]int64 // when, by id
}

func (u *used) add(id int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ids == nil {
		u.ids = map[int64]int64{}
	}
	u.ids[id] = time.Now().UnixMilli()
}

// flush writes what was noted. What fails is forgotten: it only orders evictions.
func (u *used) flush(ctx context.Context, tx *sql.Tx) error {
	u.mu.Lock()
	ids := u.ids
	u.ids = nil
	u.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	stmt, err := tx.PrepareContext(ctx, `UPDATE entries SET used = ? WHERE id = ?`)
	if err != nil {
		return err
	}
	defer stmt.Close() //nolint:errcheck // its executions have said what went wrong
	for id, at := range ids {
		if _, err := stmt.ExecContext(ctx, at, id); err != nil {
			return err
		}
	}
	return nil
}

// maintain works on the file until the store is closed.
func (s *Store) maintain() {
	uses, sweeps := time.NewTicker(usedEvery), time.NewTicker(s.sweep)
	defer uses.Stop()
	defer sweeps.Stop()
	for {
		select {
		case <-s.done.Done():
			return
		case <-uses.C:
			s.file.SameFile()
			_ = s.with(s.done, "note uses", func(ctx context.Context, f *dbfile.File) error {
				return f.Transact(ctx, func(tx *sql.Tx) error { return s.used.flush(ctx, tx) })
			})
		case <-sweeps.C:
			_, _ = s.Sweep(s.done) // the next one tries again
		}
	}
}

// Sweep deletes what has expired and returns how many entries that were. The store
// does so on its own; see [WithSweep].
func (s *Store) Sweep(ctx context.Context) (int, error) {
	n := 0
	for {
		var swept int64
		err := s.with(ctx, "sweep", func(ctx context.Context, f *dbfile.File) error {
			return f.Transact(ctx, func(tx *sql.Tx) error {
				now := time.Now()
				for _, q := range []string{`DELETE FROM locks WHERE expires <= ?2`, `DELETE FROM changes WHERE at <= ?1`} {
					if _, err := tx.ExecContext(ctx, q, now.Add(-changesFor).UnixMilli(), now.UnixMilli()); err != nil {
						return err
					}
				}
				res, err := tx.ExecContext(ctx, `DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE expires <= ? LIMIT ?)`, now.UnixMilli(), sweepBatch)
				if err != nil {
					return err
				}
				swept, err = res.RowsAffected()
				return err
			})
		})
		n += int(swept)
		s.expired.Add(swept)
		if err != nil || swept < sweepBatch {
			return n, err
		}
	}
}
