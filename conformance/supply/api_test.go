package supply_test

import (
	"fmt"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/packages"
)

// baseline is the environment variable that names a tree of the release before,
// which the step api sets.
const baseline = "GATEWAY_BASELINE_DIR"

// accepted is the list of changes that break code of users and are meant.
const accepted = root + "/.ci/api-changes.txt"

// TestCompatibleWithTheBaseline compares the API of all modules that users import
// with that of the release before, as apidiff judges it.
func TestCompatibleWithTheBaseline(t *testing.T) {
	before := os.Getenv(baseline)
	if before == "" {
		t.Skip("bash .ci/run api runs it")
	}
	text, err := os.ReadFile(accepted)
	if err != nil {
		t.Fatal(err)
	}
	var broken []string
	count := 0
	for _, s := range everything {
		if s.program {
			continue
		}
		if _, err := os.Stat(filepath.Join(before, s.dir, "go.mod")); err != nil {
			t.Logf("%s is new", s.dir)
			continue
		}
		old, present := load(t, filepath.Join(before, s.dir)), load(t, filepath.Join(root, s.dir))
		count += len(old)
		broken = append(broken, changes(old, present)...)
	}
	t.Logf("%d packages compared", count)
	if count == 0 {
		t.Error("nothing was compared")
	}
	for _, problem := range judge(broken, string(text)) {
		t.Error(problem)
	}
}

// load returns the types of the packages that users of a module can import.
func load(t *testing.T, dir string) map[string]*types.Package {
	t.Helper()
	names := strings.Fields(run(t, dir, "list", "-f", `{{if ne .Name "main"}}{{.ImportPath}}{{end}}`, "./..."))
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(strings.Split(name, "/"), "internal") })
	list, err := packages.Load(&packages.Config{
		Context: t.Context(), Mode: packages.NeedName | packages.NeedTypes, Dir: dir,
		Env: append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOFLAGS=-buildvcs=false", "GOWORK=off"),
	}, names...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*types.Package{}
	for _, p := range list {
		for _, err := range p.Errors {
			t.Fatalf("%s: %v", p.PkgPath, err)
		}
		out[p.PkgPath] = p.Types
	}
	return out
}

// changes returns what breaks users, a line for each.
func changes(old, present map[string]*types.Package) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(old)) {
		name := strings.TrimPrefix(strings.TrimPrefix(path, own), "/")
		if name == "" {
			name = core
		}
		if present[path] == nil {
			out = append(out, name+": package removed")
			continue
		}
		for _, c := range apidiff.Changes(old[path], present[path]).Changes {
			if !c.Compatible {
				out = append(out, name+": "+c.Message)
			}
		}
	}
	return out
}

// judge returns the changes that the list has not, the lines of the list that no
// change needs, and those without a reason.
func judge(broken []string, text string) []string {
	var problems []string
	listed := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		change, reason, _ := strings.Cut(line, " # ")
		change = strings.TrimSpace(change)
		listed[change] = true
		if strings.TrimSpace(reason) == "" {
			problems = append(problems, fmt.Sprintf(".ci/api-changes.txt: %q has no reason behind its #", change))
		}
		if !slices.Contains(broken, change) {
			problems = append(problems, fmt.Sprintf(".ci/api-changes.txt: there is no change %q, take the line out", change))
		}
	}
	for _, b := range broken {
		if !listed[b] {
			problems = append(problems, "breaks users: "+b)
		}
	}
	return problems
}

func TestChangesThatAreAccepted(t *testing.T) {
	broken := []string{"gateway: WithRegion: removed", "cache: Store.Get: changed from func() to func(int)"}
	tests := []struct {
		name, text string
		want       []string
	}{
		{"none", "# a comment\n\n", []string{"breaks users: gateway: WithRegion: removed", "breaks users: cache: Store.Get: changed from func() to func(int)"}},
		{"all", broken[0] + " # nobody used it\n" + broken[1] + " # it never worked\n", nil},
		{"one without a reason", broken[0] + "\n" + broken[1] + " # it never worked\n", []string{`.ci/api-changes.txt: "gateway: WithRegion: removed" has no reason behind its #`}},
		{"one more", broken[0] + " # a\n" + broken[1] + " # b\ncache: X: removed # c\n", []string{`.ci/api-changes.txt: there is no change "cache: X: removed", take the line out`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, judge(broken, tt.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestChangesAreSeen breaks a package in the ways that users would notice.
func TestChangesAreSeen(t *testing.T) {
	tree := func(source string) map[string]*types.Package {
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module " + own + "\n\ngo 1.26.0\n", "a.go": "package gateway\n\n" + source} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return load(t, dir)
	}
	old := tree("type Option func()\nfunc WithRegion(string) Option { return nil }\ntype T struct{ A, b int }\ntype I interface{ M() }\nfunc New() {}\n")
	present := tree("type Option func()\ntype T struct{ A string; C int }\ntype I interface{ M(); N() }\nfunc New(...Option) {}\n")
	want := []string{
		"gateway: I.N: added", "gateway: New: changed from func() to func(...Option)", "gateway: T.A: changed from int to string", "gateway: WithRegion: removed",
	}
	have := changes(old, present)
	slices.Sort(have)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := changes(old, old); again != nil {
		t.Errorf("a package differs from itself: %q", again)
	}
}
