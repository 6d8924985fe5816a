package cachetest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

func searchChecks() []check {
	return []check{
		{"all that is similar enough is found, in order", (*subject).ordered},
		{"a limit keeps the most similar", (*subject).limited},
		{"what is found comes whole", (*subject).foundWhole},
		{"an entry is found by the vector it has now", (*subject).revised},
		{"a deleted entry is not found", (*subject).deletedNotFound},
		{"an expired entry is not found, and hides none", (*subject).expiredNotFound},
		{"vectors of another length are passed over", (*subject).dimensions},
		{"an entry without a group is not found", (*subject).groupless},
		{"random vectors are found as if all were compared", (*subject).bruteForce},
		{"fifty namespaces never see each other's entries", (*subject).namespaces},
		{"entries are found while others come and go", (*subject).searchedAtOnce},
	}
}

// search returns what is found, whose similarities must be right and in order.
func (s *subject) search(q cache.Query) []cache.Match {
	s.Helper()
	found, err := ability[cache.Searcher](s).Search(s.Context(), &q)
	if err != nil {
		s.Fatalf("Search: %v", err)
	}
	for i, m := range found {
		if m.Entry == nil || m.Entry.Group != q.Group || len(m.Entry.Vector) != len(q.Vector) {
			s.Fatalf("match %d is of another group or has another vector: %+v", i, m)
		}
		if want := cosine(q.Vector, m.Entry.Vector); math.Abs(want-m.Similarity) > 1e-5 || want < q.Threshold-1e-6 {
			s.Fatalf("match %d has the similarity %v, want %v and at least %v", i, m.Similarity, want, q.Threshold)
		}
		if i > 0 && m.Similarity > found[i-1].Similarity {
			s.Fatalf("match %d is more similar than the one before", i)
		}
	}
	return found
}

// finds fails the test unless the search finds these entries, in this order.
func (s *subject) finds(q cache.Query, want ...*cache.Entry) {
	s.Helper()
	found := s.search(q)
	if len(found) != len(want) {
		s.Fatalf("%d entries are found, want %d", len(found), len(want))
	}
	for i, e := range want {
		if d := difference(e, found[i].Entry); d != "" {
			s.Fatalf("match %d is not the one that was wanted: %s", i, d)
		}
	}
}

func (s *subject) ordered() {
	ability[cache.Searcher](s)
	group := keyOf("group")
	var entries []*cache.Entry
	for i := range 10 {
		entries = append(entries, inGroup(numbered("entry", i), group, direction(float64(2*i))))
	}
	for _, i := range []int{3, 9, 0, 5, 1, 8, 2, 7, 4, 6} {
		s.set(s.store, entries[i])
	}
	q := cache.Query{Group: group, Vector: direction(-1), Threshold: 0.999}
	s.finds(q, entries[:1]...) // cos 1° is 0.99985, cos 3° is 0.9986
	q.Threshold = 0.99
	s.finds(q, entries[:4]...) // cos 7° is 0.9925, cos 9° is 0.9877
	q.Threshold = 0.5
	s.finds(q, entries...)
	s.finds(cache.Query{Group: group, Vector: direction(8), Threshold: 0.9999999}, entries[4])
	s.finds(cache.Query{Group: group, Vector: direction(120), Threshold: 0.1})
	s.finds(cache.Query{Group: keyOf("none"), Vector: direction(0), Threshold: 0.1})
}

func (s *subject) limited() {
	ability[cache.Searcher](s)
	group := keyOf("group")
	near, far := inGroup("near", group, direction(1)), inGroup("far", group, direction(5))
	s.set(s.store, far, near)
	s.finds(cache.Query{Group: group, Vector: direction(0), Threshold: 0.9, Limit: 1}, near)
	s.finds(cache.Query{Group: group, Vector: direction(0), Threshold: 0.9, Limit: 5}, near, far)
}

func (s *subject) foundWhole() {
	ability[cache.Searcher](s)
	e := full("whole", direction(10))
	e.Body = make([]byte, 20_000)
	s.set(s.store, e)
	s.finds(cache.Query{Group: e.Group, Vector: e.Vector, Threshold: 0.95}, e)
}

