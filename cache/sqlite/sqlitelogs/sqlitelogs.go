// Package sqlitelogs keeps the records of calls in a file, for the processes of one
// machine, over restarts. Its SQLite needs no cgo.
//
//	store, err := sqlitelogs.Open("/var/lib/service/calls.db", sqlitelogs.WithMaxAge(30*24*time.Hour))
//	...
//	defer store.Close()
//
// The file is in WAL mode, with files beside it that end in -wal, -shm and .lock. It
// has to be on a local disk, is not readable for other users, and is one of its own:
// not that of a response cache. A process may be killed at any time: a batch is there
// as a whole or not at all. A machine that loses power may lose the last moments.
//
// A record whose id and time are there already is passed over, so a batch may be
// written again when it is not known whether it was.
//
// # Faults
//
// A damaged file is renamed to PATH.damaged, with a number behind it where there is
// one from before, and a new one is begun; nine are kept. That is counted, operations
// but Write fail once, and what is left in the file can be had with the .recover of
// SQLite's shell. A file of a later version of this package, and one of something else, is
// an error of Open and stays as it is. Files of up to 64 MiB are checked as a whole
// when they are opened.
//
// # Queries
//
// All that a [logs.Query] says is done in SQL, all values are arguments, and there is
// a column for each of [logs.Fields]. Pages are in the order of time and id: one that
// goes on after a cursor never has a record a second time, and has none that came
// later.
//
// Columns do not have everything. NUL, and bytes that are not of UTF-8, are U+FFFD in
// them and in what is compared with them; the record itself is whole, but for what
// JSON does to such bytes. Of words longer than 1,000 bytes a column has the first 900
// and a digest. Where that is too little for an order or a prefix, records are looked
// at again, and pages are shorter. Times before 1678 and after 2262 are those.
//
// Options, tables and retention are in docs/logs-sql.md of the repository.
package sqlitelogs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/b650d4bf/gateway/cache/sqlite/internal/dbfile"
	"github.com/b650d4bf/gateway/internal/logsql"
	"github.com/b650d4bf/gateway/logs"
)

// Store keeps records in a file. It is safe for concurrent use.
type Store struct {
	settings
	file   *dbfile.Handle
	pruner logsql.Pruner

	written, duplicates, refused, deleted, unreadable, failed atomic.Int64
}

var _ logs.Store = (*Store)(nil)

// ErrClosed is returned by operations on a store after Close.
var ErrClosed = errors.New("sqlite: the store is closed")

// keptAside is how many damaged files are kept.
const keptAside = 9

// Open opens the file at path, or begins it; its directory has to be there.
func Open(path string, opts ...Option) (*Store, error) {
	set, err := newSettings(opts)
	if err != nil {
		return nil, err
	}
	file, err := dbfile.Open(path, dbfile.Kind{Timeout: set.timeout, SetUp: setUp, Spoilt: spoilt, Aside: keptAside})
	if err != nil {
		return nil, fmt.Errorf("sqlite: opening: %w", err)
	}
	return &Store{settings: set, file: file}, nil
}

// Close waits for operations that have begun, and closes the file.
func (s *Store) Close() error {
	if err := s.file.Close(); err != nil {
		return fmt.Errorf("sqlite: closing: %w", err)
	}
	return nil
}

// Stats is what a process counted.
type Stats struct {
	// Written are records, and Duplicates those that were there already. Refused are
	// those that cannot be written for what is in them.
	Written, Duplicates, Refused int64
	// Deleted are those that were too old or too many.
	Deleted int64
	// Damaged are files that were put aside, and Unreadable rows that pages left out.
	Damaged, Unreadable int64
	// Failed are operations, prunings after a batch included.
	Failed int64
}

// Stats returns what this process counted.
func (s *Store) Stats() Stats {
	return Stats{
		Written: s.written.Load(), Duplicates: s.duplicates.Load(), Refused: s.refused.Load(), Deleted: s.deleted.Load(),
		Damaged: s.file.Asides.Load(), Unreadable: s.unreadable.Load(), Failed: s.failed.Load(),
	}
}

// failure names the operation that failed, and counts it.
func (s *Store) failure(what string, err error) error {
	if errors.Is(err, dbfile.ErrClosed) {
		return ErrClosed
	}
	s.failed.Add(1)
	return fmt.Errorf("sqlite: %s: %w", what, err)
}

var errPutAside = errors.New("the file was damaged and is put aside; a new one is begun")

// with runs one bounded operation. Those that are about records that were there
// fail when it turns out that the file is damaged.
func (s *Store) with(ctx context.Context, run func(context.Context, *dbfile.File) error) error {
	before := s.file.Asides.Load()
	err := s.file.With(ctx, run)
	if (err == nil || errors.Is(err, sql.ErrNoRows)) && s.file.Asides.Load() != before {
		return errPutAside
	}
	return err
}

