package engine

import (
	"bytes"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

const (
	// maxArgNodes bounds the values of one streamed call that are not given out
	// yet, and the keys of its open objects.
	maxArgNodes = 10_000
	// maxArgHeld bounds the text that waits behind a string which goes on.
	maxArgHeld = 16 << 20
)

// argWriter turns arguments that are streamed by path into pieces of JSON text.
// The pieces follow the order in which keys came. What a piece has closed can't
// be opened again: a path that goes back there is a fault.
type argWriter struct {
	root            argNode
	nodes           int        // values and keys that are kept
	held            int        // bytes of text that are not given out
	path, text, buf []byte     // of the PartialArg that is read, and the last piece
	free            []*argNode // given out, for the next values
}

// argNode is one value: an object, an array, a string in the making, or a raw
// scalar. A child that was given out whole is nil.
type argNode struct {
	kind     jsonx.Kind // Number stands for all scalars but strings
	named    bool       // what stands before it was given out
	begun    bool       // its first character was given out
	more     bool       // a string that the platform says goes on
	text     []byte     // of a string, or the scalar: what is not given out
	keys     []string
	children []*argNode
	done     int // children that were given out
}

// partialArg is one PartialArg of the wire.
type partialArg struct {
	path, text []byte
	isText     bool // text is a string, else a scalar
	more       bool
}

// apply sets what a list of PartialArg says, and reports whether it makes sense.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling#streaming-fc
func (a *argWriter) apply(raw []byte) bool {
	r := jsonx.NewReader(raw)
	for r.Array(); r.NextElem(); {
		p := a.read(&r)
		if r.Err() != nil || !p.isText && len(p.text) == 0 {
			continue
		}
		if n := a.at(p.path); n == nil || !a.set(n, &p) {
			return false
		}
	}
	return r.Err() == nil
}

// read reads one PartialArg, good until the next one is read.
func (a *argWriter) read(r *jsonx.Reader) (p partialArg) {
	for r.Object(); r.NextKey(); {
		if string(r.Key()) != "nullValue" && r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "jsonPath":
			a.path = append(a.path[:0], r.Bytes()...)
			p.path = a.path
		case "stringValue":
			a.text = append(a.text[:0], r.Bytes()...)
			p.text, p.isText = a.text, true
		case "numberValue", "boolValue":
			p.text = r.Raw()
		case "nullValue":
			r.Skip()
			p.text = []byte("null")
		case "willContinue":
			p.more = r.Bool()
		default:
			r.Skip()
		}
	}
	return p
}

// set gives the node its value; strings for the same path are joined.
func (a *argWriter) set(n *argNode, p *partialArg) bool {
	want := jsonx.Number
	if p.isText {
		want = jsonx.String
	}
	switch {
	case n == &a.root, n.kind == jsonx.Object, n.kind == jsonx.Array, n.begun && n.kind != want:
		return false
	case n.kind != want || !p.isText:
		a.held -= len(n.text)
		n.kind, n.text = want, n.text[:0]
	}
	n.text = append(n.text, p.text...)
	n.more = p.more && p.isText
	a.held += len(p.text)
	return a.held <= maxArgHeld
}

// seed sets the members of an object that came whole.
func (a *argWriter) seed(raw []byte) bool {
	a.root.kind = jsonx.Object
	for key, value := range jsonx.Members(raw) {
		n := a.child(&a.root, step{key: []byte(key), isKey: true})
		if n == nil || !a.set(n, &partialArg{text: jsonx.Compact(nil, value)}) {
			return false
		}
	}
	return true
}

// at returns the node of a path such as $.a.b[0]["c d"], making what is
// missing; nil when the path can't be one.
func (a *argWriter) at(path []byte) *argNode {
	rest := bytes.TrimPrefix(path, []byte("$"))
	node := &a.root
	for len(rest) > 0 {
		step, tail, ok := nextStep(rest)
		if !ok {
			return nil
		}
		rest = tail
		if node = a.child(node, step); node == nil {
			return nil
		}
	}
	return node
}

// step is a key, or an index.
type step struct {
	key   []byte
	index int
	isKey bool
}

