package pipeline

import (
	"context"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/providers"
)

// How long one process makes an answer while others wait for it, and how often
// these look. After lockWait they ask by themselves.
const (
	lockTime      = time.Minute
	lockWait      = 10 * time.Second
	lockPause     = 50 * time.Millisecond
	lockPauseMost = 400 * time.Millisecond
)

// locked takes the lock of the key in a store that several processes share, or
// waits for the answer of the process that has it. It reports whether that came.
// Streams don't wait: their callers want the first words soon.
func (p *place) locked(ctx context.Context, res *result) bool {
	store, err := p.cache.open()
	locker, ok := store.(cache.Locker)
	if err != nil || !ok || !either(p.call.Coalesce, p.client.Coalesce, true) {
		return false
	}
	give := time.Now().Add(lockWait)
	for pause := lockPause; ; pause = min(2*pause, lockPauseMost) {
		unlock, err := use(ctx, p.cache, readTime, func(ctx context.Context, _ cache.Store) (func(), error) {
			unlock, free, err := locker.Lock(ctx, p.key, lockTime)
			switch {
			case err != nil || !free:
				return nil, err
			case ctx.Err() != nil: // nobody waits for it any more
				unlock()
				return nil, ctx.Err()
			}
			return unlock, nil
		})
		res.unlock = unlock
		if err != nil || unlock != nil || !time.Now().Before(give) {
			return false
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		if p.again(ctx, res) {
			res.info.Shared = res.status == providers.CacheHit
			return true
		}
	}
}
