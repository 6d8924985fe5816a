package logs

import (
	"fmt"
	"io"
)

// Format writes the name of the type, whatever the verb: what is below
// changes as calls are written, and holds what they asked.
func (*Log) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "logs.Log") }

// Format writes the name of the type, whatever the verb: the records below
// may have content, and change.
func (*Memory) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "logs.Memory") }
