package redis_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/redis"
)

func TestEntriesAreShared(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		a := open(t, o)
		b := open(t, o, redis.WithPrefix(a.Prefix()))
		ctx, e := t.Context(), entry(1)
		if _, ok, err := b.Get(ctx, e.Key); ok || err != nil {
			t.Fatalf("before: %v, %v", ok, err)
		}
		must(t, a.Set(ctx, e))
		eventually(t, "the other process sees the entry", func() bool { _, ok, _ := b.Get(ctx, e.Key); return ok })
		got, _, err := b.Get(ctx, e.Key)
		must(t, err)
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("the entry differs (-want +got):\n%s", diff)
		}
		must(t, a.Delete(ctx, e.Key))
		eventually(t, "the other process sees that it is gone", func() bool { _, ok, _ := b.Get(ctx, e.Key); return !ok })
	})
}

func TestOwnWritesAreReadAtOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		s, ctx := open(t, o), t.Context()
		for i := range 300 {
			e := entry(i % 3)
			e.Body = []byte(strconv.Itoa(i))
			must(t, s.Set(ctx, e))
			if got, ok, err := s.Get(ctx, e.Key); !ok || err != nil || string(got.Body) != strconv.Itoa(i) {
				t.Fatalf("round %d: %v, %v, %v", i, got, ok, err)
			}
			if i%5 == 0 {
				must(t, s.Delete(ctx, e.Key))
				if _, ok, _ := s.Get(ctx, e.Key); ok {
					t.Fatalf("round %d: deleted, and there", i)
				}
			}
		}
	})
}

// A client that looked before there was an entry remembers that there is none, until
// the server's message comes.
func TestWhoAsksForTheLockSeesTheEntry(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		a := open(t, o)
		b := open(t, o, redis.WithPrefix(a.Prefix()))
		ctx := t.Context()
		for i := range 300 {
			e := entry(i)
			if _, ok, err := b.Get(ctx, e.Key); ok || err != nil {
				t.Fatalf("before: %v, %v", ok, err)
			}
			must(t, a.Set(ctx, e))
			unlock, _, err := b.Lock(ctx, e.Key, time.Minute)
			must(t, err)
			if _, ok, err := b.Get(ctx, e.Key); !ok || err != nil {
				t.Fatalf("round %d: the entry of the other process: %v, %v", i, ok, err)
			}
			unlock()
		}
	})
}

func TestSearchFindsAllMatches(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		const dim, all, threshold = 96, 400, 0.95
		s, ctx, r := open(t, o), t.Context(), rand.New(rand.NewPCG(1, 2))
		group, query := cache.Key{7}, unit(r, dim)
		want := map[cache.Key]bool{}
		for i := range all {
			e := entry(i)
			e.Group, e.Vector = group, unit(r, dim)
			switch {
			case i%4 == 0: // more than are asked for at first
				e.Vector = near(r, query, 0.951+0.04*float64(i)/all)
				want[e.Key] = true
			case i%4 == 1: // just too far
				e.Vector = near(r, query, 0.949)
			}
			must(t, s.Set(ctx, e))
		}
		other := entry(5000)
		other.Group, other.Vector = cache.Key{8}, query
		must(t, s.Set(ctx, other))
		short := entry(5001)
		short.Group, short.Vector = group, unit(r, dim/2)
		must(t, s.Set(ctx, short))

		matches, err := s.Search(ctx, &cache.Query{Group: group, Vector: query, Threshold: threshold})
		must(t, err)
		if !slices.IsSortedFunc(matches, func(a, b cache.Match) int { return -cmpFloat(a.Similarity, b.Similarity) }) {
			t.Error("the most similar is not first")
		}
		got := map[cache.Key]bool{}
		for _, m := range matches {
			got[m.Entry.Key] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("matches (-want +got):\n%s", diff)
		}
		first, err := s.Search(ctx, &cache.Query{Group: group, Vector: query, Threshold: threshold, Limit: 3})
		must(t, err)
		if len(first) != 3 || first[0].Entry.Key != matches[0].Entry.Key {
			t.Errorf("of 3: %d", len(first))
		}
	})
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestSearchPassesOverWhatIsGone(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		s, client, ctx, r := open(t, o), connect(t, o), t.Context(), rand.New(rand.NewPCG(3, 4))
		group, v := cache.Key{7}, unit(r, 64)
		set := func(n int, change func(*cache.Entry)) *cache.Entry {
			e := entry(n)
			e.Group, e.Vector = group, v
			change(e)
			must(t, s.Set(ctx, e))
			return e
		}
		stays := set(1, func(*cache.Entry) {})
		set(2, func(e *cache.Entry) { e.Expires = e.Created.Add(150 * time.Millisecond) })
		evicted := set(3, func(*cache.Entry) {})
		set(4, func(*cache.Entry) {})
		deleted := set(5, func(*cache.Entry) {})
		must(t, client.Do(ctx, client.B().Del().Key(s.Prefix()+"e:"+evicted.Key.String()).Build()).Error())
		moved := set(4, func(e *cache.Entry) { e.Group = cache.Key{9} })
		must(t, s.Delete(ctx, deleted.Key))
		time.Sleep(200 * time.Millisecond)
		for range 2 {
			found, err := s.Search(ctx, &cache.Query{Group: group, Vector: v, Threshold: 0.9})
			must(t, err)
			if len(found) != 1 || found[0].Entry.Key != stays.Key || found[0].Similarity < 0.999999 {
				t.Errorf("found %v", found)
			}
		}
		found, err := s.Search(ctx, &cache.Query{Group: moved.Group, Vector: v, Threshold: 0.9})
		must(t, err)
		if len(found) != 1 {
			t.Errorf("in the other group: %v", found)
		}
		if n := members(t, client, s.Prefix(), group, 64); n != 1 {
			t.Errorf("%d members are left in the group, want 1", n)
		}
	})
}

