// Package snippets_test holds the code that the pages in docs show: it compiles,
// and runs against an emulator of the platform. A page has it between the lines
//
//	<!-- snippet NAME -->
//	<!-- end -->
//
// or, two of them beside each other, between "side by side NAME" and "end"; here it
// stands between the comments "snippet NAME" and "end", as NAME.before and
// NAME.after for two. go test . -update writes the pages anew.
package snippets_test

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
)

var update = flag.Bool("update", false, "write the pages anew")

var (
	begins = regexp.MustCompile(`^\s*// snippet (\S+)$`)
	block  = regexp.MustCompile(`(?s)<!-- (snippet|side by side) (\S+)(?: \| ([^|\n]*) \| ([^|\n]*))? -->\n.*?<!-- end -->\n`)
)

// snippets reads the marked pieces of the Go files of this directory, and the files
// in files, by name.
func snippets(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	sources, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if name != "snippets_test.go" {
			marked(t, name, string(text), out)
		}
	}
	files, err := filepath.Glob("files/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = fenced(strings.TrimPrefix(filepath.Ext(name), "."), string(text))
	}
	return out
}

// marked adds the pieces of one source.
func marked(t *testing.T, file, text string, out map[string]string) {
	t.Helper()
	name, lines := "", []string(nil)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		m := begins.FindStringSubmatch(line)
		switch {
		case m != nil && name != "":
			t.Fatalf("%s: snippet %s begins within %s", file, m[1], name)
		case m != nil:
			if _, has := out[m[1]]; has {
				t.Fatalf("%s: a second snippet %s", file, m[1])
			}
			name, lines = m[1], nil
		case name != "" && strings.TrimSpace(line) == "// end":
			out[name] = fenced("go", dedent(lines))
			name = ""
		case name != "":
			lines = append(lines, line)
		}
	}
	if name != "" {
		t.Fatalf("%s: snippet %s does not end", file, name)
	}
}

// dedent takes away the tabs that all lines begin with.
func dedent(lines []string) string {
	depth := -1
	for _, l := range lines {
		if n := len(l) - len(strings.TrimLeft(l, "\t")); l != "" && (depth < 0 || n < depth) {
			depth = n
		}
	}
	var b strings.Builder
	for _, l := range lines {
		if l != "" {
			l = l[depth:]
		}
		b.WriteString(strings.ReplaceAll(l, "\t", "    ") + "\n")
	}
	return b.String()
}

func fenced(language, text string) string {
	return "```" + language + "\n" + strings.Trim(text, "\n") + "\n```\n"
}

// TestThePagesShowTheCodeThatRuns holds each block of the pages against its
// snippet, and each snippet against the pages: one that no page shows is left over.
func TestThePagesShowTheCodeThatRuns(t *testing.T) {
	known, shown := snippets(t), map[string]bool{}
	for page, text := range pages(t) {
		have := []byte(text)
		want := block.ReplaceAllFunc(have, func(b []byte) []byte {
			m := block.FindSubmatch(b)
			text := filled(t, page, known, shown, string(m[1]), string(m[2]), string(m[3]), string(m[4]))
			first, _, _ := bytes.Cut(b, []byte("\n"))
			return []byte(string(first) + "\n" + text + "<!-- end -->\n")
		})
		if *update {
			if err := os.WriteFile(page, want, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(string(want), string(have)); diff != "" {
			t.Errorf("%s differs from the code (-code +page), go test . -update writes it anew:\n%s", page, diff)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !shown[name] {
			t.Errorf("no page shows the snippet %s", name)
		}
	}
}

// filled is what a block of a page should hold.
func filled(t *testing.T, page string, known map[string]string, shown map[string]bool, kind, name, left, right string) string {
	t.Helper()
	get := func(name string) string {
		text, ok := known[name]
		if !ok {
			t.Fatalf("%s: there is no snippet %s", page, name)
		}
		shown[name] = true
		return text
	}
	if kind == "snippet" {
		return "\n" + get(name) + "\n"
	}
	return fmt.Sprintf("<table>\n<tr><th>%s</th><th>%s</th></tr>\n<tr><td valign=\"top\">\n\n%s\n</td><td valign=\"top\">\n\n%s\n</td></tr>\n</table>\n",
		html.EscapeString(left), html.EscapeString(right), get(name+".before"), get(name+".after"))
}

// TestTheFilesOfThePagesAreRead reads the configs and catalogs as a gateway does.
func TestTheFilesOfThePagesAreRead(t *testing.T) {
	for _, c := range []struct {
		pattern string
		read    func([]byte) error
	}{
		{"files/*config.after.json", func(b []byte) error { _, err := gateway.ParseConfig(b); return err }},
		{"files/*catalog*.json", func(b []byte) error { _, err := catalog.Parse(b); return err }},
	} {
		names, err := filepath.Glob(c.pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no files, %v", c.pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.read(text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
