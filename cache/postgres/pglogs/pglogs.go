// Package pglogs keeps the records of calls in PostgreSQL, for all processes that
// share the database. It is in the module of the shared response cache, whose pool
// it may use.
//
//	pool, err := pgxpool.New(ctx, "postgres://user@host/database")
//	...
//	store, err := pglogs.New(pool, pglogs.WithMaxAge(30*24*time.Hour))
//
// Credentials and TLS are matters of the pool. New asks the server nothing: tables
// are made by the first operation that reaches it, or by [Store.Migrate], in a
// transaction under an advisory lock, so processes may start at the same time. Tables
// of a version that is newer than this package's are left alone: then all operations
// fail. PostgreSQL 13 is the least, and the database has to be encoded in UTF8.
//
// A batch is one transaction in one round trip. A record whose id and time are there
// already is passed over, so a batch may be written again when it is not known whether
// it was.
//
// # Queries
//
// All that a [logs.Query] says is done by the server, all values are arguments, and
// there is a column for each of [logs.Fields]. Pages are in the order of time and
// id: one that goes on after a cursor never has a record a second time, and has none
// that came later.
//
// Columns cannot have everything. NUL, and bytes that are not of UTF-8, are U+FFFD in
// them and in what is compared with them; the record itself is whole, but for what
// JSON does to such bytes. Of words longer than 1,000 bytes a column has the first 900
// and a digest: they are found by equality, ordered by their beginning, and of a
// longer prefix 900 bytes count. Times before 1678 and after 2262 are those.
//
// Options, tables, retention and privileges are in docs/logs-sql.md of the
// repository.
package pglogs

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	dbtables "github.com/b650d4bf/gateway/cache/postgres/internal/tables"
	"github.com/b650d4bf/gateway/internal/logsql"
	"github.com/b650d4bf/gateway/logs"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store keeps records in a database. It is safe for concurrent use, and has nothing
// to close.
type Store struct {
	pool *pgxpool.Pool
	settings
	sql statements

	migrating chan struct{} // has one while somebody migrates
	ready     atomic.Bool
	pruner    logsql.Pruner

	written, duplicates, refused, deleted, unreadable, failed atomic.Int64
}

var _ logs.Store = (*Store)(nil)

// New returns a store over the caller's pool, which the store does not close.
func New(pool *pgxpool.Pool, opts ...Option) (*Store, error) {
	set, err := newSettings(opts)
	if pool == nil {
		err = errors.Join(err, errors.New("postgres: the pool is nil"))
	}
	if err != nil {
		return nil, err
	}
	return &Store{pool: pool, settings: set, sql: newStatements(set.tables), migrating: make(chan struct{}, 1)}, nil
}

// Stats is what a process counted.
type Stats struct {
	// Written are records, and Duplicates those that were there already. Refused are
	// those that the rest of their batch was written without.
	Written, Duplicates, Refused int64
	// Deleted are those that were too old or too many.
	Deleted int64
	// Unreadable are rows that pages left out.
	Unreadable int64
	// Failed are operations, prunings after a batch included.
	Failed int64
}

// Stats returns what this process counted.
func (s *Store) Stats() Stats {
	return Stats{
		Written: s.written.Load(), Duplicates: s.duplicates.Load(), Refused: s.refused.Load(),
		Deleted: s.deleted.Load(), Unreadable: s.unreadable.Load(), Failed: s.failed.Load(),
	}
}

// Migrate makes the tables. It is for a role that may create them, where those of
// the processes may not; otherwise the store does so on its own. The time limit of
// operations does not apply.
func (s *Store) Migrate(ctx context.Context) error {
	if err := s.migrate(ctx); err != nil {
		return s.failure("migrate", err)
	}
	return nil
}

func (s *Store) migrate(ctx context.Context) error {
	err := s.tables.Migrate(ctx, s.pool, migrations, func(tx pgx.Tx) error {
		encoding := ""
		if err := tx.QueryRow(ctx, `SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()`).Scan(&encoding); err != nil {
			return err
		}
		if encoding != "UTF8" {
			return fmt.Errorf("the database is encoded in %s and has to be in UTF8; create one with ENCODING 'UTF8' TEMPLATE template0", encoding)
		}
		return nil
	})
	if err == nil {
		s.ready.Store(true)
	}
	return err
}