// members counts what is in a group, whatever kind of index it is.
func members(t *testing.T, c rueidis.Client, prefix string, group cache.Key, dim int) int64 {
	t.Helper()
	name := group.String() + ":" + strconv.Itoa(dim)
	if n, err := c.Do(t.Context(), c.B().Hlen().Key(prefix+"h:"+name).Build()).AsInt64(); err == nil && n > 0 {
		return n
	}
	n, _ := c.Do(t.Context(), c.B().Vcard().Key(prefix+"v:"+name).Build()).AsInt64()
	return n
}

func TestGroupsDoNotGrowWithExpiredMembers(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		s, client, ctx, r := open(t, o), connect(t, o), t.Context(), rand.New(rand.NewPCG(3, 4))
		const rounds = 1000
		for i := range rounds {
			e := entry(i)
			e.Group, e.Vector, e.Expires = cache.Key{7}, unit(r, 16), e.Created.Add(10*time.Millisecond)
			must(t, s.Set(ctx, e))
		}
		if n := members(t, client, s.Prefix(), cache.Key{7}, 16); n > rounds/3 {
			t.Errorf("%d of %d members are left", n, rounds)
		}
	})
}

func TestGroupsOnServersWithoutVectorSetsAreBounded(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		s, client := open(t, o, redis.WithoutVectorSets(), redis.WithScanLimit(50)), connect(t, o)
		ctx, r := t.Context(), rand.New(rand.NewPCG(5, 6))
		var last *cache.Entry
		for i := range 120 {
			last = entry(i)
			last.Group, last.Vector = cache.Key{7}, unit(r, 16)
			must(t, s.Set(ctx, last))
		}
		if n := members(t, client, s.Prefix(), cache.Key{7}, 16); n != 50 {
			t.Errorf("%d members, want 50", n)
		}
		if found, err := s.Search(ctx, &cache.Query{Group: cache.Key{7}, Vector: last.Vector, Threshold: 0.99}); err != nil || len(found) != 1 {
			t.Errorf("the last: %v, %v", found, err)
		}
	})
}

func TestNamespacesAreListedAndDeleted(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		s, ctx := open(t, o), t.Context()
		for i := range 600 {
			e := entry(i)
			if i%3 > 0 {
				e.Namespace = "tenant " + strconv.Itoa(i%3) + "*"
			}
			if i%2 == 0 {
				e.Model = "other"
			}
			must(t, s.Set(ctx, e))
		}
		count := func(f cache.Filter) int {
			seen := map[cache.Key]bool{}
			for e, err := range s.List(ctx, f) {
				must(t, err)
				if !f.Takes(e) {
					t.Errorf("%v has %q %q", f, e.Namespace, e.Model)
				}
				seen[e.Key] = true
			}
			return len(seen)
		}
		one, none := "tenant 1*", ""
		for _, tt := range []struct {
			f    cache.Filter
			want int
		}{{cache.Filter{}, 600}, {cache.Filter{Namespace: &one}, 200}, {cache.Filter{Namespace: &none}, 200}, {cache.Filter{Model: "other", Namespace: &one}, 100}} {
			if got := count(tt.f); got != tt.want {
				t.Errorf("listed %d, want %d of %+v", got, tt.want, tt.f)
			}
		}
		if n, err := s.DeleteAll(ctx, cache.Filter{Namespace: &one, Model: "other"}); n != 100 || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		if n, err := s.DeleteAll(ctx, cache.Filter{Namespace: &one}); n != 100 || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		if n, err := s.DeleteAll(ctx, cache.Filter{}); n != 400 || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		client := connect(t, o)
		left, err := client.Do(ctx, client.B().Keys().Pattern(s.Prefix()+"*").Build()).AsStrSlice()
		must(t, err)
		if len(left) > 0 {
			t.Errorf("keys are left: %d", len(left))
		}
	})
}

