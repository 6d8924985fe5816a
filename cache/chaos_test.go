package cache_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/cachetest"
)

// The keys of the chaos: each worker has some that no other touches.
const (
	chaosWorkers = 8
	chaosOwn     = 600
	chaosShared  = 400
	chaosGroups  = 40
	chaosDim     = 16
)

// TestChaos does a million random operations at once on a store that is much too
// small for them, in virtual time: an answer may be missing, but is never wrong.
func TestChaos(t *testing.T) {
	operations := 1_000_000
	if raced || testing.Short() {
		operations /= 20
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		const maxBytes = 4 << 20
		before := heap()
		m := newMemory(t, maxBytes)
		workers := make([]*chaosWorker, chaosWorkers)
		for i := range workers {
			workers[i] = &chaosWorker{T: t, m: m, number: uint64(i), rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		}
		const rounds = 200
		for round := range rounds {
			var wg sync.WaitGroup
			for _, w := range workers {
				wg.Go(func() { w.work(operations / rounds / chaosWorkers) })
			}
			wg.Wait()
			if b := m.Stats().Bytes; b > maxBytes {
				t.Fatalf("round %d: %d bytes are kept", round, b)
			}
			time.Sleep(workers[0].life() / 20)
			if round%20 == 0 {
				if err := m.Invariants(); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
		}
		if err := m.Invariants(); err != nil {
			t.Error(err)
		}
		s, hits, used := m.Stats(), 0, heap()-before
		for _, w := range workers {
			hits += w.hits
		}
		t.Logf("%.2f of the bound in use, %d hits, %+v", float64(used)/maxBytes, hits, s)
		if s.Hits == 0 || s.Matches == 0 || s.Evicted == 0 && operations == 1_000_000 || s.Expired == 0 || s.Deleted == 0 {
			t.Error("something never happened")
		}
		if used > maxBytes*115/100 {
			t.Errorf("%d bytes are in use", used)
		}
		runtime.KeepAlive(m)
	})
}

// chaosStore is what a worker does its operations on.
type chaosStore interface {
	cache.Searcher
	cache.Keeper
	cache.Counter
}

// TestTieredChaos does likewise with a far store that fails in every way that can
// be noticed: what one process stored or deleted it never sees undone.
func TestTieredChaos(t *testing.T) {
	operations := 200_000
	if raced || testing.Short() {
		operations /= 10
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		faults := cachetest.Faults{Errors: 0.05, Delays: 0.01, Delay: 300 * time.Millisecond, WrongKeys: 0.02, Stale: 0.02}
		far := cachetest.NewFaulty(newMemory(t, 0), seed, faults)
		near, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: 2 << 20})
		if err != nil {
			t.Fatal(err)
		}
		m, err := cache.NewTiered(near, far, cache.TieredConfig{Timeout: 200 * time.Millisecond, Pause: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		workers := make([]*chaosWorker, chaosWorkers)
		for i := range workers {
			workers[i] = &chaosWorker{T: t, m: m, number: uint64(i), rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		}
		const rounds = 100
		for round := range rounds {
			switch round % 10 {
			case 7:
				far.Inject(cachetest.Faults{Errors: 1})
			case 8:
				far.Inject(faults)
			}
			var wg sync.WaitGroup
			for _, w := range workers {
				wg.Go(func() { w.work(operations / rounds / chaosWorkers) })
			}
			wg.Wait()
			time.Sleep(workers[0].life() / 20)
		}
		s := m.Stats()
		t.Logf("%d calls of the far store, %+v", far.Calls(), s)
		if s.Hits == 0 || s.Matches == 0 || s.Failed == 0 || s.Corrupt == 0 || far.Struck("Delays") == 0 {
			t.Error("something never happened")
		}
	})
}

// chaosWorker knows what its own keys may have.
type chaosWorker struct {
	*testing.T

	m       chaosStore
	number  uint64
	rand    *rand.Rand
	version uint64
	hits    int

	own [chaosOwn]struct {
		version uint64 // 0 for none
		expires time.Time
	}
}

func (w *chaosWorker) life() time.Duration {
	return time.Minute * time.Duration(1+w.rand.ExpFloat64()*float64([]int{1, 60, 24 * 60}[w.rand.IntN(3)]))
}

// key picks a key, and its place among the worker's own, or -1. Some are asked for
// more often.
func (w *chaosWorker) key() (cache.Key, int) {
	if w.rand.IntN(4) == 0 {
		return number(w.rand.Uint64N(chaosShared)), -1
	}
	i := int(w.rand.ExpFloat64()*chaosOwn/6) % chaosOwn
	return w.ownKey(i), i
}

func (w *chaosWorker) ownKey(i int) cache.Key { return number(1_000_000*(w.number+1) + uint64(i)) }

func (w *chaosWorker) work(operations int) {
	for range operations {
		key, i := w.key()
		switch n := w.rand.IntN(100); {
		case n < 40:
			w.set(key, i)
		case n < 85:
			w.get(key, i)
		case n < 90:
			err := w.m.Delete(w.Context(), key)
			if _, isMemory := w.m.(*cache.Memory); err != nil && isMemory {
				w.Error(err)
			}
			if i >= 0 {
				w.own[i].version = 0
			}
		case n < 99:
			w.search()
		default:
			w.list()
		}
	}
}

func (w *chaosWorker) set(key cache.Key, i int) {
	w.version++
	now := time.Now()
	e := &cache.Entry{Key: key, Created: now, Expires: now.Add(w.life()), Namespace: "w", Body: make([]byte, 48+w.rand.IntN(3000))}
	if w.rand.IntN(50) == 0 {
		e.Body = make([]byte, 48+w.rand.IntN(50_000))
	}
	copy(e.Body, key[:])
	binary.LittleEndian.PutUint64(e.Body[32:], w.number)
	binary.LittleEndian.PutUint64(e.Body[40:], w.version)
	if w.rand.IntN(3) == 0 {
		e.Group, e.Vector = number(1+w.rand.Uint64N(chaosGroups)), randomVector(w.rand, chaosDim)
	}
	check, before := w.rand.IntN(10) == 0, int64(0)
	if check {
		before = w.m.Stats().Stored
	}
	if err := w.m.Set(w.Context(), e); err != nil {
		if _, isMemory := w.m.(*cache.Memory); isMemory {
			w.Error(err)
		}
		if i >= 0 {
			w.own[i].version = 0
		}
		return
	}
	if i < 0 {
		return
	}
	w.own[i].version, w.own[i].expires = w.version, e.Expires
	if !check {
		return
	}
	// Others may have filled the window since.
	if _, ok, _ := w.m.Get(w.Context(), key); !ok && w.m.Stats().Stored-before < 10 {
		w.Error("an entry is missing right after it was set")
	}
}

func (w *chaosWorker) get(key cache.Key, i int) {
	e, ok, err := w.m.Get(w.Context(), key)
	if err != nil {
		w.Error(err)
	}
	if ok {
		w.hits++
		w.judge(e, key, i)
	}
}

// judge fails the test if an entry is not one that its key may have.
func (w *chaosWorker) judge(e *cache.Entry, key cache.Key, i int) {
	if e.Key != key || cache.Key(e.Body[:32]) != key || e.Expired(time.Now()) {
		w.Errorf("an entry of another key, or an expired one: %s for %s", e.Key, key)
	}
	if version := binary.LittleEndian.Uint64(e.Body[40:]); i >= 0 && (version != w.own[i].version || !e.Expires.Equal(w.own[i].expires)) {
		w.Errorf("version %d of key %d, which has %d", version, i, w.own[i].version)
	}
}

func (w *chaosWorker) search() {
	q := &cache.Query{Group: number(1 + w.rand.Uint64N(chaosGroups)), Vector: randomVector(w.rand, chaosDim), Threshold: 0.3, Limit: w.rand.IntN(5)}
	found, err := w.m.Search(w.Context(), q)
	if err != nil || q.Limit > 0 && len(found) > q.Limit {
		w.Errorf("%d found, %v", len(found), err)
	}
	for _, match := range found {
		own := -1
		if n := binary.LittleEndian.Uint64(match.Entry.Key[8:]); n/1_000_000 == w.number+1 {
			own = int(n % 1_000_000)
		}
		w.judge(match.Entry, match.Entry.Key, own)
		var similarity float64
		for j, f := range q.Vector {
			similarity += float64(f) * float64(match.Entry.Vector[j])
		}
		if match.Entry.Group != q.Group || similarity < q.Threshold-1e-5 || math.Abs(similarity-match.Similarity) > 1e-5 {
			w.Errorf("a match of group %s with the similarity %v, for group %s and %v", match.Entry.Group, match.Similarity, q.Group, similarity)
		}
	}
}

func (w *chaosWorker) list() {
	if w.rand.IntN(50) > 0 {
		return
	}
	for e, err := range w.m.List(w.Context(), cache.Filter{}) {
		if _, isMemory := w.m.(*cache.Memory); err != nil && !isMemory {
			return
		} else if err != nil || isMemory && cache.Key(e.Body[:32]) != e.Key {
			w.Errorf("listed %v, %v", e, err)
			return
		}
	}
}
