package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// argTree is what [argWriter] is compared with: the JSON value that streamed arguments build up by path. Keys keep
// the order in which they came.
type argTree struct {
	root  treeNode
	nodes int
}

// treeNode is one value: an object, an array, a string in the making, or a raw
// scalar.
type treeNode struct {
	kind     jsonx.Kind
	text     strings.Builder // a string
	raw      string          // a number, bool or null
	keys     []string
	children []*treeNode
}

// apply sets what a list of PartialArg says.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling#streaming-fc
func (t *argTree) apply(raw []byte) bool {
	r := jsonx.NewReader(raw)
	for r.Array(); r.NextElem(); {
		var path, text, scalar string
		isText := false
		for r.Object(); r.NextKey(); {
			switch string(r.Key()) {
			case "jsonPath":
				path = r.String()
			case "stringValue":
				text, isText = r.String(), true
			case "numberValue", "boolValue":
				scalar = string(r.Raw())
			case "nullValue":
				r.Skip()
				scalar = "null"
			default:
				r.Skip()
			}
		}
		if r.Err() != nil || !isText && scalar == "" {
			continue
		}
		node := t.at(path)
		if node == nil || node == &t.root || len(node.children) > 0 {
			return false
		}
		node.set(isText, text, scalar)
	}
	return r.Err() == nil
}

// set gives the node its value; strings for the same path are joined.
func (n *treeNode) set(isText bool, text, scalar string) {
	if !isText {
		n.kind, n.raw = jsonx.Number, scalar
		n.text.Reset()
		return
	}
	n.kind = jsonx.String
	n.text.WriteString(text)
}

// at returns the node of a path such as $.a.b[0]["c d"], making what is
// missing; nil when the path can't be one.
func (t *argTree) at(path string) *treeNode {
	rest := strings.TrimPrefix(path, "$")
	node := &t.root
	for rest != "" {
		step, tail, ok := nextStep([]byte(rest))
		if !ok {
			return nil
		}
		rest = string(tail)
		if node = t.child(node, step); node == nil {
			return nil
		}
	}
	return node
}

// child returns the child of node at the step. An index may only be the next
// free one, or lie before it.
func (t *argTree) child(node *treeNode, s step) *treeNode {
	want := jsonx.Array
	if s.isKey {
		want = jsonx.Object
	}
	if node.kind != jsonx.Invalid && node.kind != want {
		return nil
	}
	node.kind = want
	if s.isKey {
		for i, k := range node.keys {
			if k == string(s.key) {
				return node.children[i]
			}
		}
		node.keys = append(node.keys, string(s.key))
	} else {
		if s.index < len(node.children) {
			return node.children[s.index]
		}
		if s.index > len(node.children) {
			return nil
		}
	}
	if t.nodes++; t.nodes > maxArgNodes {
		return nil
	}
	c := new(treeNode)
	node.children = append(node.children, c)
	return c
}

// String returns the arguments as JSON text.
func (t *argTree) String() string {
	if t.root.kind != jsonx.Object {
		return "{}"
	}
	var w jsonx.Writer
	t.root.encode(&w)
	return string(w.Bytes())
}

func (n *treeNode) encode(w *jsonx.Writer) {
	switch n.kind {
	case jsonx.Object:
		w.BeginObject()
		for i, c := range n.children {
			w.AnyKey(n.keys[i])
			c.encode(w)
		}
		w.EndObject()
	case jsonx.Array:
		w.BeginArray()
		for _, c := range n.children {
			c.encode(w)
		}
		w.EndArray()
	case jsonx.String:
		w.String(n.text.String())
	case jsonx.Number:
		w.RawString(n.raw)
	default:
		w.Null()
	}
}

// written applies the lists, one event each, and returns the pieces.
func written(lists ...string) (pieces []string, ok bool) {
	var a argWriter
	for _, list := range lists {
		if !a.apply([]byte(list)) {
			return pieces, false
		}
		pieces = append(pieces, a.more(false))
	}
	return append(pieces, a.more(true)), true
}

