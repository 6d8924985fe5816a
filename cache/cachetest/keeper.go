package cachetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

func keeperChecks() []check {
	return []check{
		{"a list has what the filter takes in", (*subject).listed},
		{"a list may be left early", (*subject).leftEarly},
		{"what the filter takes in is deleted", (*subject).deletedTogether},
		{"what has expired is not listed", (*subject).expiredNotListed},
		{"a list ends with its context", (*subject).listCanceled},
	}
}

// shelf is what the tests of lists have: names, and what there is of each.
func shelf() map[string]*cache.Entry {
	out := map[string]*cache.Entry{}
	for _, e := range []struct{ name, namespace, model, operation string }{
		{"a", "", "m1", "chat"}, {"b", "", "m2", "chat"}, {"c", "x", "m1", "chat"}, {"d", "x", "m1", "embeddings"}, {"e", "y", "m2", "embeddings"}, {"f", "xy", "m1", "chat"},
	} {
		n := full(e.name, direction(0))
		n.Namespace, n.Model, n.Operation = e.namespace, e.model, e.operation
		out[e.name] = n
	}
	return out
}

// filters has what each filter takes in of the shelf.
func filters() map[string]cache.Filter {
	none, x, other := "", "x", "z"
	return map[string]cache.Filter{
		"a b c d e f": {},
		"a b":         {Namespace: &none},
		"c d":         {Namespace: &x},
		"":            {Namespace: &other},
		"a c d f":     {Model: "m1"},
		"d e":         {Operation: "embeddings"},
		"c":           {Namespace: &x, Model: "m1", Operation: "chat"},
	}
}

// list returns the names of the shelf's entries that are listed, in order.
func (s *subject) list(f cache.Filter) string {
	s.Helper()
	on, names := shelf(), []string{}
	for e, err := range ability[cache.Keeper](s).List(s.Context(), f) {
		if err != nil {
			s.Fatalf("List: %v", err)
		}
		for name, want := range on {
			if want.Key == e.Key {
				names = append(names, name)
				if e.Model != want.Model || e.Namespace != want.Namespace || e.Operation != want.Operation || e.Expires.IsZero() {
					s.Errorf("%s is listed as %+v", name, e)
				}
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func (s *subject) fill() {
	s.Helper()
	for _, e := range shelf() {
		s.set(s.store, e)
	}
}

func (s *subject) listed() {
	ability[cache.Keeper](s)
	s.fill()
	s.fill() // again, which lists nothing twice
	for want, f := range filters() {
		if got := s.list(f); got != want {
			s.Errorf("List(%+v): %q, want %q", f, got, want)
		}
	}
}

func (s *subject) leftEarly() {
	k := ability[cache.Keeper](s)
	s.fill()
	for _, err := range k.List(s.Context(), cache.Filter{}) {
		if err != nil {
			s.Fatalf("List: %v", err)
		}
		break
	}
	for e, err := range k.List(s.Context(), cache.Filter{}) { // its body may use the store
		if err != nil {
			s.Fatalf("List: %v", err)
		}
		s.delete(s.store, e.Key)
	}
	if got := s.list(cache.Filter{}); got != "" {
		s.Errorf("%q are left", got)
	}
}

func (s *subject) deletedTogether() {
	k := ability[cache.Keeper](s)
	for want, f := range filters() {
		s.fill()
		names := strings.Fields(want)
		if n, err := k.DeleteAll(s.Context(), f); n != len(names) || err != nil {
			s.Errorf("DeleteAll(%+v): %d, %v, want %d", f, n, err, len(names))
		}
		for name, e := range shelf() {
			if gone := s.get(s.store, e.Key) == nil; gone != slices.Contains(names, name) {
				s.Errorf("DeleteAll(%+v): %s is gone: %v", f, name, gone)
			}
		}
		sr, is := s.store.(cache.Searcher)
		if !is {
			continue
		}
		found, err := sr.Search(s.Context(), &cache.Query{Group: keyOf("group"), Vector: direction(0), Threshold: 0.9})
		if err != nil || len(found) != len(shelf())-len(names) {
			s.Errorf("DeleteAll(%+v): a search finds %d, %v", f, len(found), err)
		}
	}
}

func (s *subject) expiredNotListed() {
	k := ability[cache.Keeper](s)
	s.fill()
	e := shelf()["c"]
	e.Created = time.Now().Truncate(time.Millisecond)
	e.Expires = e.Created.Add(s.life)
	s.set(s.store, e)
	s.wait(e.Expires)
	if got := s.list(cache.Filter{}); got != "a b d e f" {
		s.Errorf("List: %q", got)
	}
	if n, err := k.DeleteAll(s.Context(), cache.Filter{}); n != 5 || err != nil {
		s.Errorf("DeleteAll: %d, %v, want 5", n, err)
	}
}

func (s *subject) listCanceled() {
	k := ability[cache.Keeper](s)
	s.fill()
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	failed := 0
	for e, err := range k.List(ctx, cache.Filter{}) {
		if failed > 0 {
			s.Fatal("the list goes on after an error")
		}
		if err == nil && e == nil {
			s.Fatal("List yields neither an entry nor an error")
		}
		if err != nil {
			failed++
			if !errors.Is(err, context.Canceled) {
				s.Errorf("List: %v, want context.Canceled", err)
			}
		}
	}
	if _, err := k.DeleteAll(ctx, cache.Filter{}); err != nil && !errors.Is(err, context.Canceled) {
		s.Errorf("DeleteAll: %v, want context.Canceled", err)
	}
}
