package schema

import (
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// action is what becomes of a keyword that nothing has taken out before.
type action uint8

const (
	drop     action = iota // it says nothing to the model
	lose                   // it says something that can't be said
	describe               // it is told in the description
	keep
)

// holds says what a keyword's value is made of.
type holds uint8

const (
	holdsSchema holds = 1 << iota
	holdsList
	holdsNames
)

// keyword is a row of the table of keywords. In kind, Invalid takes all.
type keyword struct {
	json, message action
	holds         holds
	kind          jsonx.Kind
	count         bool   // the value is a whole number and not negative
	typ           string // the type it is about; empty when it is about all
}

// keywords are those with a meaning here. Any other is dropped. The JSON form
// takes default, pattern, lengths and the counts of properties beside those that
// its page lists: it reads them as the Schema message does.
//
// Sources:
//
//   - https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerationConfig
//   - https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Schema
//   - https://json-schema.org/draft/2020-12/json-schema-validation
var keywords = map[string]keyword{
	// Kept in the JSON form alone.
	"$id":                  {json: keep, kind: jsonx.String},
	"$anchor":              {json: keep, kind: jsonx.String},
	"$defs":                {json: keep, holds: holdsNames},
	"definitions":          {json: keep, holds: holdsNames},
	"$ref":                 {json: keep, kind: jsonx.String},
	"oneOf":                {json: keep, message: lose, holds: holdsList},
	"prefixItems":          {json: keep, message: lose, holds: holdsList, typ: "array"},
	"additionalProperties": {json: keep, message: lose, holds: holdsSchema, typ: "object"},

	// Kept in both.
	"type":             {json: keep, message: keep},
	"title":            {json: keep, message: keep, kind: jsonx.String},
	"description":      {json: keep, message: keep, kind: jsonx.String},
	"default":          {json: keep, message: keep},
	"enum":             {json: keep, message: keep, kind: jsonx.Array},
	"format":           {json: keep, message: keep, kind: jsonx.String},
	"items":            {json: keep, message: keep, holds: holdsSchema | holdsList, typ: "array"},
	"minItems":         {json: keep, message: keep, kind: jsonx.Number, count: true, typ: "array"},
	"maxItems":         {json: keep, message: keep, kind: jsonx.Number, count: true, typ: "array"},
	"minimum":          {json: keep, message: keep, kind: jsonx.Number, typ: "number"},
	"maximum":          {json: keep, message: keep, kind: jsonx.Number, typ: "number"},
	"anyOf":            {json: keep, message: keep, holds: holdsList},
	"properties":       {json: keep, message: keep, holds: holdsNames, typ: "object"},
	"required":         {json: keep, message: keep, kind: jsonx.Array, typ: "object"},
	"propertyOrdering": {json: keep, message: keep, kind: jsonx.Array, typ: "object"},
	"minProperties":    {json: keep, message: keep, kind: jsonx.Number, count: true, typ: "object"},
	"maxProperties":    {json: keep, message: keep, kind: jsonx.Number, count: true, typ: "object"},
	"minLength":        {json: keep, message: keep, kind: jsonx.Number, count: true, typ: "string"},
	"maxLength":        {json: keep, message: keep, kind: jsonx.Number, count: true, typ: "string"},
	"pattern":          {json: keep, message: keep, kind: jsonx.String, typ: "string"},

	// Said in another way.
	"nullable":         {json: lose, message: keep, kind: jsonx.Bool},
	"const":            {json: lose, message: lose},
	"allOf":            {json: lose, message: lose, holds: holdsList},
	"additionalItems":  {json: lose, message: lose, holds: holdsSchema, typ: "array"},
	"exclusiveMinimum": {json: describe, message: describe, typ: "number"},
	"exclusiveMaximum": {json: describe, message: describe, typ: "number"},
	"multipleOf":       {json: describe, message: describe, typ: "number"},
	"uniqueItems":      {json: describe, message: describe, typ: "array"},
	"minContains":      {json: lose, message: lose, typ: "array"},
	"maxContains":      {json: lose, message: lose, typ: "array"},

	// Constraints that can't be said at all.
	"not":                   {json: lose, message: lose},
	"if":                    {json: lose, message: lose},
	"then":                  {json: lose, message: lose},
	"else":                  {json: lose, message: lose},
	"contains":              {json: lose, message: lose},
	"propertyNames":         {json: lose, message: lose},
	"patternProperties":     {json: lose, message: lose},
	"dependencies":          {json: lose, message: lose},
	"dependentSchemas":      {json: lose, message: lose},
	"dependentRequired":     {json: lose, message: lose},
	"unevaluatedItems":      {json: lose, message: lose},
	"unevaluatedProperties": {json: lose, message: lose},
	"$dynamicRef":           {json: lose, message: lose},
	"$recursiveRef":         {json: lose, message: lose},

	// What only the Schema message has.
	"example": {message: keep},
}

// action returns what the form does with a keyword.
func (k keyword) action(f Form) action {
	if f == Message {
		return k.message
	}
	return k.json
}

// fits reports whether a member's value is of the shape its keyword wants.
func (k keyword) fits(m *member) bool {
	switch {
	case k.holds != 0:
		return m.raw == nil
	case k.kind != jsonx.Invalid && kindOf(m.raw) != k.kind:
		return false
	case k.count:
		r := jsonx.NewReader(m.raw)
		return r.Int() >= 0 && r.End() == nil
	case k.kind == jsonx.Number:
		return finite(m.raw)
	case m.key == "default" || m.key == "example":
		return finite(m.raw)
	case m.key == "required" || m.key == "propertyOrdering":
		_, ok := stringsOf(m.raw)
		return ok
	}
	return true
}

// finite reports whether each number in a value is one that a double can hold. The
// platform refuses a request with any other.
func finite(raw []byte) bool {
	r := jsonx.NewReader(raw)
	readNumbers(&r)
	return r.End() == nil
}

func readNumbers(r *jsonx.Reader) {
	switch r.Kind() {
	case jsonx.Number:
		r.Float()
	case jsonx.Object:
		for r.Object(); r.NextKey(); {
			readNumbers(r)
		}
	case jsonx.Array:
		for r.Array(); r.NextElem(); {
			readNumbers(r)
		}
	default:
		r.Skip()
	}
}

// annotations say nothing about which values fit.
var annotations = []string{"title", "description", "default", "example", "examples", "$comment", "deprecated", "readOnly", "writeOnly"}

func isAnnotation(key string) bool { return slices.Contains(annotations, key) }

// formats are what the platform takes for a type in the Schema message. Some
// models refuse all others.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/control-generated-output
var formats = map[string][]string{
	"string":  {"enum", "date-time"},
	"number":  {"float", "double"},
	"integer": {"int32", "int64"},
}

// types are the names of JSON Schema's types, with what the Schema message calls
// them.
var types = map[string]string{
	"string": "STRING", "number": "NUMBER", "integer": "INTEGER", "boolean": "BOOLEAN",
	"array": "ARRAY", "object": "OBJECT", "null": "NULL",
}
