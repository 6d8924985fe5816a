package schema

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// definition is an entry of the "$defs" that the JSON form ends up with.
type definition struct {
	name    string
	from    *node
	path    []string // in the caller's schema
	out     *node
	lent    bool // put there because something refers to it
	wanted  bool // something refers to it
	inlined bool // copied to where it was referred to, at least once
	edges   []edge
}

// edge is a reference from one definition to another, or from the root.
type edge struct {
	to       *definition
	path     []string
	optional bool // within a property that is not required
}

// definitions are the definitions by name and by what they define.
type definitions struct {
	list   []*definition
	byNode map[*node]*definition
	byName map[string]*definition
	places map[string]*node // schemas in places that hold none, by pointer
	looked int              // bytes looked through for them
}

// maxLooked is how many bytes are looked through for definitions in places where
// no schemas belong, such as components/schemas.
const maxLooked = 64 << 20

func (d *definitions) add(name string, from *node, path []string) *definition {
	free := name
	for i := 2; d.byName[free] != nil; i++ {
		free = name + "_" + strconv.Itoa(i)
	}
	def := &definition{name: free, from: from, path: path}
	d.list = append(d.list, def)
	d.byNode[from], d.byName[free] = def, def
	return def
}

// declare takes up the definitions at the root.
func (t *rewriter) declare() {
	for _, key := range []string{"$defs", "definitions"} {
		m := t.root.get(key)
		if m == nil || m.named == nil {
			continue
		}
		for _, one := range m.named.list {
			t.defs.add(one.name, one.node, []string{key, one.name})
		}
	}
}

// resolve finds the schema that a reference leads to.
func (t *rewriter) resolve(ref string) (*node, *Error) {
	base, fragment, _ := strings.Cut(ref, "#")
	from := t.root
	if base != "" {
		if from = t.parsed.ids[base]; from == nil {
			from = t.parsed.ids[base+"#"]
		}
		if from == nil {
			return nil, t.fail("$ref", "the reference "+shorten(ref)+" leads out of the schema, where nothing is fetched: "+
				"put the definition under $defs and refer to it as #/$defs/NAME")
		}
	}
	var n *node
	switch {
	case fragment == "":
		n = from
	case fragment[0] == '/':
		steps, err := pointer(fragment)
		if n = walk(from, steps); err == nil && n == nil && from == t.root {
			n = t.elsewhere(steps)
		}
	default:
		n = t.parsed.anchors["#"+fragment]
	}
	if n == nil {
		return nil, t.fail("$ref", "the reference "+shorten(ref)+" leads to nothing: name a definition that is in the schema")
	}
	return n, nil
}

// shorten makes a reference fit for an error.
func shorten(ref string) string {
	const most = 200
	if len(ref) > most {
		ref = strings.ToValidUTF8(ref[:most], "") + "..."
	}
	return strconv.Quote(ref)
}

// pointer splits a JSON pointer that stands in the fragment of a URI. [Pointer]
//
// [Pointer]: https://www.rfc-editor.org/rfc/rfc6901
func pointer(fragment string) ([]string, error) {
	text, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, err
	}
	steps := strings.Split(text[1:], "/")
	for i, s := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
	}
	return steps, nil
}

// walk follows a pointer through keywords that hold schemas. It returns nil when
// there is no such way.
func walk(n *node, steps []string) *node {
	for len(steps) > 0 {
		m := n.get(steps[0])
		if m == nil {
			return nil
		}
		if steps = steps[1:]; m.node != nil {
			n = m.node
			continue
		}
		if len(steps) == 0 {
			return nil
		}
		step := steps[0]
		if steps = steps[1:]; m.named != nil {
			at := m.named.find(step)
			if at < 0 {
				return nil
			}
			n = m.named.list[at].node
			continue
		}
		at, err := strconv.Atoi(step)
		if err != nil || at < 0 || at >= len(m.list) {
			return nil
		}
		n = m.list[at]
	}
	return n
}

// elsewhere finds a schema below keywords that hold none.
func (t *rewriter) elsewhere(steps []string) *node {
	key := strings.Join(steps, "\x00")
	if n, ok := t.defs.places[key]; ok {
		return n
	}
	if t.defs.looked += len(t.raw); t.defs.looked > maxLooked {
		return nil
	}
	raw := t.raw
	for _, step := range steps {
		var found bool
		if at, err := strconv.Atoi(step); err == nil && kindOf(raw) == jsonx.Array {
			list := elements(raw)
			if found = at >= 0 && at < len(list); found {
				raw = list[at]
			}
		} else if kindOf(raw) == jsonx.Object {
			raw, found = jsonx.Lookup(raw, step)
		}
		if !found {
			return nil
		}
	}
	p := parser{r: jsonx.NewReader(raw)}
	n, err := p.document()
	if err != nil {
		n = nil
	}
	t.defs.places[key] = n
	return n
}

