package schema

import (
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// alternatives writes a choice of schemas or of types for the Schema message,
// where anyOf is the only keyword of its schema. It returns nil when there is no
// choice, or one that is made. [Alone]
//
// [Alone]: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/control-generated-output
func (t *rewriter) alternatives(w *work) (*node, *Error) {
	key, list := choiceOf(w.node)
	if key == "" {
		if len(w.types) < 2 {
			return nil, nil // there is no choice
		}
		return t.anyType(w)
	}
	base := w.clone()
	base.remove(key)
	if key == "oneOf" {
		t.report(key, "written as anyOf", true)
	} else if base.has("oneOf") {
		t.report("oneOf", "left out: there is anyOf beside it", false)
		base.remove("oneOf")
	}
	w.nullable = w.nullable || slices.ContainsFunc(list, isNull)
	var out []*node
	left := 0
	for _, n := range list {
		if !n.isFalse() && !isNull(n) {
			left++
		}
	}
	for i, n := range list {
		if n.isFalse() || isNull(n) {
			continue
		}
		one, err := t.choice(base, n, key, i, left == 1)
		if err != nil {
			return nil, err
		}
		out = append(out, branches(one)...)
	}
	switch {
	case left > 1:
		return t.anyOf(w, base, key, out)
	case left == 1 && len(out) > 0:
		return t.anyOf(w, &node{}, key, out)
	}
	if w.node = base; left == 0 && w.nullable && len(w.types) == 0 {
		w.typed([]string{"null"})
	}
	return t.alternatives(w) // of types, perhaps
}

// choiceOf returns the keyword that gives a choice, with the schemas in it.
func choiceOf(n *node) (key string, list []*node) {
	for _, key := range []string{"anyOf", "oneOf"} {
		if m := n.get(key); m != nil && m.list != nil {
			return key, m.list
		}
	}
	return "", nil
}

// anyOf writes a choice that is left after each schema in it was written.
func (t *rewriter) anyOf(w *work, base *node, key string, out []*node) (*node, *Error) {
	if m := base.get("default"); m != nil && len(out) > 1 {
		if kindOf(m.raw) == jsonx.Null {
			t.report("default", "left out: there must be nothing beside anyOf", true)
		} else {
			t.report("default", "told in the description: there must be nothing beside anyOf", false)
		}
	}
	if w.nullable || slices.ContainsFunc(out, func(n *node) bool { return n.has("nullable") }) {
		for i := range out {
			out[i] = nullable(out[i], true)
		}
	}
	switch out = distinct(out); len(out) {
	case 0:
		return nil, t.fail(key, "no value can fit any of the schemas")
	case 1:
		return out[0], nil
	}
	return &node{members: []member{{key: "anyOf", list: out}}}, nil
}

// branches returns the schemas of a choice, or the one schema that is none.
func branches(n *node) []*node {
	if n == nil {
		return nil
	}
	if m := n.get("anyOf"); m != nil {
		return m.list
	}
	return []*node{n}
}

// distinct leaves out schemas that are there before.
func distinct(list []*node) []*node {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(n *node) bool {
		text := n.text()
		again := seen[text]
		seen[text] = true
		return again
	})
}

// nullable lets null be a value, too.
func nullable(n *node, yes bool) *node {
	if n == nil || !yes {
		return n
	}
	out := n.clone()
	if m := out.get("anyOf"); m != nil {
		list := make([]*node, 0, len(m.list))
		for _, one := range m.list {
			list = append(list, nullable(one, true))
		}
		m.list = list
		return out
	}
	if m := out.get("type"); m == nil || string(m.raw) != `"NULL"` {
		out.setAfter("type", member{key: "nullable", raw: []byte("true")})
	}
	return out
}

// choice writes one schema of a choice with all that stands beside the choice,
// or returns nil when both can't hold. What describes the choice describes each.
func (t *rewriter) choice(base, n *node, key string, i int, only bool) (out *node, err *Error) {
	step := key + "[" + strconv.Itoa(i) + "]"
	t.path = append(t.path, step)
	flat, entered, err := t.flatten(n, true)
	defer t.release(entered)
	if err != nil {
		return nil, err
	}
	base = base.clone()
	if !only {
		explain(base, flat)
	}
	both, conflict := merge(base, flat)
	if conflict != "" {
		t.path = t.path[:len(t.path)-1]
		t.report(step, "left out: its "+conflict+" contradicts what stands beside "+key, false)
		return nil, nil // no value fits
	}
	if out, err = t.schema(both); err == nil {
		t.path = t.path[:len(t.path)-1]
	}
	return out, err
}

