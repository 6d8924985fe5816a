package pglogs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/b650d4bf/gateway/internal/logsql"
	"github.com/b650d4bf/gateway/logs"
)

// The bounds of what one statement writes.
const (
	chunkRows  = 500
	chunkBytes = 8 << 20
)

// Write implements [logs.Sink]: all records in one transaction and one round trip.
// Records that cannot be written for what is in them are left out, and the error
// says how many; the others are written. While the server cannot be reached it tries
// again, until its time is over. Now and then it deletes what is too old or too many;
// what fails of that is counted, and no error.
func (s *Store) Write(ctx context.Context, records []logs.Record) error {
	rows, bad, reason := logsql.Rows(records)
	if len(rows) > 0 {
		refused, first, err := s.insert(ctx, rows)
		if err != nil {
			return s.failure("write", err)
		}
		if bad += refused; reason == nil {
			reason = first
		}
		s.prune(ctx)
	}
	if bad > 0 {
		s.refused.Add(int64(bad))
		return s.failure(fmt.Sprintf("write: %d of %d records were refused", bad, len(records)), reason)
	}
	return nil
}

// The pauses between attempts to write.
const (
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
)

// insert writes rows, again while the server is not there or busy, for as long as an
// operation may take. That is safe: what was written before is passed over.
func (s *Store) insert(ctx context.Context, rows []logsql.Row) (bad int, reason, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		bad, reason, err = s.try(ctx, rows)
		if err == nil || !passing(err) {
			return bad, reason, err
		}
		select {
		case <-ctx.Done():
			return 0, nil, err
		case <-time.After(pause):
		}
	}
}

// try writes rows, if need be without those that the server refuses: bad says how
// many, and reason why the first.
func (s *Store) try(ctx context.Context, rows []logsql.Row) (bad int, reason, err error) {
	if err := s.prepare(ctx); err != nil {
		return 0, nil, err
	}
	if err = s.send(ctx, rows); !refused(err) {
		return 0, nil, err
	}
	for i := range rows {
		fault := s.send(ctx, rows[i:i+1])
		if fault != nil && !refused(fault) {
			return bad, reason, fault
		}
		if fault == nil {
			continue
		}
		if bad++; reason == nil {
			reason = fault
		}
	}
	return bad, reason, nil
}

// send writes rows in one transaction.
func (s *Store) send(ctx context.Context, rows []logsql.Row) error {
	var b pgx.Batch // which is one transaction
	for chunk := range chunks(rows) {
		b.Queue(s.sql.insert, arguments(chunk)...)
	}
	results := s.pool.SendBatch(ctx, &b)
	written := int64(0)
	for range b.Len() {
		n := int64(0)
		if err := results.QueryRow().Scan(&n); err != nil {
			return errors.Join(err, results.Close())
		}
		written += n
	}
	if err := results.Close(); err != nil {
		return err
	}
	s.written.Add(written)
	s.duplicates.Add(int64(len(rows)) - written)
	return nil
}

// chunks are the parts of rows that one statement writes.
func chunks(rows []logsql.Row) func(yield func([]logsql.Row) bool) {
	return func(yield func([]logsql.Row) bool) {
		for len(rows) > 0 {
			n, bytes := 0, 0
			for n < len(rows) && n < chunkRows && (n == 0 || bytes+rows[n].Size() <= chunkBytes) {
				bytes += rows[n].Size()
				n++
			}
			if !yield(rows[:n]) {
				return
			}
			rows = rows[n:]
		}
	}
}

// refused reports whether an error is about what is in a row: data exceptions,
// constraints of the table's owner, limits of the server, see
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
func refused(err error) bool { return ofClass(err, "22", "23", "54") }

// passing reports whether an error may be over soon: of the connection, a conflict of
// transactions, a server that has too much to do, starts or stops.
func passing(err error) bool {
	const canceled = "57014"
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code != canceled && ofClass(err, "08", "40", "53", "57")
	}
	_, network := errors.AsType[net.Error](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return network || connecting || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func ofClass(err error, classes ...string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && len(pg.Code) == 5 && slices.Contains(classes, pg.Code[:2])
}

// pruneRows is what one statement deletes when pruning.
const pruneRows = 1000

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
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	n := 0
	if s.maxAge > 0 {
		err = s.pool.QueryRow(ctx, s.sql.pruneAge, logsql.At(time.Now().Add(-s.maxAge)), pruneRows).Scan(&n)
	}
	if err == nil && n < pruneRows && s.maxRecords > 0 {
		many := 0
		err = s.pool.QueryRow(ctx, s.sql.pruneCount, s.maxRecords, pruneRows-n).Scan(&many)
		n += many
	}
	s.deleted.Add(int64(n)) // each statement is a transaction
	return n, err
}
