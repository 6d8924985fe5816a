package config

import (
	"cmp"
	"slices"
	"strings"
)

// meant asks whether one of the names that resemble name was meant, in
// parentheses, or is empty. It costs nothing once the list of mistakes is full.
func (p *problems) meant(name string, names []string) string {
	if len(name) > maxQuote || len(p.found.Problems) == maxProblems {
		return ""
	}
	type scored struct {
		name  string
		score int
	}
	var found []scored
	budget := max(1, len(name)/3)
	for _, n := range names {
		if len(n) > maxQuote {
			continue
		}
		d := distance(strings.ToLower(name), strings.ToLower(n))
		within := len(name) >= 3 && (strings.Contains(n, name) || len(n) >= 3 && strings.Contains(name, n))
		if within || d <= budget {
			found = append(found, scored{n, d})
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.name, b.name))
	})
	quoted := make([]string, 0, maxNear)
	for _, f := range found[:min(len(found), maxNear)] {
		quoted = append(quoted, quote(f.name))
	}
	return " (did you mean " + strings.Join(quoted, " or ") + "?)"
}

// distance is the number of bytes to insert, delete or replace, and of
// neighbours to swap, that make b of a.
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
