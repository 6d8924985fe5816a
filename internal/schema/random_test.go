package schema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// maker makes up schemas of all keywords, with references all over.
type maker struct {
	*rand.Rand
	b strings.Builder
}

func (m *maker) pick(list ...string) string { return list[m.IntN(len(list))] }

func (m *maker) list(n int, each func()) {
	m.b.WriteByte('[')
	for i := range n {
		if i > 0 {
			m.b.WriteByte(',')
		}
		each()
	}
	m.b.WriteByte(']')
}

func (m *maker) names(depth int) {
	m.b.WriteByte('{')
	for i := range m.IntN(4) {
		if i > 0 {
			m.b.WriteByte(',')
		}
		fmt.Fprintf(&m.b, "%q:", m.pick("a", "b", "c/d", "type", "$ref"))
		m.schema(depth + 1)
	}
	m.b.WriteByte('}')
}

func (m *maker) value() {
	m.b.WriteString(m.pick(`"x"`, `"y"`, `""`, `1`, `2.5`, `-3`, `true`, `false`, `null`, `[1]`, `{"a":1}`, `9007199254740993`))
}

func (m *maker) schema(depth int) {
	if m.IntN(20) == 0 || depth > 6 {
		m.b.WriteString(m.pick(`true`, `false`, `{}`, `{"type":"string"}`, `{"not":{}}`))
		return
	}
	m.b.WriteByte('{')
	seen := make(map[string]bool)
	for range 1 + m.IntN(5) {
		key := m.pick("type", "type", "type", "properties", "properties", "items", "anyOf", "oneOf", "allOf", "$ref", "enum", "const", "required",
			"nullable", "additionalProperties", "prefixItems", "additionalItems", "description", "title", "default", "format", "minimum", "maximum",
			"exclusiveMinimum", "exclusiveMaximum", "minLength", "maxItems", "minItems", "pattern", "uniqueItems", "examples", "example", "not", "if",
			"$defs", "definitions", "$id", "$anchor", "$comment", "propertyOrdering", "strict", "multipleOf")
		if seen[key] {
			continue
		}
		if len(seen) > 0 {
			m.b.WriteByte(',')
		}
		seen[key] = true
		fmt.Fprintf(&m.b, "%q:", key)
		m.keyword(key, depth)
	}
	m.b.WriteByte('}')
}

func (m *maker) keyword(key string, depth int) {
	if m.IntN(40) == 0 {
		m.value()
		return
	}
	switch key {
	case "type":
		if m.IntN(4) == 0 {
			m.list(m.IntN(4), func() { fmt.Fprintf(&m.b, "%q", m.pick("string", "null", "integer", "object", "array", "number")) })
			return
		}
		fmt.Fprintf(&m.b, "%q", m.pick("object", "object", "array", "string", "integer", "number", "boolean", "null", "STRING"))
	case "properties", "$defs", "definitions":
		m.names(depth)
	case "items", "additionalProperties", "additionalItems":
		if key == "items" && m.IntN(6) == 0 {
			m.list(m.IntN(3), func() { m.schema(depth + 1) })
			return
		}
		m.schema(depth + 1)
	case "anyOf", "oneOf", "allOf", "prefixItems":
		m.list(m.IntN(4), func() { m.schema(depth + 1) })
	case "$ref":
		fmt.Fprintf(&m.b, "%q", m.pick("#", "#/$defs/a", "#/$defs/b", "#/definitions/a", "#/$defs/c~1d", "#/properties/a", "#n", "#/$defs/type"))
	case "enum":
		m.list(m.IntN(4), m.value)
	case "required", "propertyOrdering":
		m.list(m.IntN(3), func() { fmt.Fprintf(&m.b, "%q", m.pick("a", "b", "type", "zz")) })
	case "nullable", "uniqueItems":
		m.b.WriteString(m.pick("true", "false"))
	case "description", "title", "pattern", "$comment":
		m.b.WriteString(m.pick(`"text"`, `"Other text."`, `""`))
	case "format":
		m.b.WriteString(m.pick(`"date-time"`, `"int64"`, `"uuid"`))
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		m.b.WriteString(m.pick("0", "1", "2.5", "-1e2", "true"))
	case "minLength", "minItems", "maxItems":
		m.b.WriteString(m.pick("0", "1", "3.0"))
	case "$id", "$anchor":
		m.b.WriteString(`"n"`)
	default:
		m.value()
	}
}

func TestMadeUpSchemas(t *testing.T) {
	runs := 5000
	if testing.Short() {
		runs = 2000
	}
	good := 0
	for seed := range runs {
		m := maker{Rand: rand.New(rand.NewPCG(uint64(seed), 1))}
		m.b.WriteString(`{"$defs":`)
		m.names(1)
		m.b.WriteString(`,"properties":`)
		m.names(1)
		if m.IntN(2) == 0 {
			m.b.WriteString(`,"anyOf":`)
			m.keyword("anyOf", 1)
		}
		if m.IntN(4) == 0 {
			m.b.WriteString(`,"$ref":"#/$defs/a"`)
		}
		m.b.WriteByte('}')
		in := []byte(m.b.String())
		o := Options{Form: Form(seed & 1), Ordering: seed&2 != 0, Parameters: seed&4 != 0}
		out, changes, err := Transform(in, o)
		if err != nil || out == nil {
			continue
		}
		if good++; !json.Valid(out) {
			t.Fatalf("%s became %s", in, out)
		}
		if o.Form == Message {
			checkMessage(t, out)
		} else {
			checkJSON(t, out)
			twice, more, err := Transform(out, o)
			if err != nil || string(twice) != string(out) {
				t.Errorf("again: %v\n%s", err, twice)
			}
			for _, c := range more {
				if !strings.Contains(c.Message, "leads back") {
					t.Errorf("again: %v", c)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d, options %+v\n%s\n%s\n%v", seed, o, in, out, changes)
		}
	}
	if good < runs/3 {
		t.Errorf("%d of %d could be said", good, runs)
	}
}
