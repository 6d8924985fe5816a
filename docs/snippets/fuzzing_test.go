package snippets_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// hasFuzz reports whether the directory, seen from the root, has the target.
func hasFuzz(t *testing.T, dir, target string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), "\nfunc "+target+"(f *testing.F)") {
			return true
		}
	}
	return false
}

var (
	measuredRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `(Fuzz\\w+)` \\|")
	budgetRow   = regexp.MustCompile(`(?m)^(\./?\S*) +(Fuzz\w+) +\d+$`)
)

// TestFuzzTargetsThatAreNamedExist looks up those of the page's table and of CI's.
func TestFuzzTargetsThatAreNamedExist(t *testing.T) {
	for _, tt := range []struct {
		file  string
		row   *regexp.Regexp
		least int
	}{{"../fuzzing.md", measuredRow, 0}, {"../../.ci/fuzz.txt", budgetRow, 40}} {
		text, err := os.ReadFile(tt.file)
		if err != nil {
			t.Fatal(err)
		}
		rows := tt.row.FindAllStringSubmatch(string(text), -1)
		if len(rows) < tt.least {
			t.Errorf("%s has %d rows", tt.file, len(rows))
		}
		for _, m := range rows {
			if !hasFuzz(t, m[1], m[2]) {
				t.Errorf("%s: there is no %s in %s", tt.file, m[2], m[1])
			}
		}
	}
}
