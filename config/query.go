package config

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Limits of a query.
const (
	maxQueryDepth = 8    // $and and $or within each other
	maxTerms      = 256  // tests in all
	maxRegex      = 512  // bytes of a pattern
	maxPatterns   = 4096 // bytes of all patterns of a config
)

// Query is a condition on a call, compiled. It is immutable and safe for
// concurrent use.
//
// A query is an object. Its keys are fields, as [ParseField] reads them, or $and
// and $or with a list of queries. The value of a field is an object of operators,
// or a string, number, boolean or null that it must equal. Of several members all
// must hold, operators of one field included.
//
//	{"metadata.plan": "pro", "params.max_tokens": {"$gt": 1000, "$lte": 8000}}
//	{"$or": [{"headers.x-beta": "on"}, {"metadata.user": {"$regex": "@example\\.com$"}}]}
//
// Metadata and headers are text; members of the request have the types of JSON.
//
//	operator            operand                 holds when the value is
//	$eq, a bare value   string                  a string of the same text
//	                    number                  a number, or text of metadata or a header
//	                                            written as one, that is equal as a double
//	                    true, false             that boolean, or its word as text of
//	                                            metadata or a header
//	                    null                    a null in the request
//	$ne                 the same                there and not so, or missing
//	$in, $nin           a list of these         equal to one of them; to none, or missing
//	$gt $gte $lt $lte   number                  a number as for $eq, and so ordered
//	$regex              a pattern of RE2        a string with a match anywhere
//
// A number in quotes is thus no number as a member of the request, where types
// are known. Arrays and objects equal nothing and match nothing. A field that is
// missing satisfies $ne and $nin alone. Of a header given more than once the
// first counts.
//
// [RE2]: https://github.com/google/re2/wiki/Syntax
type Query struct {
	raw      []byte
	all      []term
	patterns int // bytes of them
}

// term is one test of a query.
type term struct {
	op    operator
	field Field
	list  []operand      // one, or those of $in and $nin
	re    *regexp.Regexp // of $regex
	sub   [][]term       // of $and and $or
}

type operator string

const (
	opEq, opNe               operator = "$eq", "$ne"
	opGt, opGte, opLt, opLte operator = "$gt", "$gte", "$lt", "$lte"
	opIn, opNin, opRegex     operator = "$in", "$nin", "$regex"
	opAnd, opOr              operator = "$and", "$or"
)

// What queries are refused with in more than one place.
const (
	needOperator = "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin or $regex"
	needScalar   = "must be a string, a number, a boolean or null"
	needOne      = "is empty: give at least one"
)

// operand is a scalar to compare with.
type operand struct {
	kind   jsonx.Kind
	text   string
	number float64
	truth  bool
}

// ParseQuery compiles a query, or returns an [*Error] with every mistake in it.
func ParseQuery(data []byte) (*Query, error) {
	doc, err := wellFormed(data)
	if err != nil {
		return nil, err
	}
	var p problems
	q := parseQuery(&p, "", doc)
	if err := p.err(); err != nil {
		return nil, err
	}
	return q, nil
}

// MarshalJSON returns the text of the query, byte for byte.
func (q *Query) MarshalJSON() ([]byte, error) {
	if q == nil || q.raw == nil {
		return []byte("null"), nil
	}
	return slices.Clone(q.raw), nil
}

// String returns the text of the query.
func (q *Query) String() string {
	if q == nil {
		return ""
	}
	return string(q.raw)
}

// Equal reports whether the queries have the same text.
func (q *Query) Equal(other *Query) bool {
	return (q == nil) == (other == nil) && (q == nil || bytes.Equal(q.raw, other.raw))
}

// parseQuery compiles the query at a path. After a mistake it goes on.
func parseQuery(p *problems, path string, raw []byte) *Query {
	c := compiler{p: p}
	all := c.query(path, raw, 1)
	if c.terms > maxTerms {
		p.add(path, "has more than %d tests", maxTerms)
	}
	return &Query{raw: clone(bytes.TrimSpace(raw)), all: all, patterns: c.patterns}
}

// compiler builds the terms of one query.
type compiler struct {
	p               *problems
	terms, patterns int
}

