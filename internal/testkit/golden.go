package testkit

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Updating reports whether golden files are to be rewritten.
func Updating() bool { return *update }

// ReadArchive reads an archive from a file, or ends the test.
func ReadArchive(tb testing.TB, path string) *Archive {
	tb.Helper()
	data, err := os.ReadFile(path) // a path of the test's own
	if err != nil {
		tb.Fatal(err)
	}
	return Parse(data)
}

// Golden compares what came out of a test with files of the archive at path.
// With -update it writes them there instead. The map holds file names; empty
// data means that there must be no such file.
func Golden(tb testing.TB, path string, a *Archive, names []string, got map[string][]byte) {
	tb.Helper()
	if Updating() {
		for _, name := range names {
			a.Set(name, got[name])
		}
		if err := os.WriteFile(path, a.Format(), 0o600); err != nil {
			tb.Fatal(err)
		}
		return
	}
	for _, name := range names {
		want := new(Archive)
		want.Set(name, got[name])
		text := Parse(want.Format()).Get(name)
		if diff := cmp.Diff(string(a.Get(name)), string(text)); diff != "" {
			tb.Errorf("%s: %s (-want +got, -update rewrites it)\n%s", path, name, diff)
		}
	}
}