// begin bounds an operation and sees to it that there are tables.
func (s *Store) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	if err := s.prepare(ctx); err != nil {
		cancel()
		return nil, nil, err
	}
	return ctx, cancel, nil
}

func (s *Store) prepare(ctx context.Context) error {
	if s.ready.Load() {
		return nil
	}
	select {
	case s.migrating <- struct{}{}:
		defer func() { <-s.migrating }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.ready.Load() {
		return nil
	}
	return s.migrate(ctx)
}

// failure names the operation that failed, and counts it. After an error that
// says that tables are missing, the next operation makes them again.
func (s *Store) failure(what string, err error) error {
	s.failed.Add(1)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		if dbtables.Missing(pg.Code) {
			s.ready.Store(false)
		}
		// The server's detail and query may have values in them.
		return fmt.Errorf("postgres: %s: %s (SQLSTATE %s)", what, pg.Message, pg.Code)
	}
	return fmt.Errorf("postgres: %s: %w", what, err)
}

// Get implements [logs.Store].
func (s *Store) Get(ctx context.Context, id string) (*logs.Record, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, s.failure("get", err)
	}
	defer cancel()
	var record, request, response []byte
	var said []string
	var truncated *bool
	err = s.pool.QueryRow(ctx, s.sql.get, logsql.Word(id)).Scan(&record, &said, &request, &response, &truncated)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, logs.ErrNotFound
	}
	if err != nil {
		return nil, s.failure("get", err)
	}
	out, err := logsql.Record(record, said)
	if err != nil {
		return nil, s.failure("get", err)
	}
	if truncated != nil {
		out.Content = &logs.Content{Request: request, Response: response, Truncated: *truncated}
	}
	return out, nil
}

// Query implements [logs.Store].
func (s *Store) Query(ctx context.Context, q logs.Query) (*logs.Page, error) {
	where, err := logsql.NewWhere(&q, &dialect)
	if err != nil {
		return nil, err
	}
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, s.failure("query", err)
	}
	defer cancel()
	page, err := s.page(ctx, where)
	if err != nil {
		return nil, s.failure("query", err)
	}
	return page, nil
}

func (s *Store) page(ctx context.Context, where *logsql.Where) (*logs.Page, error) {
	// A plan for any arguments would not know which of them are rare.
	args := append([]any{pgx.QueryExecModeExec}, where.Args...)
	rows, err := s.pool.Query(ctx, fmt.Sprintf(s.sql.query, where.SQL, where.Limit+1), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	page := &logs.Page{Records: []logs.Record{}}
	var at int64
	var id string
	for n := 0; rows.Next(); n++ {
		if n == where.Limit {
			page.Next = logsql.Cursor(at, id)
			break
		}
		var record []byte
		var said []string
		if err := rows.Scan(&at, &id, &record, &said); err != nil {
			return nil, err
		}
		r, err := logsql.Record(record, said)
		if err != nil { // a row that somebody else wrote
			s.unreadable.Add(1)
			continue
		}
		if where.Match == nil || where.Match(r) {
			page.Records = append(page.Records, *r)
		}
	}
	rows.Close()
	return page, rows.Err()
}

// AddFeedback implements [logs.Store]. Of one record 100 are kept.
func (s *Store) AddFeedback(ctx context.Context, f logs.Feedback) error {
	if err := f.Validate(); err != nil {
		return err
	}
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return s.failure("add feedback", err)
	}
	defer cancel()
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var seq int64
		if err := tx.QueryRow(ctx, s.sql.lock, logsql.Word(f.RecordID)).Scan(&seq); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, s.sql.feedback, seq)
		if err != nil {
			return err
		}
		said, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		more, score, err := logsql.AddFeedback(said, &f)
		if err != nil {
			return err
		}
		if _, err = tx.Exec(ctx, s.sql.addFeedback, seq, more); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, s.sql.score, seq, score)
		return err
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return logs.ErrNotFound
	case logsql.Invalid(err):
		return err
	}
	return s.failure("add feedback", err)
}
