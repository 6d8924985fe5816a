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
		"assistant  Hello from Gemini.\n           · gemini gemini-2.5-flash: ok\n           · retry Not Triggered, fallback Active\n",
		"· gemini gemini-2.5-flash: service_unavailable\n           · gemini gemini-2.5-flash: ok\n           · retry Success on 2 tries, fallback Active\n",
		"assistant  Hello from Claude.\n           · gemini gemini-2.5-flash: service_unavailable\n           · gemini gemini-2.5-flash: service_unavailable\n" +
			"           · claude anthropic.claude-sonnet-4-5@20250929: ok\n           · retry Failed, fallback Active\n",
		"assistant  Hello from Claude, streamed.\n",
		" had come  Hello from Gemini, and",
		"    error  stream_interrupted\n           · gemini gemini-2.5-flash: stream_interrupted\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "Lost") {
		t.Errorf("a broken stream left its words in\n%s", out.String())
	}
}
