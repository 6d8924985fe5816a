// Package postgres keeps answers in PostgreSQL, for all processes that share the
// database. It is a module of its own, for its client, pgx.
//
//	pool, err := pgxpool.New(ctx, "postgres://user@host/database")
//	...
//	store, err := postgres.New(pool)
//
// Credentials and TLS are matters of the pool. New asks the server nothing: tables
// are made by the first operation that reaches it, or by [Store.Migrate], so a
// server that is down when the program starts is a cache that misses.
//
// # Vectors
//
// Where the database has pgvector 0.8 or later (CREATE EXTENSION vector, which the
// store leaves to the database's owner), vectors of at most 4000 dimensions are
// kept as halfvec, one table with an HNSW index for each number of dimensions.
// Groups of at most 2000 vectors are compared whole, larger ones through the index,
// whose neighbours are approximate. What is found is measured again in full
// precision, and all matches above the threshold are looked for, not just the
// nearest. Without pgvector a search reads at most [WithScanLimit] vectors of the
// group and compares them itself.
//
// # Tables
//
// Their names begin with [DefaultPrefix]. Migrations run in a transaction under an
// advisory lock, so processes may start at the same time, and a version that is
// newer than this package's is left alone: then all operations fail. A role that may
// not create tables needs another's [Store.Migrate] with the dimensions to come.
//
// The store deletes what has expired in batches, in a goroutine that [Store.Close]
// ends. PostgreSQL 13 is the least.
//
// # Figures
//
// Medians on two busy cores over loopback, with bodies of 4 KB, and searches in a
// group of 1000 vectors of 768 dimensions, from
// bash .ci/servers go -C cache/postgres test -run ^$ -bench . ./...:
//
//   - PostgreSQL 17 with pgvector 0.8: get 0.05 ms, set 0.1 ms, set with a vector
//     0.9 ms, search 7 ms
//   - PostgreSQL 15 without: get 0.03 ms, set 0.1 ms, set with a vector 0.15 ms, search
//     16 ms
//
// The example puts [cache.NewTiered] in front, which answers from memory what this
// process has seen.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/b650d4bf/gateway/cache"
	dbtables "github.com/b650d4bf/gateway/cache/postgres/internal/tables"
	"github.com/b650d4bf/gateway/internal/cosine"
)

// Store keeps entries in a database. It is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
	settings
	tables tables

	migrating chan struct{} // has one while somebody migrates
	ready     atomic.Pointer[layout]

	done    context.Context //nolint:containedctx // ends the goroutines of the store
	close   context.CancelFunc
	closing sync.Mutex // guards running.Add against Close
	running sync.WaitGroup

	hits, misses, searches, matches, stored, deleted, rejected, expired, corrupt, failed atomic.Int64
}

var (
	_ cache.Searcher = (*Store)(nil)
	_ cache.Keeper   = (*Store)(nil)
	_ cache.Locker   = (*Store)(nil)
	_ cache.Watcher  = (*Store)(nil)
	_ cache.Counter  = (*Store)(nil)
)

// New returns a store over the caller's pool, which the store does not close.
func New(pool *pgxpool.Pool, opts ...Option) (*Store, error) {
	set, err := newSettings(opts)
	if pool == nil {
		err = errors.Join(err, errors.New("postgres: the pool is nil"))
	}
	if err != nil {
		return nil, err
	}
	s := &Store{pool: pool, settings: set, tables: tables{dbtables.Tables{Schema: set.schema, Prefix: set.prefix}}, migrating: make(chan struct{}, 1)}
	s.done, s.close = context.WithCancel(context.Background())
	if s.sweep > 0 {
		s.running.Go(s.sweeps)
	}
	return s, nil
}

// Close ends what the store started and waits for it. Later operations return
// [cache.ErrClosed].
func (s *Store) Close() error {
	s.closing.Lock()
	s.close()
	s.closing.Unlock()
	s.running.Wait()
	return nil
}

// Stats returns what this process counted. What is kept, the server knows, so
// Entries, Bytes, Vectors and Evicted are 0. Expired counts what was swept.
func (s *Store) Stats() cache.Stats {
	return cache.Stats{
		Hits: s.hits.Load(), Misses: s.misses.Load(), Searches: s.searches.Load(), Matches: s.matches.Load(),
		Stored: s.stored.Load(), Deleted: s.deleted.Load(), Rejected: s.rejected.Load(), Expired: s.expired.Load(),
		Corrupt: s.corrupt.Load(), Failed: s.failed.Load(),
	}
}

