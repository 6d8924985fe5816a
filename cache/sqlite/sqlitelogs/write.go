package sqlitelogs

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/b650d4bf/gateway/cache/sqlite/internal/dbfile"
	"github.com/b650d4bf/gateway/internal/logsql"
	"github.com/b650d4bf/gateway/logs"
)

// Write implements [logs.Sink]: all records in one transaction. Records that cannot
// be written for what is in them are left out, and the error says how many; the
// others are written. Now and then Write deletes what is too old or too many; what
// fails of that is counted, and no error.
func (s *Store) Write(ctx context.Context, records []logs.Record) error {
	rows, bad, reason := logsql.Rows(records)
	if len(rows) > 0 {
		var kept int64
		err := s.file.With(ctx, func(ctx context.Context, f *dbfile.File) error {
			return f.Transact(ctx, func(tx *sql.Tx) (err error) {
				kept, err = write(ctx, tx, rows)
				return err
			})
		})
		if err != nil {
			return s.failure("write", err)
		}
		s.written.Add(kept)
		s.duplicates.Add(int64(len(rows)) - kept)
		s.prune(ctx)
	}
	if bad > 0 {
		s.refused.Add(int64(bad))
		return s.failure(fmt.Sprintf("write: %d of %d records were refused", bad, len(records)), reason)
	}
	return nil
}

// write writes rows, and returns how many were not there.
func write(ctx context.Context, tx *sql.Tx, rows []logsql.Row) (kept int64, err error) {
	stmt, err := tx.PrepareContext(ctx, insert)
	if err != nil {
		return 0, err
	}
	defer stmt.Close() //nolint:errcheck // its executions have said what went wrong
	for i := range rows {
		res, err := stmt.ExecContext(ctx, arguments(&rows[i])...)
		if err != nil {
			return 0, err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return 0, err
		}
		if n == 0 {
			continue
		}
		kept++
		seq, err := res.LastInsertId()
		if err != nil {
			return 0, err
		}
		if c := rows[i].Content; c != nil {
			if _, err := tx.ExecContext(ctx, `INSERT INTO contents (seq, request, response, truncated) VALUES (?, ?, ?, ?)`, seq, []byte(c.Request), []byte(c.Response), c.Truncated); err != nil {
				return 0, err
			}
		}
		for _, said := range rows[i].Feedback {
			if _, err := tx.ExecContext(ctx, `INSERT INTO feedback (seq, feedback) VALUES (?, ?)`, seq, said); err != nil {
				return 0, err
			}
		}
	}
	return kept, nil
}

// pruneRows is what one transaction deletes when pruning.
const pruneRows = 500

// prune deletes what is too old or too many, if that is due.
func (s *Store) prune(ctx context.Context) {
	if s.maxAge == 0 && s.maxRecords == 0 {
		return
	}
	if err := s.pruner.Sometimes(ctx, pruneRows, s.pruneOnce); err != nil {
		_ = s.failure("prune", err)
	}
}

// Prune deletes what is too old or too many by the options, and returns how many
// records that were. Write does so on its own now and then.
func (s *Store) Prune(ctx context.Context) (int, error) {
	n, err := s.pruner.All(ctx, s.pruneOnce)
	if err != nil {
		return n, s.failure("prune", err)
	}
	return n, nil
}

// pruneOnce deletes one batch: what is too old, and as far as there is room in it what
// is too many.
func (s *Store) pruneOnce(ctx context.Context) (int, error) {
	var n int64
	err := s.file.With(ctx, func(ctx context.Context, f *dbfile.File) error {
		return f.Transact(ctx, func(tx *sql.Tx) (err error) {
			n, err = s.pruneIn(ctx, tx)
			return err
		})
	})
	if err != nil {
		return 0, err
	}
	s.deleted.Add(n)
	return int(n), nil
}

// pruneIn deletes a batch in a transaction.
func (s *Store) pruneIn(ctx context.Context, tx *sql.Tx) (n int64, err error) {
	if s.maxAge > 0 {
		n, err = drop(ctx, tx, `at < ?`, logsql.At(time.Now().Add(-s.maxAge)), pruneRows)
	}
	if err != nil || n >= pruneRows || s.maxRecords == 0 {
		return n, err
	}
	there := int64(0)
	if err := tx.QueryRowContext(ctx, `SELECT records FROM totals`).Scan(&there); err != nil || there <= s.maxRecords {
		return n, err
	}
	many, err := drop(ctx, tx, `1 = ?`, 1, min(pruneRows-n, there-s.maxRecords))
	return n + many, err
}

// drop deletes the oldest records of a condition with one argument.
func drop(ctx context.Context, tx *sql.Tx, where string, arg any, limit int64) (int64, error) {
	//nolint:gosec // the condition has a name and a mark only
	res, err := tx.ExecContext(ctx, `DELETE FROM records WHERE seq IN (SELECT seq FROM records WHERE `+where+` ORDER BY at, id LIMIT ?)`, arg, limit)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
