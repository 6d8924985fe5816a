package vertex

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// rewritten returns what goes out for a schema, and the keywords warned about.
func rewritten(raw string) (string, []string) {
	e := geminiEncoder{out: new(outgoing)}
	if !needsRewrite([]byte(raw)) {
		return raw, nil
	}
	e.rewriteSchema("p", []byte(raw))
	var told []string
	for _, w := range e.out.warnings {
		told = append(told, w.Message)
	}
	return string(e.w.Bytes()), told
}

func TestSchemasAreRewritten(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing to change", `{"type" : "object", "properties":{}}`, `{"type" : "object", "properties":{}}`},
		{"dropped keywords", `{"$schema":"s","type":"string","strict":true,"examples":[1],"readOnly":true,"writeOnly":false,"deprecated":true,"$comment":"c","contentMediaType":"m","contentEncoding":"e","discriminator":{}}`, `{"type":"string"}`},
		{"after the word in a text", `{"description":"some examples","examples":[1]}`, `{"description":"some examples"}`},
		{"the word in a text alone", `{"description":"\"examples\"","title":"const"}`, `{"description":"\"examples\"","title":"const"}`},
		{"names of properties", `{"properties":{"examples":{"examples":[1]},"const":{"const":1},"$ref":{"type":"string"}},"required":["examples","const"]}`, `{"properties":{"examples":{},"const":{"enum":[1]},"$ref":{"type":"string"}},"required":["examples","const"]}`},
		{"values", `{"default":{"examples":1,"const":2},"enum":[{"const":1}],"examples":[]}`, `{"default":{"examples":1,"const":2},"enum":[{"const":1}]}`},
		{"a const", `{"const":{"a":[1.50]}}`, `{"enum":[{"a":[1.50]}]}`},
		{"a const beside an enum", `{"enum":[1,2],"const":1}`, `{"enum":[1]}`},
		{"beside a $ref", `{"description":"d","$ref":"#/$defs/a","$defs":{"a":{"examples":[]}},"default":1}`, `{"$ref":"#/$defs/a","$defs":{"a":{}}}`},
		{"in lists", `{"anyOf":[{"const":1},{"examples":[1]}],"prefixItems":[{"examples":[1]}],"oneOf":[{"$ref":"a","title":"t"}]}`, `{"anyOf":[{"enum":[1]},{}],"prefixItems":[{}],"oneOf":[{"$ref":"a"}]}`},
		{"in items and beyond", `{"items":{"items":{"additionalProperties":{"not":{"examples":[]}}}},"patternProperties":{"examples":{"examples":[]}}}`, `{"items":{"items":{"additionalProperties":{"not":{}}}},"patternProperties":{"examples":{}}}`},
		{"booleans for schemas", `{"additionalProperties":false,"items":true,"examples":[]}`, `{"additionalProperties":false,"items":true}`},
		{"odd values", `{"properties":[1],"anyOf":"x","examples":1}`, `{"properties":[1],"anyOf":"x"}`},
		{"keys to escape", `{"properties":{"a\"b":{"examples":[]},"é\n":{"type":"string"}}}`, `{"properties":{"a\"b":{},"é\n":{"type":"string"}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, told := rewritten(tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if changed := tt.in != tt.want; changed != (len(told) > 0) {
				t.Errorf("changed: %v, warnings %q", changed, told)
			}
			if again, _ := rewritten(got); again != got {
				t.Errorf("rewriting again gives %s", again)
			}
		})
	}
}

func TestAKeywordIsToldOnce(t *testing.T) {
	_, told := rewritten(`{"properties":{"a":{"examples":[1]},"b":{"examples":[2]},"c":{"const":1}}}`)
	want := []string{
		"the schema keyword examples was left out: it says nothing to the model",
		"the schema keyword const was written as an enum of one value",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"const":1,"enum":[1]},"examples":{"$ref":"#","title":"t"}}}`))
	f.Add([]byte(`{"$schema":"x","items":[{"strict":true}],"additionalProperties":false}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !jsonx.Valid(raw) || !json.Valid(raw) {
			return
		}
		got, _ := rewritten(string(raw))
		if !json.Valid([]byte(got)) {
			t.Fatalf("%s is not JSON", got)
		}
		r := jsonx.NewReader(raw)
		if r.Kind() != jsonx.Object {
			return
		}
		for name := range jsonx.Members([]byte(got)) {
			if slices.Contains(droppedKeywords, name) {
				t.Errorf("%s is still there in %s", name, got)
			}
		}
	})
}
