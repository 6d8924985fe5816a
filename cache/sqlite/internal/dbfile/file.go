// Package dbfile opens files of SQLite, runs bounded operations on them, and puts
// damaged ones aside.
package dbfile

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// checkedBytes is up to which size a file is checked as a whole when it is
	// opened. Larger ones show their faults when they are read.
	checkedBytes = 64 << 20
	readers      = 4
)

// ErrDamaged says that a file is.
var ErrDamaged = errors.New("the file is damaged")

// File is an open database: one connection that writes, some that read.
type File struct {
	Write, Read *sql.DB

	info os.FileInfo // which file that is
}

func (f *File) close() error { return errors.Join(f.Read.Close(), f.Write.Close()) }

// Transact runs a transaction that writes.
func (f *File) Transact(ctx context.Context, run func(*sql.Tx) error) error {
	tx, err := f.Write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := run(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// open opens the file at path. One that is damaged is put aside, and a new one
// begun; asides says how many.
func (k *Kind) open(path string) (f *File, asides int, err error) {
	unlock, err := lockFile(path)
	if err != nil {
		return nil, 0, err
	}
	defer unlock()
	return k.openLocked(path)
}

func (k *Kind) openLocked(path string) (f *File, asides int, err error) {
	if err := begin(path); err != nil { // what may not be written is no damage
		return nil, 0, err
	}
	if f, err = k.connect(path); err == nil || busy(err) || !k.Spoilt(err) {
		return f, 0, err
	}
	if err := errors.Join(putAside(path, k.Aside), begin(path)); err != nil {
		return nil, 0, err
	}
	f, err = k.connect(path)
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

func (k *Kind) connect(path string) (*File, error) {
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()}
	name.RawQuery = url.Values{
		"_pragma": {
			"busy_timeout(" + strconv.FormatInt(k.Timeout.Milliseconds(), 10) + ")",
			"journal_mode(WAL)", "synchronous(NORMAL)", "journal_size_limit(16777216)", "cell_size_check(1)",
		},
		"_txlock": {"immediate"},
	}.Encode()
	f := new(File)
	var err error
	if f.Write, err = sql.Open("sqlite", name.String()); err != nil {
		return nil, err
	}
	if f.Read, err = sql.Open("sqlite", name.String()); err != nil {
		return nil, errors.Join(err, f.Write.Close())
	}
	f.Write.SetMaxOpenConns(1)
	f.Read.SetMaxOpenConns(readers)
	f.Read.SetMaxIdleConns(readers)
	ctx, cancel := context.WithTimeout(context.Background(), 10*k.Timeout)
	defer cancel()
	if err = k.setUp(ctx, f, path); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// setUp checks the file and gives it what its kind has in it.
func (k *Kind) setUp(ctx context.Context, f *File, path string) error {
	var err error
	if f.info, err = os.Stat(path); err != nil {
		return err
	}
	if size := f.info.Size(); size > 0 && size <= checkedBytes {
		var verdict string
		if err := f.Write.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil || verdict != "ok" {
			return errors.Join(ErrDamaged, err)
		}
	}
	return f.Transact(ctx, func(tx *sql.Tx) error { return k.SetUp(ctx, tx) })
}

// The files that belong to one database.
var suffixes = []string{"", "-wal", "-shm"}

// putAside renames a damaged file to PATH.damaged. Up to keep of them are kept, the
// later ones with a number; then the last makes room.
func putAside(path string, keep int) error {
	aside := path + ".damaged"
	for n := 2; n <= keep; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = path + ".damaged-" + strconv.Itoa(n)
	}
	for _, s := range suffixes {
		err := os.Rename(path+s, aside+s)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil {
			_ = os.Remove(aside + s) // that of another file
		}
	}
	return nil
}

// ResultCode returns the primary result code of an error, see https://sqlite.org/rescode.html.
func ResultCode(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

func busy(err error) bool {
	return ResultCode(err) == sqlite3.SQLITE_BUSY || ResultCode(err) == sqlite3.SQLITE_LOCKED || errors.Is(err, context.DeadlineExceeded)
}

// Damaged reports whether an error says that the file is.
func Damaged(err error) bool {
	c := ResultCode(err)
	return c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB || errors.Is(err, ErrDamaged)
}

// changed reports whether an error says that the file is not what it was when it
// was opened: without our tables, or gone.
func changed(err error) bool {
	switch ResultCode(err) {
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_SCHEMA:
		return true
	}
	return false
}

// missing reports whether the file lacks a table or a column that a statement names.
// Statements are right, and the tables were there when it was opened.
func missing(err error) bool {
	return ResultCode(err) == sqlite3.SQLITE_ERROR &&
		(strings.Contains(err.Error(), "no such ") || strings.Contains(err.Error(), "has no column "))
}

// Kind says how the files of one kind of store are treated.
type Kind struct {
	// Timeout bounds each operation; opening has ten times as much.
	Timeout time.Duration
	// SetUp sees to the tables of a file that was opened.
	SetUp func(ctx context.Context, tx *sql.Tx) error
	// Spoilt reports whether a file that cannot be opened for that error is put aside.
	Spoilt func(err error) bool
	// Aside is how many of those that were put aside are kept, one at least.
	Aside int
	// Reopened, if there is one, is called when another file took the place of one.
	Reopened func()
}
