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
		`You said: "Hello! What is a gateway?".`,
		"Reading the request",
		`get_weather({"city":"Paris"})`,
		"get_weather answered",
		`"thoughtSignature": "`,
		":generateContent",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
