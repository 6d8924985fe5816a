package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/b650d4bf/gateway/cache/cachetest"
)

func BenchmarkStore(b *testing.B) {
	cachetest.Bench(b, open(b, filepath.Join(b.TempDir(), "answers.db")))
}
