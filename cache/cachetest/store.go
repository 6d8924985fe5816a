package cachetest

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

func storeChecks() []check {
	return []check{
		{"an entry comes back as it was", (*subject).comesBack},
		{"a key without an entry is no error", (*subject).missing},
		{"a later entry takes the place of an earlier one", (*subject).replaced},
		{"a deleted entry is gone", (*subject).deleted},
		{"an entry is gone when its time is over", (*subject).expires},
		{"an entry that has expired is not kept", (*subject).expiredBefore},
		{"the last entry of a key says how long it lives", (*subject).lifeIsRenewed},
		{"long lives are kept", (*subject).longLives},
		{"bodies of all sizes come back", (*subject).sizes},
		{"keys that differ in one bit are apart", (*subject).bits},
		{"many at once see no other's entries", (*subject).concurrent},
		{"a context that has ended does no harm", (*subject).canceled},
		{"a closed store says so", (*subject).closed},
		{"closing under traffic ends it", (*subject).closedUnderTraffic},
		{"what happened is counted", (*subject).counted},
	}
}

func (s *subject) comesBack() {
	want := full("whole", direction(30))
	before := *want
	s.set(s.store, want)
	if d := difference(&before, want); d != "" {
		s.Errorf("Set changed the entry: %s", d)
	}
	s.has(s.store, want)
	bare := entry("bare", time.Hour)
	bare.Operation, bare.Model, bare.Body = "", "", nil
	s.set(s.store, bare)
	s.has(s.store, bare)
	s.has(s.store, want)
}

func (s *subject) missing() {
	s.hasNot(s.store, keyOf("never"), "it was never set")
	s.delete(s.store, keyOf("never"))
}

func (s *subject) replaced() {
	for i := range 100 {
		e := full(numbered("entry", i%3), direction(float64(i)))
		e.Body, e.Model = make([]byte, (i*7919)%5000), numbered("model", i)
		s.set(s.store, e)
		again := *e
		again.Body = []byte(numbered("second", i))
		s.set(s.store, &again)
		s.has(s.store, &again)
	}
}

func (s *subject) deleted() {
	e, other := full("one", direction(0)), full("other", direction(1))
	for range 20 {
		s.set(s.store, e, other)
		s.delete(s.store, e.Key)
		s.hasNot(s.store, e.Key, "it was deleted")
		s.has(s.store, other)
		s.delete(s.store, e.Key)
	}
}

func (s *subject) expires() {
	e, longer := entry("short", s.life), entry("long", time.Hour)
	s.set(s.store, e, longer)
	if time.Until(e.Expires) > s.life/4 {
		s.has(s.store, e)
	}
	s.wait(e.Expires)
	s.hasNot(s.store, e.Key, "its time is over")
	s.has(s.store, longer)
}

func (s *subject) expiredBefore() {
	e := entry("late", time.Hour)
	s.set(s.store, e)
	late := *e
	late.Created, late.Expires = e.Created.Add(-time.Hour), e.Created.Add(-time.Millisecond)
	if err := s.store.Set(s.Context(), &late); err != nil {
		s.Errorf("Set: %v", err)
	}
	s.hasNot(s.store, e.Key, "the last that was set had expired")
}

func (s *subject) lifeIsRenewed() {
	short, long := entry("a", s.life), entry("a", time.Hour)
	s.set(s.store, short, long)
	other := entry("b", time.Hour)
	shorter := *other
	shorter.Expires = short.Expires
	s.set(s.store, other, &shorter)
	s.wait(short.Expires)
	s.has(s.store, long)
	s.hasNot(s.store, other.Key, "the last that was set has expired")
}

func (s *subject) longLives() {
	for _, life := range []time.Duration{time.Minute, cache.DefaultMaxAge, cache.MaxMaxAge, cache.MaxOrganizationAge} {
		e := entry(life.String(), life)
		s.set(s.store, e)
		s.has(s.store, e)
	}
}

func (s *subject) sizes() {
	r := rand.New(rand.NewPCG(s.seed, 1))
	for _, size := range []int{0, 1, 100, 4096, 65536, s.largest} {
		e := entry(numbered("size", size), time.Hour)
		e.Body = make([]byte, size)
		for i := range e.Body {
			e.Body[i] = byte(r.Uint32())
		}
		s.set(s.store, e)
		s.has(s.store, e)
	}
}

func (s *subject) bits() {
	var entries []*cache.Entry
	for bit := range 257 {
		var key cache.Key
		if bit < 256 {
			key[bit/8] = 1 << (bit % 8)
		} else {
			key = keyOf("other")
		}
		entries = append(entries, marked(key, uint64(bit), 0, time.Hour))
	}
	s.set(s.store, entries...)
	for _, e := range entries {
		s.has(s.store, e)
	}
}

// concurrent lets each worker use keys of its own, which no other may disturb, and
// keys that all share.
func (s *subject) concurrent() {
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(s.seed, uint64(worker)))
			for i := range 100 {
				own := marked(keyOf("own", worker, i%5), uint64(i), r.IntN(2000), time.Hour)
				s.atOnce(own, true)
				s.atOnce(marked(keyOf("shared", r.IntN(5)), uint64(i), r.IntN(2000), time.Hour), false)
			}
		})
	}
	wg.Wait()
}

