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
	_, streamed, ok := strings.Cut(out.String(), "\n6  ")
	if !ok {
		t.Fatalf("no stream in\n%s", out.String())
	}
	for _, want := range []struct{ in, text string }{
		{out.String(), "thinks  **Reading the request**"},
		{out.String(), "17 of them thinking"},
		{out.String(), "warning  thinking: this model thinks by level: LOW stands in for the budget\n"},
		{out.String(), " 0 of them thinking"},
		{streamed, "thinks  **Reading the request**"},
		{streamed, "assistant  You\n"},
		{streamed, "17 of them thinking"},
	} {
		if !strings.Contains(want.in, want.text) {
			t.Errorf("%q is not in\n%s", want.text, want.in)
		}
	}
	if n := strings.Count(out.String(), "warning"); n != 1 {
		t.Errorf("%d warnings, want one, in\n%s", n, out.String())
	}
}
