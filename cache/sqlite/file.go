package sqlite

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed schema.sql
var schema string

const (
	// schemaVersion is that of schema.sql and of the entries in it.
	schemaVersion = 1
	// checkedBytes is up to which size a file is checked as a whole when it is
	// opened. Larger ones show their faults when they are read.
	checkedBytes = 64 << 20
	readers      = 4
)

var errDamaged = errors.New("the file is damaged")

// file is an open database: one connection that writes, some that read.
type file struct {
	write, read *sql.DB
	info        os.FileInfo // which file that is
}

func (f *file) close() error { return errors.Join(f.read.Close(), f.write.Close()) }

// openFile opens the file at path. One that is damaged is put aside, and a new one
// begun; asides says how many.
func openFile(path string, timeout time.Duration) (f *file, asides int, err error) {
	unlock, err := lockFile(path)
	if err != nil {
		return nil, 0, err
	}
	defer unlock()
	return openLocked(path, timeout)
}

func openLocked(path string, timeout time.Duration) (f *file, asides int, err error) {
	if err := begin(path); err != nil { // what may not be written is no damage
		return nil, 0, err
	}
	if f, err = connect(path, timeout); err == nil || busy(err) {
		return f, 0, err
	}
	if err := errors.Join(putAside(path), begin(path)); err != nil {
		return nil, 0, err
	}
	f, err = connect(path, timeout)
	return f, 1, err
}

// begin makes an empty file, which nobody else may read, where there is none.
func begin(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func connect(path string, timeout time.Duration) (*file, error) {
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()}
	name.RawQuery = url.Values{
		"_pragma": {
			"busy_timeout(" + strconv.FormatInt(timeout.Milliseconds(), 10) + ")",
			"journal_mode(WAL)", "synchronous(NORMAL)", "journal_size_limit(16777216)", "cell_size_check(1)",
		},
		"_txlock": {"immediate"},
	}.Encode()
	f := new(file)
	var err error
	if f.write, err = sql.Open("sqlite", name.String()); err != nil {
		return nil, err
	}
	if f.read, err = sql.Open("sqlite", name.String()); err != nil {
		return nil, errors.Join(err, f.write.Close())
	}
	f.write.SetMaxOpenConns(1)
	f.read.SetMaxOpenConns(readers)
	f.read.SetMaxIdleConns(readers)
	ctx, cancel := context.WithTimeout(context.Background(), 10*timeout)
	defer cancel()
	if err = f.setUp(ctx, path); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// setUp checks the file and gives it the schema. A file of another version is
// emptied.
func (f *file) setUp(ctx context.Context, path string) error {
	var err error
	if f.info, err = os.Stat(path); err != nil {
		return err
	}
	if size := f.info.Size(); size > 0 && size <= checkedBytes {
		var verdict string
		if err := f.write.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil || verdict != "ok" {
			return errors.Join(errDamaged, err)
		}
	}
	tx, err := f.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to undo
	version, tables := 0, 0
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name IN ('entries', 'totals', 'changes', 'locks', 'entries_in', 'entries_out')`).Scan(&tables); err != nil {
		return err
	}
	const own = 6
	if version == schemaVersion && tables == own {
		// A damaged header may make a file one that cannot be written.
		res, err := tx.ExecContext(ctx, `UPDATE totals SET entries = entries`)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n != 1 {
			return errors.Join(errDamaged, err)
		}
		return tx.Commit()
	}
	for _, table := range []string{"entries", "totals", "changes", "locks"} {
		if _, err := tx.ExecContext(ctx, `DROP TABLE IF EXISTS `+table); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf(`PRAGMA user_version = %d;`, schemaVersion)); err != nil {
		return err
	}
	return tx.Commit()
}

// The files that belong to one database.
var suffixes = []string{"", "-wal", "-shm"}

// putAside renames a damaged file, in place of one that was put aside before.
func putAside(path string) error {
	for _, s := range suffixes {
		err := os.Rename(path+s, path+".damaged"+s)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil {
			_ = os.Remove(path + ".damaged" + s) // that of another file
		}
	}
	return nil
}

// code returns the primary result code of an error, see https://sqlite.org/rescode.html.
func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

func busy(err error) bool {
	return code(err) == sqlite3.SQLITE_BUSY || code(err) == sqlite3.SQLITE_LOCKED || errors.Is(err, context.DeadlineExceeded)
}

// damaged reports whether an error says that the file is.
func damaged(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB || errors.Is(err, errDamaged)
}

// changed reports whether an error says that the file is not what it was when it
// was opened: without our tables, or gone.
func changed(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_SCHEMA:
		return true
	}
	return false
}
