package providers

import (
	"slices"
	"testing"
)

// TestValidToolsTakeNoMemory has as many tools as a request may: paths are for
// those who read of a mistake.
func TestValidToolsTakeNoMemory(t *testing.T) {
	tools := slices.Repeat([]Tool{FunctionTool("f", "does it", []byte(`{"type":"object"}`))}, 512)
	got := testing.AllocsPerRun(10, func() {
		if err := validateTools(tools); err != nil {
			t.Fatal(err)
		}
	})
	if got > 0 {
		t.Errorf("%v allocations for 512 tools", got)
	}
}
