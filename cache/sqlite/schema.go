package sqlite

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"errors"
	"fmt"

	"github.com/b650d4bf/gateway/cache/sqlite/internal/dbfile"
)

//go:embed schema.sql
var schema string

// schemaVersion is that of schema.sql, with which files have to agree word for word,
// and of the entries in it.
const schemaVersion = 1

// setUp gives a file the schema. One of another version is emptied.
func setUp(ctx context.Context, tx *sql.Tx) error {
	version := 0
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	if version == schemaVersion {
		if own, err := dbfile.HasSchema(ctx, tx, schema); err != nil || !own {
			return errors.Join(dbfile.ErrDamaged, err)
		}
		// A damaged header may make a file one that cannot be written.
		res, err := tx.ExecContext(ctx, `UPDATE totals SET entries = entries`)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n != 1 {
			return errors.Join(dbfile.ErrDamaged, err)
		}
		return nil
	}
	for _, table := range []string{"entries", "totals", "changes", "locks"} {
		if _, err := tx.ExecContext(ctx, `DROP TABLE IF EXISTS `+table); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, schema+fmt.Sprintf(`PRAGMA user_version = %d;`, schemaVersion))
	return err
}
