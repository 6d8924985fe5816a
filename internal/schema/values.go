package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// typesOf returns the names of types, in small letters and each once. Unknown
// ones are left out.
func typesOf(raw []byte) []string {
	list, ok := stringsOf(raw)
	if !ok {
		s, _ := stringOf(raw)
		list = []string{s}
	}
	var out []string
	for _, name := range list {
		name = strings.ToLower(name)
		if types[name] != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// typeText writes types as the form has them. The Schema message has one.
func typeText(list []string, f Form) []byte {
	if f == Message {
		return quote(types[list[0]])
	}
	if len(list) == 1 {
		return quote(list[0])
	}
	return quoteAll(list)
}

// wellTyped reports whether a type needs no change in the JSON form.
func wellTyped(raw []byte, list []string) bool {
	given, ok := stringsOf(raw)
	if !ok {
		s, _ := stringOf(raw)
		given = []string{s}
	}
	return slices.Equal(given, list)
}

// typed gives the schema other types.
func (w *work) typed(list []string) {
	w.types = list
	if len(list) > 0 {
		w.setFirst(member{key: "type", raw: typeText(list, JSON)})
	} else {
		w.remove("type")
	}
}

// readType takes in type and nullable. In the JSON form null is one of the
// types, in the Schema message nullable is apart.
func (t *rewriter) readType(w *work) {
	if m := w.get("type"); m != nil {
		list := typesOf(m.raw)
		switch {
		case len(list) == 0:
			t.report("type", "left out: there is no such type", false)
			w.typed(nil)
		case !wellTyped(m.raw, list):
			w.typed(list)
		default:
			w.types = list
		}
	}
	if m := w.get("nullable"); m != nil {
		yes := string(m.raw) == "true"
		w.remove("nullable")
		if t.Form == JSON && yes {
			t.orNull(w)
		}
		w.nullable = yes
	}
	if t.Form == Message && len(w.types) > 1 && slices.Contains(w.types, "null") {
		w.nullable = true
		w.typed(slices.DeleteFunc(slices.Clone(w.types), func(s string) bool { return s == "null" }))
	}
}

// orNull writes nullable as the type null.
func (t *rewriter) orNull(w *work) {
	t.report("nullable", "written as the type null", true)
	for _, key := range []string{"anyOf", "oneOf"} {
		if m := w.get(key); m != nil && m.list != nil && !slices.ContainsFunc(m.list, isNull) {
			null := &node{members: []member{{key: "type", raw: quote("null")}}}
			w.set(member{key: key, list: append(slices.Clone(m.list), null)})
		}
	}
	if len(w.types) > 0 && !slices.Contains(w.types, "null") {
		w.typed(append(slices.Clone(w.types), "null"))
	}
}

// isNull reports whether a schema takes null alone.
func isNull(n *node) bool {
	if m := n.get("type"); m != nil && slices.Equal(typesOf(m.raw), []string{"null"}) {
		return true
	}
	if m := n.get("const"); m != nil && kindOf(m.raw) == jsonx.Null {
		return true
	}
	m := n.get("enum")
	if m == nil {
		return false
	}
	values := elements(m.raw)
	return len(values) > 0 && !slices.ContainsFunc(values, func(v []byte) bool { return kindOf(v) != jsonx.Null })
}

// readConst writes a constant as an enum of one value.
func (t *rewriter) readConst(w *work) {
	i := w.indexOf("const")
	if i < 0 {
		return
	}
	value := w.members[i].raw
	t.report("const", "written as an enum of one value", true)
	if w.has("enum") {
		t.report("enum", "left out: const says more", true)
		w.remove("enum")
		i = w.indexOf("const")
	}
	w.members[i] = member{key: "enum", raw: array([][]byte{value})}
	if len(w.types) == 0 {
		w.typed([]string{typeOf(value)})
	}
}

// typeOf returns the type of a value.
func typeOf(raw []byte) string {
	switch kindOf(raw) {
	case jsonx.Null:
		return "null"
	case jsonx.Bool:
		return "boolean"
	case jsonx.String:
		return "string"
	case jsonx.Array:
		return "array"
	case jsonx.Object:
		return "object"
	}
	if isWhole(raw) {
		return "integer"
	}
	return "number"
}

func isWhole(raw []byte) bool {
	r := jsonx.NewReader(raw)
	r.Int()
	return r.End() == nil
}

// readEnum leaves values in an enum that the form takes: strings and numbers in
// the JSON form, strings in the Schema message. Others are told in the
// description, and the type says the rest.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerationConfig
func (t *rewriter) readEnum(w *work) {
	all := elements(rawOf(w.node, "enum"))
	if all == nil {
		return
	}
	if len(all) == 0 {
		t.report("enum", "left out: it is empty", false)
		w.remove("enum")
		return
	}
	values := slices.DeleteFunc(slices.Clone(all), func(v []byte) bool { return kindOf(v) == jsonx.Null })
	if len(w.types) == 0 {
		t.inferTypes(w, all)
	}
	if len(values) < len(all) {
		t.report("enum", "left without null, which the type says", true)
	}
	switch {
	case len(values) == 0:
		w.remove("enum")
		return
	case t.Form == Message && len(w.types) > 1:
		w.set(member{key: "enum", raw: array(values)}) // each type takes its own
		return
	case t.Form == Message:
		values = t.shared(w, values)
	}
	if !slices.ContainsFunc(values, func(v []byte) bool { return !t.listable(w, v) }) {
		if len(values) < len(all) {
			w.set(member{key: "enum", raw: array(values)})
		}
		return
	}
	w.remove("enum")
	if isBoth(values) {
		t.report("enum", "left out: the type says the same", true)
		return
	}
	t.report("enum", "told in the description: the platform takes no such values", false)
	texts := make([]string, 0, len(values))
	for _, v := range values {
		texts = append(texts, string(jsonx.Compact(nil, v)))
	}
	w.notes = append(w.notes, "allowed values: "+cut(strings.Join(texts, ", ")))
}

// listable reports whether a value may be in an enum of the form.
func (t *rewriter) listable(w *work, v []byte) bool {
	if t.Form == Message {
		return kindOf(v) == jsonx.String && string(v) != `""` && slices.Equal(w.types, []string{"string"})
	}
	return kindOf(v) == jsonx.String || kindOf(v) == jsonx.Number && finite(v)
}

// shared leaves out what is no value of the type, and the empty string, which the
// platform refuses in an enum. With nothing left, all remain.
func (t *rewriter) shared(w *work, values [][]byte) [][]byte {
	out := slices.DeleteFunc(slices.Clone(values), func(v []byte) bool {
		if string(v) == `""` {
			return true
		}
		typ := typeOf(v)
		return !slices.Contains(w.types, typ) && !(typ == "integer" && slices.Contains(w.types, "number"))
	})
	if len(out) == 0 {
		return values
	}
	if slices.ContainsFunc(values, func(v []byte) bool { return string(v) == `""` }) && slices.Contains(w.types, "string") {
		t.report("enum", "left without the empty string, which the platform refuses: the description tells of it", false)
		w.notes = append(w.notes, "may be empty")
	}
	return out
}

// isBoth reports whether the values are all that a boolean can have.
func isBoth(values [][]byte) bool {
	var yes, no bool
	for _, v := range values {
		switch string(v) {
		case "true":
			yes = true
		case "false":
			no = true
		default:
			return false
		}
	}
	return yes && no
}

// inferTypes types an enum by its values.
func (t *rewriter) inferTypes(w *work, values [][]byte) {
	var list []string
	for _, v := range values {
		if typ := typeOf(v); !slices.Contains(list, typ) {
			list = append(list, typ)
		}
	}
	if t.Form == JSON && !slices.ContainsFunc(list, func(s string) bool { return s != "string" && s != "number" && s != "integer" }) {
		return // the values say it
	}
	if slices.Contains(list, "number") {
		list = slices.DeleteFunc(list, func(s string) bool { return s == "integer" })
	}
	w.typed(list)
	if t.Form == Message && len(list) > 1 && slices.Contains(list, "null") {
		w.nullable = true
		w.typed(slices.DeleteFunc(list, func(s string) bool { return s == "null" }))
	}
}

// bounds writes exclusive bounds of integers as inclusive ones. Those of other
// numbers become inclusive too, and the description tells the rest.
func (t *rewriter) bounds(w *work) {
	whole := len(w.types) > 0 && !slices.ContainsFunc(w.types, func(s string) bool { return s != "integer" && s != "null" })
	for _, b := range []struct {
		key, plain string
		step       int64
	}{{"exclusiveMinimum", "minimum", 1}, {"exclusiveMaximum", "maximum", -1}} {
		m := w.get(b.key)
		if m == nil || m.raw == nil {
			continue
		}
		limit := m.raw
		if string(limit) == "true" { // as drafts before 6 have it, and OpenAPI 3.0
			limit = rawOf(w.node, b.plain)
		}
		if _, ok := numberOf(limit); !ok {
			continue
		}
		next := member{key: b.plain, raw: limit}
		r := jsonx.NewReader(limit)
		const exact = 1 << 53 // beyond which readers may round
		n := r.Int()
		exactly := whole && r.End() == nil && n < exact && n > -exact
		if exactly {
			t.report(b.key, "written as "+b.plain, true)
			next.raw = strconv.AppendInt(nil, n+b.step, 10)
		}
		if old := w.get(b.plain); old != nil {
			if tight, ok := tighter(old, &next); ok {
				next = tight
			}
		}
		if w.setAfter(b.key, next); exactly {
			w.remove(b.key)
		}
	}
}

// format leaves formats to the Schema message that its type has there, and tells
// others in the description.
func (t *rewriter) format(w *work, m *member) bool {
	if t.Form == JSON {
		return true
	}
	s, _ := stringOf(m.raw)
	typ := t.infer(w)
	if typ == "" {
		typ = "string"
	}
	if slices.Contains(formats[typ], s) {
		return true
	}
	t.report("format", "told in the description: some models refuse all but a few", false)
	w.notes = append(w.notes, "format: "+shortText(m.raw))
	return false
}

// tuple brings the forms of tuples together: items as a list, items or
// additionalItems as false behind one, which bounds the length.
func (t *rewriter) tuple(w *work) {
	rest := "items"
	if m := w.get("items"); m != nil && m.list != nil {
		rest = "additionalItems"
		t.report("items", "written as prefixItems", true)
		w.remove("prefixItems")
		w.get("items").key = "prefixItems"
	}
	prefix := w.get("prefixItems")
	m := w.get(rest)
	switch {
	case m == nil || m.node == nil:
	case m.node.isFalse():
		t.report(rest, "written as maxItems", true)
		n := 0
		if prefix != nil {
			n = len(prefix.list)
		}
		most := member{key: "maxItems", raw: strconv.AppendInt(nil, int64(n), 10)}
		if old := w.get("maxItems"); old != nil {
			most, _ = tighter(&most, old)
		}
		w.set(most)
		w.remove(rest)
	case m.node.boolean == 't':
		t.report(rest, "left out: true is the default", true)
		w.remove(rest)
	case rest == "additionalItems":
		m.key = "items"
	}
	if prefix = w.get("prefixItems"); prefix != nil && t.Form == Message {
		t.flatTuple(w, prefix.list)
	}
}

// flatTuple writes a tuple as a list of whatever is in it.
func (t *rewriter) flatTuple(w *work, list []*node) {
	t.report("prefixItems", "written as items of any of its types, with the length bounded: the platform has no tuples", false)
	all := slices.Clone(list)
	if m := w.get("items"); m != nil && m.node != nil {
		all = append(all, m.node)
	} else if !w.has("maxItems") {
		w.set(member{key: "maxItems", raw: strconv.AppendInt(nil, int64(len(list)), 10)})
	}
	if !w.has("minItems") {
		w.set(member{key: "minItems", raw: strconv.AppendInt(nil, int64(len(list)), 10)})
	}
	w.remove("items", "prefixItems")
	switch len(all) {
	case 0:
	case 1:
		w.set(member{key: "items", node: all[0]})
	default:
		w.set(member{key: "items", node: &node{members: []member{{key: "anyOf", list: all}}}})
	}
	if len(w.types) == 0 {
		w.typed([]string{"array"})
	}
}
