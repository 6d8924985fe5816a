package testkit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseReadsWhatFormatWrites(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       *Archive
	}{
		{"nothing", "", &Archive{}},
		{"a comment alone", "hello\n", &Archive{Comment: []byte("hello\n")}},
		{"files without a comment", "-- a --\n1\n-- b/c.json --\n{}\n\n", &Archive{
			Comment: []byte{}, Files: []File{{"a", []byte("1\n")}, {"b/c.json", []byte("{}\n\n")}},
		}},
		{"lines that only resemble markers", "c\n-- a --\n--b--\n-- --\n--  --\n x -- y --\n", &Archive{
			Comment: []byte("c\n"), Files: []File{{"a", []byte("--b--\n-- --\n--  --\n x -- y --\n")}},
		}},
		{"an empty file", "-- a --\n-- b --\nx\n", &Archive{
			Comment: []byte{}, Files: []File{{"a", []byte{}}, {"b", []byte("x\n")}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Parse([]byte(tt.text))
			if diff := cmp.Diff(tt.want, got, cmp.Transformer("text", func(b []byte) string { return string(b) })); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.text, string(got.Format())); diff != "" {
				t.Errorf("formatted (-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseTakesWindowsLineEndsAndAMissingLastOne(t *testing.T) {
	a := Parse([]byte("-- a --\r\n1\r\n-- b --"))
	if diff := cmp.Diff([]File{{"a", []byte("1\r\n")}, {"b", []byte{}}}, a.Files); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSetReplacesAddsAndRemoves(t *testing.T) {
	a := Parse([]byte("-- a --\n1\n-- b --\n2\n"))
	a.Set("a", []byte("3"))
	a.Set("c", []byte("4\n"))
	a.Set("b", nil)
	a.Set("d", nil)
	if diff := cmp.Diff("-- a --\n3\n-- c --\n4\n", string(a.Format())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// failures counts the errors of a test that is expected to fail.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

func TestGoldenFindsDifferences(t *testing.T) {
	if Updating() {
		t.Skip("the archive would be rewritten")
	}
	path := filepath.Join(t.TempDir(), "x.txtar")
	if err := os.WriteFile(path, []byte("-- same --\n1\n-- other --\n2\n-- gone --\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := ReadArchive(t, path)
	fake := &failures{TB: t}
	Golden(fake, path, a, []string{"same", "other", "gone", "new"}, map[string][]byte{
		"same": []byte("1"), "other": []byte("4\n"), "new": []byte("5\n"),
	})
	if fake.n != 3 {
		t.Errorf("%d differences found, want 3: other, gone and new", fake.n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("c\n-- a --\n1\n-- b --\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		once := Parse(data).Format()
		if diff := cmp.Diff(string(once), string(Parse(once).Format())); diff != "" {
			t.Errorf("formatting again changes it (-want +got)\n%s", diff)
		}
	})
}
