package redis

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/cache"
)

// FuzzHeard has anybody write to the channel. A message is keys that changed, as the
// store writes them, or anything may have changed.
func FuzzHeard(f *testing.F) {
	f.Add(changedMessage(cache.Key{1}, cache.Key{2}))
	f.Add(changedMessage())
	f.Add(string(messageReset))
	f.Add(string(messageChanged) + strings.Repeat("k", 33))
	f.Fuzz(func(t *testing.T, message string) {
		var keys []cache.Key
		resets := 0
		s := &Store{}
		w := watch{store: s, changed: func(k cache.Key) { keys = append(keys, k) }, reset: func() { resets++ }}
		w.heard(t.Context(), message)
		if resets == 0 && changedMessage(keys...) != message || resets == 1 && len(keys) > 0 || resets > 1 {
			t.Errorf("%q is %d keys and %d resets", message, len(keys), resets)
		}
		for _, k := range keys {
			if !s.recent.has(k) {
				t.Errorf("%v does not count as changed", k)
			}
		}
		if other := (cache.Key{9}); !slices.Contains(keys, other) && s.recent.has(other) != (resets > 0) {
			t.Errorf("another key counts as changed: %v", resets == 0)
		}
		var again []cache.Key
		w.changed = func(k cache.Key) { again = append(again, k) }
		w.heard(t.Context(), changedMessage(keys...))
		if diff := cmp.Diff(keys, again); diff != "" {
			t.Error(diff)
		}
	})
}
