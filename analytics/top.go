package analytics

import (
	"cmp"
	"slices"

	"github.com/b650d4bf/gateway/providers"
)

// topKeys returns the keys with the highest counts.
func topKeys(counts map[string]int64, n int) map[string]bool {
	type counted struct {
		key string
		n   int64
	}
	all := make([]counted, 0, len(counts))
	for key, n := range counts {
		all = append(all, counted{key, n})
	}
	slices.SortFunc(all, func(a, b counted) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.key, b.key)) })
	out := make(map[string]bool, n)
	for _, c := range all[:min(n, len(all))] {
		out[c.key] = true
	}
	return out
}

func errOpenSeries() error {
	return providers.Invalid("from", "a series needs a beginning: say from")
}
