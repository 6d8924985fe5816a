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
		"refused  true\n",
		"query  metadata.team=search\n           · chat of search by vertex-ai: stop, $0.0000",
		"· chat of nobody by nobody: invalid_request at messages, $0\n",
		"query  total_tokens[gt]=0&limit=1\n",
		"· more: true\n",
		"feedback  8: quick\n",
		"Where is parcel ####?",
		"columns  time, id, surface, operation, stream, requested_model, …\n",
		"rows  2\n",
		"written  3, dropped 0, failed 0\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
