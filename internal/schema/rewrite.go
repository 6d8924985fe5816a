package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// rewriter writes one schema in another form.
type rewriter struct {
	Options
	raw    []byte
	parsed *parser
	root   *node

	nodes, bytes int // that may still be made
	depth        int
	path         []string
	quiet        int // changes are not reported
	changes      []Change

	active map[*node]int // schemas around this one, entered through references
	chain  []*node       // references being followed

	// The JSON form's references.
	defs     definitions
	top      *definition // stands for the root
	current  *definition // being written
	optional int         // properties around this that are not required
	copies   int         // copies around this: names of schemas stay with the original
}

// work is a schema being rewritten.
type work struct {
	*node
	types    []string // in JSON Schema's words, without null in the Message form
	nullable bool     // of the Message form
	notes    []string // for the description
}

// document rewrites the root. It returns nil when there is nothing to be sent.
func (t *rewriter) document() (*node, *Error) {
	if t.root.isFalse() {
		return nil, t.fail("", "no value fits the schema false")
	}
	t.active = map[*node]int{t.root: 1}
	t.defs = definitions{
		byNode: make(map[*node]*definition), byName: make(map[string]*definition), places: make(map[string]*node),
	}
	t.top = new(definition)
	t.current = t.top
	if t.Form == JSON {
		t.declare()
	}
	n, entered, err := t.flatten(t.root, true)
	if err != nil {
		return nil, err
	}
	defer t.release(entered)
	if t.Parameters {
		if n, err = t.parameters(n); err != nil {
			return nil, err
		}
	}
	out, err := t.schema(n)
	if err != nil {
		return nil, err
	}
	if t.Form == JSON {
		return out, t.define(out)
	}
	if p := out.get("properties"); t.Parameters && (p == nil || len(p.named.list) == 0) {
		return nil, nil
	}
	return out, nil
}

// enter counts a schema against the limits.
func (t *rewriter) enter(n *node) *Error {
	t.depth++
	t.nodes--
	if n != nil {
		for i := range n.members {
			t.bytes -= len(n.members[i].key) + len(n.members[i].raw)
		}
	}
	switch {
	case t.depth > maxDepth:
		return t.fail("", "the schema is nested too deeply: 128 levels at most")
	case t.nodes < 0 || t.bytes < 0:
		return t.tooLarge()
	}
	return nil
}

func (t *rewriter) leave() { t.depth-- }

// schema rewrites one schema.
func (t *rewriter) schema(n *node) (*node, *Error) {
	if n.boolean == 't' && t.Form == JSON {
		n = &node{}
	}
	flat, entered, err := t.flatten(n, t.Form == Message)
	if err != nil {
		return nil, err
	}
	defer t.release(entered)
	defer t.leave()
	if err := t.enter(flat); err != nil {
		return nil, err
	}
	if _, ok := flat.ref(); ok {
		return t.reference(flat)
	}
	if len(entered) > 0 {
		t.copies++
		defer func() { t.copies-- }()
	}
	w := &work{node: flat}
	t.readType(w)
	t.readConst(w)
	t.readEnum(w)
	if t.Form == Message {
		if out, err := t.alternatives(w); out != nil || err != nil {
			return out, err
		}
	}
	t.tuple(w)
	t.bounds(w)
	if err := t.parts(w); err != nil {
		return nil, err
	}
	t.order(w)
	if t.Form == Message {
		return t.finishMessage(w)
	}
	t.describe(w)
	return w.node, nil
}

// parts goes through the keywords that are left: those that may stay, with the
// schemas that they hold.
func (t *rewriter) parts(w *work) *Error {
	members := w.members
	w.node = &node{members: make([]member, 0, len(members)+2)}
	gone := make(map[string]bool)
	required := requiredOf(members)
	for i := range members {
		m := members[i]
		k := keywords[m.key]
		if m.key == "$defs" || m.key == "definitions" {
			if t.depth == 1 && t.Form == JSON && t.current == t.top {
				w.members = append(w.members, m)
			}
			continue
		}
		if t.copies > 0 && (m.key == "$id" || m.key == "$anchor") {
			continue
		}
		ok, err := t.part(w, &m, k, required, gone)
		if err != nil {
			return err
		}
		if ok {
			w.members = append(w.members, m)
		}
	}
	t.require(w, gone)
	return nil
}

// part rewrites a keyword's value and reports whether it stays.
func (t *rewriter) part(w *work, m *member, k keyword, required, gone map[string]bool) (bool, *Error) {
	switch act := k.action(t.Form); {
	case act == keep && !k.fits(m):
		t.report(m.key, "left out: its value is not what the keyword takes", false)
		return false, nil
	case act == keep && m.key == "format":
		return t.format(w, m), nil
	case act == keep:
	case act == describe:
		t.note(w, m.key, m.raw)
		return false, nil
	case m.key == "additionalProperties":
		t.openKeys(w, m)
		return false, nil
	case act == lose:
		t.report(m.key, "left out: the platform has no such constraint", string(m.raw) == "false")
		return false, nil
	default:
		t.report(m.key, "left out: it says nothing to the model", true)
		return false, nil
	}
	switch {
	case m.named != nil:
		return true, t.properties(m, required, gone)
	case m.list != nil:
		return t.several(m)
	case m.node != nil && m.key == "additionalProperties" && m.node.isFalse():
		m.node = &node{boolean: 'f'}
	case m.node != nil && m.key == "additionalProperties" && m.node.boolean == 't':
	case m.node != nil:
		return true, t.within(m.key, &m.node)
	}
	return true, nil
}