// nextStep reads .name, [0], ['name'] or ["name"].
func nextStep(s []byte) (st step, rest []byte, ok bool) {
	if s[0] == '.' {
		s = s[1:]
		end := bytes.IndexAny(s, ".[")
		if end < 0 {
			end = len(s)
		}
		return step{key: s[:end], isKey: true}, s[end:], end > 0
	}
	if s[0] != '[' || len(s) < 3 {
		return step{}, nil, false
	}
	if q := s[1]; q == '\'' || q == '"' {
		end := bytes.Index(s[2:], []byte{q, ']'})
		if end < 0 {
			return step{}, nil, false
		}
		return step{key: s[2 : 2+end], isKey: true}, s[2+end+2:], true
	}
	inner, rest, found := bytes.Cut(s[1:], []byte("]"))
	n, err := strconv.Atoi(string(inner))
	return step{index: n}, rest, found && err == nil && n >= 0
}

// child returns the child of node at the step, nil when it can't be had or was
// given out. An index may only be the next free one, or lie before it.
func (a *argWriter) child(node *argNode, s step) *argNode {
	want := jsonx.Array
	if s.isKey {
		want = jsonx.Object
	}
	if node.kind != jsonx.Invalid && node.kind != want || node == &a.root && !s.isKey {
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
	if a.nodes++; a.nodes > maxArgNodes {
		return nil
	}
	c := a.newNode()
	node.children = append(node.children, c)
	return c
}

// maxFree and maxFreeText bound what is kept for the next values.
const (
	maxFree     = 8
	maxFreeText = 4 << 10
)

func (a *argWriter) newNode() *argNode {
	last := len(a.free) - 1
	if last < 0 {
		return new(argNode)
	}
	c := a.free[last]
	a.free = a.free[:last]
	clear(c.keys)
	*c = argNode{text: c.text[:0], keys: c.keys[:0], children: c.children[:0]}
	return c
}

// release keeps a node that was given out for the next value.
func (a *argWriter) release(c *argNode) {
	if len(a.free) < maxFree && cap(c.text) <= maxFreeText && cap(c.children) <= maxFreeText {
		a.free = append(a.free, c)
	}
}

// more returns the next piece of the text; last says that nothing follows.
func (a *argWriter) more(last bool) string {
	if a.root.kind == jsonx.Invalid {
		if !last {
			return ""
		}
		a.root.kind = jsonx.Object
	}
	a.buf, _ = a.write(a.buf[:0], &a.root, !last, last)
	return string(a.buf)
}

// write appends what is certain of a node, and reports whether that is all of
// it. A node at the tip, where values were set last, may still grow.
func (a *argWriter) write(dst []byte, n *argNode, tip, last bool) ([]byte, bool) {
	switch n.kind {
	case jsonx.Object, jsonx.Array:
		return a.writeList(dst, n, tip, last)
	case jsonx.String:
		if !n.begun {
			n.begun = true
			dst = append(dst, '"')
		}
		dst = appendEscaped(dst, n.text)
		a.held -= len(n.text)
		if n.text = n.text[:0]; !last && (tip || n.more) {
			return dst, false
		}
		return append(dst, '"'), true
	case jsonx.Number:
		if tip && !last {
			return dst, false // it may be set once more
		}
		a.held -= len(n.text)
		return append(dst, n.text...), true
	}
	return append(dst, "null"...), true // a value that was never given
}

func (a *argWriter) writeList(dst []byte, n *argNode, tip, last bool) ([]byte, bool) {
	opening, closing := byte('['), byte(']')
	if n.kind == jsonx.Object {
		opening, closing = '{', '}'
	}
	if !n.begun {
		n.begun = true
		dst = append(dst, opening)
	}
	for ; n.done < len(n.children); n.done++ {
		c := n.children[n.done]
		if !c.named {
			c.named = true
			dst = n.appendKey(dst, n.done)
		}
		var all bool
		if dst, all = a.write(dst, c, tip && n.done == len(n.children)-1, last); !all {
			return dst, false
		}
		n.children[n.done] = nil
		a.release(c)
		if n.kind == jsonx.Array {
			a.nodes-- // a key stays, to tell a second one of its name
		}
	}
	if !last && tip {
		return dst, false
	}
	a.nodes -= len(n.keys)
	return append(dst, closing), true
}

// appendKey appends what stands before the child.
func (n *argNode) appendKey(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	if n.kind != jsonx.Object {
		return dst
	}
	dst = append(dst, '"')
	dst = appendEscaped(dst, []byte(n.keys[i]))
	return append(dst, '"', ':')
}

// appendEscaped appends what stands between the quotes of a JSON string.
func appendEscaped(dst, s []byte) []byte {
	if len(s) == 0 {
		return dst
	}
	var w jsonx.Writer
	w.Reset(dst[len(dst):])
	w.StringBytes(s)
	quoted := w.Bytes()
	return append(dst, quoted[1:len(quoted)-1]...)
}
