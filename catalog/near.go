package catalog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxNear  = 3  // similar names listed in an error
	maxQuote = 64 // bytes of a foreign name repeated in an error
)

// Near returns the names that resemble name, the most similar first and three at
// most.
func Near(name string, names []string) []string { return near(name, names) }

// near returns the names that resemble name, the most similar first: those
// within an edit distance of a third of its length, and those that begin with it
// or that it begins with.
func near(name string, names []string) []string {
	if len(name) > maxQuote {
		return nil
	}
	type scored struct {
		name  string
		score int
	}
	var found []scored
	folded := strings.ToLower(name)
	for _, n := range names {
		other := strings.ToLower(n)
		d := distance(folded, other)
		prefix := len(folded) >= 2 && len(other) >= 2 &&
			(strings.HasPrefix(other, folded) || strings.HasPrefix(folded, other))
		if prefix || d <= max(1, len(folded)/3) {
			found = append(found, scored{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, f := range found[:min(len(found), maxNear)] {
		out = append(out, f.name)
	}
	return out
}

// distance is the number of single-byte insertions, deletions, substitutions and
// swaps of neighbours that turn a into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// quote renders a name from outside for an error, shortened and escaped.
func quote(name string) string {
	if len(name) > maxQuote {
		name = name[:maxQuote] + "…"
	}
	return strconv.Quote(name)
}
