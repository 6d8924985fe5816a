package cache_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/cachetest"
)

// tiers are a tiered store, its far store, and what breaks that one.
type tiers struct {
	*testing.T

	far    *cache.Memory
	faulty *cachetest.Faulty
	near   *cache.Memory
	tiered *cache.Tiered
	told   atomic.Int64
}

// withTiers runs a test in virtual time.
func withTiers(t *testing.T, c cache.TieredConfig, run func(*tiers)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &tiers{T: t, far: newMemory(t, 0), near: newMemory(t, 0)}
		s.faulty = cachetest.NewFaulty(s.far, 1, cachetest.Faults{})
		c.Failed = func(error) { s.told.Add(1) }
		var err error
		if s.tiered, err = cache.NewTiered(s.near, s.faulty, c); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.tiered.Close(); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait() // until it listens
		run(s)
	})
}

func (s *tiers) set(store cache.Store, key, version uint64) *cache.Entry {
	s.Helper()
	e := numbered(version, 8, time.Hour)
	e.Key = number(key)
	if err := store.Set(s.Context(), e); err != nil {
		s.Fatalf("Set: %v", err)
	}
	return e
}

// gets fails the test unless the tiered store has that version, or none for 0.
func (s *tiers) gets(key, version uint64) {
	s.Helper()
	e, ok, err := s.tiered.Get(s.Context(), number(key))
	if err != nil || ok != (version != 0) || ok && e.Body[0] != byte(version) {
		s.Errorf("Get: %v, %v, %v; want version %d", e, ok, err, version)
	}
}

func TestTieredReadsNearFirst(t *testing.T) {
	withTiers(t, cache.TieredConfig{NearLife: time.Minute}, func(s *tiers) {
		e := s.set(s.far, 1, 1)
		s.gets(1, 1)
		calls := s.faulty.Calls()
		s.gets(1, 1)
		if s.faulty.Calls() != calls {
			s.Error("the far store is asked again")
		}
		s.set(s.far, 1, 2) // behind its back
		time.Sleep(time.Minute - time.Nanosecond)
		s.gets(1, 1)
		if got, _, _ := s.tiered.Get(s.Context(), e.Key); !got.Expires.Equal(e.Expires) {
			s.Error("the copy has another time")
		}
		time.Sleep(time.Nanosecond)
		s.gets(1, 2)
		time.Sleep(time.Hour)
		s.gets(1, 0)
	})
}

func TestTieredServesWhileFarFails(t *testing.T) {
	withTiers(t, cache.TieredConfig{NearLife: 30 * time.Second, Failures: 3, Pause: time.Minute}, func(s *tiers) {
		s.set(s.tiered, 1, 1)
		s.set(s.far, 9, 9)
		s.faulty.Inject(cachetest.Faults{Errors: 1})
		s.gets(1, 1)
		s.set(s.tiered, 2, 2)
		s.gets(2, 2)
		for range 10 {
			s.gets(9, 0)
		}
		if n := s.faulty.Struck("Errors"); n != 3 || s.told.Load() != 3 {
			s.Errorf("the far store was asked %d times, and %d failures were told", n, s.told.Load())
		}
		if f := s.tiered.Stats().Failed; f != 11 {
			s.Errorf("%d failures are counted", f)
		}
		time.Sleep(time.Minute)
		s.gets(9, 0)
		s.gets(9, 0)
		if n := s.faulty.Struck("Errors"); n != 4 {
			s.Errorf("after the pause, the far store was asked %d times in all", n)
		}
		s.faulty.Inject(cachetest.Faults{})
		s.gets(9, 0)
		time.Sleep(time.Minute)
		s.gets(9, 9)
		s.gets(2, 2)
	})
}

func TestTieredDoesNotWaitForFar(t *testing.T) {
	withTiers(t, cache.TieredConfig{Timeout: 100 * time.Millisecond}, func(s *tiers) {
		s.faulty.Inject(cachetest.Faults{Delays: 1, Delay: time.Hour})
		for name, run := range map[string]func(){
			"Get": func() { s.gets(1, 0) },
			"Set": func() { s.set(s.tiered, 2, 2) },
			"Search": func() {
				_, _ = s.tiered.Search(s.Context(), &cache.Query{Group: number(1), Vector: []float32{1}, Threshold: 0.9})
			},
			"Lock": func() { _, _, _ = s.tiered.Lock(s.Context(), number(1), time.Minute) },
		} {
			begun := time.Now()
			if run(); time.Since(begun) != 100*time.Millisecond {
				s.Errorf("%s took %v", name, time.Since(begun))
			}
		}
		s.gets(2, 2)
	})
}

