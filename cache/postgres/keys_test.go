package postgres

import (
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/cache"
)

// FuzzKeys has anybody notify. A payload is keys in hexadecimal, all of it, or it is
// not understood and says nothing.
func FuzzKeys(f *testing.F) {
	f.Add(cache.Key{1}.String())
	f.Add(cache.Key{1}.String() + strings.ToUpper(cache.Key{0xab}.String()))
	f.Add("")
	f.Add(strings.Repeat("é", 32))
	f.Add(strings.Repeat("0", 8000))
	f.Fuzz(func(t *testing.T, payload string) {
		keys, ok := parseKeys(payload)
		var again strings.Builder
		for _, k := range keys {
			again.WriteString(k.String())
		}
		if ok && again.String() != strings.ToLower(payload) || ok != (len(keys) > 0) {
			t.Errorf("%q is %d keys, %v", payload, len(keys), ok)
		}
	})
}
