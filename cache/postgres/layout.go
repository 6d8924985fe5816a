package postgres

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrations embed.FS

// tables names what the store has in the database.
type tables struct{ schema, prefix string }

// name returns a table, quoted.
func (t tables) name(table string) string {
	if t.schema == "" {
		return pgx.Identifier{t.prefix + table}.Sanitize()
	}
	return pgx.Identifier{t.schema, t.prefix + table}.Sanitize()
}

// index returns the name of an index, which is in its table's schema.
func (t tables) index(name string) string { return pgx.Identifier{t.prefix + name}.Sanitize() }

func (t tables) digest() [32]byte { return sha256.Sum256([]byte(t.schema + "\x00" + t.prefix)) }

// lock is the number of the advisory lock for changes of the tables.
func (t tables) lock() int64 {
	sum := t.digest()
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// channel is what notifications go through. Its name has to be short.
func (t tables) channel() string {
	sum := t.digest()
	return "gateway_cache_" + hex.EncodeToString(sum[:12])
}

// fill puts the names of tables into a statement, in place of {table}.
func (t tables) fill(sql string) string {
	return strings.NewReplacer(
		"{entries}", t.name("entries"), "{locks}", t.name("locks"), "{schema}", t.name("schema"),
		"{entries_expires}", t.index("entries_expires"), "{entries_namespace}", t.index("entries_namespace"), "{entries_grp}", t.index("entries_grp"),
	).Replace(sql)
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
		get: t.fill(`SELECT data FROM {entries} WHERE key = $1 AND expires > $2`),
		set: t.fill(`WITH kept AS (
    INSERT INTO {entries} (key, expires, namespace, operation, model, grp, vec, data) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (key) DO UPDATE SET expires = $2, namespace = $3, operation = $4, model = $5, grp = $6, vec = $7, data = $8
    RETURNING xmax <> 0 AS replaced)
SELECT pg_notify($9, $10) FROM kept WHERE replaced`),
		delete: t.fill(`WITH gone AS (DELETE FROM {entries} WHERE key = $1 RETURNING key) SELECT pg_notify($2, $3) FROM gone`),
		sweep: t.fill(`DELETE FROM {entries} WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM {entries} WHERE expires <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))`),
		sweepLocks: t.fill(`DELETE FROM {locks} WHERE expires <= clock_timestamp()`),
		scan:       t.fill(`SELECT key, vec FROM {entries} WHERE grp = $1 AND expires > $2 AND length(vec) = $3 ORDER BY expires DESC LIMIT $4`),
		read:       t.fill(`SELECT key, data FROM {entries} WHERE key = ANY($1) AND expires > $2`),
		lock: t.fill(`INSERT INTO {locks} AS held (key, token, expires) VALUES ($1, $2, clock_timestamp() + $3 * interval '1 microsecond')
ON CONFLICT (key) DO UPDATE SET token = EXCLUDED.token, expires = EXCLUDED.expires WHERE held.expires <= clock_timestamp()`),
		unlock: t.fill(`DELETE FROM {locks} WHERE key = $1 AND token = $2`),
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
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(steps)
	var l *layout
	return l, pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if version, err := s.version(ctx, tx); err != nil || version < len(steps) {
			if err != nil {
				return err
			}
			if err := s.upgrade(ctx, tx, steps); err != nil {
				return err
			}
		} else if version > len(steps) {
			return fmt.Errorf("the tables are of version %d, and this package knows %d", version, len(steps))
		}
		extension, err := s.findExtension(ctx, tx)
		l = newLayout(s.tables, extension)
		return err
	})
}

// version returns that of the tables, 0 where there are none. It needs no right to
// create any.
func (s *Store) version(ctx context.Context, tx pgx.Tx) (int, error) {
	there, version := false, 0
	if err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, s.tables.name("schema")).Scan(&there); err != nil || !there {
		return 0, err
	}
	err := tx.QueryRow(ctx, s.tables.fill(`SELECT coalesce(max(version), 0) FROM {schema}`)).Scan(&version)
	return version, err
}

// upgrade runs the steps that were not run, while no one else does.
func (s *Store) upgrade(ctx context.Context, tx pgx.Tx, steps []string) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, s.tables.lock()); err != nil {
		return err
	}
	if s.schema != "" {
		if _, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+pgx.Identifier{s.schema}.Sanitize()); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, s.tables.fill(`CREATE TABLE IF NOT EXISTS {schema} (version int PRIMARY KEY)`)); err != nil {
		return err
	}
	version, err := s.version(ctx, tx)
	if err != nil {
		return err
	}
	for i := version; i < len(steps); i++ {
		sql, err := migrations.ReadFile(steps[i])
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.tables.fill(string(sql))); err != nil {
			return fmt.Errorf("%s: %w", steps[i], err)
		}
		if _, err := tx.Exec(ctx, s.tables.fill(`INSERT INTO {schema} VALUES ($1)`), i+1); err != nil {
			return err
		}
	}
	return nil
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
	table = s.tables.name(name)
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
	table := s.tables.name(name)
	sql := fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %[1]s (
    key bytea PRIMARY KEY REFERENCES %[2]s ON DELETE CASCADE,
    grp bytea NOT NULL,
    v   %[3]s.halfvec(%[4]d) NOT NULL);
CREATE INDEX IF NOT EXISTS %[5]s ON %[1]s (grp);
CREATE INDEX IF NOT EXISTS %[6]s ON %[1]s USING hnsw (v %[3]s.halfvec_cosine_ops)`,
		table, s.tables.name("entries"), l.extension, dim, s.tables.index(name+"_grp"), s.tables.index(name+"_v"))
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, s.tables.lock()); err != nil {
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
