package cache

import (
	"context"
	"errors"
	"time"
)

// How long copies are kept near where nothing else is said: while the far store
// tells of changes, and while it does not.
const (
	watchedLife   = 10 * time.Minute
	unwatchedLife = time.Minute
)

// copyLife is how long a copy of what the far store has is kept near.
func (t *Tiered) copyLife() time.Duration { return time.Duration(t.life.Load()) }

// listen lets the far store tell of changes, as soon as it can, and has copies
// live that long from then on. A store that cannot at all, such as a [Sealed] one
// over one that is no [Watcher], is not asked again.
func (t *Tiered) listen(ctx context.Context, w Watcher, life time.Duration) {
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		err := w.Watch(ctx, t.changed, t.reset)
		if err == nil {
			t.life.Store(int64(life))
			t.reset() // nobody has told of what came before
			return
		}
		if ctx.Err() != nil || errors.Is(err, ErrClosed) || errors.Is(err, errors.ErrUnsupported) {
			return
		}
		t.far.failed(err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}
