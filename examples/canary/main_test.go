package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestRun checks what a newcomer sees.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	var stable, canary int
	_, rest, _ := strings.Cut(out.String(), "   stable")
	if _, err := fmt.Sscanf(rest, "%d users\n canary %d users", &stable, &canary); err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	if stable+canary != users || canary < users/25 || canary > users/5 {
		t.Errorf("%d and %d users", stable, canary)
	}
	for _, want := range []string{"· 0 users were sent to both\n", "   target  new\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
