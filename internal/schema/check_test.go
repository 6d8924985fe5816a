package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// allowed are the keywords of the JSON form, written down apart from the table.
var allowed = strings.Fields(`$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems
	minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering
	default pattern minLength maxLength minProperties maxProperties`)

func decode(t testing.TB, raw []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

// eachSchema visits a schema and those in it, in the spelling of either form.
func eachSchema(v any, path string, visit func(s map[string]any, path string)) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	visit(s, path)
	for _, key := range slices.Sorted(maps.Keys(s)) {
		switch one := s[key].(type) {
		case map[string]any:
			if key == "properties" || key == "$defs" || key == "definitions" {
				for _, name := range slices.Sorted(maps.Keys(one)) {
					eachSchema(one[name], path+"/"+key+"/"+name, visit)
				}
			} else if key == "items" || key == "additionalProperties" {
				eachSchema(one, path+"/"+key, visit)
			}
		case []any:
			if key == "anyOf" || key == "oneOf" || key == "allOf" || key == "prefixItems" || key == "items" {
				for i := range one {
					eachSchema(one[i], fmt.Sprintf("%s/%s/%d", path, key, i), visit)
				}
			}
		}
	}
}

// checkJSON holds a result in the JSON form against what the platform's page
// says.
func checkJSON(t testing.TB, raw []byte) {
	t.Helper()
	root := decode(t, raw)
	defs, _ := root["$defs"].(map[string]any)
	eachSchema(root, "", func(s map[string]any, path string) {
		for key := range s {
			if !slices.Contains(allowed, key) {
				t.Errorf("%s has the keyword %q", path, key)
			}
		}
		if ref, ok := s["$ref"]; ok {
			name, found := strings.CutPrefix(fmt.Sprint(ref), "#/$defs/")
			if steps, err := pointer("/" + name); err == nil && len(steps) == 1 {
				name = steps[0]
			}
			if _, there := defs[name]; !found || !there {
				t.Errorf("%s refers to %v, which is not there", path, ref)
			}
			for key := range s {
				if !strings.HasPrefix(key, "$") {
					t.Errorf("%s has %q beside its reference", path, key)
				}
			}
		}
		if list, ok := s["enum"].([]any); ok {
			for _, v := range list {
				switch v.(type) {
				case string, float64:
				default:
					t.Errorf("%s has %v in its enum", path, v)
				}
			}
		}
		checkNames(t, s, path)
	})
}

// checkMessage holds a result in the Message form against the published message
// and the platform's rules for it.
func checkMessage(t testing.TB, raw []byte) {
	t.Helper()
	if err := vertextest.Check("Schema", raw); err != nil {
		t.Errorf("%v", err)
	}
	body := `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"generationConfig":{"responseMimeType":"application/json","responseSchema":` + string(raw) + `}}`
	if err := vertextest.Check("GenerateContentRequest", []byte(body)); err != nil {
		t.Errorf("in a request: %v", err)
	}
	eachSchema(decode(t, raw), "", func(s map[string]any, path string) {
		if _, ok := s["anyOf"]; ok {
			if len(s) != 1 {
				t.Errorf("%s has something beside anyOf: %v", path, slices.Sorted(maps.Keys(s)))
			}
			return
		}
		if s["type"] == nil {
			t.Errorf("%s has no type", path)
		}
		if s["type"] == "ARRAY" && s["items"] == nil {
			t.Errorf("%s is an array without items", path)
		}
		if list, ok := s["enum"].([]any); ok && (s["type"] != "STRING" || slices.Contains(list, any("")) || len(list) == 0) {
			t.Errorf("%s has an enum that is refused", path)
		}
		if _, ok := s["additionalProperties"]; ok {
			t.Errorf("%s has additionalProperties", path)
		}
		checkNames(t, s, path)
	})
}

// checkNames wants required and propertyOrdering to name properties.
func checkNames(t testing.TB, s map[string]any, path string) {
	t.Helper()
	properties, ok := s["properties"].(map[string]any)
	if !ok {
		return
	}
	for _, key := range []string{"required", "propertyOrdering"} {
		list, _ := s[key].([]any)
		for _, name := range list {
			if _, ok := properties[fmt.Sprint(name)]; !ok {
				t.Errorf("%s: %s has %v, which is no property", path, key, name)
			}
		}
		if key == "propertyOrdering" && list != nil && len(list) != len(properties) {
			t.Errorf("%s: propertyOrdering has %d of %d", path, len(list), len(properties))
		}
	}
}

// namesIn returns all names of properties that are reached from the root.
func namesIn(t testing.TB, raw []byte) map[string]bool {
	t.Helper()
	root := decode(t, raw)
	out := make(map[string]bool)
	seen := make(map[string]bool)
	var visit func(v any)
	visit = func(v any) {
		s, ok := v.(map[string]any)
		if !ok {
			return
		}
		if ref, ok := s["$ref"].(string); ok && !seen[ref] {
			seen[ref] = true
			if strings.HasPrefix(ref, "#/") {
				steps, _ := pointer(ref[1:])
				at := any(root)
				for _, step := range steps {
					m, _ := at.(map[string]any)
					at = m[step]
				}
				visit(at)
			}
		}
		for key, v := range s {
			switch key {
			case "properties":
				m, _ := v.(map[string]any)
				for name, one := range m {
					out[name] = true
					visit(one)
				}
			case "items", "additionalProperties":
				visit(v)
				fallthrough
			case "anyOf", "oneOf", "allOf", "prefixItems":
				list, _ := v.([]any)
				for _, one := range list {
					visit(one)
				}
			}
		}
	}
	visit(root)
	return out
}

// checkKept wants each property to be in the result, or to be reported.
func checkKept(t testing.TB, in, out []byte, changes []Change) {
	t.Helper()
	after := namesIn(t, out)
	for name := range namesIn(t, in) {
		told := slices.ContainsFunc(changes, func(c Change) bool {
			return c.Keyword == name || c.Keyword == "additionalProperties" || strings.Contains(c.Message, "contradicts")
		})
		if !after[name] && !told {
			t.Errorf("the property %q is lost", name)
		}
	}
}
