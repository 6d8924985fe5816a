package postgres

import (
	"fmt"
	"io"
)

// Format writes the name of the type, whatever the verb: the client, with what it logs in
// by, is below.
func (*Store) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "postgres.Store") }
