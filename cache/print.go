package cache

import (
	"fmt"
	"io"
)

// Format writes the name of the type, whatever the verb: the entries below
// are answers, and change.
func (*Memory) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "cache.Memory") }

// Format writes the name of the type, whatever the verb: the keys and the
// store are below.
func (*Sealed) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "cache.Sealed") }

// Format writes the name of the type, whatever the verb: the stores are below.
func (*Tiered) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "cache.Tiered") }