func (s *subject) revised() {
	ability[cache.Searcher](s)
	group, other := keyOf("group"), keyOf("other group")
	q := cache.Query{Group: group, Vector: direction(0), Threshold: 0.9}
	e := inGroup("entry", group, direction(0))
	s.set(s.store, e)
	turned := inGroup("entry", group, direction(90))
	s.set(s.store, turned)
	s.finds(q)
	s.finds(cache.Query{Group: group, Vector: direction(90), Threshold: 0.9}, turned)
	moved := inGroup("entry", other, direction(90))
	s.set(s.store, moved)
	s.finds(cache.Query{Group: group, Vector: direction(90), Threshold: 0.9})
	s.finds(cache.Query{Group: other, Vector: direction(90), Threshold: 0.9}, moved)
	s.set(s.store, entry("entry", time.Hour))
	s.finds(cache.Query{Group: other, Vector: direction(90), Threshold: 0.9})
}

func (s *subject) deletedNotFound() {
	ability[cache.Searcher](s)
	group := keyOf("group")
	near, far := inGroup("near", group, direction(0)), inGroup("far", group, direction(5))
	s.set(s.store, near, far)
	s.delete(s.store, near.Key)
	s.finds(cache.Query{Group: group, Vector: direction(0), Threshold: 0.9}, far)
	s.delete(s.store, far.Key)
	s.finds(cache.Query{Group: group, Vector: direction(0), Threshold: 0.9})
	s.set(s.store, near)
	s.finds(cache.Query{Group: group, Vector: direction(0), Threshold: 0.9}, near)
}

func (s *subject) expiredNotFound() {
	ability[cache.Searcher](s)
	group := keyOf("group")
	near, far := inGroup("near", group, direction(0)), inGroup("far", group, direction(5))
	near.Expires = near.Created.Add(s.life)
	s.set(s.store, near, far)
	s.wait(near.Expires)
	s.finds(cache.Query{Group: group, Vector: direction(0), Threshold: 0.9, Limit: 1}, far)
	s.finds(cache.Query{Group: group, Vector: direction(0), Threshold: 0.9}, far)
}

func (s *subject) dimensions() {
	ability[cache.Searcher](s)
	group := keyOf("group")
	two, three := inGroup("two", group, direction(0)), inGroup("three", group, []float32{1, 0, 0})
	s.set(s.store, two, three)
	s.finds(cache.Query{Group: group, Vector: direction(0), Threshold: 0.9}, two)
	s.finds(cache.Query{Group: group, Vector: []float32{1, 0, 0}, Threshold: 0.9}, three)
	s.finds(cache.Query{Group: group, Vector: []float32{1, 0, 0, 0}, Threshold: 0.9})
	s.has(s.store, two)
	s.has(s.store, three)
}

func (s *subject) groupless() {
	ability[cache.Searcher](s)
	e := entry("alone", time.Hour)
	s.set(s.store, e)
	s.finds(cache.Query{Vector: direction(0), Threshold: 0.1})
	s.has(s.store, e)
}

func (s *subject) bruteForce() {
	ability[cache.Searcher](s)
	const dim, threshold = 64, 0.8
	s.Logf("seed %d", s.seed)
	r := rand.New(rand.NewPCG(s.seed, 2))
	group, centre := keyOf("group"), random(r, dim)
	near := func() []float32 { // similar to the centre, more or less
		v, w := random(r, dim), 0.3+r.Float64()
		var sum float64
		for i := range v {
			v[i] = float32(w)*v[i] + centre[i]
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] = float32(float64(v[i]) / math.Sqrt(sum))
		}
		return v
	}
	var entries []*cache.Entry
	for i := range 300 {
		entries = append(entries, inGroup(numbered("entry", i), group, near()))
	}
	s.set(s.store, entries...)
