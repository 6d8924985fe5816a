package vertextest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// checkSchemaForm checks a Schema message for what its fields alone don't tell:
// arrays have items, required properties exist, references lead somewhere, enums
// are of strings.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/control-generated-output
func (x *exchange) checkSchemaForm(path string, raw json.RawMessage) error {
	spec := decodeObject(raw)
	if spec == nil {
		return nil
	}
	f := schemaForm{rules: x.rules, root: spec}
	return f.check(path, spec)
}

// schemaForm is a Schema message that is being checked.
type schemaForm struct {
	rules generation
	root  map[string]any
}

func (f schemaForm) check(path string, v any) error {
	spec, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	properties, _ := spec["properties"].(map[string]any)
	_, items := spec["items"]
	_, closed := spec["enum"]
	kind, _ := spec["type"].(string)
	switch {
	case kind == "ARRAY" && !items:
		return invalid("%s.items: missing field.", path)
	case kind == "OBJECT" && len(properties) == 0 && !f.rules.emptyObjects:
		return invalid("%s.properties: should be non-empty for OBJECT type", path)
	case closed && kind != "" && kind != "STRING":
		return invalid("%s.enum: only allowed for STRING type", path)
	}
	for i, name := range stringsOf(spec["required"]) {
		if _, ok := properties[name]; !ok {
			return invalid("%s.required[%d]: property is not defined", path, i)
		}
	}
	if ref, ok := spec["ref"].(string); ok {
		if !leads(f.root, ref, "#/defs/") {
			return invalid("%s.ref: %q doesn't lead to a member of the root's defs.", path, ref)
		}
	}
	for _, group := range []string{"properties", "defs"} {
		named, _ := spec[group].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			if err := f.check(path+"."+group+"["+name+"]", named[name]); err != nil {
				return err
			}
		}
	}
	choices, _ := spec["anyOf"].([]any)
	for i, one := range choices {
		if err := f.check(fmt.Sprintf("%s.any_of[%d]", path, i), one); err != nil {
			return err
		}
	}
	return f.check(path+".items", spec["items"])
}

// checkJSONForm checks the references of a JSON Schema: they stay within the
// schema, lead somewhere, and stand alone but for keywords that start with $.
//
// Source: https://ai.google.dev/api/generate-content#FIELDS.response_json_schema
func checkJSONForm(path string, raw json.RawMessage) error {
	root := decodeObject(raw)
	return jsonForm{root}.check(path, root)
}

// jsonForm is a JSON Schema that is being checked.
type jsonForm struct{ root map[string]any }

func (f jsonForm) check(path string, v any) error {
	spec, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if err := f.checkRef(path, spec); err != nil {
		return err
	}
	for _, group := range []string{"properties", "$defs", "definitions", "patternProperties"} {
		named, _ := spec[group].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			if err := f.check(path+"."+group+"["+name+"]", named[name]); err != nil {
				return err
			}
		}
	}
	for _, group := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		list, _ := spec[group].([]any)
		for i, one := range list {
			if err := f.check(fmt.Sprintf("%s.%s[%d]", path, group, i), one); err != nil {
				return err
			}
		}
	}
	for _, single := range []string{"items", "additionalProperties", "not"} {
		if err := f.check(path+"."+single, spec[single]); err != nil {
			return err
		}
	}
	return nil
}

func (f jsonForm) checkRef(path string, spec map[string]any) error {
	v, ok := spec["$ref"]
	if !ok {
		return nil
	}
	for _, keyword := range slices.Sorted(maps.Keys(spec)) {
		if !strings.HasPrefix(keyword, "$") {
			return invalid("%s: a schema with $ref can't have other keywords than those starting with $, but it has %q.", path, keyword)
		}
	}
	ref, _ := v.(string)
	if !strings.HasPrefix(ref, "#") {
		return invalid("%s: $ref %q leads out of the schema.", path, ref)
	}
	if !leads(f.root, ref, "#") && !f.anchored(f.root, strings.TrimPrefix(ref, "#")) {
		return invalid("%s: $ref %q leads nowhere.", path, ref)
	}
	return nil
}

// anchored reports whether some schema below v has the given $anchor.
func (f jsonForm) anchored(v any, anchor string) bool {
	switch v := v.(type) {
	case map[string]any:
		if v["$anchor"] == anchor {
			return true
		}
		for _, member := range v {
			if f.anchored(member, anchor) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return f.anchored(item, anchor) })
	}
	return false
}

// leads reports whether a reference, which has to start with prefix, leads to a
// member of root, as RFC 6901 has it.
func leads(root any, ref, prefix string) bool {
	if !strings.HasPrefix(ref, prefix) {
		return false
	}
	at := root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#"), "/") {
		if step == "" {
			continue
		}
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := at.(type) {
		case map[string]any:
			member, ok := v[name]
			if !ok {
				return false
			}
			at = member
		case []any:
			i, err := indexOf(name)
			if err != nil || i >= len(v) {
				return false
			}
			at = v[i]
		default:
			return false
		}
	}
	return true
}

// indexOf reads an index of an array.
func indexOf(name string) (int, error) {
	n, err := strconv.ParseUint(name, 10, 31)
	return int(n), err
}
