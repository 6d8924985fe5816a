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
		"   prompt  support, version 2\n",
		"   system  You work for Kettles & Co.\n           Be kind, and be brief.\n           - bought: kettle (late!)\n           - bought: lid\n",
		"     user  Hello!\nassistant  Hello! How can I help?\n     user  Where is my kettle?\n",
		"    model  It is on its way.\n           · support, version 1\n",
		"    model  I am sorry: the kettle is late.\n  warning  variables.ordres: left out: the prompt has no such variable (did you mean \"orders\"?)\n",
		`    error  invalid_request: variables: "company", "history", "question" are missing`,
		`    error  prompt_not_found: id: prompt "supp" not found (did you mean "support"?)`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
