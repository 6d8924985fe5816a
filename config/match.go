package config

import (
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Match reports whether the query holds for a call. It allocates only where a
// member of the request is a string with escapes.
func (q *Query) Match(v View) bool { return q != nil && len(q.all) > 0 && holds(q.all, v) }

// holds reports whether every term does.
func holds(all []term, v View) bool {
	for i := range all {
		if !all[i].holds(v) {
			return false
		}
	}
	return true
}

func (t *term) holds(v View) bool {
	switch t.op {
	case opAnd, opOr:
		for _, sub := range t.sub {
			if holds(sub, v) == (t.op == opOr) {
				return t.op == opOr
			}
		}
		return t.op == opAnd
	}
	x := t.field.look(v)
	switch t.op {
	case opEq, opIn:
		return t.lists(&x)
	case opNe, opNin:
		return !t.lists(&x)
	case opRegex:
		return x.matches(t)
	}
	n, ok := x.number()
	return ok && ordered(t.op, n, t.list[0].number)
}

// lists reports whether the value is one of the term's operands.
func (t *term) lists(x *value) bool {
	return slices.ContainsFunc(t.list, func(o operand) bool { return x.equals(&o) })
}

func ordered(op operator, a, b float64) bool {
	switch op {
	case opGt:
		return a > b
	case opGte:
		return a >= b
	case opLt:
		return a < b
	case opLte:
		return a <= b
	}
	return false
}

// value is what a field of a call holds.
type value struct {
	kind  jsonx.Kind // Invalid when it is missing
	loose bool       // text of metadata or a header, which may stand for other types
	text  string     // when loose
	raw   []byte     // otherwise
}

// look finds the value of a field.
func (f *Field) look(v View) value {
	var x value
	var ok bool
	switch f.Source {
	case FromMetadata:
		x.text, ok = v.Metadata(f.Path[0])
	case FromHeaders:
		x.text, ok = v.Header(f.Path[0])
	case FromParams:
		if x.raw, ok = v.Param(f.Path); ok {
			r := jsonx.NewReader(x.raw)
			x.kind = r.Kind()
		}
		return x
	}
	if ok {
		x.kind, x.loose = jsonx.String, true
	}
	return x
}

func (x *value) equals(o *operand) bool {
	switch o.kind {
	case jsonx.String:
		if x.loose {
			return x.text == o.text
		}
		if x.kind != jsonx.String {
			return false
		}
		r := jsonx.NewReader(x.raw)
		return string(r.Bytes()) == o.text && r.Err() == nil
	case jsonx.Number:
		n, ok := x.number()
		return ok && n == o.number
	case jsonx.Bool:
		if x.loose {
			return x.text == strconv.FormatBool(o.truth)
		}
		r := jsonx.NewReader(x.raw)
		return x.kind == jsonx.Bool && r.Bool() == o.truth && r.Err() == nil
	case jsonx.Null:
		return x.kind == jsonx.Null
	}
	return false
}

// number returns the value as a double, if it is one or stands for one.
func (x *value) number() (float64, bool) {
	if !x.loose {
		if x.kind != jsonx.Number {
			return 0, false
		}
		return parseNumber(x.raw)
	}
	if !isNumber(x.text) {
		return 0, false
	}
	f, err := strconv.ParseFloat(x.text, 64)
	return f, err == nil
}

// isNumber keeps to JSON's grammar of numbers, where ParseFloat takes more.
func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || '0' <= s[0] && s[0] <= '9') && jsonx.ValidString(s)
}

func (x *value) matches(t *term) bool {
	switch {
	case x.loose:
		return t.re.MatchString(x.text)
	case x.kind != jsonx.String:
		return false
	}
	r := jsonx.NewReader(x.raw)
	text := r.Bytes()
	return r.Err() == nil && t.re.Match(text)
}