// begin bounds an operation and sees to it that there are tables.
func (s *Store) begin(ctx context.Context) (context.Context, context.CancelFunc, *layout, error) {
	if s.done.Err() != nil {
		return nil, nil, nil, cache.ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	stop := context.AfterFunc(s.done, cancel)
	end := func() { stop(); cancel() }
	l, err := s.layout(ctx)
	if err != nil {
		end()
		return nil, nil, nil, s.closedOr(err)
	}
	return ctx, end, l, nil
}

// closedOr says that the store was closed where that is why an operation failed.
func (s *Store) closedOr(err error) error {
	if err != nil && s.done.Err() != nil {
		return cache.ErrClosed
	}
	return err
}

// failure names the operation that failed, and counts it. After an error that
// says that tables are missing, the next operation makes them again.
func (s *Store) failure(what string, err error) error {
	if err = s.closedOr(err); err == nil || errors.Is(err, cache.ErrClosed) {
		return err
	}
	s.failed.Add(1)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		if dbtables.Missing(pg.Code) {
			s.ready.Store(nil)
		}
		// The server's detail and query may have values in them.
		return fmt.Errorf("postgres: %s: %s (SQLSTATE %s)", what, pg.Message, pg.Code)
	}
	return fmt.Errorf("postgres: %s: %w", what, err)
}

// Get implements [cache.Store].
func (s *Store) Get(ctx context.Context, key cache.Key) (*cache.Entry, bool, error) {
	ctx, cancel, l, err := s.begin(ctx)
	if err != nil {
		return nil, false, s.failure("get", err)
	}
	defer cancel()
	var data []byte
	err = s.pool.QueryRow(ctx, l.get, key[:], time.Now().UnixMilli()).Scan(&data)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, false, s.failure("get", err)
	}
	if e := s.entry(data, err == nil, key); e != nil {
		s.hits.Add(1)
		return e, true, nil
	}
	s.misses.Add(1)
	return nil, false, nil
}

// entry reads what was found for a key: nil unless it is whole, of that key and in
// its time.
func (s *Store) entry(data []byte, found bool, key cache.Key) *cache.Entry {
	if !found {
		return nil
	}
	e, err := cache.ParseEntry(data)
	if err != nil || e.Key != key {
		s.corrupt.Add(1)
		return nil
	}
	if e.Expired(time.Now()) {
		return nil
	}
	return e
}

// Set implements [cache.Store].
func (s *Store) Set(ctx context.Context, e *cache.Entry) error {
	ctx, cancel, l, err := s.begin(ctx)
	if err != nil {
		return s.failure("set", err)
	}
	defer cancel()
	if e.Expired(time.Now()) {
		s.rejected.Add(1)
		return s.Delete(ctx, e.Key) // it would have taken the place of that one
	}
	data, err := e.AppendBinary(nil)
	if err != nil {
		return s.failure("set", err)
	}
	if len(data) > s.maxEntry {
		s.rejected.Add(1)
		return errors.Join(cache.ErrTooLarge, s.Delete(ctx, e.Key))
	}
	var group, packed, key []byte
	key = e.Key[:]
	near := !e.Group.IsZero() && cosine.Valid(e.Vector)
	var table string
	if near {
		group = e.Group[:]
		if table, err = s.vectorTable(ctx, l, len(e.Vector), true); err != nil {
			return s.failure("set", err)
		}
		if table == "" {
			packed = cosine.Append(nil, e.Vector)
		}
	}
	var b pgx.Batch // which is one transaction
	b.Queue(l.set, key, e.Expires.UnixMilli(), []byte(e.Namespace), []byte(e.Operation), []byte(e.Model), group, packed, data, s.tables.channel(), e.Key.String())
	if table != "" {
		b.Queue(l.setVector(table), key, group, halfvec(e.Vector))
	}
	if err := s.pool.SendBatch(ctx, &b).Close(); err != nil {
		return s.failure("set", err)
	}
	s.stored.Add(1)
	return nil
}

// Delete implements [cache.Store].
func (s *Store) Delete(ctx context.Context, key cache.Key) error {
	ctx, cancel, l, err := s.begin(ctx)
	if err != nil {
		return s.failure("delete", err)
	}
	defer cancel()
	tag, err := s.pool.Exec(ctx, l.delete, key[:], s.tables.channel(), key.String())
	if err != nil {
		return s.failure("delete", err)
	}
	s.deleted.Add(tag.RowsAffected())
	return nil
}

// sweeps deletes what has expired, until the store is closed.
func (s *Store) sweeps() {
	tick := time.NewTicker(s.sweep)
	defer tick.Stop()
	for {
		select {
		case <-s.done.Done():
			return
		case <-tick.C:
			_, _ = s.Sweep(s.done) // the next one tries again
		}
	}
}

// sweepBatch bounds the rows that one statement deletes.
const sweepBatch = 1000

// Sweep deletes what has expired and returns how many entries that were. The store
// does so on its own; see [WithSweep].
func (s *Store) Sweep(ctx context.Context) (int, error) {
	n := 0
	for {
		swept, err := s.sweepOnce(ctx)
		n += swept
		if err != nil || swept < sweepBatch {
			return n, s.failure("sweep", err)
		}
	}
}

func (s *Store) sweepOnce(ctx context.Context) (int, error) {
	ctx, cancel, l, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	if _, err := s.pool.Exec(ctx, l.sweepLocks); err != nil {
		return 0, err
	}
	tag, err := s.pool.Exec(ctx, l.sweep, time.Now().UnixMilli(), sweepBatch)
	s.expired.Add(tag.RowsAffected())
	return int(tag.RowsAffected()), err
}
