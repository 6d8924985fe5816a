package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/b650d4bf/gateway/cache/sqlite"
)

// TestStoresPrintTheirNames uses verbs that do not fit too, which go past pointers.
func TestStoresPrintTheirNames(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if got, want := fmt.Sprintf(verb, store), "sqlite.Store"; got != want {
			t.Errorf("%s prints %.200s, want %s", verb, got, want)
		}
	}
}