func TestLocksAreHeldByOne(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		a, ctx := open(t, o), t.Context()
		b := open(t, o, redis.WithPrefix(a.Prefix()))
		var held, most atomic.Int32
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				s := []*redis.Store{a, b}[i%2]
				unlock, free, err := s.Lock(ctx, cache.Key{1}, 10*time.Second)
				if err != nil {
					t.Error(err)
				}
				if free {
					most.Store(max(most.Load(), held.Add(1)))
					time.Sleep(20 * time.Millisecond)
					held.Add(-1)
				}
				unlock()
			})
		}
		wg.Wait()
		if most.Load() != 1 {
			t.Errorf("%d at once", most.Load())
		}
		lost, free, err := a.Lock(ctx, cache.Key{2}, 30*time.Millisecond)
		if !free || err != nil {
			t.Fatalf("%v, %v", free, err)
		}
		time.Sleep(60 * time.Millisecond)
		_, free, err = b.Lock(ctx, cache.Key{2}, 10*time.Second)
		if !free || err != nil {
			t.Fatalf("after its time: %v, %v", free, err)
		}
		lost()
		if _, free, _ := a.Lock(ctx, cache.Key{2}, time.Second); free {
			t.Error("one that was lost gave another's lock back")
		}
	})
}

func TestChangesAreHeard(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		a := open(t, o)
		b := open(t, o, redis.WithPrefix(a.Prefix()))
		ctx, cancel := context.WithCancel(t.Context())
		var heard sync.Map
		var resets atomic.Int32
		must(t, b.Watch(ctx, func(k cache.Key) { heard.Store(k, true) }, func() { resets.Add(1) }))
		has := func(n int) func() bool {
			return func() bool { _, ok := heard.Load(entry(n).Key); return ok }
		}
		for n := range 4 {
			e := entry(n)
			e.Namespace = "n"
			must(t, a.Set(t.Context(), e))
		}
		must(t, a.Set(t.Context(), entry(1)))
		must(t, a.Delete(t.Context(), entry(2).Key))
		eventually(t, "a replaced entry is heard", has(1))
		eventually(t, "a deleted entry is heard", has(2))
		if has(0)() || has(3)() {
			t.Error("a new entry is heard")
		}
		n := "n"
		_, err := a.DeleteAll(t.Context(), cache.Filter{Namespace: &n})
		must(t, err)
		eventually(t, "a namespace is heard", has(3))
		if resets.Load() != 0 {
			t.Errorf("%d resets", resets.Load())
		}
		_, err = a.DeleteAll(t.Context(), cache.Filter{})
		must(t, err)
		eventually(t, "all is heard", func() bool { return resets.Load() == 1 })
		cancel()
		must(t, b.Close())
		if err := b.Watch(t.Context(), nil, nil); !errors.Is(err, cache.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestMistakesAreRefused(t *testing.T) {
	for _, o := range []redis.Option{
		redis.WithPrefix(""), redis.WithPrefix("a*"), redis.WithPrefix("a b"), redis.WithPrefix(strings.Repeat("a", 101)), redis.WithTimeout(0),
		redis.WithClientCaching(-1), redis.WithMaxEntryBytes(0), redis.WithScanLimit(0),
	} {
		if _, err := redis.Open(rueidis.ClientOption{}, o); err == nil {
			t.Error("not refused")
		}
	}
	if _, err := redis.New(nil); err == nil {
		t.Error("no client is not refused")
	}
}

func TestLargeEntriesAreRefused(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		s, e := open(t, o, redis.WithMaxEntryBytes(10_000)), entry(1)
		must(t, s.Set(t.Context(), e))
		e = entry(1)
		e.Body = make([]byte, 10_000)
		if err := s.Set(t.Context(), e); !errors.Is(err, cache.ErrTooLarge) {
			t.Errorf("%v", err)
		}
		if _, ok, _ := s.Get(t.Context(), e.Key); ok {
			t.Error("the entry that it was to replace is there")
		}
	})
}
