package postgres

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/b650d4bf/gateway/cache"
)

const (
	// pageRows bounds the entries that are read or deleted together.
	pageRows = 100
	// deletedTold is after how many deletions those who watch are told to forget
	// everything, in place of each key.
	deletedTold = 10_000
)

// where returns the condition of a filter, after a key and a time.
func where(f cache.Filter, after []byte, now int64) (string, []any) {
	sql, args := strings.Builder{}, []any{after, now}
	sql.WriteString(` WHERE key > $1 AND expires > $2`)
	add := func(column, value string) {
		args = append(args, []byte(value))
		sql.WriteString(` AND ` + column + ` = $` + strconv.Itoa(len(args)))
	}
	if f.Namespace != nil {
		add("namespace", *f.Namespace)
	}
	if f.Model != "" {
		add("model", f.Model)
	}
	if f.Operation != "" {
		add("operation", f.Operation)
	}
	return sql.String() + ` ORDER BY key LIMIT ` + strconv.Itoa(pageRows), args
}

// List implements [cache.Keeper].
func (s *Store) List(ctx context.Context, f cache.Filter) iter.Seq2[*cache.Entry, error] {
	return func(yield func(*cache.Entry, error) bool) {
		for after := []byte{}; after != nil; {
			entries, last, err := s.page(ctx, f, after)
			if err != nil {
				yield(nil, s.failure("list", err))
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			after = last
		}
	}
}

// page returns the entries after a key, and the last key that was looked at, nil
// when there are no more.
func (s *Store) page(ctx context.Context, f cache.Filter, after []byte) (entries []*cache.Entry, last []byte, err error) {
	ctx, cancel, _, err := s.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer cancel()
	condition, args := where(f, after, time.Now().UnixMilli())
	rows, err := s.pool.Query(ctx, s.tables.Fill(`SELECT key, data FROM {entries}`)+condition, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var key, data []byte
		if err := rows.Scan(&key, &data); err != nil {
			return nil, nil, err
		}
		last = key
		if len(key) != len(cache.Key{}) {
			continue
		}
		if e := s.entry(data, true, cache.Key(key)); e != nil {
			entries = append(entries, e)
		}
	}
	if n < pageRows {
		last = nil
	}
	return entries, last, rows.Err()
}

// DeleteAll implements [cache.Keeper]. Those who watch are told each key, and after
// 10,000 to forget everything.
func (s *Store) DeleteAll(ctx context.Context, f cache.Filter) (int, error) {
	n := 0
	for after := []byte{}; after != nil; {
		gone, last, err := s.deletePage(ctx, f, after, n >= deletedTold)
		n += gone
		s.deleted.Add(int64(gone))
		if err != nil {
			return n, s.failure("delete all", err)
		}
		after = last
	}
	if n > deletedTold {
		return n, s.failure("delete all", s.notify(ctx, ""))
	}
	return n, nil
}

func (s *Store) deletePage(ctx context.Context, f cache.Filter, after []byte, quiet bool) (gone int, last []byte, err error) {
	ctx, cancel, _, err := s.begin(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer cancel()
	condition, args := where(f, after, time.Now().UnixMilli())
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, s.tables.Fill(`DELETE FROM {entries} WHERE key = ANY(ARRAY(SELECT key FROM {entries}`)+condition+` FOR UPDATE)) RETURNING key`, args...)
		if err != nil {
			return err
		}
		var told strings.Builder
		gone, last = 0, nil
		for ; rows.Next(); gone++ {
			var key []byte
			if err := rows.Scan(&key); err != nil {
				rows.Close()
				return err
			}
			if string(key) > string(last) {
				last = key
			}
			if len(key) == len(cache.Key{}) {
				told.WriteString(cache.Key(key).String())
			}
		}
		if err := rows.Err(); err != nil || quiet || told.Len() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, `SELECT pg_notify($1, $2)`, s.tables.channel(), told.String())
		return err
	})
	return gone, last, err
}

// notify tells those who watch: keys in hexadecimal, or nothing for all.
func (s *Store) notify(ctx context.Context, keys string) error {
	ctx, cancel, _, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	_, err = s.pool.Exec(ctx, `SELECT pg_notify($1, $2)`, s.tables.channel(), keys)
	return err
}
