package snippets_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/providers"
)

const referencePage = "../reference.md"

// TestTheReferenceIsUpToDate writes the page of tables from the code: the options and
// the constants with their comments, the headers from the front's own table.
func TestTheReferenceIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Reference\n\nWritten by `go -C docs/snippets test . -update` from the code.\n\n" +
		"What becomes of each member of a request: [Gemini](gemini.md), [Claude](claude.md), [open models](open-models.md), [embeddings](embeddings.md), " +
		"[completions](completions.md), [images](images.md), [speech](speech.md), [reranking](rerank.md), [batches](batches.md).\n" +
		"What else is made from tables: [forms of a model's name](models.md), [members of a config](configs.md), [rules of the cache](cache.md), " +
		"[fields of a record](logs.md), [definitions of analytics](analytics.md), [prices](prices.md), [names of telemetry](telemetry.md), " +
		"[what the front serves beyond the schemas](http-extensions.md).\n")
	writeOptions(t, &b)
	writeErrors(t, &b)
	writeWarnings(t, &b)
	writeStatuses(&b)
	writeHeaders(&b)
	if *update {
		if err := os.WriteFile(referencePage, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(have)); diff != "" {
		t.Errorf("the page differs from the code (-code +page), go test . -update writes it anew:\n%s", diff)
	}
}

// source reads the documentation of a package.
func source(t *testing.T, dir string) *doc.Package {
	t.Helper()
	fset := token.NewFileSet()
	entries, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range entries {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, dir+"/"+name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(fset, files, "github.com/b650d4bf/gateway")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// optionKinds says where an option of a type works.
var optionKinds = []struct{ name, where string }{
	{"Option", "client, call"},
	{"ClientOption", "client"},
	{"RequestOption", "call"},
	{"HandlerOption", "HTTP front"},
}

func writeOptions(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString("\n## Options\n\n| option | works for | what it does |\n|---|---|---|\n")
	p := source(t, "../..")
	type row struct{ name, where, does string }
	var rows []row
	for _, typ := range p.Types {
		i := slices.IndexFunc(optionKinds, func(k struct{ name, where string }) bool { return k.name == typ.Name })
		if i < 0 {
			continue
		}
		for _, f := range typ.Funcs {
			rows = append(rows, row{f.Name, optionKinds[i].where, p.Synopsis(f.Doc)})
		}
	}
	if len(rows) < 40 {
		t.Fatalf("%d options were found", len(rows))
	}
	slices.SortFunc(rows, func(a, c row) int { return strings.Compare(a.name, c.name) })
	for _, r := range rows {
		if r.does == "" {
			t.Errorf("%s has no documentation", r.name)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", r.name, r.where, cell(strings.TrimSpace(strings.TrimPrefix(r.does, r.name))))
	}
}

var bracketed = regexp.MustCompile(`\[\*?([\w.]+)\]`)

// cell makes text fit into a table.
func cell(s string) string {
	s = bracketed.ReplaceAllString(strings.ReplaceAll(s, "|", `\|`), "`$1`")
	return strings.ReplaceAll(s, "\n", " ")
}

// constant is one of a group, with the comment beside it.
type constant struct{ name, value, comment string }

// constants returns those of package providers whose names begin with the prefix.
func constants(t *testing.T, prefix string) []constant {
	t.Helper()
	var out []constant
	p := source(t, "../../providers")
	groups := p.Consts
	for _, typ := range p.Types {
		groups = append(groups, typ.Consts...)
	}
	for _, group := range groups {
		for _, s := range group.Decl.Specs {
			spec, ok := s.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) || len(spec.Values) != 1 {
				continue
			}
			lit, ok := spec.Values[0].(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				continue
			}
			value, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			if spec.Comment.Text() == "" {
				t.Errorf("%s has no comment beside it", spec.Names[0].Name)
			}
			out = append(out, constant{spec.Names[0].Name, value, strings.TrimSpace(spec.Comment.Text())})
		}
	}
	if len(out) == 0 {
		t.Fatalf("no constant begins with %s", prefix)
	}
	return out
}

func writeErrors(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString("\n## Errors\n\n`errors.Is(err, gateway.ErrRateLimited)` asks for a kind. Over HTTP it is `error.code`; the status is the platform's, and where it gave none the one here.\n\n" +
		"| code | in Go | HTTP | what it means |\n|---|---|---|---|\n")
	for _, c := range constants(t, "Err") {
		status := (&providers.Error{Code: providers.Code(c.value)}).HTTPStatus()
		fmt.Fprintf(b, "| `%s` | `%s` | %d | %s |\n", c.value, c.name, status, cell(c.comment))
	}
}

func writeWarnings(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString("\n## Warnings\n\nThey are in `Meta.Warnings`, over HTTP in `x-gateway-warnings`, with the member they are about.\n\n| code | in Go | what was done |\n|---|---|---|\n")
	for _, c := range constants(t, "Warn") {
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", c.value, c.name, cell(c.comment))
	}
}

func writeStatuses(b *strings.Builder) {
	b.WriteString("\n## Cache statuses\n\n| header | logs |\n|---|---|\n")
	for _, s := range []providers.CacheStatus{
		providers.CacheDisabled, providers.CacheMiss, providers.CacheRefreshed, providers.CacheHit, providers.CacheSemanticHit,
	} {
		fmt.Fprintf(b, "| `%s` | %s |\n", string(s), s)
	}
}

func writeHeaders(b *strings.Builder) {
	b.WriteString("\n## Headers\n\nThose of requests. A header that begins with `x-gateway-` and is not here is refused.\n\n| header | value | what it does |\n|---|---|---|\n")
	for _, h := range front.Headers() {
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", h.Name, strings.ReplaceAll(h.Value, "|", `\|`), cell(strings.TrimSpace(h.Does+" "+h.Note)))
	}
}
