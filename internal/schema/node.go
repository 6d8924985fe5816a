package schema

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// node is one schema: its members in their order, or a boolean. Nodes of the
// source are shared and never changed; clone first.
type node struct {
	boolean byte // 't' or 'f' for a schema that is a boolean
	members []member
}

// member is a keyword with its value: schemas where the keyword holds such, and
// else the bytes it was written with.
type member struct {
	key   string
	raw   []byte
	node  *node
	list  []*node
	named *names
}

// names are schemas with names, in order.
type names struct {
	list  []named
	index map[string]int // of longer lists
}

type named struct {
	name string
	node *node
}

// indexed is the length from which a list of names is looked up in a map.
const indexed = 16

func (s *names) find(name string) int {
	if s.index != nil {
		if i, ok := s.index[name]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(s.list, func(n named) bool { return n.name == name })
}

// put replaces the schema of that name or adds it at the end.
func (s *names) put(name string, n *node) {
	if i := s.find(name); i >= 0 {
		s.list[i].node = n
		return
	}
	if s.list = append(s.list, named{name, n}); s.index != nil {
		s.index[name] = len(s.list) - 1
	} else if len(s.list) == indexed {
		s.index = make(map[string]int, 2*indexed)
		for i := range s.list {
			s.index[s.list[i].name] = i
		}
	}
}

// get returns the member with the key, or nil.
func (n *node) get(key string) *member {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if n.members[i].key == key {
			return &n.members[i]
		}
	}
	return nil
}

func (n *node) has(key string) bool { return n.get(key) != nil }

// ref returns the schema's reference, if it is one.
func (n *node) ref() (string, bool) {
	m := n.get("$ref")
	if m == nil || m.raw == nil {
		return "", false
	}
	return stringOf(m.raw)
}

// set replaces the member of that key or adds it at the end.
func (n *node) set(m member) {
	if old := n.get(m.key); old != nil {
		*old = m
		return
	}
	n.members = append(n.members, m)
}

// setAfter is set, with the place for a new member.
func (n *node) setAfter(key string, m member) {
	if i := n.indexOf(key); i >= 0 && !n.has(m.key) {
		n.members = slices.Insert(n.members, i+1, m)
		return
	}
	n.set(m)
}

// setFirst is set, with a new member before all but the other $-keywords.
func (n *node) setFirst(m member) {
	if n.has(m.key) {
		n.set(m)
		return
	}
	i := 0
	for i < len(n.members) && n.members[i].key[:min(1, len(n.members[i].key))] == "$" {
		i++
	}
	n.members = slices.Insert(n.members, i, m)
}

func (n *node) indexOf(key string) int {
	return slices.IndexFunc(n.members, func(m member) bool { return m.key == key })
}

func (n *node) remove(keys ...string) {
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return slices.Contains(keys, m.key) })
}

// clone copies the list of members, and no more.
func (n *node) clone() *node {
	return &node{boolean: n.boolean, members: slices.Clone(n.members)}
}

// isTrue reports whether any value fits.
func (n *node) isTrue() bool { return n.boolean == 't' || n.boolean == 0 && len(n.members) == 0 }

// isFalse reports whether no value fits: false, or {"not": {}} as some
// generators write it.
func (n *node) isFalse() bool {
	if n.boolean != 0 || len(n.members) != 1 || n.members[0].key != "not" {
		return n.boolean == 'f'
	}
	raw := n.members[0].raw
	return string(raw) == "true" || isEmptyObject(raw)
}

func isEmptyObject(raw []byte) bool {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Object {
		return false
	}
	r.Object()
	return !r.NextKey() && r.End() == nil
}

func (n *node) write(w *jsonx.Writer) {
	switch n.boolean {
	case 't', 'f':
		w.Bool(n.boolean == 't')
		return
	}
	w.BeginObject()
	for i := range n.members {
		m := &n.members[i]
		w.AnyKey(m.key)
		switch {
		case m.node != nil:
			m.node.write(w)
		case m.list != nil:
			w.BeginArray()
			for _, one := range m.list {
				one.write(w)
			}
			w.EndArray()
		case m.named != nil:
			w.BeginObject()
			for _, one := range m.named.list {
				w.AnyKey(one.name)
				one.node.write(w)
			}
			w.EndObject()
		default:
			w.Raw(m.raw)
		}
	}
	w.EndObject()
}

// text returns the node as it would be written.
func (n *node) text() string {
	var w jsonx.Writer
	n.write(&w)
	return string(w.Bytes())
}

// same reports whether two documents differ in white space and in the escapes of
// keys at most.
func same(a, b *jsonx.Reader) bool {
	kind := a.Kind()
	if kind != b.Kind() {
		return false
	}
	equal := true
	switch kind {
	case jsonx.Object:
		a.Object()
		b.Object()
		for a.NextKey() {
			equal = equal && b.NextKey() && string(a.Key()) == string(b.Key()) && same(a, b)
		}
		return equal && !b.NextKey()
	case jsonx.Array:
		a.Array()
		b.Array()
		for a.NextElem() {
			equal = equal && b.NextElem() && same(a, b)
		}
		return equal && !b.NextElem()
	}
	return bytes.Equal(a.Raw(), b.Raw())
}

