package sqlitelogs

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/b650d4bf/gateway/cache/sqlite/internal/dbfile"
)

//go:embed schema.sql
var schema string

const (
	// schemaVersion is that of schema.sql: files have to agree with it word for word.
	schemaVersion = 1
	// application is in the header of the files, so that those of others are left
	// alone, see https://sqlite.org/pragma.html#pragma_application_id.
	application = 0x67776c67
)

// setUp gives a new file the schema, and checks that of another.
func setUp(ctx context.Context, tx *sql.Tx) error {
	version, whose, tables := 0, 0, 0
	for what, into := range map[string]*int{
		`PRAGMA user_version`: &version, `PRAGMA application_id`: &whose, `SELECT count(*) FROM sqlite_schema`: &tables,
	} {
		if err := tx.QueryRowContext(ctx, what).Scan(into); err != nil {
			return err
		}
	}
	switch {
	case tables == 0:
		_, err := tx.ExecContext(ctx, schema+fmt.Sprintf(`PRAGMA user_version = %d; PRAGMA application_id = %d;`, schemaVersion, application))
		return err
	case whose != application:
		return errors.New("the file is a database of something else; choose another path")
	case version > schemaVersion:
		return fmt.Errorf("the file is of version %d, and this package knows %d", version, schemaVersion)
	}
	own, err := dbfile.HasSchema(ctx, tx, schema)
	if err != nil {
		return err
	}
	if !own || version != schemaVersion {
		return dbfile.ErrDamaged
	}
	// A damaged header may make a file one that cannot be written.
	res, err := tx.ExecContext(ctx, `UPDATE totals SET records = records`)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(dbfile.ErrDamaged, err)
	}
	return nil
}

// spoilt reports whether a file that cannot be opened for that error is damaged. One
// that may not be written, or has no room, is not: its records are left where they
// are.
func spoilt(err error) bool {
	return dbfile.Damaged(err) || dbfile.ResultCode(err) == sqlite3.SQLITE_READONLY
}
