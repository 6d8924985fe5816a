package sqlitelogs_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache/sqlite/sqlitelogs"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/logs/logstest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open returns a store that is closed with the test.
func open(t testing.TB, path string, opts ...sqlitelogs.Option) *sqlitelogs.Store {
	t.Helper()
	s, err := sqlitelogs.Open(path, append([]sqlitelogs.Option{sqlitelogs.WithTimeout(20 * time.Second)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func fresh(t testing.TB) *sqlitelogs.Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "calls.db"))
}

func TestStore(t *testing.T) {
	logstest.Store(t, func(t *testing.T) logs.Store { return fresh(t) })
}
