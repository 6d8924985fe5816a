package prompts_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/prompts"
)

func files(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

func rendered(t *testing.T, store prompts.Store, ref string) string {
	t.Helper()
	out, err := prompts.New(store).Render(t.Context(), ref, map[string]any{"name": "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	return out.Request.Messages[0].Content.Text()
}

func TestFromFS(t *testing.T) {
	fsys := files("welcome.json", asking(`"Hi {{name}}. {{> tone}}"`), "bye.json", "\ufeff"+asking(`"Bye {{name}}."`),
		"notes.txt", "not a prompt", "._welcome.json", "\x00", "partials/.gitkeep", "", "partials/tone.txt", "Be brief.\n")
	store, err := prompts.FromFS(fsys)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, []string{"bye", "welcome"}, store.IDs())
	wantEqual(t, "Hi Ada. Be brief.", rendered(t, store, "welcome"))
}

func TestFromFS_directories(t *testing.T) {
	dir := t.TempDir()
	for name, text := range files(
		"a/p.json", `{"labels":{"live":1},"versions":{`+numbered(1)+`}}`,
		"b/p.json", `{"labels":{"live":2},"versions":{`+numbered(1)+`,`+numbered(2)+`}}`,
		"b/q.prompt.json", asking(`"{{> own}}"`), "b/partials/own.mustache", "{{name}}",
	) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store, err := prompts.FromFS(os.DirFS(dir), "a/*.json", "b/*.json")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, []string{"p", "q.prompt"}, store.IDs())
	wantEqual(t, "2", rendered(t, store, "p@live"))
	wantEqual(t, "1", rendered(t, store, "p@1"))
	wantEqual(t, "Ada", rendered(t, store, "q.prompt"))
}

func TestFromFS_reportsMistakes(t *testing.T) {
	tests := []struct {
		name     string
		fsys     fstest.MapFS
		patterns []string
		want     string
	}{
		{"nothing there", files(), nil, `prompts: no file matches "*.json"`},
		{"a bad pattern", files(), []string{"[.json"}, "prompts: \"[.json\": syntax error in pattern"},
		{"several files", files("a.json", "{", "b c.json", asking(`"x"`), "c.json", asking(`"{{"`)), nil,
			"a.json: prompt \"a\": not valid JSON at line 1, column 1\n" +
				"b c.json: prompt \"b c\": id: must be letters, digits, '-', '_' and '.', at most 128 of them\n" +
				`c.json: prompt "c": versions.1.request.messages[0].content: line 1: a tag begins with {{ and has no }}`},
		{"a partial that nobody uses", files("a.json", asking(`"x"`), "partials/bad.txt", "\n{{#x}}"), nil,
			`partial "bad": line 2: section {{#x}} is not closed`},
		{"a partial whose name is none", files("a.json", asking(`"x"`), "partials/a b.txt", "x"), nil,
			`partial "a b": "a b" is not a name, which has letters, digits, _ and -, and dots before members (where {{ is meant as it is, set other delimiters: {{=<% %>=}})`},
		{"two partials of a name", files("a.json", asking(`"x"`), "partials/t.txt", "x", "partials/t.md", "y"), nil,
			`prompts: partials/t.txt: there is another partial "t"`},
		{"another version of a number", files("a/p.json", asking(`"x"`), "b/p.json", asking(`"y"`)), []string{"*/*.json"},
			`b/p.json: prompt "p": versions.1: there is another version of this number, and versions never change: give it a new one`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := prompts.FromFS(tt.fsys, tt.patterns...)
			if err == nil {
				t.Fatal("no error")
			}
			got, _, _ := strings.Cut(err.Error(), "\nprompts: no file")
			wantEqual(t, tt.want, got)
		})
	}
}

func TestMemoryKeepsVersions(t *testing.T) {
	store := new(prompts.Memory)
	add := func(source string) error {
		p, err := prompts.Parse("p", []byte(source), nil)
		if err != nil {
			t.Fatal(err)
		}
		return store.Add(p)
	}
	for _, source := range []string{
		`{"description":"d","default":1,"labels":{"a":1,"b":1},"versions":{` + numbered(1) + `}}`,
		`{"labels":{"b":2},"versions":{` + numbered(1) + `,` + numbered(2) + `}}`,
		`{"versions":{ "1" : { "request" : {"messages":[{"role":"user", "content":"1"}]}}}}`, // the same but for white space
	} {
		if err := add(source); err != nil {
			t.Fatal(err)
		}
	}
	err := add(`{"default":3,"versions":{"1":{"request":{"messages":[{"role":"user","content":"other"}]}},` + numbered(3) + `}}`)
	if err == nil || !strings.Contains(err.Error(), "versions.1: there is another version") {
		t.Errorf("error %v", err)
	}
	p, err := store.Prompt(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, []int{1, 2}, p.Versions())
	wantEqual(t, map[string]int{"a": 1, "b": 2}, p.Labels())
	wantEqual(t, "d1", p.Description()+rendered(t, store, "p"))
	if store.Add(nil) == nil {
		t.Error("no error for nil")
	}
	_, err = store.Prompt(t.Context(), "pp")
	if !errors.Is(err, prompts.ErrNotFound) || err.Error() != `prompts: prompt "pp" not found (did you mean "p"?)` {
		t.Errorf("error %v", err)
	}
}

func TestFromCatalog(t *testing.T) {
	list, err := catalog.Parse([]byte(`{"prompts":{"welcome":` + asking(`"Hi {{name}}. {{> tone}}"`) + `},"partials":{"tone":"Be brief."}}`))
	if err != nil {
		t.Fatal(err)
	}
	store, err := prompts.FromCatalog(list)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "Hi Ada. Be brief.", rendered(t, store, "welcome@1"))

	list, err = catalog.Parse([]byte(`{"prompts":{"a":{"version":{}},"b":` + asking(`"{{> x}}"`) + `},"partials":{"y":"{{"}}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = prompts.FromCatalog(list)
	wantEqual(t, `partial "y": line 1: a tag begins with {{ and has no }}
prompt "a": version: unknown member (did you mean "versions"?)
prompt "b": versions.1.request.messages[0].content: line 1: there is no partial "x" (did you mean "y"?)`, err.Error())
}

var _ prompts.Catalog = (*catalog.File)(nil)