func TestArgumentsAreWrittenByPath(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lists []string
		want  string // "" when it can't be
	}{
		{"nothing", nil, `{}`},
		{"an empty list", []string{`[]`}, `{}`},
		{"scalars", []string{`[{"jsonPath":"$.a","numberValue":1.50},{"jsonPath":"$.b","boolValue":true},{"jsonPath":"$.c","nullValue":"NULL_VALUE"}]`}, `{"a":1.50,"b":true,"c":null}`},
		{"a null that is null", []string{`[{"jsonPath":"$.a","nullValue":null,"stringValue":null,"willContinue":null}]`}, `{"a":null}`},
		{"a string in pieces", []string{`[{"jsonPath":"$.a","stringValue":"x","willContinue":true}]`, `[{"jsonPath":"$.b","numberValue":1},{"jsonPath":"$.a","stringValue":"\"y"}]`}, `{"a":"x\"y","b":1}`},
		{"an empty string", []string{`[{"jsonPath":"$.a","stringValue":""}]`}, `{"a":""}`},
		{"objects in lists", []string{`[{"jsonPath":"$.a[0].b","numberValue":1},{"jsonPath":"$.a[1].b","numberValue":2},{"jsonPath":"$.a[0].c","numberValue":3}]`}, `{"a":[{"b":1,"c":3},{"b":2}]}`},
		{"objects in lists, by event", []string{`[{"jsonPath":"$.a[0].b","numberValue":1}]`, `[{"jsonPath":"$.a[0].c","numberValue":3}]`, `[{"jsonPath":"$.a[1].b","numberValue":2}]`, `[{"jsonPath":"$.d","stringValue":"e"}]`},
			`{"a":[{"b":1,"c":3},{"b":2}],"d":"e"}`},
		{"quoted keys", []string{`[{"jsonPath":"$['a b'][\"c.d\"]","numberValue":1}]`}, `{"a b":{"c.d":1}}`},
		{"escapes in path and text", []string{`[{"jsonPath":"$[\"a\\u0062\"]","stringValue":"\"c\"","willContinue":true},{"stringValue":"\u0064\"","jsonPath":"$[\"a\\u0062\"]"}]`}, `{"a\\u0062":"\"c\"d\""}`},
		{"a number given twice", []string{`[{"jsonPath":"$.a","numberValue":1}]`, `[{"jsonPath":"$.a","numberValue":2}]`}, `{"a":2}`},
		{"a piece without a value", []string{`[{"jsonPath":"$.a"}]`}, `{}`},
		{"a string that never ends", []string{`[{"jsonPath":"$.a","stringValue":"x","willContinue":true}]`, `[{"jsonPath":"$.b[0]","numberValue":1}]`, `[{"jsonPath":"$.b[1]","stringValue":"y"}]`}, `{"a":"x","b":[1,"y"]}`},
		{"a string that ended", []string{`[{"jsonPath":"$.a","stringValue":"x"}]`, `[{"jsonPath":"$.b","numberValue":1}]`, `[{"jsonPath":"$.a","stringValue":"y"}]`}, ""},
		{"an object that ended", []string{`[{"jsonPath":"$.a.b","stringValue":"x"}]`, `[{"jsonPath":"$.c","numberValue":1}]`, `[{"jsonPath":"$.a.d","stringValue":"y"}]`}, ""},
		{"a list that ended", []string{`[{"jsonPath":"$.a[0]","stringValue":"x"}]`, `[{"jsonPath":"$.c","numberValue":1}]`, `[{"jsonPath":"$.a[1]","stringValue":"y"}]`}, ""},
		{"an index that leaves a gap", []string{`[{"jsonPath":"$.a[1]","numberValue":1}]`}, ""},
		{"an index that is none", []string{`[{"jsonPath":"$.a[-1]","numberValue":1}]`}, ""},
		{"a path that is none", []string{`[{"jsonPath":"a","numberValue":1}]`}, ""},
		{"a path that ends early", []string{`[{"jsonPath":"$.a[","numberValue":1}]`}, ""},
		{"a path into no object", []string{`[{"jsonPath":"$[0]","numberValue":1}]`}, ""},
		{"an object where a scalar is", []string{`[{"jsonPath":"$.a","numberValue":1}]`, `[{"jsonPath":"$.a.b","numberValue":1}]`}, ""},
		{"a scalar where an object is", []string{`[{"jsonPath":"$.a.b","numberValue":1}]`, `[{"jsonPath":"$.a","numberValue":1}]`}, ""},
		{"a number where a string began", []string{`[{"jsonPath":"$.a","stringValue":"x","willContinue":true}]`, `[{"jsonPath":"$.a","numberValue":1}]`}, ""},
		{"a scalar for the whole", []string{`[{"jsonPath":"$","numberValue":1}]`}, ""},
		{"no list", []string{`{"jsonPath":"$.a"}`}, ""},
		{"no objects", []string{`[1]`}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pieces, ok := written(tt.lists...)
			if got := strings.Join(pieces, ""); ok != (tt.want != "") || ok && got != tt.want {
				t.Errorf("%v %s, want %q", ok, got, tt.want)
			}
		})
	}
}

