package postgres

import (
	"context"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	dbtables "github.com/b650d4bf/gateway/cache/postgres/internal/tables"
)

//go:embed migrations/*.sql
var migrations embed.FS

// tables names what the store has in the database.
type tables struct{ dbtables.Tables }

// channel is what notifications go through. Its name has to be short.
func (t tables) channel() string {
	sum := t.Digest()
	return "gateway_cache_" + hex.EncodeToString(sum[:12])
}

// layout is what was found in the database, with the statements for it.
type layout struct {
	get, set, delete, sweep, sweepLocks, scan, read, lock, unlock string

	extension string // the schema of pgvector, empty if it is not used
	mu        sync.Mutex
	dims      map[int]string // the tables of vectors that are there
}

func newLayout(t tables, extension string) *layout {
	return &layout{
		extension: extension, dims: map[int]string{},
		get: t.Fill(`SELECT data FROM {entries} WHERE key = $1 AND expires > $2`),
		set: t.Fill(`WITH kept AS (
    INSERT INTO {entries} (key, expires, namespace, operation, model, grp, vec, data) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (key) DO UPDATE SET expires = $2, namespace = $3, operation = $4, model = $5, grp = $6, vec = $7, data = $8
    RETURNING xmax <> 0 AS replaced)
SELECT pg_notify($9, $10) FROM kept WHERE replaced`),
		delete: t.Fill(`WITH gone AS (DELETE FROM {entries} WHERE key = $1 RETURNING key) SELECT pg_notify($2, $3) FROM gone`),
		sweep: t.Fill(`DELETE FROM {entries} WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM {entries} WHERE expires <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))`),
		sweepLocks: t.Fill(`DELETE FROM {locks} WHERE expires <= clock_timestamp()`),
		scan:       t.Fill(`SELECT key, vec FROM {entries} WHERE grp = $1 AND expires > $2 AND length(vec) = $3 ORDER BY expires DESC LIMIT $4`),
		read:       t.Fill(`SELECT key, data FROM {entries} WHERE key = ANY($1) AND expires > $2`),
		lock: t.Fill(`INSERT INTO {locks} AS held (key, token, expires) VALUES ($1, $2, clock_timestamp() + $3 * interval '1 microsecond')
ON CONFLICT (key) DO UPDATE SET token = EXCLUDED.token, expires = EXCLUDED.expires WHERE held.expires <= clock_timestamp()`),
		unlock: t.Fill(`DELETE FROM {locks} WHERE key = $1 AND token = $2`),
	}
}

// layout returns what is in the database, and makes it if it is not there.
func (s *Store) layout(ctx context.Context) (*layout, error) {
	if l := s.ready.Load(); l != nil {
		return l, ctx.Err()
	}
	select {
	case s.migrating <- struct{}{}:
		defer func() { <-s.migrating }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if l := s.ready.Load(); l != nil {
		return l, nil
	}
	l, err := s.migrate(ctx)
	if err != nil {
		return nil, err
	}
	s.ready.Store(l)
	return l, nil
}

// Migrate makes the tables, those for vectors of the given dimensions too. It is
// for a role that may create them, where those of the processes may not; otherwise
// the store does so on its own. The time limit of operations does not apply.
func (s *Store) Migrate(ctx context.Context, dims ...int) error {
	if s.done.Err() != nil {
		return s.closedOr(s.done.Err())
	}
	l, err := s.migrate(ctx)
	if err != nil {
		return s.failure("migrate", err)
	}
	s.ready.Store(l)
	for _, dim := range dims {
		if _, err := s.vectorTable(ctx, l, dim, true); err != nil {
			return s.failure("migrate", err)
		}
	}
	return nil
}

// migrate brings the tables to the version of this package.
func (s *Store) migrate(ctx context.Context) (*layout, error) {
	var l *layout
	return l, s.tables.Migrate(ctx, s.pool, migrations, func(tx pgx.Tx) error {
		extension, err := s.findExtension(ctx, tx)
		l = newLayout(s.tables, extension)
		return err
	})
}

// findExtension returns the schema of pgvector, or nothing where it is not, is too
// old or is not wanted.
func (s *Store) findExtension(ctx context.Context, tx pgx.Tx) (string, error) {
	if !s.extension {
		return "", nil
	}
	var schema, version string
	err := tx.QueryRow(ctx, `SELECT n.nspname, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'`).Scan(&schema, &version)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	const leastMajor, leastMinor = 0, 8 // scans that go on until there are enough
	parts := strings.SplitN(version+".0", ".", 3)
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	if major < leastMajor || major == leastMajor && minor < leastMinor {
		return "", nil
	}
	return pgx.Identifier{schema}.Sanitize(), nil
}

// maxDimensions is what an index over halfvec takes.
const maxDimensions = 4000

// vectorTable returns the table for vectors of that length, made if it is to be and
// is not there; empty where vectors are beside their entries.
func (s *Store) vectorTable(ctx context.Context, l *layout, dim int, create bool) (string, error) {
	if l.extension == "" || dim < 1 || dim > maxDimensions {
		return "", nil
	}
	l.mu.Lock()
	table := l.dims[dim]
	l.mu.Unlock()
	if table != "" {
		return table, nil
	}
	name := "vectors_" + strconv.Itoa(dim)
	table = s.tables.Name(name)
	there := false
	if err := s.pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, table).Scan(&there); err != nil {
		return "", err
	}
	if !there && !create {
		return "", nil
	}
	if !there {
		if err := s.createVectorTable(ctx, l, name, dim); err != nil {
			return "", err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dims[dim] = table
	return table, nil
}

func (s *Store) createVectorTable(ctx context.Context, l *layout, name string, dim int) error {
	table := s.tables.Name(name)
	sql := fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %[1]s (
    key bytea PRIMARY KEY REFERENCES %[2]s ON DELETE CASCADE,
    grp bytea NOT NULL,
    v   %[3]s.halfvec(%[4]d) NOT NULL);
CREATE INDEX IF NOT EXISTS %[5]s ON %[1]s (grp);
CREATE INDEX IF NOT EXISTS %[6]s ON %[1]s USING hnsw (v %[3]s.halfvec_cosine_ops)`,
		table, s.tables.Name("entries"), l.extension, dim, s.tables.Index(name+"_grp"), s.tables.Index(name+"_v"))
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, s.tables.Lock()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		return err
	})
}

// setVector keeps a vector in its table.
func (l *layout) setVector(table string) string {
	return fmt.Sprintf(`INSERT INTO %s (key, grp, v) VALUES ($1, $2, $3::text::%s.halfvec) ON CONFLICT (key) DO UPDATE SET grp = EXCLUDED.grp, v = EXCLUDED.v`, table, l.extension)
}
