package cache

import (
	"sync"
	"time"
)

// locks are locks within the process. The zero value has none taken.
type locks struct {
	mu   sync.Mutex
	held map[Key]*held
	// sweep is how many there have to be for those to be looked for whose time is
	// over.
	sweep int
}

// held is a lock until its time is over.
type held struct{ until time.Time }

func (l *locks) lock(key Key, ttl time.Duration) (unlock func(), free bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if h := l.held[key]; h != nil && now.Before(h.until) {
		return nil, false
	}
	if len(l.held) >= l.sweep {
		for k, h := range l.held {
			if !now.Before(h.until) {
				delete(l.held, k)
			}
		}
		l.sweep = max(1000, 2*len(l.held))
	}
	if l.held == nil {
		l.held = map[Key]*held{}
	}
	mine := &held{until: now.Add(ttl)}
	l.held[key] = mine
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.held[key] == mine {
			delete(l.held, key)
		}
	}, true
}
