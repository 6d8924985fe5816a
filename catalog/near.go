package catalog

import (
	"strconv"

	"github.com/b650d4bf/gateway/internal/near"
)

const maxQuote = 64 // bytes of a foreign name repeated in an error

// Near returns the names that resemble name, the most similar first and three at
// most.
func Near(name string, names []string) []string { return near.Of(name, names) }

// quote renders a name from outside for an error, shortened and escaped.
func quote(name string) string {
	if len(name) > maxQuote {
		name = name[:maxQuote] + "…"
	}
	return strconv.Quote(name)
}
