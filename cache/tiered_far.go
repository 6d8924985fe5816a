package cache

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// errPaused is what becomes of operations while the far store is left alone.
var errPaused = errors.New("cache: the far store failed too often, and is left alone for a while")

// maxDistrusted bounds the keys that are remembered to be old in the far store.
const maxDistrusted = 10_000

// far is the far store, which may fail, be slow and return what is broken.
type far struct {
	store   Store
	timeout time.Duration
	tell    func(error)

	failures, corrupt atomic.Int64

	mu sync.Mutex
	// inRow failures came one after the other. From limit on, no operation is let
	// through until paused, and then one.
	inRow, limit int
	pause        time.Duration
	paused       time.Time
	// distrusted are keys of which it may have an old entry.
	distrusted map[Key]struct{}
}

func newFar(s Store, c TieredConfig) *far {
	f := &far{store: s, timeout: c.Timeout, tell: c.Failed, limit: c.Failures, pause: c.Pause, distrusted: map[Key]struct{}{}}
	f.timeout, f.limit, f.pause = cmp.Or(f.timeout, 500*time.Millisecond), cmp.Or(f.limit, 5), cmp.Or(f.pause, 5*time.Second)
	return f
}

// do runs an operation, unless the far store is left alone.
func (f *far) do(ctx context.Context, run func(context.Context) error) error {
	if !f.enter() {
		f.failures.Add(1)
		return errPaused
	}
	timed, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	err := run(timed)
	switch {
	case err == nil, errors.Is(err, ErrTooLarge), errors.Is(err, ErrCorrupt):
		f.leave(true)
	case ctx.Err() != nil: // the caller went away, which says nothing
		f.left()
	default:
		f.leave(false)
		f.failed(err)
	}
	return err
}

// failed counts a failure and tells of it.
func (f *far) failed(err error) {
	f.failures.Add(1)
	if f.tell != nil && !errors.Is(err, ErrClosed) {
		f.tell(err)
	}
}

// enter reports whether an operation may begin.
func (f *far) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inRow < f.limit {
		return true
	}
	if now := time.Now(); !now.Before(f.paused) {
		f.paused = now.Add(f.pause) // the others wait for this one
		return true
	}
	return false
}

// leave takes note of how an operation ended.
func (f *far) leave(well bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if well {
		f.inRow = 0
		return
	}
	if f.inRow++; f.inRow >= f.limit {
		f.paused = time.Now().Add(f.pause)
	}
}

// left lets another operation try, if this one was to.
func (f *far) left() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = time.Time{}
}

// distrust remembers that the entry of a key may be old.
func (f *far) distrust(key Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.distrusted) < maxDistrusted {
		f.distrusted[key] = struct{}{}
	}
}

// trust takes that back.
func (f *far) trust(key Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.distrusted, key)
}

// trusts reports whether the entry of a key is as it should be.
func (f *far) trusts(key Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, not := f.distrusted[key]
	return !not
}

func (f *far) distrusts() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.distrusted) > 0
}

// get returns a sound entry, or nil.
func (f *far) get(ctx context.Context, key Key) *Entry {
	if !f.trusts(key) {
		// What it may have is old: it is deleted, late, and nothing is read.
		_ = f.delete(ctx, key)
		return nil
	}
	var e *Entry
	err := f.do(ctx, func(ctx context.Context) (err error) {
		var ok bool
		if e, ok, err = f.store.Get(ctx, key); err == nil && !ok {
			e = nil
		}
		return err
	})
	if errors.Is(err, ErrCorrupt) || err == nil && e != nil && e.Key != key {
		f.corrupt.Add(1)
		return nil
	}
	if err != nil || e == nil || e.Expired(time.Now()) {
		return nil
	}
	return e
}

// set writes an entry. If that fails, what was there before is old.
func (f *far) set(ctx context.Context, e *Entry) error {
	err := f.do(ctx, func(ctx context.Context) error { return f.store.Set(ctx, e) })
	if err != nil {
		f.distrust(e.Key)
	} else {
		f.trust(e.Key)
	}
	return err
}

func (f *far) delete(ctx context.Context, key Key) error {
	err := f.do(ctx, func(ctx context.Context) error { return f.store.Delete(ctx, key) })
	if err != nil {
		f.distrust(key)
	} else {
		f.trust(key)
	}
	return err
}

// search returns what is found that is sound, or false where the far store cannot
// search or fails.
func (f *far) search(ctx context.Context, q *Query) (found []Match, ok bool) {
	s, ok := f.store.(Searcher)
	if !ok {
		return nil, false
	}
	if err := f.do(ctx, func(ctx context.Context) (err error) {
		found, err = s.Search(ctx, q)
		return err
	}); err != nil {
		return nil, false
	}
	now := time.Now()
	return slices.DeleteFunc(found, func(m Match) bool {
		if m.Entry == nil || m.Entry.Group != q.Group || len(m.Entry.Vector) != len(q.Vector) ||
			!(dot(m.Entry.Vector, q.Vector) >= q.Threshold-rounding) { // NaN is not similar to anything
			f.corrupt.Add(1)
			return true
		}
		return m.Entry.Expired(now) || !f.trusts(m.Entry.Key)
	}), true
}

// merge adds to what was found far what was found near, if that is all there is,
// or of keys whose entries far are old.
func (f *far) merge(found, near []Match, ok bool, limit int) []Match {
	if !ok {
		return near
	}
	for _, m := range near {
		if !f.trusts(m.Entry.Key) {
			found = append(found, m)
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Compare(b.Similarity, a.Similarity) })
	if limit > 0 && len(found) > limit {
		found = found[:limit]
	}
	return found
}

// lock takes a lock of the far store, or returns false where it has none or fails.
func (f *far) lock(ctx context.Context, key Key, ttl time.Duration) (unlock func(), free, ok bool) {
	l, ok := f.store.(Locker)
	if !ok {
		return nil, false, false
	}
	err := f.do(ctx, func(ctx context.Context) (err error) {
		unlock, free, err = l.Lock(ctx, key, ttl)
		return err
	})
	return unlock, free && err == nil, err == nil
}