func (c *compiler) query(path string, raw []byte, depth int) []term {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Object {
		c.p.add(path, `must be an object such as {"metadata.plan": "pro"}`)
		return nil
	}
	var all []term
	seen := make(map[string]bool)
	for r.Object(); r.NextKey(); {
		key := string(r.Key())
		at, value := join(path, key), r.Raw()
		switch {
		case seen[key]:
			c.p.add(at, "is given twice")
		case key == string(opAnd) || key == string(opOr):
			all = append(all, c.group(at, operator(key), value, depth))
		case strings.HasPrefix(key, "$"):
			c.p.add(at, "unknown operator: around fields there is $and and $or")
		default:
			all = append(all, c.field(at, parseField(c.p, at, key), value)...)
		}
		seen[key] = true
	}
	if len(seen) == 0 {
		c.p.add(path, "is empty: the strategy's default is for what no condition takes")
	}
	return all
}

// group compiles $and and $or.
func (c *compiler) group(path string, op operator, raw []byte, depth int) term {
	r := jsonx.NewReader(raw)
	switch {
	case r.Kind() != jsonx.Array:
		c.p.add(path, "must be a list of queries")
		return term{}
	case depth == maxQueryDepth:
		c.p.add(path, "is nested too deeply: %d levels at most", maxQueryDepth)
		return term{}
	}
	t := term{op: op}
	for r.Array(); r.NextElem(); {
		t.sub = append(t.sub, c.query(element(path, len(t.sub)), r.Raw(), depth+1))
	}
	if len(t.sub) == 0 {
		c.p.add(path, needOne)
	}
	return t
}

// field compiles what is asked of one field.
func (c *compiler) field(path string, f Field, raw []byte) []term {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Object {
		return []term{c.test(path, f, opEq, raw)}
	}
	var out []term
	seen := make(map[string]bool)
	for r.Object(); r.NextKey(); {
		key := string(r.Key())
		at, value := join(path, key), r.Raw()
		if seen[key] {
			c.p.add(at, "is given twice")
		}
		seen[key] = true
		out = append(out, c.test(at, f, operator(key), value))
	}
	if len(seen) == 0 {
		c.p.add(path, "is empty: give "+needOperator)
	}
	return out
}

// test compiles one operator and its operand.
func (c *compiler) test(path string, f Field, op operator, raw []byte) term {
	c.terms++
	t := term{op: op, field: f}
	switch op {
	case opEq, opNe:
		t.list = c.scalars(path, raw)
	case opGt, opGte, opLt, opLte:
		n, ok := parseNumber(raw)
		if !ok {
			c.p.add(path, "must be a number")
		}
		t.list = []operand{{kind: jsonx.Number, number: n}}
	case opIn, opNin:
		r := jsonx.NewReader(raw)
		if r.Kind() != jsonx.Array {
			c.p.add(path, "must be a list of strings, numbers, booleans or null")
			break
		}
		i := 0
		for r.Array(); r.NextElem(); i++ {
			t.list = append(t.list, c.scalars(element(path, i), r.Raw())...)
		}
		if c.terms += i; i == 0 {
			c.p.add(path, needOne)
		}
	case opRegex:
		t.re = c.regex(path, raw)
	default:
		c.p.add(path, "unknown operator: use "+needOperator)
	}
	return t
}

// scalars returns the operand in raw, if it is one.
func (c *compiler) scalars(path string, raw []byte) []operand {
	problem := needScalar
	r := jsonx.NewReader(raw)
	o := operand{kind: r.Kind()}
	switch o.kind {
	case jsonx.String:
		o.text = r.String()
	case jsonx.Number:
		if o.number = r.Float(); r.Err() != nil {
			problem = "must be a number within the range of a double"
			o.kind = jsonx.Invalid
		}
	case jsonx.Bool:
		o.truth = r.Bool()
	case jsonx.Null:
	default:
		o.kind = jsonx.Invalid
	}
	if o.kind == jsonx.Invalid {
		c.p.add(path, "%s", problem)
		return nil
	}
	return []operand{o}
}

// regex never repeats the pattern.
func (c *compiler) regex(path string, raw []byte) *regexp.Regexp {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.String {
		c.p.add(path, "must be a pattern in quotes")
		return nil
	}
	pattern := r.String()
	if len(pattern) > maxRegex {
		c.p.add(path, "is longer than %d bytes", maxRegex)
		return nil
	}
	if !c.p.patterns(path, len(pattern)) {
		return nil
	}
	c.patterns += len(pattern)
	re, err := regexp.Compile(pattern)
	if err != nil {
		c.p.add(path, "isn't a regular expression of RE2: https://github.com/google/re2/wiki/Syntax")
		return nil
	}
	return re
}
