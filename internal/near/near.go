// Package near finds the name that was probably meant by one that does not exist.
package near

import (
	"cmp"
	"slices"
	"strings"
)

const (
	most    = 3   // names returned
	maxName = 64  // bytes of a name that is looked for
	maxOf   = 128 // bytes of a name that may be meant
)

// Of returns the names that resemble name, the most similar first and three at
// most: those within an edit distance of a third of its length, and those that
// have it in them, or the other way round. Case does not matter.
func Of(name string, names []string) []string {
	if len(name) > maxName {
		return nil
	}
	type scored struct {
		name  string
		score int
	}
	var found []scored
	folded := strings.ToLower(name)
	for _, n := range names {
		if len(n) > maxOf {
			continue
		}
		other := strings.ToLower(n)
		if d := distance(folded, other); d <= max(1, len(folded)/3) || overlap(folded, other) {
			found = append(found, scored{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, f := range found[:min(len(found), most)] {
		out = append(out, f.name)
	}
	return out
}

// overlap reports whether one has the other in it, by three bytes or more.
func overlap(a, b string) bool {
	return min(len(a), len(b)) >= 3 && (strings.Contains(a, b) || strings.Contains(b, a))
}

// distance is the number of bytes to insert, delete or replace, and of neighbours
// to swap, that make b of a.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			cost = min(cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cost = min(cost, before[j-1]+1)
			}
			row[j+1] = cost
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