// explain moves what describes a choice to one of the schemas in it.
func explain(base, n *node) {
	if n.has("title") {
		base.remove("title")
	}
	text := descriptionOf(base)
	if m := base.get("default"); m != nil {
		if kindOf(m.raw) != jsonx.Null {
			text = sentence(text, "Default: "+shortText(m.raw))
		}
		base.remove("default")
	}
	if own := descriptionOf(n); own != text {
		text = sentence(text, own)
	}
	if text != "" {
		base.set(member{key: "description", raw: quote(text)})
	}
}

func descriptionOf(n *node) string {
	m := n.get("description")
	if m == nil {
		return ""
	}
	s, _ := stringOf(m.raw)
	return s
}

// sentence joins two texts.
func sentence(a, b string) string {
	switch {
	case a == "" || b == "":
		return a + b
	case a[len(a)-1] == '.' || a[len(a)-1] == '\n':
		return a + " " + b
	}
	return a + ". " + b
}

// anyType writes several types as a choice, each with what is about it.
func (t *rewriter) anyType(w *work) (*node, *Error) {
	base := w.clone()
	base.remove("type")
	var out []*node
	for _, typ := range w.types {
		n := &node{members: []member{{key: "type", raw: quote(typ)}}}
		for _, m := range base.members {
			if isAbout(m.key, typ) {
				n.members = append(n.members, m)
			}
		}
		if m := n.get("enum"); m != nil {
			values := elements(m.raw)
			mine := slices.DeleteFunc(values, func(v []byte) bool {
				got := typeOf(v)
				return got != typ && !(got == "integer" && typ == "number")
			})
			if len(mine) == 0 {
				continue
			}
			m.raw = array(mine)
		}
		explain(n, &node{})
		one, err := t.schema(n)
		if err != nil {
			return nil, err
		}
		out = append(out, branches(one)...)
	}
	return t.anyOf(w, base, "type", out)
}

// isAbout reports whether a keyword says anything about values of a type.
func isAbout(key, typ string) bool {
	about := keywords[key].typ
	return about == "" || about == typ || about == "number" && typ == "integer"
}

// infer returns the type that a schema is about where it doesn't say so, or "".
func (t *rewriter) infer(w *work) string {
	if len(w.types) > 0 {
		return w.types[0]
	}
	for _, m := range w.members {
		if typ := keywords[m.key].typ; typ != "" {
			return typ
		}
	}
	if w.has("format") || len(w.notes) > 0 && w.has("enum") {
		return "string"
	}
	if m := w.get("default"); m != nil && kindOf(m.raw) != jsonx.Null {
		return typeOf(m.raw)
	}
	return ""
}

// finishMessage writes what the Schema message can't do without: a type, and the
// items of an array.
func (t *rewriter) finishMessage(w *work) (*node, *Error) {
	typ := t.infer(w)
	if len(w.types) == 0 && typ != "" {
		t.report("type", "added, since the platform must be told one", true)
	}
	t.describe(w)
	if typ == "" {
		t.report("type", "added, as one of string, number and boolean: the platform must be told one", false)
		w.types = []string{"string", "number", "boolean"}
		return t.anyType(w)
	}
	w.setFirst(member{key: "type", raw: quote(types[typ])})
	w.members = slices.DeleteFunc(w.members, func(m member) bool {
		foreign := !isAbout(m.key, typ)
		if foreign {
			t.report(m.key, "left out: it is about another type", true)
		}
		return foreign
	})
	if typ == "array" && !w.has("items") {
		t.path = append(t.path, "items")
		items, err := t.schema(&node{boolean: 't'})
		if err != nil {
			return nil, err
		}
		t.path = t.path[:len(t.path)-1]
		w.set(member{key: "items", node: items})
	}
	return nullable(w.node, w.nullable), nil
}

