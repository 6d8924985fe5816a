package dbfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// ErrClosed is returned by operations on a handle after Close.
var ErrClosed = errors.New("the file is closed")

// Handle is a file that is opened again when it was damaged, or when another
// process has put it aside. It is safe for concurrent use.
type Handle struct {
	path string
	kind Kind

	mu     sync.RWMutex // held for reading by each operation
	file   *File
	closed bool

	// Opened counts how often the file was opened again, and Asides the files that
	// were damaged.
	Opened, Asides atomic.Int64
}

// Open opens the file at path, or begins it; its directory has to be there.
func Open(path string, kind Kind) (*Handle, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	h := &Handle{path: path, kind: kind}
	var asides int
	h.file, asides, err = h.kind.open(path)
	h.Asides.Add(int64(asides))
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Close waits for operations that have begun, and closes the file.
func (h *Handle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	return h.file.close()
}

// WhileOpen runs a function that Close waits for, and reports whether it did.
func (h *Handle) WhileOpen(run func()) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.closed {
		return false
	}
	run()
	return true
}

// With runs one bounded operation on the file. One that finds the file damaged runs
// again on the new file. One that finds it changed runs again on the file as it is now,
// and if that misses what the statements name, it is damaged too.
func (h *Handle) With(ctx context.Context, run func(context.Context, *File) error) error {
	for attempt := 0; ; attempt++ {
		f, err := h.once(ctx, run)
		again, broken := attempt == 0 && changed(err), attempt == 0 && Damaged(err) || attempt == 1 && missing(err)
		if (again || broken) && ctx.Err() == nil && h.reopen(f, broken) == nil {
			continue
		}
		return err
	}
}

func (h *Handle) once(ctx context.Context, run func(context.Context, *File) error) (*File, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.closed {
		return nil, ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, h.kind.Timeout)
	defer cancel()
	return h.file, run(ctx, h.file)
}

// reopen opens the file again, in place of f. A damaged one is put aside, unless
// another process has done so.
func (h *Handle) reopen(f *File, broken bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.file != f {
		return nil
	}
	unlock, err := lockFile(h.path)
	if err != nil {
		return err
	}
	defer unlock()
	_ = f.close()
	if info, err := os.Stat(h.path); broken && err == nil && os.SameFile(info, f.info) {
		h.Asides.Add(1)
		if err := putAside(h.path, h.kind.Aside); err != nil {
			return err
		}
	}
	again, asides, err := h.kind.openLocked(h.path)
	h.Asides.Add(int64(asides))
	if err != nil {
		return err // operations on the closed file fail, and the next one tries again
	}
	h.file = again
	h.Opened.Add(1)
	if h.kind.Reopened != nil {
		h.kind.Reopened()
	}
	return nil
}

// SameFile opens the file again when another process has put it aside.
func (h *Handle) SameFile() {
	h.mu.RLock()
	f := h.file
	h.mu.RUnlock()
	if info, err := os.Stat(h.path); err != nil || !os.SameFile(info, f.info) {
		_ = h.reopen(f, false)
	}
}
