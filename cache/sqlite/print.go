package sqlite

import (
	"fmt"
	"io"
)

// Format writes the name of the type, whatever the verb: what is below
// changes as entries are kept.
func (*Store) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "sqlite.Store") }
