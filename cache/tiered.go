package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// TieredConfig says how a [Tiered] uses its far store.
type TieredConfig struct {
	// NearLife bounds how long a copy of what the far store has is kept near, and
	// with it how long a change that another process made may go unnoticed. 0 means
	// a minute, or ten while the far store, which is a [Watcher], tells of changes.
	NearLife time.Duration
	// Timeout bounds each operation of the far store; 0 means 500 ms.
	Timeout time.Duration
	// After Failures in a row, 0 meaning 5, the far store is left alone for Pause,
	// 0 meaning 5 seconds. Then one operation tries it.
	Failures int
	Pause    time.Duration
	// Failed, unless nil, hears of each error of the far store, for logs. It is
	// called by many at once.
	Failed func(error)
}

// Tiered keeps what is asked for often near, in the process, and all of it in a
// far store that processes share. It reads the near store first, and fills it
// from the far one.
//
// A far store that fails or is slow makes for misses, not for errors: what was
// stored meanwhile is kept near. What the far store may have an old entry of,
// since it failed to replace or to delete it, is not read from there before that
// has been made up for; only Delete and DeleteAll report such a failure.
//
// A search asks the far store if it is a [Searcher], and the near one otherwise
// or when that fails. Lists and DeleteAll need a far store that is a [Keeper].
// Locks are the far store's if it is a [Locker]; otherwise, and when it fails,
// they hold within the process.
//
// Tiered is safe for concurrent use. The entries that it returns are shared.
// Close closes both stores.
type Tiered struct {
	near Store
	far  *far
	// keep is near as what can drop all.
	keep Keeper
	life atomic.Int64 // of copies, in nanoseconds

	lanes [laneCount]lane
	// changes counts what was set, deleted and dropped.
	changes atomic.Uint64
	locks   locks

	hits, misses, searches, matches, stored, deleted, rejected, failed atomic.Int64

	closing context.CancelFunc
	closed  atomic.Bool
	once    sync.Once
	watcher sync.WaitGroup
	err     error // of Close
}

var _ interface {
	Searcher
	Keeper
	Locker
	Counter
	io.Closer
} = (*Tiered)(nil)

