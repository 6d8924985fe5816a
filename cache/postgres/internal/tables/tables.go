// Package tables names the tables of a store in PostgreSQL and brings them to a
// version, however many processes do so at once.
package tables

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Tables are those of one store: their schema, which may be empty for the first in
// the connections' search_path, and what their names begin with.
type Tables struct{ Schema, Prefix string }

// names are what the server takes without folding or cutting, with room for what
// is appended.
var names = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,39}$`)

// CheckName reports whether a schema or prefix can be used; what says which.
func CheckName(what, name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("postgres: the %s %q has to be 1 to 40 lower case letters, digits and _", what, name)
	}
	return nil
}

// Name returns a table, quoted.
func (t Tables) Name(table string) string {
	if t.Schema == "" {
		return pgx.Identifier{t.Prefix + table}.Sanitize()
	}
	return pgx.Identifier{t.Schema, t.Prefix + table}.Sanitize()
}

// Index returns the name of an index, which is in its table's schema.
func (t Tables) Index(name string) string { return pgx.Identifier{t.Prefix + name}.Sanitize() }

// Digest is of the names of the tables.
func (t Tables) Digest() [32]byte { return sha256.Sum256([]byte(t.Schema + "\x00" + t.Prefix)) }

// Lock is the number of the advisory lock for changes of the tables.
func (t Tables) Lock() int64 {
	sum := t.Digest()
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// places are where names belong in a statement: {table} and {#index}.
var places = regexp.MustCompile(`\{#?[a-z0-9_]+\}`)

// Fill puts the names of tables and indexes into a statement.
func (t Tables) Fill(sql string) string {
	return places.ReplaceAllStringFunc(sql, func(place string) string {
		name := strings.Trim(place, "{#}")
		if place[1] == '#' {
			return t.Index(name)
		}
		return t.Name(name)
	})
}

// Migrate runs the steps, files that end in .sql, that were not run, then what is
// given, all in one transaction. Tables of a later version are an error.
func (t Tables) Migrate(ctx context.Context, pool *pgxpool.Pool, files fs.FS, then func(pgx.Tx) error) error {
	steps, err := fs.Glob(files, "*/*.sql")
	if err != nil {
		return err
	}
	slices.Sort(steps)
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		version, err := t.version(ctx, tx)
		if err != nil {
			return err
		}
		if version > len(steps) {
			return fmt.Errorf("the tables are of version %d, and this package knows %d", version, len(steps))
		}
		if version < len(steps) {
			if err := t.upgrade(ctx, tx, files, steps); err != nil {
				return err
			}
		}
		return then(tx)
	})
}

// version returns that of the tables, 0 where there are none. It needs no right to
// create any.
func (t Tables) version(ctx context.Context, tx pgx.Tx) (int, error) {
	there, version := false, 0
	if err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, t.Name("schema")).Scan(&there); err != nil || !there {
		return 0, err
	}
	err := tx.QueryRow(ctx, t.Fill(`SELECT coalesce(max(version), 0) FROM {schema}`)).Scan(&version)
	return version, err
}

// upgrade runs the steps that were not run, while no one else does.
func (t Tables) upgrade(ctx context.Context, tx pgx.Tx, files fs.FS, steps []string) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, t.Lock()); err != nil {
		return err
	}
	if t.Schema != "" {
		if _, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+pgx.Identifier{t.Schema}.Sanitize()); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, t.Fill(`CREATE TABLE IF NOT EXISTS {schema} (version int PRIMARY KEY)`)); err != nil {
		return err
	}
	version, err := t.version(ctx, tx)
	if err != nil {
		return err
	}
	for i := version; i < len(steps); i++ {
		sql, err := fs.ReadFile(files, steps[i])
		if err != nil {
			return err
		}
		// Several statements are for the simple protocol.
		if _, err := tx.Exec(ctx, t.Fill(string(sql)), pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("%s: %w", steps[i], err)
		}
		if _, err := tx.Exec(ctx, t.Fill(`INSERT INTO {schema} VALUES ($1)`), i+1); err != nil {
			return err
		}
	}
	return nil
}

// Missing reports whether the code of an error says that a schema, table, column,
// function or type is not there, see
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
func Missing(code string) bool {
	return slices.Contains([]string{"3F000", "42P01", "42703", "42883", "42704"}, code)
}
