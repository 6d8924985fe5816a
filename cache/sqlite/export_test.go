package sqlite

import (
	"context"
	"database/sql"
	"testing"

	"github.com/b650d4bf/gateway/cache/sqlite/internal/dbfile"
)

// Hold begins a transaction that writes, as a process does that was stopped.
func Hold(t *testing.T, s *Store) (release func()) {
	t.Helper()
	var tx *sql.Tx
	err := s.file.With(context.Background(), func(_ context.Context, f *dbfile.File) (err error) {
		tx, err = f.Write.BeginTx(context.Background(), nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = tx.Rollback() }
}