// NewTiered puts near, such as a [Memory], in front of far. near has to be a
// [Keeper]. Close it after use, which closes both.
func NewTiered(near, far Store, c TieredConfig) (*Tiered, error) {
	if near == nil || far == nil {
		return nil, errors.New("cache: a tiered store has a near and a far store")
	}
	keep, ok := near.(Keeper)
	if !ok {
		return nil, fmt.Errorf("cache: the near store is a %T, which is no Keeper; use a Memory", near)
	}
	if c.NearLife < 0 || c.Timeout < 0 || c.Failures < 0 || c.Pause < 0 {
		return nil, errors.New("cache: a setting of the tiered store is negative")
	}
	t := &Tiered{near: near, keep: keep, far: newFar(far, c)}
	t.life.Store(int64(cmp.Or(c.NearLife, unwatchedLife)))
	for i := range t.lanes {
		t.lanes[i].writing = make(chan struct{}, 1)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.closing = cancel
	if watcher, ok := far.(Watcher); ok {
		t.watcher.Go(func() { t.listen(ctx, watcher, cmp.Or(c.NearLife, watchedLife)) })
	}
	return t, nil
}

// laneCount is how many writers of different keys may wait for the far store.
const laneCount = 256

// lane keeps operations on the same key from undoing each other.
type lane struct {
	// writing has one while a writer of the lane's keys is busy with both stores.
	writing chan struct{}

	mu sync.Mutex
	// epoch is raised by each change of a key, and foreign by those that others
	// made: what was read from the far store before is not kept then.
	epoch, foreign uint64
}

func (t *Tiered) lane(key Key) *lane { return &t.lanes[(uint(key[0])^uint(key[31]))%laneCount] }

// state returns both counters.
func (l *lane) state() (epoch, foreign uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch, l.foreign
}

// write waits until no other writes the lane's keys; release ends that.
func (l *lane) write(ctx context.Context) error {
	select {
	case l.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lane) release() { <-l.writing }

// Get implements [Store].
func (t *Tiered) Get(ctx context.Context, key Key) (*Entry, bool, error) {
	if t.closed.Load() {
		return nil, false, t.fail(ErrClosed)
	}
	if e, ok, err := t.near.Get(ctx, key); ok && err == nil && e != nil && e.Key == key {
		t.hits.Add(1)
		return e, true, nil
	}
	l := t.lane(key)
	epoch, _ := l.state()
	e := t.far.get(ctx, key)
	if e == nil {
		if err := t.ended(ctx); err != nil {
			return nil, false, err
		}
		t.misses.Add(1)
		return nil, false, nil
	}
	l.mu.Lock()
	if l.epoch == epoch {
		t.keepNear(ctx, e, t.copyLife())
	}
	l.mu.Unlock()
	t.hits.Add(1)
	return e, true, nil
}

// ended returns the error of an operation whose context has ended or whose store
// was closed, if so.
func (t *Tiered) ended(ctx context.Context) error {
	if t.closed.Load() {
		return t.fail(ErrClosed)
	}
	return ctx.Err()
}

// keepNear keeps an entry in the near store, for that long at most. It is not
// there if that fails.
func (t *Tiered) keepNear(ctx context.Context, e *Entry, life time.Duration) bool {
	until := time.Now().Add(life)
	if !until.Before(e.Expires) {
		until = e.Expires
	}
	var err error
	if s, ok := t.near.(interface {
		SetUntil(ctx context.Context, e *Entry, until time.Time) error
	}); ok {
		err = s.SetUntil(ctx, e, until)
	} else {
		brief := *e
		brief.Expires = until
		err = t.near.Set(ctx, &brief)
	}
	if err != nil {
		t.dropNear(ctx, e.Key)
	}
	return err == nil
}

func (t *Tiered) dropNear(ctx context.Context, key Key) {
	if err := t.near.Delete(context.WithoutCancel(ctx), key); err != nil {
		t.failed.Add(1)
	}
}

// Set implements [Store]. It fails if neither store keeps the entry.
func (t *Tiered) Set(ctx context.Context, e *Entry) error {
	if t.closed.Load() {
		return t.fail(ErrClosed)
	}
	l := t.lane(e.Key)
	if err := l.write(ctx); err != nil {
		return err
	}
	defer l.release()
	_, foreign := l.state()
	farErr := t.far.set(ctx, e)
	l.mu.Lock()
	defer l.mu.Unlock()
	t.changes.Add(1)
	l.epoch++
	kept := false
	switch {
	case e.Expired(time.Now()):
		t.dropNear(ctx, e.Key)
		t.rejected.Add(1)
		return t.ended(context.WithoutCancel(ctx))
	case l.foreign != foreign: // another process changed the key, perhaps after us
		t.dropNear(ctx, e.Key)
	case farErr != nil:
		kept = t.keepNear(context.WithoutCancel(ctx), e, time.Until(e.Expires))
	default:
		kept = t.keepNear(context.WithoutCancel(ctx), e, t.copyLife())
	}
	if kept || farErr == nil {
		t.stored.Add(1)
		return nil
	}
	t.rejected.Add(1)
	if t.closed.Load() {
		return t.fail(ErrClosed)
	}
	return farErr
}

// Delete implements [Store].
func (t *Tiered) Delete(ctx context.Context, key Key) error {
	if t.closed.Load() {
		return t.fail(ErrClosed)
	}
	l := t.lane(key)
	if err := l.write(ctx); err != nil {
		return err
	}
	defer l.release()
	err := t.far.delete(ctx, key)
	l.mu.Lock()
	defer l.mu.Unlock()
	t.changes.Add(1)
	l.epoch++
	if nearErr := t.near.Delete(context.WithoutCancel(ctx), key); err == nil {
		err = nearErr
	}
	if err == nil {
		t.deleted.Add(1)
	}
	return err
}

// changed drops what another process has changed.
func (t *Tiered) changed(key Key) {
	l := t.lane(key)
	l.mu.Lock()
	defer l.mu.Unlock()
	t.changes.Add(1)
	l.epoch++
	l.foreign++
	t.dropNear(context.Background(), key)
}

// reset drops all copies: some may have changed.
func (t *Tiered) reset() {
	t.forget()
	if _, err := t.keep.DeleteAll(context.Background(), Filter{}); err != nil {
		t.failed.Add(1)
	}
}

// forget keeps all that is being read from the far store from being kept near.
func (t *Tiered) forget() {
	for i := range t.lanes {
		l := &t.lanes[i]
		l.mu.Lock()
		l.epoch++
		l.foreign++
		l.mu.Unlock()
	}
	t.changes.Add(1)
}

// Search implements [Searcher].
func (t *Tiered) Search(ctx context.Context, q *Query) ([]Match, error) {
	if t.closed.Load() {
		return nil, t.fail(ErrClosed)
	}
	t.searches.Add(1)
	changes := t.changes.Load()
	found, ok := t.far.search(ctx, q)
	if err := t.ended(ctx); err != nil {
		return nil, err
	}
	near, isSearcher := t.near.(Searcher)
	if isSearcher && (!ok || t.far.distrusts()) {
		local, err := near.Search(ctx, q)
		if err != nil && !ok {
			return nil, t.fail(err)
		}
		found = t.far.merge(found, local, ok, q.Limit)
	}
	if ok && len(found) > 0 {
		t.keepFound(ctx, found[0].Entry, changes)
	}
	t.matches.Add(int64(len(found)))
	return found, nil
}

// keepFound keeps what a search found near, unless anything has changed since.
func (t *Tiered) keepFound(ctx context.Context, e *Entry, changes uint64) {
	if _, ok, err := t.near.Get(ctx, e.Key); ok || err != nil {
		return
	}
	l := t.lane(e.Key)
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.changes.Load() == changes {
		t.keepNear(ctx, e, t.copyLife())
	}
}

// List implements [Keeper].
func (t *Tiered) List(ctx context.Context, f Filter) iter.Seq2[*Entry, error] {
	k, ok := t.far.store.(Keeper)
	if t.closed.Load() || !ok {
		return func(yield func(*Entry, error) bool) { yield(nil, t.fail(t.cannot())) }
	}
	return k.List(ctx, f)
}

// cannot is the error of a list that there is not.
func (t *Tiered) cannot() error {
	if t.closed.Load() {
		return ErrClosed
	}
	return fmt.Errorf("cache: the far store is a %T, which is no Keeper: %w", t.far.store, errors.ErrUnsupported)
}

// DeleteAll implements [Keeper].
func (t *Tiered) DeleteAll(ctx context.Context, f Filter) (int, error) {
	k, ok := t.far.store.(Keeper)
	if t.closed.Load() || !ok {
		return 0, t.fail(t.cannot())
	}
	n, err := k.DeleteAll(ctx, f)
	if err != nil {
		t.far.failed(err)
	}
	t.deleted.Add(int64(n))
	t.forget()
	if _, nearErr := t.keep.DeleteAll(context.WithoutCancel(ctx), f); err == nil {
		err = nearErr
	}
	return n, err
}

// Lock implements [Locker].
func (t *Tiered) Lock(ctx context.Context, key Key, ttl time.Duration) (unlock func(), free bool, err error) {
	if t.closed.Load() {
		return nil, false, t.fail(ErrClosed)
	}
	unlock, free, ok := t.far.lock(ctx, key, ttl)
	if err := t.ended(ctx); err != nil {
		if free {
			unlock()
		}
		return nil, false, err
	}
	if !ok {
		unlock, free = t.locks.lock(key, ttl)
	}
	return unlock, free, nil
}

// Stats implements [Counter]. Entries, Vectors and Bytes are those of the near store,
// as are Evicted and Expired; Deleted counts calls of Delete, whether there was
// something or not.
func (t *Tiered) Stats() Stats {
	var s Stats
	if c, ok := t.near.(Counter); ok {
		s = c.Stats()
	}
	s.Hits, s.Misses, s.Searches, s.Matches = t.hits.Load(), t.misses.Load(), t.searches.Load(), t.matches.Load()
	s.Stored, s.Deleted, s.Rejected = t.stored.Load(), t.deleted.Load(), t.rejected.Load()
	s.Corrupt, s.Failed = t.far.corrupt.Load(), t.failed.Load()+t.far.failures.Load()
	return s
}

// Close closes both stores. It may be called at any time, and more than once.
func (t *Tiered) Close() error {
	t.once.Do(func() {
		t.closed.Store(true)
		t.closing()
		for _, s := range []Store{t.far.store, t.near} {
			if c, ok := s.(io.Closer); ok {
				t.err = errors.Join(t.err, c.Close())
			}
		}
		t.watcher.Wait()
	})
	return t.err
}

func (t *Tiered) fail(err error) error {
	t.failed.Add(1)
	return err
}
