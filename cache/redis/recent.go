package redis

import (
	"sync"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

// recentFor is how long a changed key is read from the server itself. By then the
// server's message has reached the client's memory, or the connection was lost and
// the memory with it.
const recentFor = 15 * time.Second

// recent knows the keys that changed a short while ago, in two generations.
type recent struct {
	mu        sync.Mutex
	now, last map[cache.Key]struct{}
	turned    time.Time
	all       time.Time // until when all keys count as changed
}

func (r *recent) add(k cache.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn(time.Now())
	if r.now == nil {
		r.now = map[cache.Key]struct{}{}
	}
	r.now[k] = struct{}{}
}

// addAll takes all keys for changed.
func (r *recent) addAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = time.Now().Add(recentFor)
}

func (r *recent) has(k cache.Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.turn(now)
	_, young := r.now[k]
	_, old := r.last[k]
	return young || old || now.Before(r.all)
}

// turn lets a generation go when it is over; r.mu is held.
func (r *recent) turn(now time.Time) {
	switch age := now.Sub(r.turned); {
	case age >= 2*recentFor:
		r.now, r.last, r.turned = nil, nil, now
	case age >= recentFor:
		r.now, r.last, r.turned = nil, r.now, now
	}
}
