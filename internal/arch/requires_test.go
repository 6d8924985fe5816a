package arch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// direct are the modules that the core may require. What is heavier belongs into a
// nested module.
var direct = []string{authTypes, ristretto, "github.com/google/go-cmp", zap, oauth2}

// requires returns the modules that a go.mod requires and that are not marked as
// indirect.
func requires(text string) []string {
	var out []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		one, single := strings.CutPrefix(line, "require ")
		switch {
		case line == "require (":
			inside = true
			continue
		case line == ")":
			inside = false
		case single:
			line = one
		case !inside:
			continue
		}
		if f := strings.Fields(line); len(f) > 1 && !strings.HasSuffix(line, "// indirect") && f[0] != ")" {
			out = append(out, f[0])
		}
	}
	return out
}

func TestTheCoreRequiresLittle(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	have := requires(string(text))
	slices.Sort(have)
	want := slices.Sorted(slices.Values(direct))
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("go.mod: what the core requires directly (-allowed +required):\n%s", diff)
	}
}

func TestRequirementsAreRead(t *testing.T) {
	const text = "module m\n\nrequire example.com/a v1.0.0\n\nrequire (\n\texample.com/b v1.0.0\n\texample.com/c v1.0.0 // indirect\n)\n\nrequire example.com/d v1.0.0 // indirect\n\nreplace example.com/e => ../e\n"
	if diff := cmp.Diff([]string{"example.com/a", "example.com/b"}, requires(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
