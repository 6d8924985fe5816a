package postgres

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/b650d4bf/gateway/cache"
)

// Lock implements [cache.Locker] with a row that has a time of its own, on the
// server's clock. Unlocking compares a random token, so a lock that was lost to its
// ttl and taken by another stays with that one.
func (s *Store) Lock(ctx context.Context, key cache.Key, ttl time.Duration) (unlock func(), free bool, err error) {
	bounded, cancel, l, err := s.begin(ctx)
	if err != nil {
		return nil, false, s.failure("lock", err)
	}
	defer cancel()
	token := rand.Text()
	tag, err := s.pool.Exec(bounded, l.lock, key[:], token, max(ttl, time.Millisecond).Microseconds())
	if err != nil {
		return nil, false, s.failure("lock", err)
	}
	if tag.RowsAffected() == 0 {
		return func() {}, false, nil
	}
	return sync.OnceFunc(func() {
		// The caller's context may be over; the lock is given back all the same.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		if _, err := s.pool.Exec(ctx, l.unlock, key[:], token); err != nil {
			s.failed.Add(1)
		}
	}), true, nil
}

// The pauses between attempts to listen again, and how often a connection that is
// silent is asked whether it still is one.
const (
	watchPause    = 100 * time.Millisecond
	watchPauseMax = 5 * time.Second
	watchSilence  = 10 * time.Second
)

// Watch implements [cache.Watcher] with LISTEN. changed and reset are called one at
// a time, for the store's own changes too; reset is called when the connection was
// lost and is there again. It keeps one connection of the pool.
func (s *Store) Watch(ctx context.Context, changed func(cache.Key), reset func()) error {
	s.closing.Lock()
	if s.done.Err() != nil {
		s.closing.Unlock()
		return cache.ErrClosed
	}
	s.running.Add(1)
	s.closing.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.done, cancel)
	conn, err := s.listen(ctx)
	if err != nil {
		stop()
		cancel()
		s.running.Done()
		return s.failure("watch", err)
	}
	go func() {
		defer s.running.Done()
		defer cancel()
		defer stop()
		for {
			s.hear(ctx, conn, changed, reset)
			hangUp(conn)
			if conn = s.listenAgain(ctx); conn == nil {
				return
			}
			reset()
		}
	}()
	return nil
}

// listen returns a connection that is told of changes.
func (s *Store) listen(ctx context.Context) (*pgxpool.Conn, error) {
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := s.pool.Acquire(bounded)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(bounded, `LISTEN `+pgx.Identifier{s.tables.channel()}.Sanitize()); err != nil {
		hangUp(conn)
		return nil, err
	}
	return conn, nil
}

// listenAgain tries until it listens, or returns nil when the context is over.
func (s *Store) listenAgain(ctx context.Context) *pgxpool.Conn {
	for pause := watchPause; ; pause = min(2*pause, watchPauseMax) {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		if conn, err := s.listen(ctx); err == nil {
			return conn
		}
	}
}

// hangUp ends a connection that listens: another user of the pool would not know.
func hangUp(conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Hijack().Close(ctx)
}

// hear passes on what is told until the connection is lost.
func (s *Store) hear(ctx context.Context, conn *pgxpool.Conn, changed func(cache.Key), reset func()) {
	for {
		waiting, cancel := context.WithTimeout(ctx, watchSilence)
		n, err := conn.Conn().WaitForNotification(waiting)
		silent := err != nil && waiting.Err() != nil && ctx.Err() == nil
		cancel()
		if silent && s.alive(ctx, conn) {
			continue
		}
		if err != nil {
			return
		}
		keys, ok := parseKeys(n.Payload)
		if !ok {
			reset()
		}
		for _, k := range keys {
			changed(k)
		}
	}
}

// alive asks a silent connection for an answer.
func (s *Store) alive(ctx context.Context, conn *pgxpool.Conn) bool {
	if conn.Conn().IsClosed() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return conn.Conn().Ping(ctx) == nil
}

// parseKeys reads what was told: false for anything but keys.
func parseKeys(payload string) ([]cache.Key, bool) {
	const size = 2 * len(cache.Key{})
	if payload == "" || len(payload)%size != 0 {
		return nil, false
	}
	var keys []cache.Key
	for ; payload != ""; payload = payload[size:] {
		k, err := cache.ParseKey(payload[:size])
		if err != nil {
			return nil, false
		}
		keys = append(keys, k)
	}
	return keys, true
}
