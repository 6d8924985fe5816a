package routing

import (
	"container/list"
	"sync"
)

// store keeps a state for each of a bounded number of keys. It is safe for
// concurrent use; the states have locks of their own.
type store[S any] struct {
	mu      sync.Mutex
	most    int
	busy    func(*S) bool // a state that is better not forgotten now
	entries map[string]*list.Element
	order   *list.List // of *entry[S], the one used last in front
}

type entry[S any] struct {
	key   string
	state S
}

func (s *store[S]) init(most int, busy func(*S) bool) {
	s.most, s.busy = most, busy
	s.entries, s.order = map[string]*list.Element{}, list.New()
}

// use returns the key's state, a new one if need be.
func (s *store[S]) use(key string) *S {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.entries[key]; ok {
		s.order.MoveToFront(at)
		return stateOf[S](at)
	}
	if len(s.entries) >= s.most {
		s.forget()
	}
	at := s.order.PushFront(&entry[S]{key: key})
	s.entries[key] = at
	return stateOf[S](at)
}

// forgetful is how many states are looked at for one that is not busy.
const forgetful = 16

// forget drops the state that was not used for longest, and rather one that is
// not busy.
func (s *store[S]) forget() {
	oldest := s.order.Back()
	at := oldest
	for range forgetful {
		if at == nil || !s.busy(stateOf[S](at)) {
			break
		}
		at = at.Prev()
	}
	if at == nil || s.busy(stateOf[S](at)) {
		at = oldest
	}
	e, _ := s.order.Remove(at).(*entry[S])
	delete(s.entries, e.key)
}

// peek returns the key's state, or nil.
func (s *store[S]) peek(key string) *S {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.entries[key]; ok {
		return stateOf[S](at)
	}
	return nil
}

// each calls f for every state.
func (s *store[S]) each(f func(key string, state *S)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := s.order.Front(); at != nil; at = at.Next() {
		if e, ok := at.Value.(*entry[S]); ok {
			f(e.key, &e.state)
		}
	}
}

func stateOf[S any](at *list.Element) *S {
	e, _ := at.Value.(*entry[S])
	return &e.state
}
