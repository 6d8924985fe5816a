package config_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/testkit"
)

type dict = map[string]any

// objects returns the table by object.
func objects() map[string][]config.Member {
	out := map[string][]config.Member{}
	for _, m := range config.Members() {
		out[m.Object] = append(out[m.Object], m)
	}
	return out
}

// schemaOf makes the schema that the table asks for.
func schemaOf() dict {
	defs := dict{"query": querySchema(), "operators": operatorsSchema(), "scalar": dict{"type": []any{"string", "number", "boolean", "null"}}}
	for name, members := range objects() {
		defs[name] = objectSchema(members)
	}
	target := defs["target"].(dict)
	target["dependentRequired"] = dict{"strategy": []any{"targets"}}
	root := dict{}
	for name := range target["properties"].(dict) {
		if name != "name" && name != "weight" {
			root[name] = ref("target/properties/" + name)
		}
	}
	return dict{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       "Gateway config",
		"description": "Where a request goes, and what happens when that fails.",
		"type":        "object", "properties": root, "additionalProperties": false,
		"dependentRequired": target["dependentRequired"],
		"$defs":             defs,
	}
}

func ref(name string) dict { return dict{"$ref": "#/$defs/" + name} }

func objectSchema(members []config.Member) dict {
	properties := dict{}
	out := dict{"type": "object", "properties": properties, "additionalProperties": false}
	var required []any
	for _, m := range members {
		properties[m.Name] = described(m)
		for _, alias := range m.Aliases {
			other := described(m)
			other["description"] = "Another spelling of " + m.Name + "."
			properties[alias] = other
		}
		switch {
		case m.Required && m.Aliases == nil:
			required = append(required, m.Name)
		case m.Aliases != nil:
			out["allOf"] = append(anyList(out["allOf"]), spellings(m))
		}
	}
	if required != nil {
		out["required"] = required
	}
	return out
}

func anyList(v any) []any {
	list, _ := v.([]any)
	return list
}

// spellings demands one spelling of a member, or one at most.
func spellings(m config.Member) dict {
	var each, all []any
	for _, name := range append([]string{m.Name}, m.Aliases...) {
		each = append(each, dict{"required": []any{name}})
		all = append(all, name)
	}
	if m.Required {
		return dict{"oneOf": each}
	}
	return dict{"not": dict{"required": all}}
}

// described is the schema of a member with what it does.
func described(m config.Member) dict {
	out := valueSchema(m)
	text := m.Does
	if m.Unit != "" {
		text += " In " + m.Unit + "."
	}
	if m.Default != "" {
		text += " Default: " + m.Default + "."
	}
	out["description"] = text
	return out
}

func valueSchema(m config.Member) dict {
	out := dict{"type": m.Type}
	switch m.Type {
	case "string":
		out["minLength"] = 1
		if m.Values != nil {
			out = dict{"enum": m.Values}
		}
		if m.Pattern != "" {
			out["pattern"] = m.Pattern
		}
	case "integer", "number":
		out[map[bool]string{true: "exclusiveMinimum", false: "minimum"}[m.Above]] = m.Min
		out["maximum"] = m.Max
	case "object":
		if m.Of != "" {
			return ref(m.Of)
		}
	case "array":
		one := config.Member{Type: m.Of, Pattern: m.Pattern, Min: m.Min, Max: m.Max}
		switch m.Of {
		case "string", "integer":
			out["items"], out["uniqueItems"] = valueSchema(one), true
		case "field":
			one.Type = "string"
			out["items"], out["uniqueItems"], out["maxItems"] = valueSchema(one), true, m.Max
		default:
			out["items"] = ref(m.Of)
		}
		if _, bounded := out["maxItems"]; !bounded && m.Of != "integer" {
			out["maxItems"] = 256
		}
		if m.Filled {
			out["minItems"] = 1
		}
	}
	return out
}

func querySchema() dict {
	queries := dict{"type": "array", "minItems": 1, "items": ref("query")}
	return dict{
		"type": "object", "minProperties": 1, "additionalProperties": false,
		"properties": dict{"$and": queries, "$or": queries},
		"patternProperties": dict{
			fieldOf(): dict{
				"anyOf": []any{ref("scalar"), ref("operators")},
			},
		},
		"description": "Fields as metadata.KEY, params.NAME or headers.NAME, each with a value that it equals or an object of operators; $and and $or with queries.",
	}
}