// within rewrites the schema at a step below this one.
func (t *rewriter) within(step string, n **node) (err *Error) {
	t.path = append(t.path, step)
	*n, err = t.schema(*n)
	if err == nil {
		t.path = t.path[:len(t.path)-1]
	}
	return err
}

// properties rewrites the schemas of properties. Those that no value fits are
// gone.
func (t *rewriter) properties(m *member, required, gone map[string]bool) *Error {
	out := new(names)
	t.path = append(t.path, m.key)
	for _, one := range m.named.list {
		if one.node.isFalse() {
			t.report(one.name, "left out: no value fits it", true)
			gone[one.name] = true
			continue
		}
		if !required[one.name] {
			t.optional++
		}
		err := t.within(one.name, &one.node)
		if !required[one.name] {
			t.optional--
		}
		if err != nil {
			return err
		}
		out.put(one.name, one.node)
	}
	t.path = t.path[:len(t.path)-1]
	m.named = out
	return nil
}

// several rewrites a list of schemas, and reports whether any is left.
func (t *rewriter) several(m *member) (bool, *Error) {
	out := make([]*node, 0, len(m.list))
	for i, one := range m.list {
		step := m.key + "[" + strconv.Itoa(i) + "]"
		if one.isFalse() && m.key != "prefixItems" {
			t.report(step, "left out: no value fits it", true)
			continue
		}
		if err := t.within(step, &one); err != nil {
			return false, err
		}
		out = append(out, one)
	}
	if m.list = out; len(out) == 0 {
		t.report(m.key, "left out: it is empty", false)
	}
	return len(out) > 0, nil
}

// requiredOf returns the names that are required.
func requiredOf(members []member) map[string]bool {
	i := slices.IndexFunc(members, func(m member) bool { return m.key == "required" })
	if i < 0 {
		return nil
	}
	list, _ := stringsOf(members[i].raw)
	out := make(map[string]bool, len(list))
	for _, name := range list {
		out[name] = true
	}
	return out
}

// require takes names out of required that are no properties. Without any
// properties they are about those of a schema around, and stay in the JSON form.
func (t *rewriter) require(w *work, gone map[string]bool) {
	m := w.get("required")
	if m == nil {
		return
	}
	list, _ := stringsOf(m.raw)
	p := w.get("properties")
	if p == nil && t.Form == JSON && len(gone) == 0 {
		return
	}
	kept := slices.DeleteFunc(union(list, nil), func(name string) bool {
		if p != nil && p.named.find(name) >= 0 {
			return false
		}
		t.report("required", "left out for "+shorten(name)+", which is not among the properties", false)
		return true
	})
	switch {
	case len(kept) == len(list):
	case len(kept) == 0:
		w.remove("required")
	default:
		m.raw = quoteAll(kept)
	}
}

// order sees that propertyOrdering names all properties, each once.
func (t *rewriter) order(w *work) {
	p, m := w.get("properties"), w.get("propertyOrdering")
	if m != nil {
		list, _ := stringsOf(m.raw)
		if p != nil && len(list) == len(p.named.list) && len(union(list, nil)) == len(list) &&
			!slices.ContainsFunc(list, func(name string) bool { return p.named.find(name) < 0 }) {
			return
		}
		t.report("propertyOrdering", "left out: it does not name each property once", false)
		w.remove("propertyOrdering")
		p = w.get("properties")
	}
	if !t.Ordering || p == nil || len(p.named.list) < 2 { // one has no order
		return
	}
	list := make([]string, 0, len(p.named.list))
	for _, one := range p.named.list {
		list = append(list, one.name)
	}
	w.setAfter("properties", member{key: "propertyOrdering", raw: quoteAll(list)})
}

// note has a constraint told in the description.
func (t *rewriter) note(w *work, key string, raw []byte) {
	if string(raw) == "false" {
		t.report(key, "left out: false is the default", true)
		return
	}
	text := shortText(raw)
	t.report(key, "told in the description: the platform has no such constraint", false)
	w.notes = append(w.notes, key+": "+text)
}

// shortText returns a value for a description, cut if it is very long.
func shortText(raw []byte) string {
	text := string(jsonx.Compact(nil, raw))
	if s, ok := stringOf(raw); ok {
		text = s
	}
	return cut(text)
}

// cut bounds a text that is put into a description.
func cut(text string) string {
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + "..."
	}
	return text
}

// describe writes the notes to the end of the description.
func (t *rewriter) describe(w *work) {
	if len(w.notes) == 0 {
		return
	}
	text := strings.Join(w.notes, "; ")
	if m := w.get("description"); m != nil {
		if s, _ := stringOf(m.raw); strings.TrimSpace(s) != "" {
			text = s + " (" + text + ")"
		}
	}
	w.set(member{key: "description", raw: quote(text)})
	w.notes = nil
}
