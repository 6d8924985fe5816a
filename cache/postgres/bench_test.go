package postgres_test

import (
	"testing"

	"github.com/b650d4bf/gateway/cache/cachetest"
)

func BenchmarkStore(b *testing.B) {
	for _, name := range servers {
		b.Run(name, func(b *testing.B) {
			s, _ := open(b, serverURL(b, name))
			cachetest.Bench(b, s)
		})
	}
}
