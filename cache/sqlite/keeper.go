package sqlite

import (
	"context"
	"database/sql"
	"iter"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/sqlite/internal/dbfile"
)

// pageRows bounds the entries that are read or deleted together.
const pageRows = 100

// where returns the condition of a filter, for the next page after an id.
func where(f cache.Filter, after int64) (string, []any) {
	sql, args := `id IN (SELECT id FROM entries WHERE id > ? AND expires > ?`, []any{after, time.Now().UnixMilli()}
	if f.Namespace != nil {
		sql, args = sql+` AND namespace = ?`, append(args, []byte(*f.Namespace))
	}
	if f.Model != "" {
		sql, args = sql+` AND model = ?`, append(args, []byte(f.Model))
	}
	if f.Operation != "" {
		sql, args = sql+` AND operation = ?`, append(args, []byte(f.Operation))
	}
	return sql + ` ORDER BY id LIMIT ?)`, append(args, pageRows)
}

// List implements [cache.Keeper].
func (s *Store) List(ctx context.Context, f cache.Filter) iter.Seq2[*cache.Entry, error] {
	return func(yield func(*cache.Entry, error) bool) {
		for after := int64(0); ; {
			var page []*cache.Entry
			last := int64(-1)
			err := s.with(ctx, "list", func(ctx context.Context, file *dbfile.File) (err error) {
				page, last, err = s.page(ctx, file, f, after)
				return err
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if last < 0 {
				return
			}
			after = last
		}
	}
}

// page returns the next entries after an id, and the last id that was looked at, -1
// when there was none.
func (s *Store) page(ctx context.Context, file *dbfile.File, f cache.Filter, after int64) (out []*cache.Entry, last int64, err error) {
	condition, args := where(f, after)
	rows, err := file.Read.QueryContext(ctx, `SELECT id, key, data FROM entries WHERE `+condition+` ORDER BY id`, args...) //nolint:gosec // the condition has names and marks only
	if err != nil {
		return nil, -1, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has what went wrong
	last = -1
	for rows.Next() {
		var key, data []byte
		if err := rows.Scan(&last, &key, &data); err != nil {
			return nil, -1, err
		}
		if e, err := cache.ParseEntry(data); err == nil && string(e.Key[:]) == string(key) {
			out = append(out, e)
		} else {
			s.corrupt.Add(1) // and deleted when it is read by its key, or expires
		}
	}
	return out, last, rows.Err()
}

// DeleteAll implements [cache.Keeper].
func (s *Store) DeleteAll(ctx context.Context, f cache.Filter) (int, error) {
	n := 0
	for {
		var gone int64
		err := s.with(ctx, "delete all", func(ctx context.Context, file *dbfile.File) error {
			return file.Transact(ctx, func(tx *sql.Tx) (err error) {
				condition, args := where(f, 0)
				gone, err = drop(ctx, tx, condition, args...)
				return err
			})
		})
		if err != nil {
			return n, err
		}
		s.deleted.Add(gone)
		if n += int(gone); gone == 0 {
			return n, nil
		}
	}
}
