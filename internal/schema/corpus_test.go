package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
)

// corpus returns the schemas of testdata by file name, with what each is for.
// Those called tool_ are parameters, those called answer_ are of answers.
func corpus(t testing.TB) (files []string, schemas map[string][]byte) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d schemas, %v", len(files), err)
	}
	schemas = make(map[string][]byte)
	for _, file := range files {
		schemas[file] = bytes.TrimSpace(testkit.ReadArchive(t, file).Get("schema.json"))
	}
	return files, schemas
}

func optionsOf(file string, f Form) Options {
	tool := strings.HasPrefix(filepath.Base(file), "tool_")
	return Options{Form: f, Ordering: !tool || f == Message, Parameters: tool}
}

// indented lays JSON out for reading and keeps its order.
func indented(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCorpus(t *testing.T) {
	files, schemas := corpus(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			in := schemas[file]
			got := make(map[string][]byte)
			var told strings.Builder
			for _, f := range []struct {
				form Form
				name string
			}{{JSON, "json"}, {Message, "message"}} {
				out, changes, err := Transform(in, optionsOf(file, f.form))
				switch {
				case err != nil:
					fmt.Fprintf(&told, "%s: error: %v\n", f.name, err)
				case out == nil:
					fmt.Fprintf(&told, "%s: left out\n", f.name)
				case bytes.Equal(in, out):
					fmt.Fprintf(&told, "%s: the same bytes\n", f.name)
				}
				for _, c := range changes {
					fmt.Fprintf(&told, "%s: %s: %s", f.name, c.Path, c.Message)
					if c.Lossless {
						told.WriteString(" [lossless]")
					}
					told.WriteByte('\n')
				}
				if out == nil {
					continue
				}
				if !bytes.Equal(in, out) {
					got[f.name+".json"] = indented(t, out)
				}
				if checkKept(t, in, out, changes); f.form == JSON {
					checkJSON(t, out)
				} else {
					checkMessage(t, out)
				}
			}
			got["changes.txt"] = []byte(told.String())
			testkit.Golden(t, file, testkit.ReadArchive(t, file), []string{"json.json", "message.json", "changes.txt"}, got)
		})
	}
}

func TestDoneTwiceIsDoneOnce(t *testing.T) {
	files, schemas := corpus(t)
	for _, file := range files {
		o := optionsOf(file, JSON)
		once, _, err := Transform(schemas[file], o)
		if err != nil {
			continue
		}
		twice, changes, err := Transform(once, o)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if diff := cmp.Diff(string(once), string(twice)); diff != "" {
			t.Errorf("%s (-once +twice)\n%s", file, diff)
		}
		for _, c := range changes {
			if !strings.Contains(c.Message, "leads back") { // which is no change
				t.Errorf("%s: %v", file, c)
			}
		}
	}
}

func TestTheSameComesOutEachTime(t *testing.T) {
	files, schemas := corpus(t)
	for i, file := range files {
		runs := 20
		if i%12 == 0 {
			runs = 1000
		}
		for _, f := range []Form{JSON, Message} {
			o := optionsOf(file, f)
			first, told, _ := Transform(schemas[file], o)
			for range runs {
				again, changes, _ := Transform(schemas[file], o)
				if !bytes.Equal(first, again) || len(told) != len(changes) {
					t.Fatalf("%s comes out as\n%s and as\n%s", file, first, again)
				}
			}
			_, changes, _ := Transform(schemas[file], o)
			if diff := cmp.Diff(told, changes); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
		}
	}
}