queries:
	for range 10 {
		q := cache.Query{Group: group, Vector: near(), Threshold: threshold}
		var want []*cache.Entry
		for _, e := range entries {
			if c := cosine(q.Vector, e.Vector); c >= threshold+1e-5 {
				want = append(want, e)
			} else if c > threshold-1e-5 {
				continue queries // too close to call
			}
		}
		slices.SortFunc(want, func(a, b *cache.Entry) int {
			return cmp.Compare(cosine(q.Vector, b.Vector), cosine(q.Vector, a.Vector))
		})
		s.finds(q, want...)
	}
}

// namespaces lets tenants ask the same, whose keys and groups differ only by the
// namespace that is part of both.
func (s *subject) namespaces() {
	const count, questions = 50, 4
	of := func(tenant, question int) *cache.Entry {
		e := inGroup("", keyOf("group", tenant), direction(float64(3*question)))
		e.Key, e.Namespace = keyOf("entry", tenant, question), numbered("tenant", tenant)
		e.Body = []byte(e.Namespace)
		return e
	}
	var wg sync.WaitGroup
	for tenant := range count {
		wg.Go(func() {
			for question := range questions {
				if err := s.store.Set(s.Context(), of(tenant, question)); err != nil {
					s.Errorf("Set: %v", err)
				}
			}
			for question := range questions {
				s.onlyOwn(of(tenant, question))
			}
		})
	}
	wg.Wait()
	if s.Failed() {
		return
	}
	if k, ok := s.store.(cache.Keeper); ok {
		name := numbered("tenant", 7)
		if n, err := k.DeleteAll(s.Context(), cache.Filter{Namespace: &name}); n != questions || err != nil {
			s.Errorf("DeleteAll: %d, %v, want %d", n, err, questions)
		}
		for tenant := range count {
			if _, ok, _ := s.store.Get(s.Context(), of(tenant, 0).Key); ok == (tenant == 7) {
				s.Errorf("the entry of tenant %d: %v", tenant, ok)
			}
		}
	}
}

// onlyOwn fails the test if an entry, or what is similar to it, is of another
// namespace.
func (s *subject) onlyOwn(want *cache.Entry) {
	e, ok, err := s.store.Get(s.Context(), want.Key)
	if err != nil || !ok || string(e.Body) != want.Namespace {
		s.Errorf("Get of %s: %v, %v, %v", want.Namespace, e, ok, err)
	}
	if sr, is := s.store.(cache.Searcher); is {
		found, err := sr.Search(s.Context(), &cache.Query{Group: want.Group, Vector: want.Vector, Threshold: 0.5})
		if err != nil || len(found) != 4 {
			s.Errorf("Search of %s: %d found, %v", want.Namespace, len(found), err)
		}
		for _, m := range found {
			if m.Entry.Namespace != want.Namespace || string(m.Entry.Body) != want.Namespace {
				s.Errorf("%s finds the entry of %s", want.Namespace, m.Entry.Namespace)
			}
		}
	}
	if k, is := s.store.(cache.Keeper); is {
		for e, err := range k.List(s.Context(), cache.Filter{Namespace: &want.Namespace}) {
			if err != nil || e.Namespace != want.Namespace {
				s.Errorf("List of %s: %v, %v", want.Namespace, e, err)
			}
		}
	}
}

func (s *subject) searchedAtOnce() {
	searcher := ability[cache.Searcher](s)
	group := keyOf("group")
	stays := inGroup("stays", group, direction(0))
	s.set(s.store, stays)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 50 {
				e := inGroup(numbered("entry", worker*10+i%3), group, direction(float64(1+i%20)))
				if err := s.store.Set(s.Context(), e); err != nil {
					s.Errorf("Set: %v", err)
				}
				found, err := searcher.Search(s.Context(), &cache.Query{Group: group, Vector: direction(0), Threshold: 0.99999})
				if err != nil || len(found) != 1 || found[0].Entry.Key != stays.Key {
					s.Errorf("Search: %v, %v", found, err)
				}
				if err := s.store.Delete(s.Context(), e.Key); err != nil {
					s.Errorf("Delete: %v", err)
				}
			}
		})
	}
	wg.Wait()
}