// Get implements [logs.Store].
func (s *Store) Get(ctx context.Context, id string) (*logs.Record, error) {
	var out *logs.Record
	err := s.with(ctx, func(ctx context.Context, f *dbfile.File) error {
		var seq int64
		var record, request, response []byte
		var truncated sql.NullBool
		err := f.Read.QueryRowContext(ctx, `SELECT r.seq, r.record, c.request, c.response, c.truncated
FROM records r LEFT JOIN contents c ON c.seq = r.seq WHERE r.id = ? ORDER BY r.at DESC LIMIT 1`, logsql.Word(id)).Scan(&seq, &record, &request, &response, &truncated)
		if err != nil {
			return err
		}
		said, err := feedback(ctx, f.Read, seq)
		if err != nil {
			return err
		}
		if out, err = logsql.Record(record, said); err != nil {
			return err
		}
		if truncated.Valid {
			out.Content = &logs.Content{Request: request, Response: response, Truncated: truncated.Bool}
		}
		return nil
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, logs.ErrNotFound
	}
	if err != nil {
		return nil, s.failure("get", err)
	}
	return out, nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// feedback returns what was said of a record, oldest first.
func feedback(ctx context.Context, db querier, seq int64) ([]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT feedback FROM feedback WHERE seq = ? ORDER BY n`, seq)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has what went wrong
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// Query implements [logs.Store].
func (s *Store) Query(ctx context.Context, q logs.Query) (*logs.Page, error) {
	where, err := logsql.NewWhere(&q, &dialect)
	if err != nil {
		return nil, err
	}
	var page *logs.Page
	err = s.with(ctx, func(ctx context.Context, f *dbfile.File) (err error) {
		page, err = s.page(ctx, f, where)
		return err
	})
	if err != nil {
		return nil, s.failure("query", err)
	}
	return page, nil
}

// found is a row of a page. Its score is NULL where nobody said anything.
type found struct {
	seq, at int64
	id      string
	record  []byte
	score   sql.NullFloat64
}

func (s *Store) page(ctx context.Context, f *dbfile.File, where *logsql.Where) (*logs.Page, error) {
	list, err := find(ctx, f, where)
	if err != nil {
		return nil, err
	}
	page := &logs.Page{Records: []logs.Record{}}
	if len(list) > where.Limit {
		list = list[:where.Limit]
		last := &list[len(list)-1]
		page.Next = logsql.Cursor(last.at, last.id)
	}
	for i := range list {
		var said []string
		if list[i].score.Valid {
			if said, err = feedback(ctx, f.Read, list[i].seq); err != nil {
				return nil, err
			}
		}
		r, err := logsql.Record(list[i].record, said)
		if err != nil { // a row that somebody else wrote
			s.unreadable.Add(1)
			continue
		}
		if where.Match == nil || where.Match(r) {
			page.Records = append(page.Records, *r)
		}
	}
	return page, nil
}

// find returns the rows of a page, and one more if there is one.
func find(ctx context.Context, f *dbfile.File, where *logsql.Where) ([]found, error) {
	rows, err := f.Read.QueryContext(ctx, fmt.Sprintf(`SELECT r.seq, r.at, r.id, r.record, r.feedback FROM records r WHERE %s ORDER BY r.at DESC, r.id DESC LIMIT %d`, where.SQL, where.Limit+1), where.Args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has what went wrong
	var list []found
	for rows.Next() {
		var r found
		if err := rows.Scan(&r.seq, &r.at, &r.id, &r.record, &r.score); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// AddFeedback implements [logs.Store]. Of one record 100 are kept.
func (s *Store) AddFeedback(ctx context.Context, f logs.Feedback) error {
	if err := f.Validate(); err != nil {
		return err
	}
	err := s.with(ctx, func(ctx context.Context, file *dbfile.File) error {
		return file.Transact(ctx, func(tx *sql.Tx) error { return addFeedback(ctx, tx, &f) })
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return logs.ErrNotFound
	case logsql.Invalid(err):
		return err
	}
	return s.failure("add feedback", err)
}

func addFeedback(ctx context.Context, tx *sql.Tx, f *logs.Feedback) error {
	var seq int64
	if err := tx.QueryRowContext(ctx, `SELECT seq FROM records WHERE id = ? ORDER BY at DESC LIMIT 1`, logsql.Word(f.RecordID)).Scan(&seq); err != nil {
		return err
	}
	said, err := feedback(ctx, tx, seq)
	if err != nil {
		return err
	}
	more, score, err := logsql.AddFeedback(said, f)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO feedback (seq, feedback) VALUES (?, ?)`, seq, more); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE records SET feedback = ? WHERE seq = ?`, score, seq)
	return err
}
