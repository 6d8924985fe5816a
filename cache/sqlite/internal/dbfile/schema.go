package dbfile

import (
	"context"
	"database/sql"
	"strings"
)

// HasSchema reports whether all that a schema creates is in a file, word for word, and
// can be added to. The schema has tables with AUTOINCREMENT.
// Each of its statements that begin a line with CREATE ends in a semicolon. What
// others have added, an index of their own for one, is no matter.
//
// SQLite keeps the text of such statements, https://sqlite.org/schematab.html, and
// reads from it what a table has: a file with one changed byte in there may pass every
// check of SQLite and have a column less.
func HasSchema(ctx context.Context, tx *sql.Tx, schema string) (bool, error) {
	rows, err := tx.QueryContext(ctx, `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL`)
	if err != nil {
		return false, err
	}
	defer func() { _ = rows.Close() }()
	own := 0
	for rows.Next() {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			return false, err
		}
		if strings.Contains("\n"+schema, "\n"+statement+";") {
			own++
		}
	}
	if err := rows.Err(); err != nil || own != strings.Count("\n"+schema, "\nCREATE ") {
		return false, err
	}
	// Where a counter of rows is at its end SQLite says that the disk is full.
	// https://sqlite.org/autoinc.html
	ended := 0
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_sequence WHERE typeof(seq) <> 'integer' OR seq >= 1 << 62`).Scan(&ended)
	return ended == 0, err
}
