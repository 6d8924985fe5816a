package vertex

import (
	"bytes"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// droppedKeywords are JSON Schema keywords that say nothing to the model and
// that some of its versions refuse.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference#schema
var droppedKeywords = []string{
	"$schema", "strict", "examples", "discriminator", "$comment", "readOnly", "writeOnly",
	"deprecated", "contentMediaType", "contentEncoding",
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

// schemaWriter copies a JSON Schema in its own key order and leaves out or
// rewrites what the platform does not take.
type schemaWriter struct {
	w    *jsonx.Writer
	e    *geminiEncoder // takes the warnings
	path string
}

// rewriteSchema writes the schema raw found at path, in its own key order.
func (e *geminiEncoder) rewriteSchema(path string, raw []byte) {
	s := schemaWriter{w: &e.w, e: e, path: path}
	s.schema(raw)
}

// needsRewrite reports whether a schema may hold anything to change; without it
// is copied byte for byte.
func needsRewrite(raw []byte) bool {
	if bytes.Contains(raw, []byte(`"const"`)) || bytes.Contains(raw, []byte(`"$ref"`)) {
		return true
	}
	for _, k := range droppedKeywords {
		for rest := raw; ; {
			i := bytes.Index(rest, []byte(k))
			if i < 0 {
				break
			}
			if i > 0 && rest[i-1] == '"' {
				return true
			}
			rest = rest[i+len(k):]
		}
	}
	return false
}

// isEmptyObject reports whether raw is an object without members.
func isEmptyObject(raw []byte) bool {
	r := jsonx.NewReader(raw)
	r.Object()
	return !r.NextKey() && r.End() == nil
}

// schema writes one schema, or the list or plain value that stands in its place.
func (s *schemaWriter) schema(raw []byte) {
	r := jsonx.NewReader(raw)
	switch r.Kind() {
	case jsonx.Array:
		s.w.BeginArray()
		for r.Array(); r.NextElem(); {
			s.schema(r.Raw())
		}
		s.w.EndArray()
	case jsonx.Object:
		_, isRef := jsonx.Lookup(raw, "$ref")
		_, isConst := jsonx.Lookup(raw, "const")
		s.w.BeginObject()
		for r.Object(); r.NextKey(); {
			key, value := string(r.Key()), r.Raw()
			switch {
			case isRef && !strings.HasPrefix(key, "$"):
				s.changed(key, "left out: the platform takes nothing beside a $ref")
			case isConst && key == "enum":
				s.changed(key, "left out: const says more")
			default:
				s.keyword(key, value)
			}
		}
		s.w.EndObject()
	default:
		s.w.Raw(raw)
	}
}

func (s *schemaWriter) keyword(key string, raw []byte) {
	switch {
	case slices.Contains(droppedKeywords, key):
		s.changed(key, "left out: it says nothing to the model")
	case key == "const":
		s.changed(key, "written as an enum of one value")
		s.w.Key("enum")
		s.w.BeginArray()
		s.w.Raw(raw)
		s.w.EndArray()
	case slices.Contains(schemaMaps, key):
		s.named(key, raw)
	case slices.Contains(schemaHolders, key):
		s.w.AnyKey(key)
		s.schema(raw)
	default:
		s.w.AnyKey(key)
		s.w.Raw(raw)
	}
}

// named writes an object of schemas, whose keys are names and no keywords.
func (s *schemaWriter) named(key string, raw []byte) {
	s.w.AnyKey(key)
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Object {
		s.w.Raw(raw)
		return
	}
	s.w.BeginObject()
	for r.Object(); r.NextKey(); {
		s.w.AnyKey(string(r.Key()))
		s.schema(r.Raw())
	}
	s.w.EndObject()
}

func (s *schemaWriter) changed(key, what string) {
	w := providers.Warning{
		Code: providers.WarnSchemaChanged, Param: s.path,
		Message: "the schema keyword " + key + " was " + what,
	}
	if !slices.Contains(s.e.out.warnings, w) { // once is enough
		s.e.warn(w)
	}
}