// fieldOf is the pattern of a field.
func fieldOf() string {
	for _, m := range objects()["sticky"] {
		if m.Of == "field" {
			return m.Pattern
		}
	}
	return ""
}

func operatorsSchema() dict {
	scalars := dict{"type": "array", "minItems": 1, "items": ref("scalar")}
	number := dict{"type": "number"}
	return dict{
		"type": "object", "minProperties": 1, "additionalProperties": false,
		"properties": dict{
			"$eq": ref("scalar"), "$ne": ref("scalar"), "$gt": number, "$gte": number, "$lt": number, "$lte": number,
			"$in": scalars, "$nin": scalars, "$regex": dict{"type": "string", "maxLength": 512},
		},
	}
}

func TestTheSchemaIsWhatTheTableSays(t *testing.T) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(schemaOf()); err != nil {
		t.Fatal(err)
	}
	if testkit.Updating() {
		if err := os.WriteFile("config.schema.json", b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(b.String(), string(config.Schema())); diff != "" {
		t.Errorf("config.schema.json is not what the table says (-table +file, -update rewrites it)\n%s", diff)
	}
}

func TestTheSchemaBelongsToItsCaller(t *testing.T) {
	first := config.Schema()
	clear(first)
	if !json.Valid(config.Schema()) {
		t.Error("a change of the result is seen by others")
	}
}

// TestTheTableIsWhatTheDecoderTakes gives each member of the table a value of its
// type, and each a value of another.
func TestTheTableIsWhatTheDecoderTakes(t *testing.T) {
	for _, m := range config.Members() {
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			t.Run(m.Object+"."+name, func(t *testing.T) {
				if m.Does == "" || !strings.HasSuffix(m.Does, ".") || m.Type == "" {
					t.Errorf("row %+v: a type and a sentence are required", m)
				}
				path := place(m.Object, name, sample(t, m))
				if text := fmt.Sprint(problemsOf(path)); strings.Contains(text, "unknown") || strings.Contains(text, "must be") {
					t.Errorf("%s\n%s", path, text)
				}
				wrong := map[bool]string{true: `{"x":1}`, false: "false"}[m.Type == "boolean"]
				path = place(m.Object, name, wrong)
				if text := fmt.Sprint(problemsOf(path)); !strings.Contains(text, name+": must be") {
					t.Errorf("%s\n%s", path, text)
				}
			})
		}
	}
}

// place puts a member into an object of a config.
func place(object, name, value string) string {
	text := fmt.Sprintf("{%q:%s}", name, value)
	for object != "target" {
		switch object {
		case "strategy":
			return `{"strategy":` + text + `,"targets":[{}]}`
		case "condition":
			text = `{"conditions":[` + text + `]}`
			object = "strategy"
		case "sticky":
			text = `{"sticky":` + text + `}`
			object = "strategy"
		case "backoff":
			text = `{"backoff":` + text + `}`
			object = "retry"
		case "guard":
			text = `{"guards":[` + text + `]}`
			object = "target"
		default:
			text = `{"` + object + `":` + text + `}`
			object = "target"
		}
	}
	return `{"targets":[` + text + `]}`
}

// sample returns a value that a row lets pass.
func sample(t *testing.T, m config.Member) string {
	t.Helper()
	switch m.Type {
	case "string":
		named := map[string]string{"provider": "@vx", "custom_host": "https://host.example"}
		if m.Values != nil {
			named[m.Name] = m.Values[0]
		}
		return `"` + cmp.Or(named[m.Name], "abc") + `"`
	case "integer", "number":
		return fmt.Sprint(int(m.Max))
	case "boolean":
		return "true"
	case "object":
		return "{}"
	case "array":
		return map[string]string{
			"string": `["abc"]`, "integer": "[500]", "field": `["metadata.user"]`, "target": "[{}]", "guard": "[{}]", "condition": "[{}]",
		}[m.Of]
	}
	t.Fatalf("no sample of %s", m.Type)
	return ""
}

// problemsOf returns what is wrong with a config, by line.
func problemsOf(text string) []string {
	_, err := config.Parse([]byte(text))
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

// sortedKeys is for readers of maps in tests.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
