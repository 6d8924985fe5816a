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
		`as it came  {"name":"Omelette"`,
		"decoded     Omelette, easy, 2 steps\n               2 min  Whisk three eggs.\n",
		`its schema  {"type":"object","properties":{"city":`,
		"decoded     {City:Paris}",
		"bad_response: steps[0].minutes is a string and must be an integer\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
