// Package supply_test holds what is shipped against what is said of it: the software
// bills of materials in docs/sbom, the licences in docs/supply-chain.md, the database
// of vulnerabilities, and the API of the release before.
//
// The tests that build programs or need a tree of another commit run where the
// steps of .ci/run ask for them by an environment variable.
package supply_test

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	root = "../.."
	own  = "github.com/b650d4bf/gateway"

	askedSupply = "GATEWAY_TEST_SUPPLY" // set by the step supply
)

var update = flag.Bool("update", false, "rewrite docs/sbom and the table of docs/supply-chain.md")

// shipped is one thing that users link or run.
type shipped struct {
	name    string // of its file in docs/sbom
	dir     string // from the root: of a program, or of the module of packages
	program bool
}

var everything = []shipped{
	{"gateway", ".", false},
	{"cache-redis", "cache/redis", false},
	{"cache-postgres", "cache/postgres", false},
	{"cache-sqlite", "cache/sqlite", false},
	{"otel", "otel", false},
	{"prompts", "prompts", false},
	{"structured", "structured", false},
	{"hello", "examples/hello", true},
	{"sidecar", "examples/sidecar", true},
	{"gatewayctl", "cmd/gatewayctl", true},
}

// module is one module of what is linked, and what of it is.
type module struct {
	Path, Version, Sum, Dir string
	Replace                 *struct{ Path, Version, Sum, Dir string }

	dirs []string        // of its packages that are linked
	uses map[string]bool // paths of the modules that they import
}

// isOwn reports whether a module is of this repository.
func (m *module) isOwn() bool { return m.Path == own || strings.HasPrefix(m.Path, own+"/") }

// pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir, Name string
	Standard              bool
	Module                *module
	Imports               []string
}

// linked returns the modules that something links on Linux, by path. Packages
// count and not go.mod, which names modules that are never built, too.
func linked(t *testing.T, s shipped) map[string]*module {
	t.Helper()
	names := []string{"."}
	if !s.program {
		names = importable(list(t, s.dir, "list", "-json=ImportPath,Name", "./..."))
	}
	packages := list(t, s.dir, append([]string{"list", "-deps", "-json=ImportPath,Dir,Standard,Module,Imports"}, names...)...)
	modules, of := map[string]*module{}, map[string]string{}
	for _, p := range packages {
		if p.Standard {
			continue
		}
		m := modules[p.Module.Path]
		if m == nil {
			m = p.Module
			m.uses = map[string]bool{}
			modules[m.Path] = m
		}
		m.dirs = append(m.dirs, p.Dir)
		of[p.ImportPath] = m.Path
	}
	for _, p := range packages {
		for _, name := range p.Imports {
			if to := of[name]; to != "" && to != of[p.ImportPath] {
				modules[of[p.ImportPath]].uses[to] = true
			}
		}
	}
	return modules
}

// importable returns the packages that users of a module can import.
func importable(packages []pkg) []string {
	var names []string
	for _, p := range packages {
		if p.Name != "main" && !slices.Contains(strings.Split(p.ImportPath, "/"), "internal") {
			names = append(names, p.ImportPath)
		}
	}
	return names
}

// list runs the go command and decodes the packages it lists.
func list(t *testing.T, dir string, args ...string) []pkg {
	t.Helper()
	var all []pkg
	d := json.NewDecoder(strings.NewReader(run(t, filepath.Join(root, dir), args...)))
	for {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// run returns what the go command prints. Programs are those for Linux on amd64, whatever
// machine asks.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	var stderr strings.Builder
	cmd.Dir, cmd.Stderr = dir, &stderr
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOFLAGS=-buildvcs=false", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("in %s: go %s: %v\n%s%s", dir, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// TestEverythingShippedIsHere compares the table with the modules that users can
// import and the programs that have a budget.
func TestEverythingShippedIsHere(t *testing.T) {
	var want, have []string
	text, err := os.ReadFile(filepath.Join(root, ".ci", "budgets.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "#" {
			want = append(want, f[0])
		}
	}
	err = filepath.WalkDir(root, func(name string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch first, _, _ := strings.Cut(rel, "/"); {
		case e.IsDir() && (slices.Contains([]string{"examples", "conformance", "bench", "docs", "internal", "cmd"}, first) || len(rel) > 1 && e.Name()[0] == '.'):
			return filepath.SkipDir
		case e.Name() == "go.mod":
			want = append(want, filepath.ToSlash(filepath.Dir(rel)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range everything {
		have = append(have, s.dir)
	}
	slices.Sort(want)
	slices.Sort(have)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("what is shipped is not what the table has (-modules and budgets +table):\n%s", diff)
	}
}

// asked skips a test that builds programs, unless the step of .ci/run asks for it.
func asked(t *testing.T) {
	t.Helper()
	if os.Getenv(askedSupply) == "" && !*update {
		t.Skip("bash .ci/run supply runs it")
	}
}

// sorted returns the modules in the order of their paths.
func sorted(modules map[string]*module) []*module {
	var all []*module
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		all = append(all, modules[path])
	}
	return all
}
