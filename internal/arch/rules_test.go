package arch

import (
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// findings applies the rules to files made up for it: path and text in turn.
func findings(t *testing.T, except []exception, files ...string) []string {
	t.Helper()
	fset := token.NewFileSet()
	var all []*source
	for i := 0; i < len(files); i += 2 {
		s, err := parse(fset, files[i], []byte(files[i+1]))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	var out []string
	for _, f := range check(all, except) {
		out = append(out, f.at+" "+f.rule)
	}
	return out
}

func TestImportsThatAreRefused(t *testing.T) {
	tests := []struct {
		name, file, imports string
		refused             bool
	}{
		{"the root, from below", "providers/a.go", module, true},
		{"a provider, from the contract", "providers/a.go", module + "/providers/vertex", true},
		{"a sibling, from a leaf", "catalog/a.go", module + "/providers", true},
		{"the contract, from the config", "config/a.go", module + "/providers", true},
		{"a package of others, from a leaf", "catalog/a.go", "go.uber.org/zap", true},
		{"more than the types of auth, from the contract", "providers/a.go", "cloud.google.com/go/auth/credentials", true},
		{"what has a longer name only", "internal/gcpauth/a.go", "cloud.google.com/go/authority", true},
		{"the module's name as a prefix only", "gateway.go", module + "x", true},
		{"a second JSON door", "internal/front/a.go", "encoding/json", true},
		{"unsafe outside jsonx", "internal/sse/a.go", "unsafe", true},
		{"a directory without a row", "internal/newcomer/a.go", "fmt", true},
		{"an internal package, from the examples", "examples/tour/main.go", module + "/internal/sse", true},
		{"a test helper, from a test", "providers/a_test.go", module + "/providers/vertex", false},
		{"the contract, from a provider", "providers/vertex/a.go", module + "/providers", false},
		{"credentials, from gcpauth", "internal/gcpauth/a.go", "cloud.google.com/go/auth/credentials", false},
		{"the standard library", "internal/sse/a.go", "net/http", false},
		{"the root, from the examples", "examples/tour/main.go", module, false},
		{"packages of others, from the examples", "examples/tour/main.go", "example.com/any", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := findings(t, nil, tt.file, "package p\n\nimport _ \""+tt.imports+"\"\n")
			if refused := len(got) > 0; refused != tt.refused {
				t.Errorf("findings %q, want any: %v", got, tt.refused)
			}
		})
	}
}

func TestShapesThatAreRefused(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	tests := []struct {
		name, file, text string
		want             []string
	}{
		{"a file too long", "catalog/a.go", "package p" + lines(451), []string{"catalog/a.go file length"}},
		{"a test too long", "catalog/a_test.go", "package p" + lines(451), []string{"catalog/a_test.go file length"}},
		{"a file just short enough", "catalog/a.go", "package p" + lines(450), nil},
		{"a function too long", "catalog/a.go", "package p\nfunc f() {" + lines(90) + "}", []string{"catalog/a.go:2 function length"}},
		{"a function just short enough", "catalog/a.go", "package p\nfunc f() {" + lines(89) + "}", nil},
		{"init", "catalog/a.go", "package p\nfunc init() {}", []string{"catalog/a.go:2 init"}},
		{"init in a test", "catalog/a_test.go", "package p\nfunc init() {}", []string{"catalog/a_test.go:2 init"}},
		{"a method named init", "catalog/a.go", "package p\nfunc (t) init() {}", nil},
		{"panic", "catalog/a.go", "package p\nfunc f() { func() { panic(1) }() }", []string{"catalog/a.go:2 panic"}},
		{"panic in a test", "catalog/a_test.go", "package p\nfunc f() { panic(1) }", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, findings(t, nil, tt.file, tt.text)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVariablesThatAreRefused(t *testing.T) {
	state, fine := []string{"catalog/a.go:2 state"}, []string(nil)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a lock", `var v sync.Mutex`, state},
		{"a pool", `var v = sync.Pool{}`, state},
		{"an atomic", `var v atomic.Int64`, state},
		{"a channel", `var v = make(chan int)`, state},
		{"an empty map", `var v = map[string]int{}`, state},
		{"a zero value", `var v int`, state},
		{"a registry", `var v = map[string]int{"a": 1}; func f() { v["b"] = 2 }`, state},
		{"a counter", `var v = 1; func f() { v++ }`, state},
		{"a slice that is copied into", `var v = []int{1}; func f() { copy(v[1:], nil) }`, state},
		{"a map that is emptied", `var v = map[int]int{1: 1}; func f() { clear(v) }`, state},
		{"a member that is set", `var v = &t{1}; func f() { (*v).n = 2 }`, state},
		{"a variable that is ranged into", `var v = 1; func f() { for v = range 3 {} }`, state},
		{"a table", `var v = map[string]int{"a": 1}; func f() int { return v["a"] }`, fine},
		{"a sentinel", `var V = errors.New("v")`, fine},
		{"a pattern", `var v = regexp.MustCompile("v")`, fine},
		{"an assertion", `var _ I = (*T)(nil)`, fine},
		{"a local variable of the same name", `var v = 1; func f() { v := 2; v++ }`, fine},
		{"a member of the same name", `var v = 1; func f(x T) { x.v = 2 }`, fine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, findings(t, nil, "catalog/a.go", "package p\n"+tt.text)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
	embed := "package p\n\n//go:embed a.json\nvar v []byte\n"
	if got := findings(t, nil, "catalog/a.go", embed); got != nil {
		t.Errorf("embedded file: findings %q, want none", got)
	}
}

func TestExceptionsExcuseOneFinding(t *testing.T) {
	const text = "package p\nfunc f() { panic(1) }\nfunc g() { panic(1) }"
	except := []exception{{"panic", "catalog.f", ""}, {"state", "catalog.f", ""}}
	want := []string{"catalog.f exception", "catalog/a.go:3 panic"}
	if diff := cmp.Diff(want, findings(t, except, "catalog/a.go", text)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
