package config

import (
	"strings"

	"github.com/b650d4bf/gateway/internal/near"
)

// meant asks whether one of the names that resemble name was meant, in
// parentheses, or is empty. It costs nothing once the list of mistakes is full.
func (p *problems) meant(name string, names []string) string {
	if len(p.found.Problems) == maxProblems {
		return ""
	}
	alike := near.Of(name, names)
	if len(alike) == 0 {
		return ""
	}
	for i, n := range alike {
		alike[i] = quote(n)
	}
	return " (did you mean " + strings.Join(alike, " or ") + "?)"
}
