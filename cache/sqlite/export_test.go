package sqlite

import (
	"context"
	"testing"
)

// Hold begins a transaction that writes, as a process does that was stopped.
func Hold(t *testing.T, s *Store) (release func()) {
	t.Helper()
	tx, err := s.file.write.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = tx.Rollback() }
}
