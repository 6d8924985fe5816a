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
		"file  file-", "batch  batch_", "completed  2 of 3 lines answered, 1 failed",
		`bern  You said: "What is Bern known for?".`, `oslo  You said: "What is Oslo known for?".`,
		"mute  invalid_request: body.messages: at least one message is required",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
