package dbfile

import (
	"context"
	"database/sql"
	"strings"
)

// HasSchema reports whether all that a schema creates is in a file, word for word.
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
	return own == strings.Count("\n"+schema, "\nCREATE "), rows.Err()
}
