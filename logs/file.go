package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// The defaults of [FileOptions].
const (
	DefaultFileBytes = 100 << 20
	DefaultMaxFiles  = 10
)

// FileOptions bound a [File].
type FileOptions struct {
	// MaxBytes is the size at which a file is put aside and another begun; 0 is
	// [DefaultFileBytes].
	MaxBytes int64
	// MaxFiles is how many files that were put aside are kept; 0 is [DefaultMaxFiles],
	// and less keeps all.
	MaxFiles int
	// MaxAge is how long they are kept, by the time of their last record; 0 is for ever.
	// It is looked at when the file is opened, and while it is written.
	MaxAge time.Duration
	// Fsync has each batch on the disk before it counts as written.
	Fsync bool
}

// File is a [Store] in JSON Lines: a record, or a feedback, on each line. A file that
// is full is put aside under its name with the time in it, and may be deleted or taken
// away. Queries read the files from their end, which is quick for what is new and slow
// for what is old or rare: for more than a look use a database.
//
// One process writes a file: a second one is refused. Make one with [OpenFile].
type File struct {
	path string
	opts FileOptions
	lock io.Closer

	mu     sync.Mutex // held by what writes
	file   appended   // nil when the last one could not be opened
	size   int64
	torn   bool // the file ends within a line
	closed bool
	looked time.Time // when the files that were put aside were looked at last

	skipped atomic.Int64
}

// appended is a file that lines are added to.
type appended interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

var (
	_ Store     = (*File)(nil)
	_ io.Closer = (*File)(nil)
)

// ErrLocked says that another process writes the file, or another [File] of this one.
var ErrLocked = errors.New("logs: the file is written by another process")

// errFileClosed says that the File was closed.
var errFileClosed = errors.New("logs: the file was closed")

// OpenFile opens a file, which it makes if it is not there, readable for its owner
// alone. The directory must be there.
func OpenFile(path string, o FileOptions) (*File, error) {
	if path == "" || o.MaxBytes < 0 || o.MaxAge < 0 {
		return nil, &providers.Error{Code: providers.ErrInvalidConfig, Param: "logs.file", Message: "needs a path, and bounds that are not negative"}
	}
	o.MaxFiles = either(o.MaxFiles, DefaultMaxFiles)
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultFileBytes
	}
	lock, err := lockFile(path + ".lock")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("logs: the directory of %s is not there, make it first: %w", path, err)
	} else if err != nil {
		return nil, err
	}
	f := &File{path: path, opts: o, lock: lock}
	if err := f.begin(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	f.retire()
	return f, nil
}

// begin opens the file to go on with.
func (f *File) begin() error {
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("logs: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if !info.Mode().IsRegular() {
		_ = file.Close()
		return &providers.Error{Code: providers.ErrInvalidConfig, Param: "logs.file", Message: "is no regular file"}
	}
	f.file, f.size, f.torn = file, info.Size(), false
	if f.size > 0 { // a process may have ended within a line
		var last [1]byte
		_, err = file.ReadAt(last[:], f.size-1)
		f.torn = err != nil || last[0] != '\n'
	}
	return nil
}

// Write appends the records. When that fails, none of them is there, or their
// beginning: the disk may be full, and the next batch is tried again. Records without an
// id or a time are left out, and are an error.
func (f *File) Write(_ context.Context, records []Record) error {
	var data []byte
	var errs []error
	for i := range records {
		line, err := json.Marshal(&records[i])
		if err == nil && len(line) > maxLine {
			err = errors.New("logs: a record is larger than a line may be")
		}
		if err == nil && !records[i].named() {
			err = errors.New("logs: a record has no id or no time")
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		data = append(append(data, line...), '\n')
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(append(errs, f.append(data))...)
}

// AddFeedback appends a line that has the feedback.
func (f *File) AddFeedback(ctx context.Context, b Feedback) error {
	if err := b.Validate(); err != nil {
		return err
	}
	r, err := f.Get(ctx, b.RecordID)
	if err != nil {
		return err
	}
	if err := RoomForFeedback(len(r.Feedback)); err != nil {
		return err
	}
	line, err := json.Marshal(&b)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.append(append(line, '\n'))
}

func (f *File) append(data []byte) error {
	if f.closed {
		return errFileClosed
	}
	if len(data) == 0 {
		return nil
	}
	if f.file == nil || f.size > 0 && f.size+int64(len(data)) > f.opts.MaxBytes {
		if err := f.rotate(); err != nil {
			return err
		}
	}
	if f.opts.MaxAge > 0 && time.Since(f.looked) >= min(time.Minute, f.opts.MaxAge/10) {
		f.retire()
	}
	if f.torn {
		data = append([]byte{'\n'}, data...)
	}
	n, err := f.file.Write(data)
	if err != nil {
		if n > 0 && f.file.Truncate(f.size) != nil { // it stays as it was, or ends within a line
			f.size, f.torn = f.size+int64(n), true
		}
		return fmt.Errorf("logs: %w", err)
	}
	f.size, f.torn = f.size+int64(n), false
	if f.opts.Fsync {
		if err := f.file.Sync(); err != nil {
			return fmt.Errorf("logs: %w", err)
		}
	}
	return nil
}

// rotate puts the file aside and begins another. One that can't be put aside, since
// somebody holds it or the directory's rights have changed, goes on: records count more
// than its size.
func (f *File) rotate() error {
	aside := false
	if f.file != nil {
		_ = f.file.Close() // what it had is written, or has failed
		f.file = nil
		aside = os.Rename(f.path, f.aside(time.Now())) == nil
	}
	if err := f.begin(); err != nil {
		return err
	}
	if aside {
		f.retire()
	}
	return nil
}

// stamp is how the time stands in the names of files that were put aside, so that their
// order is that of the times.
const stamp = "20060102T150405.000000000"

// aside is a name for the file that is full.
func (f *File) aside(t time.Time) string {
	ext := filepath.Ext(f.path)
	for {
		name := strings.TrimSuffix(f.path, ext) + "-" + t.UTC().Format(stamp) + ext
		if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return name
		}
		t = t.Add(1)
	}
}

// old returns the files that were put aside, the newest first.
func (f *File) old() []string {
	ext := filepath.Ext(f.path)
	base := strings.TrimSuffix(filepath.Base(f.path), ext) + "-"
	entries, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return nil
	}
	var list []string
	for _, entry := range slices.Backward(entries) { // they are in the order of their names
		at, ok := strings.CutPrefix(entry.Name(), base)
		if !ok {
			continue
		}
		if at, ok = strings.CutSuffix(at, ext); !ok {
			continue
		}
		if _, err := time.Parse(stamp, at); err == nil {
			list = append(list, filepath.Join(filepath.Dir(f.path), entry.Name()))
		}
	}
	return list
}

// retire deletes what is too much and too old. What can't be deleted is tried again
// later.
func (f *File) retire() {
	f.looked = time.Now()
	for i, name := range f.old() {
		info, err := os.Lstat(name)
		if err != nil {
			continue
		}
		many := f.opts.MaxFiles >= 0 && i >= f.opts.MaxFiles
		if aged := f.opts.MaxAge > 0 && time.Since(info.ModTime()) > f.opts.MaxAge; many || aged {
			_ = os.Remove(name)
		}
	}
}

// Skipped counts lines that were passed over by queries, since they are no records: the
// process ended while it wrote them, or somebody else did.
func (f *File) Skipped() int64 { return f.skipped.Load() }

// Close closes the file. It is idempotent.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	var err error
	if f.file != nil {
		err = f.file.Close()
		f.file = nil
	}
	return errors.Join(err, f.lock.Close())
}
