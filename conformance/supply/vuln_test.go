package supply_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// govulncheck is the environment variable that names the program, which the step vuln
// builds.
const govulncheck = "GATEWAY_GOVULNCHECK"

// vulnerable is what govulncheck exits with when the code calls a known vulnerability.
const vulnerable = 3

// madeUp is the entry of a database: net/url.Parse is vulnerable in every release.
const madeUp = `{"schema_version": "1.3.1", "id": "GO-0000-0001", "modified": "2026-01-01T00:00:00Z", "published": "2026-01-01T00:00:00Z",
 "summary": "made up", "details": "made up", "affected": [{"package": {"name": "stdlib", "ecosystem": "Go"},
 "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}],
 "ecosystem_specific": {"imports": [{"path": "net/url", "symbols": ["Parse"]}]}}],
 "database_specific": {"url": "https://pkg.go.dev/vuln/GO-0000-0001", "review_status": "REVIEWED"}}`

// TestVulnerabilities shows what makes the check fail: a call of what the database
// names, and neither an import nor another call.
func TestVulnerabilities(t *testing.T) {
	program := os.Getenv(govulncheck)
	if program == "" {
		t.Skip("bash .ci/run vuln runs it")
	}
	database := writeTree(t, map[string]string{
		"index/db.json":        `{"modified": "2026-01-01T00:00:00Z"}`,
		"index/modules.json":   `[{"path": "stdlib", "vulns": [{"id": "GO-0000-0001", "modified": "2026-01-01T00:00:00Z"}]}]`,
		"index/vulns.json":     `[{"id": "GO-0000-0001", "modified": "2026-01-01T00:00:00Z"}]`,
		"ID/GO-0000-0001.json": madeUp,
	})
	for call, want := range map[string]int{`url.Parse("https://example.com")`: vulnerable, `url.QueryEscape("a")`: 0} {
		t.Run(call, func(t *testing.T) {
			dir := writeTree(t, map[string]string{
				"go.mod":  "module example.com/m\n\ngo 1.26.0\n",
				"main.go": fmt.Sprintf("package main\n\nimport \"net/url\"\n\nfunc main() { %s }\n", call),
			})
			out, err := exec.CommandContext(t.Context(), program, "-db", "file://"+filepath.ToSlash(database), "-C", dir, "./...").CombinedOutput()
			have := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				have = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if have != want || strings.Contains(string(out), "Vulnerability #1: GO-0000-0001") != (want != 0) {
				t.Errorf("exit code %d, want %d:\n%s", have, want, out)
			}
		})
	}
}

// writeTree writes files below a new directory.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
