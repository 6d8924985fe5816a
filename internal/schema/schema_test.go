package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/testkit"
)

func TestTransform(t *testing.T) {
	for _, tt := range []struct {
		name          string
		in            string
		json, message string // "" for an error
	}{
		{"an integer's exclusive bounds, the tighter of two", `{"type":"integer","minimum":5,"exclusiveMinimum":2,"exclusiveMaximum":9.0}`, `{"type":"integer","minimum":5,"maximum":8}`, `{"type":"INTEGER","minimum":5,"maximum":8}`},
		{"a number's exclusive bound", `{"type":"number","exclusiveMinimum":0.5,"description":"d"}`, `{"type":"number","minimum":0.5,"description":"d (exclusiveMinimum: 0.5)"}`, `{"type":"NUMBER","minimum":0.5,"description":"d (exclusiveMinimum: 0.5)"}`},
		{"a bound beyond exact floats", `{"type":"integer","exclusiveMinimum":9007199254740993}`, `{"type":"integer","minimum":9007199254740993,"description":"exclusiveMinimum: 9007199254740993"}`, `{"type":"INTEGER","minimum":9007199254740993,"description":"exclusiveMinimum: 9007199254740993"}`},
		{"constraints that are off", `{"type":"array","items":{"type":"string"},"uniqueItems":false}`, `{"type":"array","items":{"type":"string"}}`, `{"type":"ARRAY","items":{"type":"STRING"}}`},
		{"a const beside an enum", `{"enum":[1,2],"const":1}`, `{"type":"integer","enum":[1]}`, `{"type":"INTEGER","description":"allowed values: 1"}`},
		{"a const null", `{"const":null}`, `{"type":"null"}`, `{"type":"NULL"}`},
		{"a const object", `{"const":{"a":[1.50]}}`, `{"type":"object","description":"allowed values: {\"a\":[1.50]}"}`, `{"type":"OBJECT","description":"allowed values: {\"a\":[1.50]}"}`},
		{"a reference with nothing of weight beside it", `{"$defs":{"a":{"type":"string"}},"items":{"$ref":"#/$defs/a","examples":[1],"$comment":"c"},"type":"array"}`, `{"$defs":{"a":{"type":"string"}},"items":{"$ref":"#/$defs/a"},"type":"array"}`, `{"items":{"type":"STRING"},"type":"ARRAY"}`},
		{"a reference with a constraint beside it", `{"$defs":{"a":{"type":"string","maxLength":9}},"items":{"$ref":"#/$defs/a","maxLength":5,"pattern":"x"},"type":"array"}`, `{"items":{"maxLength":5,"pattern":"x","type":"string"},"type":"array"}`, `{"items":{"maxLength":5,"pattern":"x","type":"STRING"},"type":"ARRAY"}`},
		{"a reference that what stands beside it contradicts", `{"$defs":{"a":{"type":"string"}},"items":{"$ref":"#/$defs/a","type":"integer","title":"t"},"type":"array"}`, `{"items":{"title":"t","type":"string"},"type":"array"}`, `{"items":{"title":"t","type":"STRING"},"type":"ARRAY"}`},
		{"references in a row", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"string"}},"type":"array","items":{"$ref":"#/$defs/a","title":"t"}}`, `{"type":"array","items":{"title":"t","type":"string"}}`, `{"type":"ARRAY","items":{"title":"t","type":"STRING"}}`},
		{"references in a circle", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"type":"array","items":{"$ref":"#/$defs/a","title":"t"}}`, "", ""},
		{"definitions in both places", `{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/definitions/a"}]},"$defs":{"a":{"type":"string"}},"definitions":{"a":{"type":"number"}}}`, `{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a_2"}]},"$defs":{"a":{"type":"string"},"a_2":{"type":"number"}}}`, `{"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}}`},
		{"a recursive reference that is described", `{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n","description":"d"}}}}}`, `{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"next":{"description":"d","anyOf":[{"$ref":"#/$defs/n"}]}}}}}`, ""},
		{"a recursive reference that is nullable", `{"type":"object","properties":{"n":{"allOf":[{"$ref":"#"}],"nullable":true,"title":"t","examples":[1]}}}`, `{"type":"object","properties":{"n":{"title":"t","anyOf":[{"$ref":"#/$defs/root"},{"type":"null"}]}},"$defs":{"root":{"type":"object","properties":{"n":{"title":"t","anyOf":[{"$ref":"#/$defs/root"},{"type":"null"}]}}}}}`, ""},
		{"a recursive reference that is narrowed", `{"type":"object","properties":{"n":{"$ref":"#","required":["n"]}}}`, "", ""},
		{"a recursive allOf", `{"$defs":{"n":{"allOf":[{"$ref":"#/$defs/n"},{"type":"object"}]}},"$ref":"#/$defs/n"}`, "", ""},
		{"a remote reference", `{"$ref":"https://example.com/a.json#/$defs/x"}`, "", ""},
		{"a reference to nothing", `{"$ref":"#/$defs/x","$defs":{}}`, "", ""},
		{"the $id's own reference", `{"$id":"https://x/y","type":"array","items":{"$ref":"https://x/y#/$defs/a"},"$defs":{"a":{"type":"string"}}}`, `{"$id":"https://x/y","type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"string"}}}`, `{"type":"ARRAY","items":{"type":"STRING"}}`},
		{"allOf of one", `{"allOf":[{"type":"string"}],"title":"t"}`, `{"title":"t","type":"string"}`, `{"title":"t","type":"STRING"}`},
		{"allOf that narrows", `{"allOf":[{"type":"number","minimum":1,"maxLength":5},{"type":"integer","minimum":2,"maxLength":3,"enum":[2,3,4]},{"enum":[3,4,5]}]}`, `{"type":"integer","minimum":2,"maxLength":3,"enum":[3,4]}`, `{"type":"INTEGER","minimum":2,"description":"allowed values: 3, 4"}`},
		{"allOf that contradicts", `{"allOf":[{"type":"string"},{"type":"number"}]}`, "", ""},
		{"allOf with conditions", `{"type":"object","properties":{"a":{"type":"string"}},"allOf":[{"if":{"required":["a"]},"then":{"required":["b"]}},{"if":{},"then":{}}]}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`},
		{"allOf with true", `{"allOf":[true,{"type":"string"},{}]}`, `{"type":"string"}`, `{"type":"STRING"}`},
		{"allOf with false", `{"allOf":[false,{"type":"string"}]}`, "", ""},
		{"allOf that a diamond makes", `{"$defs":{"a":{"type":"object","properties":{"x":{"type":"string"}}},"b":{"allOf":[{"$ref":"#/$defs/a"},{"required":["x"]}]}},"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]}`, `{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`, `{"type":"OBJECT","properties":{"x":{"type":"STRING"}},"required":["x"]}`},
		{"anyOf in anyOf", `{"anyOf":[{"anyOf":[{"type":"string"},{"type":"null"}]},{"anyOf":[{"type":"string"},{"type":"integer"}]}],"nullable":true}`, `{"anyOf":[{"anyOf":[{"type":"string"},{"type":"null"}]},{"anyOf":[{"type":"string"},{"type":"integer"}]},{"type":"null"}]}`, `{"anyOf":[{"type":"STRING","nullable":true},{"type":"INTEGER","nullable":true}]}`},
		{"anyOf of null alone", `{"anyOf":[{"type":"null"}],"title":"t"}`, `{"anyOf":[{"type":"null"}],"title":"t"}`, `{"type":"NULL","title":"t"}`},
		{"nullable and untyped", `{"nullable":true,"description":"d","properties":{"a":{"type":"string"}}}`, `{"description":"d","properties":{"a":{"type":"string"}}}`, `{"type":"OBJECT","nullable":true,"description":"d","properties":{"a":{"type":"STRING"}}}`},
		{"the root false", `false`, "", ""},
		{"the root true", `true`, `{}`, `{"anyOf":[{"type":"STRING"},{"type":"NUMBER"},{"type":"BOOLEAN"}]}`},
		{"no schema", `[]`, "", ""},
		{"no JSON", `{"type":`, "", ""},
		{"a property that is no schema", `{"properties":{"a":1}}`, "", ""},
		{"keywords twice", `{"type":"string","type":"integer"}`, `{"type":"integer"}`, `{"type":"INTEGER"}`},
		{"keys with escapes alone", `{"type":"object","properties":{"\u003ca\u003e":{"type":"string"}}}`, `{"type":"object","properties":{"\u003ca\u003e":{"type":"string"}}}`, `{"type":"OBJECT","properties":{"<a>":{"type":"STRING"}}}`},
		{"values stay as they are", `{"type":"number","default":1.50e0,"title":"\u0041","$comment":1}`, `{"type":"number","default":1.50e0,"title":"\u0041"}`, `{"type":"NUMBER","default":1.50e0,"title":"\u0041"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, f := range []struct {
				form Form
				want string
			}{{JSON, tt.json}, {Message, tt.message}} {
				out, changes, err := Transform([]byte(tt.in), Options{Form: f.form})
				if _, typed := errors.AsType[*Error](err); (err != nil) != (f.want == "") || err != nil && !typed {
					t.Fatalf("form %d: error %v for %s", f.form, err, out)
				}
				if diff := cmp.Diff(f.want, string(out)); diff != "" {
					t.Errorf("form %d (-want +got)\n%s%v", f.form, diff, changes)
				}
			}
		})
	}
}

func TestErrorsNameThePlaceAndTheRemedy(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		o              Options
	}{
		{"a remote reference", `{"properties":{"a":{"items":{"$ref":"other.json"}}}}`, `properties.a.items.$ref: the reference "other.json" leads out of the schema, where nothing is fetched: put the definition under $defs and refer to it as #/$defs/NAME`, Options{}},
		{"recursion", `{"properties":{"a":{"$ref":"#"}}}`, `properties.a.$ref: the reference leads back to itself: recursive schemas need a model that takes JSON Schema, Gemini 2.5 or later`, Options{Form: Message}},
		{"allOf", `{"properties":{"a":{"allOf":[{"pattern":"a"},{"pattern":"b"}]}}}`, `properties.a.allOf: the schemas can't be united in one, since they differ in pattern: write them as one schema`, Options{}},
		{"no schema", `{"properties":{"a":{"items":{"anyOf":[7]}}}}`, `properties.a.items.anyOf[0]: a schema must be an object, or true or false`, Options{}},
		{"a long path", `{"properties":` + strings.Repeat(`{"a":{"properties":`, 20) + `{"b":{"$ref":"x"}}` + strings.Repeat(`}}`, 20) + `}`, `...` + strings.Repeat(`.a.properties`, 15)[len(`.a`):] + `.a.properties.b.$ref: the reference "x" leads out of the schema, where nothing is fetched: put the definition under $defs and refer to it as #/$defs/NAME`, Options{}},
		{"no JSON", `{"a":}`, `not valid JSON: a: expected a value (offset 5)`, Options{}},
		{"parameters that are no object", `{"type":"array"}`, `type: the parameters of a function must be an object`, Options{Parameters: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Transform([]byte(tt.in), tt.o)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The platform refuses a request with a number that no double can hold. Such are told,
// or left out, and reported.
func TestNumbersThatNoDoubleCanHold(t *testing.T) {
	for _, in := range []string{
		`{"type":"number","minimum":-1e999}`, `{"type":"number","enum":[1e999,2]}`, `{"const":1e999}`, `{"type":"integer","exclusiveMaximum":1e999}`,
		`{"type":"number","default":1e999}`, `{"properties":{"a":{"type":"object","default":{"b":[1,-1e999]}}}}`, `{"type":"number","example":1e999}`,
	} {
		for _, form := range []Form{JSON, Message} {
			out, changes, err := Transform([]byte(in), Options{Form: form})
			var value any
			if err != nil || json.Unmarshal(out, &value) != nil || len(changes) == 0 {
				t.Errorf("%s became %s: %v, %v", in, out, changes, err)
			}
		}
	}
}

func TestTheSameBytesWhenThereIsNothingToDo(t *testing.T) {
	in := []byte(" {\"type\" : [\"object\",\"null\"], \"properties\":{\"a\":{\"$ref\":\"#/$defs/x\"}},\n\"$defs\":{\"x\":{\"type\":\"string\"}} }")
	out, changes, err := Transform(in, Options{})
	if err != nil || len(changes) > 0 || &out[0] != &in[0] || len(out) != len(in) {
		t.Errorf("%s, %v, %v", out, changes, err)
	}
}

func TestHostileSchemasAreBounded(t *testing.T) {
	laughs := `{"$defs":{"l0":{"type":"string"}`
	for i := range 40 {
		laughs += fmt.Sprintf(`,"l%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/l%d","title":"x"},"b":{"$ref":"#/$defs/l%d","title":"y"}}}`, i+1, i, i)
	}
	laughs += `},"$ref":"#/$defs/l40"}`
	wide := `{"$defs":{"big":{"type":"string","enum":["` + strings.Repeat("x", 100_000) + `"]}},"type":"object","properties":{"p":{"type":"string"}`
	for i := range 2000 {
		wide += fmt.Sprintf(`,"p%d":{"$ref":"#/$defs/big","title":"t"}`, i)
	}
	wide += `}}`
	united := `{"allOf":[{}`
	for i := range 5000 {
		united += fmt.Sprintf(`,{"properties":{"r%d":{"type":"string"}}}`, i)
	}
	united += `]}`
	for name, in := range map[string]string{
		"a long allOf":      united,
		"deep properties":   strings.Repeat(`{"properties":{"a":`, 900) + `{}` + strings.Repeat(`}}`, 900),
		"deep items":        strings.Repeat(`{"items":`, 900) + `{}` + strings.Repeat(`}`, 900),
		"deep allOf":        strings.Repeat(`{"allOf":[{"type":"object"},`, 400) + `{}` + strings.Repeat(`]}`, 400),
		"too deep for JSON": strings.Repeat(`{"items":`, 5000),
		"a billion laughs":  laughs,
		"one big, often":    wide,
		"many keywords": `{"x0":1` + func() string {
			s := ""
			for i := range 5000 {
				s += fmt.Sprintf(`,"x%d":1`, i+1)
			}
			return s
		}() + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range []Form{JSON, Message} {
				out, _, err := Transform([]byte(in), Options{Form: f})
				if err == nil {
					t.Errorf("form %d: %d bytes and no error", f, len(out))
				}
			}
		})
	}
	t.Run("changes", func(t *testing.T) {
		in := `{"type":"object","properties":{"p":{}`
		for i := range 3000 {
			in += fmt.Sprintf(`,"p%d":{"const":1}`, i)
		}
		_, changes, err := Transform([]byte(in+`}}`), Options{})
		if err != nil || len(changes) != maxChanges+1 {
			t.Errorf("%d changes, %v", len(changes), err)
		}
	})
	t.Run("many references into a place of no schemas", func(t *testing.T) {
		in := `{"type":"object","x":{"a":"` + strings.Repeat("x", 1<<20) + `"},"properties":{"p":{}`
		for i := range 500 {
			in += fmt.Sprintf(`,"p%d":{"$ref":"#/x/y%d"}`, i, i)
		}
		if _, _, err := Transform([]byte(in+`}}`), Options{}); err == nil {
			t.Error("no error")
		}
	})
}

func TestCache(t *testing.T) {
	typical := typicalSchema(t)
	t.Run("gives what the function gives", func(t *testing.T) {
		c := NewCache(10, 1<<20)
		for range 3 {
			for _, o := range []Options{{}, {Form: Message}, {Ordering: true}, {Form: Message, Parameters: true}} {
				want, told, _ := Transform(typical, o)
				got, changes, err := c.Transform(typical, o)
				if diff := cmp.Diff(string(want), string(got)) + cmp.Diff(told, changes); diff != "" || err != nil {
					t.Errorf("%v %s", err, diff)
				}
			}
		}
		if len(c.byKey) != 4 {
			t.Errorf("%d entries", len(c.byKey))
		}
	})
	t.Run("keeps nothing of the caller's", func(t *testing.T) {
		c := NewCache(10, 1<<20)
		in := []byte(`{"type":"string"}`)
		out, _, _ := c.Transform(in, Options{})
		copy(in, `{"type":"number"}`)
		if string(out) != `{"type":"string"}` {
			t.Errorf("%s", out)
		}
		if again, _, _ := c.Transform(in, Options{}); string(again) != `{"type":"number"}` {
			t.Errorf("%s", again)
		}
	})
	t.Run("compares the whole key", func(t *testing.T) {
		c := NewCache(10, 1<<20)
		a, b := []byte(`{"type":"string"}`), []byte(`{"type":"number"}`)
		if _, _, err := c.Transform(a, Options{}); err != nil {
			t.Fatal(err)
		}
		for _, e := range c.byKey {
			if c.find(e.hash, b, Options{}) != nil || c.find(e.hash, a, Options{Form: Message}) != nil || c.find(e.hash, a, Options{}) != e {
				t.Error("another schema's result")
			}
			c.add(&entry{hash: e.hash, raw: b, size: 10}) // a collision
		}
		if len(c.byKey) != 1 || c.bytes != 10 {
			t.Errorf("%d entries of %d bytes", len(c.byKey), c.bytes)
		}
	})
	t.Run("remembers errors", func(t *testing.T) {
		c := NewCache(10, 1<<20)
		_, _, first := c.Transform([]byte(`[]`), Options{})
		_, _, second := c.Transform([]byte(`[]`), Options{})
		if first == nil || !errors.Is(second, first) {
			t.Errorf("%v, %v", first, second)
		}
	})
	t.Run("is bounded, and forgets the oldest", func(t *testing.T) {
		c := NewCache(8, 64<<10)
		schema := func(i int) []byte { return fmt.Appendf(nil, `{"type":"string","title":"%d"}`, i) }
		for i := range 100 {
			for _, j := range []int{0, i} {
				if _, _, err := c.Transform(schema(j), Options{}); err != nil {
					t.Fatal(err)
				}
			}
			if len(c.byKey) > 8 || c.bytes > 64<<10 {
				t.Fatalf("%d entries, %d bytes", len(c.byKey), c.bytes)
			}
		}
		titles := make(map[string]bool)
		for _, e := range c.byKey {
			titles[string(e.raw)] = true
		}
		if !titles[string(schema(0))] || !titles[string(schema(99))] || titles[string(schema(50))] {
			t.Errorf("%v", titles)
		}
		big := []byte(`{"type":"string","title":"` + strings.Repeat("x", 20<<10) + `"}`)
		if _, _, err := c.Transform(big, Options{}); err != nil || len(c.byKey) != 8 {
			t.Errorf("%d entries, %v", len(c.byKey), err)
		}
	})
	t.Run("is safe for concurrent use", func(t *testing.T) {
		c := NewCache(4, 1<<20)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 200 {
					in := fmt.Appendf(nil, `{"type":"string","title":"%d"}`, (i+j)%7)
					if out, _, err := c.Transform(in, Options{}); err != nil || string(out) != string(in) {
						t.Errorf("%s, %v", out, err)
					}
				}
			})
		}
		all.Wait()
	})
	t.Run("may be nil", func(t *testing.T) {
		if out, _, err := (*Cache)(nil).Transform(typical, Options{}); err != nil || len(out) == 0 {
			t.Error(err)
		}
	})
	t.Run("a hit allocates nothing", func(t *testing.T) {
		c := NewCache(4, 1<<20)
		if n := testing.AllocsPerRun(100, func() { _, _, _ = c.Transform(typical, Options{}) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// typicalSchema is a tool's schema of about 2 KB.
func typicalSchema(tb testing.TB) []byte {
	tb.Helper()
	var out []byte
	out = append(out, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{`...)
	for i, name := range []string{"github_review", "notion_page", "filesystem_edit"} {
		s := testkit.ReadArchive(tb, "testdata/tool_mcp_"+name+".txtar").Get("schema.json")
		p, _ := jsonx.Lookup(s, "properties")
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `"%s":{"type":"object","description":"The part %s","properties":%s}`, name, name, p)
	}
	out = append(out, `},"$defs":`...)
	defs, _ := jsonx.Lookup(testkit.ReadArchive(tb, "testdata/tool_mcp_notion_page.txtar").Get("schema.json"), "$defs")
	return append(append(out, defs...), `,"additionalProperties":false}`...)
}

func BenchmarkTransform(b *testing.B) {
	in := typicalSchema(b)
	for _, bb := range []struct {
		name string
		o    Options
	}{{"json", Options{}}, {"message", Options{Form: Message, Ordering: true}}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, _, err := Transform(in, bb.o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCache(b *testing.B) {
	in := typicalSchema(b)
	c := NewCache(16, 1<<20)
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, _, err := c.Transform(in, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzTransform(f *testing.F) {
	_, schemas := corpus(f)
	for _, s := range schemas {
		f.Add(s, uint8(0))
	}
	f.Add([]byte(`{"$ref":"#","$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}`), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, bits uint8) {
		o := Options{Form: Form(bits & 1), Ordering: bits&2 != 0, Parameters: bits&4 != 0}
		out, changes, err := Transform(in, o)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("the error %v is of another type", err)
			}
			return
		}
		if len(out) > maxBytes+2*len(in) || len(changes) > maxChanges+1 {
			t.Fatalf("%d bytes from %d, %d changes", len(out), len(in), len(changes))
		}
		if out == nil {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%s is not JSON", out)
		}
		if o.Form == Message {
			checkMessage(t, out)
			return
		}
		checkJSON(t, out)
		twice, _, err := Transform(out, o)
		if diff := cmp.Diff(string(out), string(twice)); err != nil || diff != "" {
			t.Errorf("again: %v (-once +twice)\n%s", err, diff)
		}
	})
}
