package arch

import (
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
)

// apiDir holds what the packages export, a file for each. A change of a file is a
// change of the API: users see a line that goes, and have to keep one that comes.
const apiDir = "testdata/api"

// TestTheExportedAPIIsRecorded compares what packages export with the record; -update
// writes it anew.
func TestTheExportedAPIIsRecorded(t *testing.T) {
	byDir := map[string][]string{}
	for _, s := range load(t) {
		if !s.test && public(s) {
			byDir[s.dir] = append(byDir[s.dir], s.path)
		}
	}
	want := map[string]bool{}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		name := strings.ReplaceAll(strings.Replace(dir, ".", "gateway", 1), "/", "_") + ".txt"
		want[name] = true
		compareAPI(t, name, exported(t, dir, byDir[dir]))
	}
	entries, err := os.ReadDir(apiDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !want[e.Name()] {
			t.Errorf("%s/%s: there is no such package, remove the file", apiDir, e.Name())
		}
	}
}

// public reports whether users can import the package of a file.
func public(s *source) bool {
	for part := range strings.SplitSeq(s.dir, "/") {
		if part == "internal" || part == "examples" || part == "conformance" || part == "bench" {
			return false
		}
	}
	return s.file.Name.Name != "main"
}

func compareAPI(t *testing.T, name, have string) {
	t.Helper()
	path := filepath.Join(apiDir, name)
	if testkit.Updating() {
		if err := os.MkdirAll(apiDir, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(have), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(recorded), have); diff != "" {
		t.Errorf("%s: the API is another than recorded (-recorded +now); if that is meant, go test ./internal/arch -update:\n%s", name, diff)
	}
}

// exported renders the exported declarations of a package without their comments,
// sorted as godoc does.
func exported(t *testing.T, dir string, paths []string) string {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, p := range paths {
		f, err := parser.ParseFile(fset, filepath.Join(root, p), nil, parser.ParseComments) // doc wants objects
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(fset, files, module+"/"+dir)
	if err != nil {
		t.Fatal(err)
	}
	w := &apiWriter{t: t, fset: fset}
	w.values(p.Consts)
	w.values(p.Vars)
	w.funcs(p.Funcs)
	for _, typ := range p.Types {
		w.decl(typ.Decl)
		w.values(typ.Consts)
		w.values(typ.Vars)
		w.funcs(typ.Funcs)
		w.funcs(typ.Methods)
	}
	return w.b.String()
}

// apiWriter writes declarations.
type apiWriter struct {
	t    *testing.T
	fset *token.FileSet
	b    strings.Builder
}

func (w *apiWriter) values(groups []*doc.Value) {
	for _, g := range groups {
		w.decl(g.Decl)
	}
}

func (w *apiWriter) funcs(list []*doc.Func) {
	for _, f := range list {
		w.decl(f.Decl)
	}
}

// decl writes one declaration without comments and bodies.
func (w *apiWriter) decl(d ast.Decl) {
	w.t.Helper()
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.FuncDecl:
			n.Doc, n.Body = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
	var text strings.Builder
	if err := (&printer.Config{Mode: printer.UseSpaces, Tabwidth: 2}).Fprint(&text, w.fset, d); err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) { // the places of comments leave empty lines
		if strings.TrimSpace(line) != "" {
			fmt.Fprint(&w.b, strings.TrimRight(line, "\n"), "\n")
		}
	}
}