// atOnce sets, gets and deletes while others do. Errors do not end the test, since
// it is not its goroutine.
func (s *subject) atOnce(e *cache.Entry, own bool) {
	if err := s.store.Set(s.Context(), e); err != nil {
		s.Errorf("Set: %v", err)
	}
	got, ok, err := s.store.Get(s.Context(), e.Key)
	switch {
	case err != nil:
		s.Errorf("Get: %v", err)
	case !ok && own:
		s.Error("an entry is missing right after it was set")
	case ok:
		want, _ := versionOf(e, e.Key)
		if version, mine := versionOf(got, e.Key); !mine || own && version != want {
			s.Error("Get returned another entry")
		}
	}
	if !own {
		if err := s.store.Delete(s.Context(), e.Key); err != nil {
			s.Errorf("Delete: %v", err)
		}
	}
}

func (s *subject) canceled() {
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	e := entry("kept", time.Hour)
	s.set(s.store, e)
	for name, err := range map[string]error{
		"Set":    s.store.Set(ctx, entry("other", time.Hour)),
		"Delete": s.store.Delete(ctx, keyOf("none")),
	} {
		if err != nil && !errors.Is(err, context.Canceled) {
			s.Errorf("%s: %v, want nothing or context.Canceled", name, err)
		}
	}
	if got, ok, err := s.store.Get(ctx, e.Key); err != nil && !errors.Is(err, context.Canceled) || ok && difference(e, got) != "" {
		s.Errorf("Get: %v, %v, %v", got, ok, err)
	}
	s.has(s.store, e)
}

func (s *subject) closed() {
	closer := ability[io.Closer](s)
	e := full("one", direction(0))
	s.set(s.store, e)
	for range 2 {
		if err := closer.Close(); err != nil {
			s.Errorf("Close: %v", err)
		}
	}
	_, ok, getErr := s.store.Get(s.Context(), e.Key)
	errs := map[string]error{"Get": getErr, "Set": s.store.Set(s.Context(), e), "Delete": s.store.Delete(s.Context(), e.Key)}
	if sr, is := s.store.(cache.Searcher); is {
		_, errs["Search"] = sr.Search(s.Context(), &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.9})
	}
	if k, is := s.store.(cache.Keeper); is {
		_, errs["DeleteAll"] = k.DeleteAll(s.Context(), cache.Filter{})
		for _, err := range k.List(s.Context(), cache.Filter{}) {
			errs["List"] = errors.Join(errs["List"], err)
		}
		errs["List"] = errors.Join(errs["List"])
	}
	if ok {
		s.Error("Get finds an entry in a closed store")
	}
	for name, err := range errs {
		if !errors.Is(err, cache.ErrClosed) {
			s.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
}

func (s *subject) closedUnderTraffic() {
	closer := ability[io.Closer](s)
	var wg sync.WaitGroup
	var over atomic.Bool
	var done atomic.Int64
	for worker := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				last := over.Load()
				e, other := full(numbered("entry", worker*1000+i%100), direction(float64(i))), keyOf(numbered("entry", i%100))
				setErr := s.store.Set(s.Context(), e)
				got, ok, err := s.store.Get(s.Context(), other)
				if ok && (err != nil || got.Key != other) {
					s.Errorf("Get: %v, %v, %v", got, ok, err)
				}
				if done.Add(1); !last {
					continue
				}
				if !errors.Is(err, cache.ErrClosed) || !errors.Is(setErr, cache.ErrClosed) {
					s.Errorf("after Close: %v, %v, want ErrClosed", setErr, err)
				}
				return
			}
		})
	}
	for done.Load() < 100 {
		runtime.Gosched()
	}
	var closing sync.WaitGroup
	for range 2 {
		closing.Go(func() {
			if err := closer.Close(); err != nil {
				s.Errorf("Close: %v", err)
			}
		})
	}
	closing.Wait()
	over.Store(true)
	wg.Wait()
}

func (s *subject) counted() {
	counter := ability[cache.Counter](s)
	for i := range 10 {
		s.set(s.store, full(numbered("entry", i), direction(0)))
	}
	late := entry("late", -time.Second)
	s.set(s.store, late)
	for i := range 15 {
		s.get(s.store, keyOf(numbered("entry", i)))
	}
	for i := range 3 {
		s.delete(s.store, keyOf(numbered("entry", i)))
	}
	got := counter.Stats()
	want := cache.Stats{Entries: 7, Vectors: 7, Hits: 10, Misses: 5, Stored: 10, Deleted: 3, Rejected: 1, Bytes: got.Bytes}
	if s.uncounted {
		want.Entries, want.Vectors = got.Entries, got.Vectors
	} else if got.Bytes < 100 {
		s.Errorf("%d bytes are kept, of 7 entries", got.Bytes)
	}
	if _, is := s.store.(cache.Searcher); !is {
		want.Vectors = got.Vectors
	}
	if got != want {
		s.Errorf("stats differ:\nwant %+v\ngot  %+v", want, got)
	}
}