func TestTieredDoesNotBlameFarForItsCallers(t *testing.T) {
	withTiers(t, cache.TieredConfig{Timeout: time.Minute, Failures: 1}, func(s *tiers) {
		s.faulty.Inject(cachetest.Faults{Delays: 1, Delay: 10 * time.Second})
		for range 5 {
			ctx, cancel := context.WithTimeout(s.Context(), time.Second)
			if _, _, err := s.tiered.Get(ctx, number(1)); !errors.Is(err, context.DeadlineExceeded) {
				s.Errorf("Get: %v", err)
			}
			cancel()
		}
		s.faulty.Inject(cachetest.Faults{})
		s.set(s.far, 1, 1)
		s.gets(1, 1)
		if s.told.Load() != 0 {
			s.Error("a failure was told")
		}
	})
}

func TestTieredPassesOverWhatIsBroken(t *testing.T) {
	for name, f := range map[string]cachetest.Faults{"another key": {WrongKeys: 1}, "expired": {Stale: 1}} {
		t.Run(name, func(t *testing.T) {
			withTiers(t, cache.TieredConfig{}, func(s *tiers) {
				e := numbered(1, 8, time.Hour)
				e.Group, e.Vector = number(7), []float32{1}
				if err := s.far.Set(s.Context(), e); err != nil {
					s.Fatal(err)
				}
				s.faulty.Inject(f)
				s.gets(1, 0)
				if found, err := s.tiered.Search(s.Context(), &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.9}); len(found) > 0 || err != nil {
					s.Errorf("Search: %v, %v", found, err)
				}
				s.faulty.Inject(cachetest.Faults{})
				s.gets(1, 1)
			})
		})
	}
}

// TestTieredForgetsWhatFarFailedTo drops the near copies after the far store
// failed to change: what it still has is old.
func TestTieredForgetsWhatFarFailedTo(t *testing.T) {
	for name, change := range map[string]func(s *tiers){
		"replace": func(s *tiers) { s.set(s.tiered, 1, 2) },
		"delete": func(s *tiers) {
			if err := s.tiered.Delete(s.Context(), number(1)); !errors.Is(err, cachetest.ErrFault) {
				s.Errorf("Delete: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			withTiers(t, cache.TieredConfig{}, func(s *tiers) {
				e := numbered(1, 8, time.Hour)
				e.Group, e.Vector = number(7), []float32{1}
				if err := s.tiered.Set(s.Context(), e); err != nil {
					s.Fatal(err)
				}
				s.faulty.Inject(cachetest.Faults{Errors: 1})
				change(s)
				if _, err := s.near.DeleteAll(s.Context(), cache.Filter{}); err != nil {
					s.Fatal(err)
				}
				s.gets(1, 0)
				s.faulty.Inject(cachetest.Faults{})
				if found, err := s.tiered.Search(s.Context(), &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.9}); len(found) > 0 || err != nil {
					s.Errorf("Search: %v, %v", found, err)
				}
				s.gets(1, 0)
				if _, ok, _ := s.far.Get(s.Context(), number(1)); ok {
					s.Error("the far store still has it")
				}
				s.set(s.tiered, 1, 3)
				s.gets(1, 3)
			})
		})
	}
}

func TestTieredFindsNearWhatFarNoLongerDoes(t *testing.T) {
	withTiers(t, cache.TieredConfig{}, func(s *tiers) {
		e := numbered(1, 8, time.Hour)
		e.Group, e.Vector = number(7), []float32{0.6, 0.8}
		if err := s.far.Set(s.Context(), e); err != nil {
			s.Fatal(err)
		}
		q := &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.9}
		for _, f := range []cachetest.Faults{{}, {Errors: 1}} {
			s.faulty.Inject(f)
			found, err := s.tiered.Search(s.Context(), q)
			if err != nil || len(found) != 1 || found[0].Entry.Key != e.Key {
				s.Errorf("with %+v: %v, %v", f, found, err)
			}
		}
		s.gets(1, 1) // a search has brought it near
	})
}

// slowReader reads at once, and returns later.
type slowReader struct{ *cache.Memory }

func (s slowReader) Get(ctx context.Context, key cache.Key) (*cache.Entry, bool, error) {
	e, ok, err := s.Memory.Get(ctx, key)
	time.Sleep(100 * time.Millisecond)
	return e, ok, err
}

