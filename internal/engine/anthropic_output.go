package engine

import (
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// nativeOutput reads output_config in the platform's own form.
func (e *claudeEncoder) nativeOutput() error {
	raw, path := e.take("output_config")
	if raw == nil {
		return nil
	}
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Object {
		return providers.Invalid(path, "must be an object")
	}
	for name, value := range jsonx.Members(raw) {
		switch r := jsonx.NewReader(value); {
		case string(value) == "null":
		case name == "effort" && r.Kind() == jsonx.String:
			word := r.String()
			if !slices.Contains(effortOrder, word) {
				return providers.Invalid(path+".effort", "must be low, medium, high, xhigh or max")
			}
			e.setEffort(path+".effort", word)
		case name == "format" && r.Kind() == jsonx.Object:
			e.format = value
		case name == "task_budget" && e.m.Own && r.Kind() == jsonx.Object:
			e.task = value
			e.needBeta("task-budgets-2026-03-13")
		default:
			e.warnf(providers.WarnUnknown, path+"."+name, "left out: the platform does not know it")
		}
	}
	return nil
}

// outputConfig writes the effort and the form of the answer.
func (e *claudeEncoder) outputConfig() error {
	schema, err := e.wantedSchema()
	if err != nil {
		return err
	}
	if e.effort == "" && schema == nil && e.format == nil && e.task == nil {
		return nil
	}
	e.w.Key("output_config")
	e.w.BeginObject()
	if e.effort != "" {
		e.w.Key("effort")
		e.w.String(e.effort)
	}
	switch {
	case schema != nil:
		e.w.Key("format")
		e.w.BeginObject()
		e.w.Key("type")
		e.w.String("json_schema")
		e.w.Key("schema")
		e.strictSchema("response_format.json_schema.schema", schema)
		e.w.EndObject()
	case e.format != nil:
		e.w.Key("format")
		e.w.Raw(e.format)
	}
	if e.task != nil {
		e.w.Key("task_budget")
		e.w.Raw(e.task)
	}
	e.w.EndObject()
	return nil
}

// wantedSchema returns the schema that the answer is to be held to, or nil.
func (e *claudeEncoder) wantedSchema() ([]byte, error) {
	f := e.q.ResponseFormat
	switch {
	case f == nil || f.Type == "" || f.Type == "text":
		return nil, nil
	case f.Type == "json_object":
		e.warnf(providers.WarnUnsupported, "response_format", "left out: these models give JSON by a schema alone: ask for it in words, or give a json_schema")
		return nil, nil
	case f.Type != "json_schema":
		return nil, providers.Invalid("response_format.type", "must be text, json_object or json_schema")
	case f.JSONSchema == nil || len(f.JSONSchema.Schema) == 0 || !jsonx.Valid(f.JSONSchema.Schema):
		return nil, providers.Invalid("response_format.json_schema.schema", "a JSON Schema is required")
	case !e.m.facts.Structured:
		e.warnf(providers.WarnUnsupported, "response_format", "left out: this model can't be held to a schema")
		return nil, nil
	}
	return f.JSONSchema.Schema, nil
}

// unheldKeywords are JSON Schema keywords that the platform refuses where it
// holds an answer to the schema.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
var unheldKeywords = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"maxItems", "uniqueItems", "minContains", "maxContains", "contains", "minProperties", "maxProperties",
	"patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "not", "if", "then", "else",
	"dependentSchemas", "dependentRequired", "prefixItems", "contentEncoding", "contentMediaType",
}

// strictWriter copies a JSON Schema in its own key order, closes its objects and
// leaves out what an answer can't be held to.
type strictWriter struct {
	e    *claudeEncoder
	path string
}

// strictSchema writes the schema raw found at path.
func (e *claudeEncoder) strictSchema(path string, raw []byte) {
	s := strictWriter{e: e, path: path}
	s.schema(raw)
}

// schema writes one schema, or the list or plain value that stands in its place.
func (s *strictWriter) schema(raw []byte) {
	w := &s.e.w
	r := jsonx.NewReader(raw)
	switch r.Kind() {
	case jsonx.Array:
		w.BeginArray()
		for r.Array(); r.NextElem(); {
			s.schema(r.Raw())
		}
		w.EndArray()
	case jsonx.Object:
		w.BeginObject()
		for r.Object(); r.NextKey(); {
			s.keyword(string(r.Key()), r.Raw())
		}
		if isObjectSchema(raw) {
			w.Key("additionalProperties")
			w.Bool(false)
		}
		w.EndObject()
	default:
		w.Raw(raw)
	}
}

// schemaMaps are keywords whose value is an object of named schemas;
// schemaHolders those whose value is a schema or a list of schemas.
var (
	schemaMaps    = []string{"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"}
	schemaHolders = []string{
		"items", "additionalProperties", "anyOf", "oneOf", "allOf", "not", "if", "then", "else",
		"prefixItems", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
	}
)

// isObjectSchema reports whether a schema is about objects.
func isObjectSchema(raw []byte) bool {
	if _, ok := jsonx.Lookup(raw, "properties"); ok {
		return true
	}
	kind, _ := jsonx.Lookup(raw, "type")
	r := jsonx.NewReader(kind)
	switch r.Kind() {
	case jsonx.String:
		return r.String() == "object"
	case jsonx.Array:
		for r.Array(); r.NextElem(); {
			if string(r.Raw()) == `"object"` {
				return true
			}
		}
	}
	return false
}

func (s *strictWriter) keyword(key string, raw []byte) {
	w := &s.e.w
	switch {
	case key == "additionalProperties":
		if string(raw) != "false" {
			s.changed(key, "set to false")
		}
	case slices.Contains(unheldKeywords, key), key == "minItems" && string(raw) != "0" && string(raw) != "1":
		s.changed(key, "left out: the platform can't hold an answer to it")
	case key == "oneOf":
		s.changed(key, "written as anyOf")
		w.Key("anyOf")
		s.schema(raw)
	case slices.Contains(schemaMaps, key):
		s.named(key, raw)
	case slices.Contains(schemaHolders, key):
		w.AnyKey(key)
		s.schema(raw)
	default:
		w.AnyKey(key)
		w.Raw(raw)
	}
}

// named writes an object of schemas, whose keys are names and no keywords.
func (s *strictWriter) named(key string, raw []byte) {
	w := &s.e.w
	w.AnyKey(key)
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Object {
		w.Raw(raw)
		return
	}
	w.BeginObject()
	for r.Object(); r.NextKey(); {
		w.AnyKey(string(r.Key()))
		s.schema(r.Raw())
	}
	w.EndObject()
}

func (s *strictWriter) changed(key, what string) {
	w := providers.Warning{
		Code: providers.WarnSchemaChanged, Param: s.path,
		Message: "the schema keyword " + key + " was " + what,
	}
	if !slices.Contains(s.e.out.warnings, w) { // once is enough
		s.e.out.add(w)
	}
}