// parser reads a schema in one pass.
type parser struct {
	r       jsonx.Reader
	nodes   int
	path    []string
	anchors map[string]*node // by $anchor, as "#name"
	ids     map[string]*node // by $id
}

func (p *parser) document() (*node, *Error) {
	n, err := p.schema()
	if err != nil {
		return nil, err
	}
	if e := p.r.End(); e != nil {
		return nil, &Error{Message: "not valid JSON: " + e.Error()}
	}
	return n, nil
}

func (p *parser) fail(message string) *Error {
	if e := p.r.Err(); e != nil {
		return &Error{Message: "not valid JSON: " + e.Error()}
	}
	return &Error{Path: formatPath(p.path, ""), Message: message}
}

func (p *parser) schema() (*node, *Error) {
	p.nodes++
	switch p.r.Kind() {
	case jsonx.Bool:
		if p.r.Bool() {
			return &node{boolean: 't'}, nil
		}
		return &node{boolean: 'f'}, nil
	case jsonx.Object:
	default:
		return nil, p.fail("a schema must be an object, or true or false")
	}
	if len(p.path) > 2*maxDepth {
		return nil, p.fail("the schema is nested too deeply: 128 levels at most")
	}
	n := new(node)
	for p.r.Object(); p.r.NextKey(); {
		m := member{key: string(p.r.Key())}
		p.path = append(p.path, m.key)
		if err := p.value(&m); err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		if len(n.members) >= maxKeywords {
			return nil, p.fail("has too many keywords")
		}
		n.set(m) // the last of equal keys counts, as with most readers
		p.name(n, &m)
	}
	return n, nil
}

// maxKeywords is the largest number of keywords in one schema; names of
// properties don't count.
const maxKeywords = 256

// name remembers schemas that have a name of their own.
func (p *parser) name(n *node, m *member) {
	if m.key != "$anchor" && m.key != "$id" {
		return
	}
	s, ok := stringOf(m.raw)
	switch {
	case !ok || s == "":
	case m.key == "$anchor":
		if p.anchors == nil {
			p.anchors = make(map[string]*node)
		}
		p.anchors["#"+s] = n
	default:
		if p.ids == nil {
			p.ids = make(map[string]*node)
		}
		p.ids[s] = n
	}
}

// value reads a keyword's value. Where it is not of the shape that the keyword
// wants it is kept as it is, and left out later.
func (p *parser) value(m *member) (err *Error) {
	holds, kind := keywords[m.key].holds, p.r.Kind()
	switch {
	case holds&holdsNames != 0 && kind == jsonx.Object:
		return p.names(m)
	case holds&holdsList != 0 && kind == jsonx.Array:
		return p.list(m)
	case holds&holdsSchema != 0 && (kind == jsonx.Object || kind == jsonx.Bool):
		m.node, err = p.schema()
		return err
	}
	if m.raw = p.r.Raw(); m.raw == nil {
		return p.fail("")
	}
	return nil
}

func (p *parser) names(m *member) *Error {
	m.named = new(names)
	for p.r.Object(); p.r.NextKey(); {
		name := string(p.r.Key())
		p.path = append(p.path, name)
		n, err := p.schema()
		if err != nil {
			return err
		}
		m.named.put(name, n)
		p.path = p.path[:len(p.path)-1]
	}
	return nil
}

func (p *parser) list(m *member) *Error {
	m.list = []*node{}
	for p.r.Array(); p.r.NextElem(); {
		p.path = append(p.path, "["+strconv.Itoa(len(m.list))+"]")
		n, err := p.schema()
		if err != nil {
			return err
		}
		m.list = append(m.list, n)
		p.path = p.path[:len(p.path)-1]
	}
	return nil
}

// stringOf returns the text of a JSON string.
func stringOf(raw []byte) (string, bool) {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.String {
		return "", false
	}
	s := r.String()
	return s, r.End() == nil
}

// quote returns a string as JSON.
func quote(s string) []byte {
	var w jsonx.Writer
	w.String(s)
	return w.Bytes()
}

// elements returns the raw elements of a JSON array, nil when it is none.
func elements(raw []byte) [][]byte {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Array {
		return nil
	}
	out := [][]byte{}
	for r.Array(); r.NextElem(); {
		out = append(out, r.Raw())
	}
	return out
}

// array writes raw values as a JSON array.
func array(values [][]byte) []byte {
	var w jsonx.Writer
	w.BeginArray()
	for _, v := range values {
		w.Raw(v)
	}
	w.EndArray()
	return w.Bytes()
}

func kindOf(raw []byte) jsonx.Kind {
	r := jsonx.NewReader(raw)
	return r.Kind()
}

// strings of a JSON array; false when there is anything else in it.
func stringsOf(raw []byte) ([]string, bool) {
	values := elements(raw)
	if values == nil {
		return nil, false
	}
	out := make([]string, 0, len(values))
	for _, v := range values {
		s, ok := stringOf(v)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// quoteAll writes strings as a JSON array.
func quoteAll(list []string) []byte {
	var w jsonx.Writer
	w.BeginArray()
	for _, s := range list {
		w.String(s)
	}
	w.EndArray()
	return w.Bytes()
}