// reference writes a reference that stays one, to "$defs" at the root.
func (t *rewriter) reference(n *node) (*node, *Error) {
	ref, _ := n.ref()
	target, err := t.resolve(ref)
	if err != nil {
		return nil, err
	}
	def := t.defs.byNode[target]
	if def == nil {
		def = t.lend(ref, target)
	}
	def.wanted = true
	t.current.edges = append(t.current.edges, edge{def, slices.Clone(t.path), t.optional > 0})
	if at := walk(t.root, []string{"$defs", def.name}); at != target || !strings.HasPrefix(ref, "#/$defs/") {
		n.set(member{key: "$ref", raw: quote("#/$defs/" + escapePointer(def.name))})
	}
	return n, nil
}

// lend makes a definition of a schema in another place.
func (t *rewriter) lend(ref string, target *node) *definition {
	name, path := "root", []string(nil)
	base, fragment, _ := strings.Cut(ref, "#")
	if last := base[strings.LastIndex(base, "/")+1:]; last != "" {
		name = last
	}
	if fragment != "" {
		if steps, err := pointer("/" + strings.TrimPrefix(fragment, "/")); err == nil {
			path = steps
			if last := steps[len(steps)-1]; last != "" {
				name = last
			}
		}
	}
	def := t.defs.add(name, target, path)
	def.lent = true
	return def
}

// escapePointer writes a name as a step of a pointer in a URI's fragment. What
// needs no escape in practice stays readable: the platform compares names.
func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "%", "%25").Replace(name)
}

// define writes the definitions into the root. Those that were copied to all
// places that referred to them are left out.
func (t *rewriter) define(root *node) *Error {
	for more := true; more; {
		more = false
		for _, def := range t.defs.list {
			if def.out != nil || !def.wanted {
				continue
			}
			more = true
			if err := t.definition(def); err != nil {
				return err
			}
		}
		if more {
			continue // with what was lent, or is wanted since
		}
		for _, def := range t.defs.list {
			if def.out == nil && !def.inlined {
				def.wanted, more = true, true
			}
		}
	}
	t.recursion()
	all := new(names)
	for _, def := range t.defs.list {
		if def.out != nil {
			all.put(def.name, def.out)
		}
	}
	place := root.indexOf("$defs")
	if place < 0 {
		place = root.indexOf("definitions")
	}
	switch {
	case len(all.list) == 0 && !t.hadEmptyDefs():
		root.remove("$defs")
	case place >= 0:
		root.members[place] = member{key: "$defs", named: all}
	default:
		root.set(member{key: "$defs", named: all})
	}
	root.remove("definitions")
	return nil
}

// definition writes one definition.
func (t *rewriter) definition(def *definition) *Error {
	t.path, t.current, t.optional = slices.Clone(def.path), def, 0
	if def.lent {
		t.copies++
		defer func() { t.copies-- }()
		if walk(t.root, def.path) != nil {
			t.quiet = 1 // what changes is reported in its own place
			defer func() { t.quiet = 0 }()
		}
	}
	t.active[def.from]++
	defer func() { t.active[def.from]-- }()
	out, err := t.schema(def.from)
	def.out = out
	return err
}

// hadEmptyDefs reports whether the caller wrote "$defs" without any in it.
func (t *rewriter) hadEmptyDefs() bool {
	m := t.root.get("$defs")
	return m != nil && m.named != nil && len(m.named.list) == 0
}

// recursion reports references that lead back to themselves through required
// properties alone: the platform unrolls only the others.
func (t *rewriter) recursion() {
	const open, done = 1, 2
	state := make(map[*definition]int)
	type frame struct {
		def  *definition
		next int
	}
	for _, first := range t.defs.list {
		if state[first] != 0 {
			continue
		}
		state[first] = open
		for stack := []frame{{first, 0}}; len(stack) > 0; {
			top := &stack[len(stack)-1]
			if top.next == len(top.def.edges) {
				state[top.def] = done
				stack = stack[:len(stack)-1]
				continue
			}
			e := top.def.edges[top.next]
			top.next++
			switch {
			case e.optional || state[e.to] == done:
			case state[e.to] == open:
				t.path = e.path
				t.report("$ref", "kept, but it leads back to itself and the platform unrolls only properties that are not required", true)
			default:
				state[e.to] = open
				stack = append(stack, frame{e.to, 0})
			}
		}
	}
	t.path = nil
}