func TestArgumentsComeAsSoonAsTheyAreCertain(t *testing.T) {
	got, _ := written(
		`[{"jsonPath":"$.a.b","stringValue":"one ","willContinue":true}]`,
		`[{"jsonPath":"$.a.b","stringValue":"two"}]`,
		`[{"jsonPath":"$.n","numberValue":1}]`,
		`[{"jsonPath":"$.l[0]","stringValue":"x","willContinue":true}]`,
		`[{"jsonPath":"$.l[1]","stringValue":"held"}]`,
		`[{"jsonPath":"$.l[0]","stringValue":"y"}]`,
	)
	want := []string{`{"a":{"b":"one `, `two`, `"},"n":`, `1,"l":["x`, ``, `y","held`, `"]}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestArgumentsThatAreGivenOutCostNothing(t *testing.T) {
	var a argWriter
	for i := range 3 * maxArgNodes {
		if !a.apply(fmt.Appendf(nil, `[{"jsonPath":"$.a[%d].b","stringValue":"x"}]`, i)) {
			t.Fatalf("fault at %d", i)
		}
		_ = a.more(false)
	}
	if a.nodes > 5 || a.held != 0 {
		t.Errorf("%d nodes and %d bytes are kept", a.nodes, a.held)
	}
}

func TestArgumentsThatAreHeldAreBounded(t *testing.T) {
	var a argWriter
	open := `[{"jsonPath":"$.a","stringValue":"x","willContinue":true}]`
	text := `[{"jsonPath":"$.b","stringValue":"` + strings.Repeat("x", 1<<20) + `","willContinue":true}]`
	if !a.apply([]byte(open)) {
		t.Fatal("fault at once")
	}
	for i := range 100 {
		if !a.apply([]byte(text)) {
			return
		}
		if a.more(false); i > 20 {
			t.Fatalf("%d bytes are held", a.held)
		}
	}
}

func FuzzPartialArgs(f *testing.F) {
	f.Add([]byte(`[{"jsonPath":"$.a[0]['b']","stringValue":"x"}]`), []byte(`[{"jsonPath":"$.a[1]","numberValue":1}]`), []byte(`[]`))
	f.Add([]byte(`[{"jsonPath":"$.a","stringValue":"x","willContinue":true}]`), []byte(`[{"jsonPath":"$.b.c","boolValue":true}]`), []byte(`[{"jsonPath":"$.a","stringValue":"\u00e9"}]`))
	f.Fuzz(func(t *testing.T, one, two, three []byte) {
		var tree argTree
		lists, fits := []string{string(one), string(two), string(three)}, true
		for _, list := range lists {
			if !jsonx.ValidString(list) || len(list) > 1<<14 {
				return
			}
			fits = fits && tree.apply([]byte(list))
		}
		pieces, ok := written(lists...)
		got := strings.Join(pieces, "")
		if ok && (!jsonx.ValidString(got) || got[0] != '{') {
			t.Errorf("%q is no object", got)
		}
		// All that the writer takes, the tree takes, and makes the same of it.
		if ok && (!fits || got != tree.String()) {
			t.Errorf("%s, want %v %s", got, fits, tree.String())
		}
	})
}