// openKeys leaves additionalProperties out of the Schema message, which some
// models mishandle, and tells of the values that there may be.
func (t *rewriter) openKeys(w *work, m *member) {
	switch {
	case m.node == nil || m.node.isFalse():
		t.report(m.key, "left out: the platform adds no properties by itself", true)
		return
	case m.node.isTrue():
		t.report(m.key, "left out: some models mishandle it", false)
		return
	}
	text, values := "any", m.node
	if ref, ok := values.ref(); ok {
		if target, err := t.resolve(ref); err == nil {
			values = target
		}
	}
	if typ := values.get("type"); typ != nil {
		text = shortText(typ.raw)
	}
	t.report(m.key, "told in the description: some models mishandle it", false)
	w.notes = append(w.notes, "further keys are allowed, with values of type "+text)
}

// parameters makes the root of a function's parameters an object.
func (t *rewriter) parameters(n *node) (*node, *Error) {
	n = n.clone()
	n.boolean = 0
	n.remove("nullable")
	m := n.get("type")
	switch {
	case m == nil:
		t.report("type", "added as object: the parameters of a function can be nothing else", true)
		n.setFirst(member{key: "type", raw: quote("object")})
	case !slices.Contains(typesOf(m.raw), "object"):
		return nil, t.fail("type", "the parameters of a function must be an object")
	case len(typesOf(m.raw)) > 1:
		t.report("type", "written as object: the parameters of a function can be nothing else", true)
		n.set(member{key: "type", raw: quote("object")})
	}
	// The JSON form takes a choice in an object that says to be one.
	hasProperties := n.has("properties")
	if (n.has("anyOf") || n.has("oneOf")) && (t.Form == Message || m == nil && !hasProperties) {
		return t.oneObject(n)
	}
	if m == nil && !hasProperties {
		n.setAfter("type", member{key: "properties", named: new(names)})
	}
	return n, nil
}

// oneObject unites the alternatives at the root in an object that has all their
// properties. Required is what all of them require.
func (t *rewriter) oneObject(n *node) (*node, *Error) {
	all, required := choices{names: new(names), seen: make(map[string]bool), own: make(map[string]bool)}, []string(nil)
	if m := n.get("properties"); m != nil && m.named != nil {
		for _, prop := range m.named.list {
			all.add(prop)
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		m := n.get(key)
		if m == nil || m.list == nil {
			continue
		}
		t.report(key, "united in one object with all the properties: the root of parameters must be an object", false)
		first := true
		var common []string
		for i, one := range m.list {
			flat, entered, err := t.branch(key, i, one)
			if err != nil {
				return nil, err
			}
			t.release(entered)
			if typ := flat.get("type"); flat.isFalse() || isNull(flat) || typ != nil && !slices.Contains(typesOf(typ.raw), "object") {
				continue
			}
			if p := flat.get("properties"); p != nil && p.named != nil {
				for _, prop := range p.named.list {
					all.add(prop)
				}
			}
			mine, _ := stringsOf(rawOf(flat, "required"))
			if first {
				common, first = mine, false
			}
			in := requiredOf(flat.members)
			common = slices.DeleteFunc(common, func(name string) bool { return !in[name] })
		}
		required = union(required, common)
		n.remove(key)
	}
	n.setAfter("type", member{key: "properties", named: all.names})
	own, _ := stringsOf(rawOf(n, "required"))
	if required = union(own, required); len(required) > 0 {
		n.setAfter("properties", member{key: "required", raw: quoteAll(required)})
	}
	return n, nil
}

// branch flattens one alternative at the root.
func (t *rewriter) branch(key string, i int, n *node) (flat *node, entered []*node, err *Error) {
	t.path = append(t.path, key+"["+strconv.Itoa(i)+"]")
	if flat, entered, err = t.flatten(n, true); err == nil {
		t.path = t.path[:len(t.path)-1]
	}
	return flat, entered, err
}

func rawOf(n *node, key string) []byte {
	if m := n.get(key); m != nil {
		return m.raw
	}
	return nil
}

// choices are properties of which some may have several schemas.
type choices struct {
	*names
	seen map[string]bool // name and schema
	own  map[string]bool // names whose choice was made here
}

// add adds a property, as a choice where there is another of its name.
func (c *choices) add(prop named) {
	key := prop.name + "\x00" + prop.node.text()
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	i := c.find(prop.name)
	if i < 0 {
		c.put(prop.name, prop.node)
		return
	}
	if !c.own[prop.name] {
		c.own[prop.name] = true
		c.list[i].node = &node{members: []member{{key: "anyOf", list: []*node{c.list[i].node}}}}
	}
	m := c.list[i].node.get("anyOf")
	m.list = append(m.list, prop.node)
}
