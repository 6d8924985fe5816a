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
		"How do I feed my cat?    Cache Miss         1 requests",
		"How do I feed my cat?    Cache Hit          0 requests",
		"How can I feed my cat?   Cache Semantic Hit 0 requests",
		"How do I feed my cat?    Cache Refreshed    1 requests",
		"How do I feed my cat?    Cache Disabled     1 requests",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
