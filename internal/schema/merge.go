package schema

import (
	"bytes"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// flatten returns a copy of the schema in which allOf is united and a reference
// is put in place, where it has to be: the platform takes nothing beside one. A
// reference that can stay comes back alone. The caller releases what was entered
// when the schema's own parts are written.
func (t *rewriter) flatten(n *node, inline bool) (flat *node, entered []*node, err *Error) {
	all := n.get("allOf")
	_, isRef := n.ref()
	if !isRef && (all == nil || all.list == nil) {
		return n.clone(), nil, nil
	}
	self := n.clone()
	self.remove("allOf")
	parts := []*node{self}
	if isRef {
		self.remove("$ref")
		if all == nil && !inline && !t.meaningful(self) {
			return t.bare(n), nil, nil
		}
		parts = append(parts, &node{members: []member{*n.get("$ref")}})
	}
	if all != nil {
		parts = append(parts, all.list...)
		t.report("allOf", "united in one schema", true)
	}
	parts = slices.DeleteFunc(parts, (*node).isTrue)
	switch {
	case slices.ContainsFunc(parts, (*node).isFalse):
		return nil, nil, t.fail("allOf", "no value can fit, since one of the schemas is false")
	case len(parts) == 0:
		return &node{}, nil, nil
	case len(parts) == 1 && !(isRef && inline):
		return t.flatten(parts[0], inline)
	}
	return t.unite(parts, inline, all == nil)
}

// meaningful reports whether there is anything beside a reference that would be
// missed.
func (t *rewriter) meaningful(n *node) bool {
	return slices.ContainsFunc(n.members, func(m member) bool {
		return !strings.HasPrefix(m.key, "$") && m.key != "definitions" && keywords[m.key].action(t.Form) != drop
	})
}

// bare leaves nothing beside a reference but $-keywords.
func (t *rewriter) bare(n *node) *node {
	out := n.clone()
	out.remove("$defs", "definitions") // found by now where they are referred to
	out.members = slices.DeleteFunc(out.members, func(m member) bool {
		if strings.HasPrefix(m.key, "$") && keywords[m.key].json == keep {
			return false
		}
		t.report(m.key, "left out: the platform takes nothing beside a $ref", keywords[m.key].json == drop)
		return true
	})
	return out
}

// unite merges schemas that all must hold. The first has the say in what it is
// called. With yield it gives way where it differs from a reference beside it:
// older drafts ignore what stands there.
func (t *rewriter) unite(parts []*node, inline, yield bool) (flat *node, entered []*node, err *Error) {
	if err := t.enter(nil); err != nil {
		return nil, nil, err
	}
	defer t.leave()
	var ref *node // that stays one, since it leads back here
	for i, part := range parts {
		text, ok := part.ref()
		if !ok {
			continue
		}
		target, err := t.resolve(text)
		if err != nil {
			return nil, entered, err
		}
		if t.active[target] == 0 {
			continue
		}
		if inline || t.Form == Message || ref != nil || !onlyAnnotations(parts, i) {
			return nil, entered, t.recursive()
		}
		ref = part
	}
	if ref != nil {
		return alone(parts, ref), entered, nil
	}
	for _, part := range parts {
		next, in, err := t.follow(part)
		entered = append(entered, in...)
		if err != nil {
			return nil, entered, err
		}
		if flat == nil {
			flat = next
			continue
		}
		if flat, err = t.merged(flat, next, yield); err != nil {
			return nil, entered, err
		}
	}
	for _, n := range entered {
		t.active[n]++
	}
	return flat, entered, nil
}

// merged merges, and takes the first's part in a conflict out if it yields.
func (t *rewriter) merged(a, b *node, yield bool) (*node, *Error) {
	const cheap = 16 // properties that cost as much as a schema
	for _, n := range []*node{a, b} {
		if p := n.get("properties"); p != nil && p.named != nil {
			t.nodes -= len(p.named.list) / cheap
		}
	}
	if t.nodes < 0 {
		return nil, t.tooLarge()
	}
	out, conflict := merge(a, b)
	for yield && conflict != "" {
		t.report(conflict, "left out: what the $ref beside it leads to says otherwise", false)
		a = a.clone()
		a.remove(conflict)
		out, conflict = merge(a, b)
	}
	if conflict != "" {
		return nil, t.fail("allOf", "the schemas can't be united in one, since they differ in "+conflict+": write them as one schema")
	}
	return out, nil
}

func (t *rewriter) recursive() *Error {
	if t.Form == Message {
		return t.fail("$ref", "the reference leads back to itself: recursive schemas need a model that takes JSON Schema, Gemini 2.5 or later")
	}
	return t.fail("$ref", "the reference leads back to itself and can't be united with what stands beside it: let it stand alone")
}

// alone returns a choice of one, the reference, which may have beside it what a
// reference may not.
func alone(parts []*node, ref *node) *node {
	flat, null := &node{}, false
	for _, part := range parts {
		if part == ref {
			continue
		}
		for _, m := range part.members {
			if m.key == "nullable" {
				null = string(m.raw) == "true"
			} else if !flat.has(m.key) {
				flat.members = append(flat.members, m)
			}
		}
	}
	list := []*node{{members: []member{*ref.get("$ref")}}}
	if null {
		list = append(list, &node{members: []member{{key: "type", raw: quote("null")}}})
	}
	flat.members = append(flat.members, member{key: "anyOf", list: list})
	return flat
}

// onlyAnnotations reports whether no part but the one at i says anything about
// values, null apart.
func onlyAnnotations(parts []*node, i int) bool {
	for j, part := range parts {
		if j != i && slices.ContainsFunc(part.members, func(m member) bool { return !isAnnotation(m.key) && m.key != "nullable" }) {
			return false
		}
	}
	return true
}

// follow returns what a part of a union stands for, with references followed to
// their end.
func (t *rewriter) follow(part *node) (flat *node, entered []*node, err *Error) {
	text, ok := part.ref()
	if !ok {
		return t.flatten(part, true)
	}
	target, err := t.resolve(text)
	if err != nil {
		return nil, nil, err
	}
	if slices.Contains(t.chain, target) {
		return nil, nil, t.recursive()
	}
	if def := t.defs.byNode[target]; def != nil {
		def.inlined = true
	}
	t.chain = append(t.chain, target)
	defer func() { t.chain = t.chain[:len(t.chain)-1] }()
	parts := []*node{target}
	if len(part.members) > 1 {
		self := part.clone()
		self.remove("$ref", "$id", "$anchor", "$defs", "definitions")
		parts = []*node{self, target}
	}
	flat = &node{}
	for _, one := range parts {
		if one.boolean == 'f' {
			return nil, entered, t.fail("$ref", "no value can fit, since the reference leads to false")
		}
		next, in, err := t.flatten(one, true)
		entered = append(entered, in...)
		if err != nil {
			return nil, entered, err
		}
		if flat, err = t.merged(flat, next, true); err != nil {
			return nil, entered, err
		}
	}
	flat.remove("$id", "$anchor", "$defs", "definitions")
	return flat, append(entered, target), nil
}

// release takes back what flatten entered.
func (t *rewriter) release(entered []*node) {
	for _, n := range entered {
		t.active[n]--
	}
}

// merge returns a schema for the values that fit both, or a keyword that keeps
// it from being written as one.
func merge(a, b *node) (out *node, conflict string) {
	switch {
	case a.isTrue():
		return b.clone(), ""
	case b.isTrue():
		return a.clone(), ""
	}
	out = a.clone()
	for i := range b.members {
		m := &b.members[i]
		old := out.get(m.key)
		if old == nil {
			out.members = append(out.members, *m)
			continue
		}
		both, ok := combine(old, m)
		if !ok {
			return nil, m.key
		}
		out.set(both)
	}
	return out, ""
}

// combine unites two members of the same key.
func combine(a, b *member) (member, bool) {
	k, known := keywords[a.key]
	switch {
	case isAnnotation(a.key) || !known || a.key[:1] == "$" || a.key == "definitions":
		return *a, true
	case a.named != nil && b.named != nil:
		return member{key: a.key, named: bothNames(a.named, b.named)}, true
	case a.node != nil && b.node != nil:
		return member{key: a.key, node: bothNodes(a.node, b.node)}, true
	case a.list != nil && b.list != nil:
		same := slices.EqualFunc(a.list, b.list, func(x, y *node) bool { return x == y || x.text() == y.text() })
		return *a, same
	case a.raw == nil || b.raw == nil:
		return *a, false
	case bytes.Equal(a.raw, b.raw):
		return *a, true
	case a.key == "required":
		x, okX := stringsOf(a.raw)
		y, okY := stringsOf(b.raw)
		return member{key: a.key, raw: quoteAll(union(x, y))}, okX && okY
	case a.key == "propertyOrdering":
		return member{key: a.key, raw: []byte("[]")}, true // which is left out
	case a.key == "type":
		return bothTypes(a, b)
	case a.key == "enum":
		return bothEnums(a, b)
	case a.key == "nullable":
		return member{key: a.key, raw: []byte("false")}, true
	case k.json == lose:
		return *a, a.key != "const"
	case strings.HasPrefix(a.key, "min") || strings.HasPrefix(a.key, "max"):
		return tighter(a, b)
	}
	return *a, false
}

// union returns the strings of both, each once.
func union(a, b []string) []string {
	seen := make(map[string]bool, len(a)+len(b))
	var out []string
	for _, s := range slices.Concat(a, b) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func bothNames(a, b *names) *names {
	out := new(names)
	for _, one := range a.list {
		out.put(one.name, one.node)
	}
	for _, one := range b.list {
		if i := out.find(one.name); i >= 0 {
			one.node = bothNodes(out.list[i].node, one.node)
		}
		out.put(one.name, one.node)
	}
	return out
}

// bothNodes leaves the uniting to when the schema is written.
func bothNodes(a, b *node) *node {
	switch {
	case a == b || a.isFalse() || b.isTrue():
		return a
	case b.isFalse() || a.isTrue():
		return b
	}
	list := []*node{a}
	if m := a.get("allOf"); m != nil && m.list != nil && len(a.members) == 1 {
		list = slices.Clip(m.list)
	}
	return &node{members: []member{{key: "allOf", list: append(list, b)}}}
}

func bothTypes(a, b *member) (member, bool) {
	x, y := typesOf(a.raw), typesOf(b.raw)
	var out []string
	for _, name := range x {
		switch {
		case slices.Contains(y, name), name == "integer" && slices.Contains(y, "number"):
			out = append(out, name)
		case name == "number" && slices.Contains(y, "integer"):
			out = append(out, "integer")
		}
	}
	return member{key: "type", raw: typeText(out, JSON)}, len(out) > 0
}

func bothEnums(a, b *member) (member, bool) {
	in := make(map[string]bool)
	for _, v := range elements(b.raw) {
		in[string(v)] = true
	}
	values := slices.DeleteFunc(elements(a.raw), func(v []byte) bool { return !in[string(v)] })
	return member{key: "enum", raw: array(values)}, len(values) > 0
}

// tighter returns the bound that leaves less.
func tighter(a, b *member) (member, bool) {
	x, okX := numberOf(a.raw)
	y, okY := numberOf(b.raw)
	if !okX || !okY {
		return *a, false
	}
	if (x < y) == strings.HasPrefix(a.key, "min") {
		return *b, true
	}
	return *a, true
}

func numberOf(raw []byte) (float64, bool) {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Number {
		return 0, false
	}
	f := r.Float()
	return f, r.End() == nil
}
