package canary_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/prompts"
)

// brokenAt is a document, broken in and beside each place where a value is: every step of
// the ways.
func brokenAt(doc, value string, step int) []string {
	var out []string
	for at := 0; ; {
		next := strings.Index(doc[at:], value)
		if next < 0 {
			break
		}
		begin := at + next
		end := begin + len(value)
		for _, i := range []int{begin - 1, begin, begin + len(value)/2, end, end + 1} {
			out = append(out, doc[:i])
			for _, sign := range []string{`"`, `{`, `\`, "\x00", "\xff", ",,", "}"} {
				out = append(out, doc[:i]+sign+doc[i:])
			}
		}
		for _, other := range []string{`7`, `[` + `"` + value + `"]`, `{"` + value + `":1}`, `"` + value + `" x`, value, `"` + value + `":`, `"` + value + `","` + value + `"`} {
			if end < len(doc) && doc[begin-1] == '"' && doc[end] == '"' {
				out = append(out, doc[:begin-1]+other+doc[end+1:])
			}
		}
		at = end
	}
	var some []string
	for i := 0; i < len(out); i += step {
		some = append(some, out[i])
	}
	return some
}

// TestErrorsOfBrokenFiles breaks catalogs, configs, prompts and files of credentials next
// to each of their canaries, and reads the errors of what reads them.
func TestErrorsOfBrokenFiles(t *testing.T) {
	f := newFlock(t, t.Name())
	s := sceneOf(t, f)
	dir := t.TempDir()
	config := `{"provider":"@token","forward_headers":["x-own"],"override_params":{"stop":"` + f.text("stop of the config") + `"},
		"retry":{"attempts":2},"cache":{"mode":"simple"}}`
	tests := map[string]struct {
		doc  string
		read func(string) error
	}{
		"catalog": {s.catalog(t), func(doc string) error { _, err := catalog.Parse([]byte(doc)); return err }},
		"catalog in a file": {s.catalog(t), func(doc string) error {
			_, err := catalog.Open(writeFile(t, filepath.Join(dir, "catalog.json"), doc))
			return err
		}},
		"config": {config, func(doc string) error { _, err := gateway.ParseConfig([]byte(doc)); return err }},
		"prompt": {s.stored(), func(doc string) error {
			_, err := prompts.Parse("stored", []byte(doc), prompts.Partials{"tone": "Be brief."})
			return err
		}},
		"prompts in files": {strings.ReplaceAll(s.stored(), " {{> tone}}", ""), func(doc string) error {
			writeFile(t, filepath.Join(dir, "stored.prompt.json"), doc)
			_, err := prompts.FromFS(os.DirFS(dir), "*.prompt.json")
			return err
		}},
		"service account in a file": {accountJSON(t, f), func(doc string) error {
			client, err := gateway.New(gateway.WithProjectID("p"), gateway.WithServiceAccountFile(writeFile(t, filepath.Join(dir, "key.json"), doc)))
			if err == nil {
				_ = client.Close()
			}
			return err
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := tt.read(tt.doc); err != nil {
				t.Fatalf("as it is: %v", err)
			}
			wrong := 0
			for _, c := range f.all() {
				if c.kind == shown || !strings.Contains(tt.doc, c.value) {
					continue
				}
				for i, broken := range brokenAt(tt.doc, c.value, 1) {
					err := tt.read(broken)
					if err == nil {
						continue
					}
					wrong++
					f.refuse(t, fmt.Sprint(name, " ", i, " at ", c.name), seenOf(err), credential, content)
				}
			}
			if wrong < 20 {
				t.Errorf("only %d were refused", wrong)
			}
		})
	}
	t.Run("config in a header", func(t *testing.T) {
		for i, broken := range brokenAt(strings.Join(strings.Fields(config), " "), f.text("stop of the config"), 1) {
			w := s.send(t.Context(), s.handler, call{path: "/v1/chat/completions", body: `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"hi"}]}`,
				header: map[string]string{"X-Gateway-Config": broken}}, f.secret("API key of the front"))
			f.refuse(t, fmt.Sprint("header ", i), shownByFront(w), credential, content)
		}
	})
	t.Run("request", func(t *testing.T) {
		for name, value := range map[string]string{"prompt": f.text("prompt"), "tool argument": f.text("tool argument")} {
			for i, broken := range brokenAt(s.chatBody("@token/gemini-2.5-flash"), value, 3) {
				if w := s.send(t.Context(), s.handler, call{path: "/v1/chat/completions", body: broken}, f.secret("API key of the front")); w.Code != 200 {
					f.refuse(t, fmt.Sprint(name, " ", i), shownByFront(w), credential, content)
				}
			}
		}
	})
}
