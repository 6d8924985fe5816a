package redis

import (
	"context"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway/cache"
)

// What is told on the channel: a letter, and the keys.
const (
	messageChanged = 'k'
	messageReset   = 'r'
	// messageKeys bounds the keys of one message.
	messageKeys = 256
	// watchPause is between attempts to listen.
	watchPause = 100 * time.Millisecond
)

func (s *Store) channel() string { return s.prefix + "changed" }

func changedMessage(keys ...cache.Key) string {
	out := append(make([]byte, 0, 1+len(keys)*len(cache.Key{})), messageChanged)
	for _, k := range keys {
		out = append(out, k[:]...)
	}
	return string(out)
}

// Watch implements [cache.Watcher] with a subscription. changed and reset are
// called one at a time, for the store's own changes too; reset is called when the
// connection was lost and is there again. It takes one connection of the client.
func (s *Store) Watch(ctx context.Context, changed func(cache.Key), reset func()) error {
	s.closing.Lock()
	if s.done.Err() != nil {
		s.closing.Unlock()
		return cache.ErrClosed
	}
	s.watches.Add(1)
	s.closing.Unlock()

	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.done, cancel)
	w := &watch{store: s, changed: changed, reset: reset, listening: make(chan struct{}), again: make(chan struct{}, 1)}
	ended := make(chan struct{})
	go func() {
		defer s.watches.Done()
		defer close(ended)
		defer stop()
		defer cancel()
		w.run(ctx)
	}()
	timer := time.NewTimer(s.timeout)
	defer timer.Stop()
	var err error
	select {
	case <-w.listening:
		return nil
	case <-timer.C:
		err = context.DeadlineExceeded
	case <-ctx.Done():
		if err = ctx.Err(); s.done.Err() != nil {
			err = cache.ErrClosed
		}
	}
	cancel()
	<-ended
	return s.failure("watch", err)
}

// watch is one call of Watch.
type watch struct {
	store     *Store
	changed   func(cache.Key)
	reset     func()
	listening chan struct{} // closed once it listens
	again     chan struct{} // has one each time it listens again
	calling   sync.Mutex
}

func (w *watch) run(ctx context.Context) {
	var resets sync.WaitGroup
	resets.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-w.again:
				w.missed(ctx)
			}
		}
	})
	defer resets.Wait()
	// The hook runs in the client's reading loop, which must not wait.
	first := sync.OnceFunc(func() { close(w.listening) })
	hooked := rueidis.WithOnSubscriptionHook(ctx, func(sub rueidis.PubSubSubscription) {
		if sub.Kind != "subscribe" {
			return
		}
		select {
		case <-w.listening:
			select {
			case w.again <- struct{}{}:
			default:
			}
		default:
			first()
		}
	})
	client := w.store.client
	for ctx.Err() == nil {
		_ = client.Receive(hooked, client.B().Subscribe().Channel(w.store.channel()).Build(), func(m rueidis.PubSubMessage) { w.heard(ctx, m.Message) })
		select {
		case <-ctx.Done():
		case <-time.After(watchPause):
		}
	}
}

// heard passes a message on; one that is not understood may have said anything.
func (w *watch) heard(ctx context.Context, m string) {
	const size = len(cache.Key{})
	if len(m) < 1+size || m[0] != messageChanged || (len(m)-1)%size != 0 {
		w.missed(ctx)
		return
	}
	w.calling.Lock()
	defer w.calling.Unlock()
	for m = m[1:]; len(m) > 0 && ctx.Err() == nil; m = m[size:] {
		key := cache.Key([]byte(m[:size]))
		w.store.recent.add(key)
		w.changed(key)
	}
}

func (w *watch) missed(ctx context.Context) {
	w.calling.Lock()
	defer w.calling.Unlock()
	if ctx.Err() == nil {
		w.store.recent.addAll()
		w.reset()
	}
}
