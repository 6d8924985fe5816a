package vertex

import (
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// maxArgNodes bounds what one streamed call may build.
const maxArgNodes = 10_000

// argTree is the JSON value that streamed arguments build up by path. Keys keep
// the order in which they came.
type argTree struct {
	root  argNode
	nodes int
}

// argNode is one value: an object, an array, a string in the making, or a raw
// scalar.
type argNode struct {
	kind     jsonx.Kind
	text     strings.Builder // a string
	raw      string          // a number, bool or null
	keys     []string
	children []*argNode
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
func (n *argNode) set(isText bool, text, scalar string) {
	if !isText {
		n.kind, n.raw = jsonx.Number, scalar
		return
	}
	n.kind = jsonx.String
	n.text.WriteString(text)
}

// at returns the node of a path such as $.a.b[0]["c d"], making what is
// missing; nil when the path can't be one.
func (t *argTree) at(path string) *argNode {
	rest := strings.TrimPrefix(path, "$")
	node := &t.root
	for rest != "" {
		step, tail, ok := nextStep(rest)
		if !ok {
			return nil
		}
		rest = tail
		if node = t.child(node, step); node == nil {
			return nil
		}
	}
	return node
}

// step is a key, or an index when key is empty.
type step struct {
	key   string
	index int
	isKey bool
}

// nextStep reads .name, [0], ['name'] or ["name"].
func nextStep(s string) (st step, rest string, ok bool) {
	if s[0] == '.' {
		s = s[1:]
		end := strings.IndexAny(s, ".[")
		if end < 0 {
			end = len(s)
		}
		return step{key: s[:end], isKey: true}, s[end:], end > 0
	}
	if s[0] != '[' || len(s) < 3 {
		return step{}, "", false
	}
	if q := s[1]; q == '\'' || q == '"' {
		end := strings.Index(s[2:], string(q)+"]")
		if end < 0 {
			return step{}, "", false
		}
		return step{key: s[2 : 2+end], isKey: true}, s[2+end+2:], true
	}
	inner, rest, found := strings.Cut(s[1:], "]")
	n, err := strconv.Atoi(inner)
	return step{index: n}, rest, found && err == nil && n >= 0
}

// child returns the child of node at the step. An index may only be the next
// free one, or lie before it.
func (t *argTree) child(node *argNode, s step) *argNode {
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
			if k == s.key {
				return node.children[i]
			}
		}
		node.keys = append(node.keys, s.key)
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
	c := new(argNode)
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

func (n *argNode) encode(w *jsonx.Writer) {
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