func (s slowReader) Search(ctx context.Context, q *cache.Query) ([]cache.Match, error) {
	found, err := s.Memory.Search(ctx, q)
	time.Sleep(100 * time.Millisecond)
	return found, err
}

func TestTieredKeepsNothingThatWasOvertaken(t *testing.T) {
	for name, overtake := range map[string]func(*tiers){
		"by a deletion": func(s *tiers) {
			if err := s.tiered.Delete(s.Context(), number(1)); err != nil {
				s.Error(err)
			}
		},
		"by a replacement": func(s *tiers) { s.set(s.tiered, 1, 2) },
		"by a deletion of all": func(s *tiers) {
			if _, err := s.tiered.DeleteAll(s.Context(), cache.Filter{}); err != nil {
				s.Error(err)
			}
		},
	} {
		for _, searched := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, searched %v", name, searched), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					far := newMemory(t, 0)
					s := &tiers{T: t, far: far, tiered: newTiered(t, slowReader{far}, cache.TieredConfig{})}
					e := numbered(1, 8, time.Hour)
					e.Group, e.Vector = number(7), []float32{1}
					if err := far.Set(t.Context(), e); err != nil {
						t.Fatal(err)
					}
					if read := s.tiered.Search; searched {
						go func() { _, _ = read(t.Context(), &cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.9}) }()
					} else {
						go func() { _, _, _ = s.tiered.Get(t.Context(), e.Key) }()
					}
					time.Sleep(50 * time.Millisecond)
					overtake(s)
					time.Sleep(time.Second)
					want := uint64(0)
					if name == "by a replacement" {
						want = 2
					}
					s.gets(1, want)
				})
			})
		}
	}
}

func TestTieredHearsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		server.deaf = 3
		s := &tiers{T: t, tiered: newTiered(t, newProcess(server), cache.TieredConfig{})}
		synctest.Wait()
		s.set(server, 1, 1)
		s.gets(1, 1)
		s.set(server, 1, 2) // unheard
		s.gets(1, 1)
		time.Sleep(time.Minute) // it listens now, and has dropped what it had
		s.gets(1, 2)
		s.set(server, 1, 3)
		s.gets(1, 3)
		if err := server.Delete(t.Context(), number(1)); err != nil {
			t.Fatal(err)
		}
		s.gets(1, 0)
	})
}

// slowWriter writes at once, and returns later.
type slowWriter struct{ process }

func (s slowWriter) Set(ctx context.Context, e *cache.Entry) error {
	err := s.process.Set(ctx, e)
	time.Sleep(100 * time.Millisecond)
	return err
}

func TestTieredKeepsNothingThatOthersReplacedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		s := &tiers{T: t, tiered: newTiered(t, slowWriter{newProcess(server)}, cache.TieredConfig{})}
		synctest.Wait()
		e := numbered(1, 8, time.Hour)
		go func() {
			if err := s.tiered.Set(t.Context(), e); err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(50 * time.Millisecond)
		s.set(server, 1, 2)
		time.Sleep(time.Second)
		s.gets(1, 2)
	})
}

func TestTieredTriesOnceAfterThePause(t *testing.T) {
	withTiers(t, cache.TieredConfig{Failures: 1, Pause: time.Minute, Timeout: time.Second}, func(s *tiers) {
		s.faulty.Inject(cachetest.Faults{Delays: 1, Delay: time.Hour})
		s.gets(1, 0)
		time.Sleep(time.Minute)
		before := s.faulty.Calls()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { s.gets(1, 0) })
		}
		wg.Wait()
		if n := s.faulty.Calls() - before; n != 1 {
			s.Errorf("%d try", n)
		}
	})
}

func TestTieredIsRefused(t *testing.T) {
	m := newMemory(t, 0)
	for name, c := range map[string]struct {
		near, far cache.Store
		config    cache.TieredConfig
	}{
		"nothing near":      {nil, m, cache.TieredConfig{}},
		"nothing far":       {m, nil, cache.TieredConfig{}},
		"near is no keeper": {plain{m}, m, cache.TieredConfig{}},
		"a negative life":   {m, m, cache.TieredConfig{NearLife: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := cache.NewTiered(c.near, c.far, c.config); err == nil {
				t.Error("there is no error")
			}
		})
	}
	tiered := newTiered(t, plain{newMemory(t, 0)}, cache.TieredConfig{})
	if _, err := tiered.DeleteAll(t.Context(), cache.Filter{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("DeleteAll: %v", err)
	}
	for _, err := range tiered.List(t.Context(), cache.Filter{}) {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("List: %v", err)
		}
	}
}
