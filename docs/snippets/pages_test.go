package snippets_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	optionName = regexp.MustCompile(`(\w+\.)?\bWith[A-Z]\w+`)
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeFence  = regexp.MustCompile("(?s)```.*?```")
)

// pages returns the pages of the repository, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	names := []string{"../../README.md", "../../CONTRIBUTING.md"}
	for _, pattern := range []string{"../*.md", "../guides/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) == 0 {
			t.Fatalf("%s: no pages, %v", pattern, err)
		}
		names = append(names, more...)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}

// TestOptionsThatPagesNameExist looks every WithX up among the functions and methods
// of the repository. Those of package option are openai-go's, those of sdktrace and sdkmetric
// OpenTelemetry's.
func TestOptionsThatPagesNameExist(t *testing.T) {
	known := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				known[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range pages(t) {
		for _, name := range optionName.FindAllString(codeFence.ReplaceAllString(text, ""), -1) {
			from, option, _ := strings.Cut(name, ".")
			if option == "" {
				from, option = "", name
			}
			if !known[option] && !slices.Contains([]string{"option", "sdktrace", "sdkmetric"}, from) { // another SDK's
				t.Errorf("%s names %s, which is not there", page, name)
			}
		}
	}
}

// TestLinksOfPagesLeadSomewhere follows the links within the repository.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	for page, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(codeFence.ReplaceAllString(text, ""), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), target)); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

var namedTest = regexp.MustCompile("\\[`(Test\\w+)`\\]\\(([^)]+)\\)")

// TestTestsThatPagesNameExist looks them up in the files that the pages link to.
func TestTestsThatPagesNameExist(t *testing.T) {
	found := 0
	for page, text := range pages(t) {
		for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
			found++
			source, err := os.ReadFile(filepath.Join(filepath.Dir(page), m[2]))
			if err != nil || !strings.Contains(string(source), "\nfunc "+m[1]+"(t *testing.T)") {
				t.Errorf("%s: %s is not in %s, %v", page, m[1], m[2], err)
			}
		}
	}
	if found < 40 {
		t.Errorf("the pages name %d tests, which is too few to be true", found)
	}
}
