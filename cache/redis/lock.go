package redis

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway/cache"
)

// unlockScript gives a lock back if it is still held.
const unlockScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`

// Lock implements [cache.Locker] with SET NX PX. Unlocking compares a random token,
// so a lock that was lost to its ttl and taken by another stays with that one. Who asks
// for a lock reads the entry next, to see whether another process has made it: it is
// read from the server itself, since word of it may not have reached this client yet.
func (s *Store) Lock(ctx context.Context, key cache.Key, ttl time.Duration) (unlock func(), free bool, err error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, false, s.failure("lock", err)
	}
	defer cancel()
	s.recent.add(key)
	name, token := s.prefix+"l:"+key.String(), rand.Text()
	ttl = max(ttl, time.Millisecond)
	err = s.client.Do(ctx, s.client.B().Set().Key(name).Value(token).Nx().Px(ttl).Build()).Error()
	if rueidis.IsRedisNil(err) {
		return func() {}, false, nil
	}
	if err != nil {
		return nil, false, s.failure("lock", err)
	}
	return sync.OnceFunc(func() {
		// The caller's context may be over; the lock is given back all the same.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		if err := s.client.Do(ctx, s.eval(unlockScript, name, token)).Error(); err != nil {
			s.failed.Add(1)
		}
	}), true, nil
}
