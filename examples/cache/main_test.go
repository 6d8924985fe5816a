package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRun checks what a newcomer sees.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Cache Miss  How do I feed my cat?\nCache Hit  How do I feed my cat?\nCache Hit  How do I feed my cat? (as a stream of",
		"Cache Semantic Hit  How can I feed my cat?\nCache Miss  How do I feed my dog?\n",
		"differs in: params\n",
		"refused: polarity\n",
		"Cache Refreshed  How do I feed my cat?\n",
		"deleted 1 of a namespace; 3 hits, 1 semantic, 5 misses; 4 entries are left\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
