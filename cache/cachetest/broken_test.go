package cachetest_test

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/cachetest"
)

// wrapped is a store that broken ones are made of.
type wrapped struct{ *cache.Memory }

type (
	keepsExpired    struct{ wrapped } // Set keeps what has expired before, under its key
	forgetsDelete   struct{ wrapped }
	keepsFirst      struct{ wrapped } // a second Set of a key changes nothing
	cutsBodies      struct{ wrapped }
	mixesKeys       struct{ wrapped } // keys that differ in the last byte alone are one
	livesOn         struct{ wrapped } // entries live a second longer
	mixesGroups     struct{ wrapped } // a search is in all groups
	unordered       struct{ wrapped }
	limitsTooEarly  struct{ wrapped } // expired matches count for the limit
	ignoresLimit    struct{ wrapped }
	listsAll        struct{ wrapped } // filters are for nothing
	miscounts       struct{ wrapped }
	opensAgain      struct{ wrapped } // a closed store is merely empty
	dropsText       struct{ wrapped }
	dropsNamespaces struct{ wrapped }
)

func (s keepsExpired) Set(ctx context.Context, e *cache.Entry) error {
	if e.Expired(time.Now()) {
		return nil
	}
	return s.Memory.Set(ctx, e)
}

func (s forgetsDelete) Delete(context.Context, cache.Key) error { return nil }

func (s keepsFirst) Set(ctx context.Context, e *cache.Entry) error {
	if _, ok, _ := s.Get(ctx, e.Key); ok {
		return nil
	}
	return s.Memory.Set(ctx, e)
}

func (s cutsBodies) Set(ctx context.Context, e *cache.Entry) error {
	cut := *e
	cut.Body = cut.Body[:min(len(cut.Body), 100_000)]
	return s.Memory.Set(ctx, &cut)
}

func (s mixesKeys) Set(ctx context.Context, e *cache.Entry) error {
	same := *e
	same.Key[31] = 0
	return s.Memory.Set(ctx, &same)
}

func (s mixesKeys) Get(ctx context.Context, key cache.Key) (*cache.Entry, bool, error) {
	asked := key
	key[31] = 0
	e, ok, err := s.Memory.Get(ctx, key)
	if ok {
		same := *e
		same.Key = asked
		e = &same
	}
	return e, ok, err
}

func (s livesOn) Set(ctx context.Context, e *cache.Entry) error {
	longer := *e
	longer.Expires = e.Expires.Add(time.Second)
	return s.Memory.Set(ctx, &longer)
}

func (s livesOn) Get(ctx context.Context, key cache.Key) (*cache.Entry, bool, error) {
	e, ok, err := s.Memory.Get(ctx, key)
	if ok {
		shorter := *e
		shorter.Expires = e.Expires.Add(-time.Second)
		e = &shorter
	}
	return e, ok, err
}

func (s mixesGroups) Set(ctx context.Context, e *cache.Entry) error {
	same := *e
	if e.Vector != nil {
		same.Group = cache.Key{1}
	}
	return s.Memory.Set(ctx, &same)
}

func (s mixesGroups) Search(ctx context.Context, q *cache.Query) ([]cache.Match, error) {
	all := *q
	all.Group = cache.Key{1}
	return s.Memory.Search(ctx, &all)
}

func (s unordered) Search(ctx context.Context, q *cache.Query) ([]cache.Match, error) {
	found, err := s.Memory.Search(ctx, q)
	slices.Reverse(found)
	return found, err
}

func (s limitsTooEarly) Search(ctx context.Context, q *cache.Query) ([]cache.Match, error) {
	all := *q
	all.Limit = 0
	found, err := s.Memory.Search(ctx, &all)
	if q.Limit > 0 && len(found) >= q.Limit {
		found = found[1:]
	}
	return found, err
}

func (s ignoresLimit) Search(ctx context.Context, q *cache.Query) ([]cache.Match, error) {
	all := *q
	all.Limit = 0
	return s.Memory.Search(ctx, &all)
}

func (s listsAll) List(ctx context.Context, _ cache.Filter) iter.Seq2[*cache.Entry, error] {
	return s.Memory.List(ctx, cache.Filter{})
}

func (s miscounts) Stats() cache.Stats {
	st := s.Memory.Stats()
	st.Misses = 0
	return st
}

func (s opensAgain) Get(ctx context.Context, key cache.Key) (*cache.Entry, bool, error) {
	e, ok, _ := s.Memory.Get(ctx, key)
	return e, ok, nil
}

func (s dropsText) Set(ctx context.Context, e *cache.Entry) error {
	bare := *e
	bare.Text = ""
	return s.Memory.Set(ctx, &bare)
}

func (s dropsNamespaces) DeleteAll(ctx context.Context, f cache.Filter) (int, error) {
	f.Namespace = nil
	return s.Memory.DeleteAll(ctx, f)
}

func broken(m *cache.Memory) map[string]cache.Store {
	w := wrapped{m}
	return map[string]cache.Store{
		"keeps expired": keepsExpired{w}, "forgets delete": forgetsDelete{w}, "keeps first": keepsFirst{w}, "cuts bodies": cutsBodies{w},
		"mixes keys": mixesKeys{w}, "lives on": livesOn{w}, "mixes groups": mixesGroups{w}, "unordered": unordered{w}, "limits too early": limitsTooEarly{w},
		"ignores limit": ignoresLimit{w}, "lists all": listsAll{w}, "miscounts": miscounts{w}, "opens again": opensAgain{w}, "drops text": dropsText{w},
		"deletes all namespaces": dropsNamespaces{w},
		"loses writes":           cachetest.NewFaulty(m, 1, cachetest.Faults{LostWrites: 0.05}),
		"mistakes keys":          cachetest.NewFaulty(m, 1, cachetest.Faults{WrongKeys: 0.05}),
		"corrupts":               cachetest.NewFaulty(m, 1, cachetest.Faults{Corrupt: 0.05}),
		"is stale":               cachetest.NewFaulty(m, 1, cachetest.Faults{Stale: 0.05}),
		"fails":                  cachetest.NewFaulty(m, 1, cachetest.Faults{Errors: 0.05}),
		"locks for all":          cachetest.NewFaulty(m, 1, cachetest.Faults{}),
	}
}

// TestSuiteFindsWhatIsBroken runs the suite over broken stores, each in a process
// of its own, which has to fail.
func TestSuiteFindsWhatIsBroken(t *testing.T) {
	const variable = "CACHETEST_BROKEN"
	if name := os.Getenv(variable); name != "" {
		cachetest.Run(t, func(t *testing.T) cache.Store { return broken(newMemory(t))[name] }, cachetest.WithVirtualTime(), cachetest.WithSeed(1))
		return
	}
	for name := range broken(newMemory(t)) {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuiteFindsWhatIsBroken$", "-test.timeout=30s")
			cmd.Env = append(os.Environ(), variable+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestSuiteFindsWhatIsBroken") || strings.Contains(string(out), "panic:") {
				t.Errorf("the suite passes, or ends badly: %v\n%s", err, out)
			}
		})
	}
}
