package logs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/logs"
)

const page = "../docs/logs.md"

func TestThePageHasTheFields(t *testing.T) {
	const begin, end = "<!-- fields -->\n", "<!-- /fields -->\n"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the page has no place for the fields")
	}
	var b strings.Builder
	b.WriteString(head + begin + "| field | kind | what it is |\n|---|---|---|\n")
	for _, f := range logs.Fields() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, f.Kind, f.Doc)
	}
	b.WriteString(end + tail)
	if testkit.Updating() {
		if err := os.WriteFile(page, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(b.String(), string(data)); diff != "" {
		t.Errorf("run go test ./logs -update (-want +got)\n%s", diff)
	}
}
