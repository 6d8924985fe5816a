// Package arch tests the shape of the repository: which package may import
// which, how long files and functions may be, and what no file may hold. It
// reads the sources as text, nested modules too, so it needs no build.
package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/b650d4bf/gateway"
)

// source is one parsed Go file.
type source struct {
	path  string // from the repository's root, with slashes
	dir   string // the directory of path
	test  bool
	lines int
	fset  *token.FileSet
	file  *ast.File
}

// finding is one breach of a rule. Subject names what exceptions may list.
type finding struct {
	rule, subject, at, text string
}

func (f finding) String() string { return f.at + ": " + f.rule + ": " + f.text }

// at returns file and line of a node.
func (s *source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.fset.Position(n.Pos()).Line)
}

// parse reads one file, whose path counts from the repository's root.
func parse(fset *token.FileSet, name string, text []byte) (*source, error) {
	s := &source{
		path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(text, []byte("\n")), fset: fset,
	}
	var err error
	s.file, err = parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return s, err
}

// load parses all Go files of the repository.
func load(t *testing.T) []*source {
	t.Helper()
	var all []*source
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if base := e.Name(); name != root && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		s, err := parse(fset, filepath.ToSlash(rel), text)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(all, func(s *source) bool { return s.path == "gateway.go" }) {
		t.Fatalf("gateway.go is not among the %d files below %s", len(all), root)
	}
	return all
}

// check applies every rule to the files and takes the exceptions off. An
// exception that excuses nothing is a finding too.
func check(all []*source, except []exception) []finding {
	used := make([]bool, len(except))
	var left []finding
	for _, f := range slices.Concat(checkImports(all), checkSizes(all), checkWords(all), checkVariables(all)) {
		i := slices.IndexFunc(except, func(e exception) bool { return e.rule == f.rule && e.subject == f.subject })
		if i < 0 {
			left = append(left, f)
			continue
		}
		used[i] = true
	}
	for i, e := range except {
		if !used[i] {
			left = append(left, finding{"exception", e.subject, e.subject, "nothing is left of the rule " + e.rule + " to excuse"})
		}
	}
	slices.SortFunc(left, func(a, b finding) int { return strings.Compare(a.at, b.at) })
	return left
}

func TestRepository(t *testing.T) {
	for _, f := range check(load(t), exceptions) {
		t.Error(f)
	}
}

// TestLayersExist fails for a row that no package is left for.
func TestLayersExist(t *testing.T) {
	all := load(t)
	for _, l := range layers {
		if !slices.ContainsFunc(all, func(s *source) bool { return matches([]string{l.dir}, s.dir) }) {
			t.Errorf("no package in %s: take the row out", l.dir)
		}
	}
}

// TestLayoutIsWritten fails for a package that the table of CONTRIBUTING.md
// leaves out.
func TestLayoutIsWritten(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		if strings.HasSuffix(l.dir, "/...") || l.dir == "." {
			continue
		}
		if !bytes.Contains(text, []byte("\n| `"+l.dir+"` |")) {
			t.Errorf("CONTRIBUTING.md: the layout has no row for %s", l.dir)
		}
	}
}
