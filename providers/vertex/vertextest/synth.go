package vertextest

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxDepth ends made-up values of recursive schemas.
const maxDepth = 12

// userWords is what can be taken from the user's text for made-up values.
type userWords struct {
	text    string
	places  []string  // after "in", "for", "to" and the like
	names   []string  // capitalised, not at the start of a sentence
	numbers []float64 // in their order
}

var (
	placePhrase = regexp.MustCompile(`(?:^|\s)(?:in|for|at|to|from|near|of) (` + properName + `(?:(?:, and |, | and | or )` + properName + `)*)`)
	nameWord    = regexp.MustCompile(`[\p{L},] (` + properName + `)`)
	numberWord  = regexp.MustCompile(`-?\d+(?:\.\d+)?`)
	conjunction = regexp.MustCompile(`, and | and | or |, `)
	joined      = regexp.MustCompile(` and | or `)
)

const properName = `\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)*`

// readWords finds places, names and numbers. "Florence, Italy" is one place,
// "Paris, Rome and Oslo" are three.
func readWords(text string) userWords {
	u := userWords{text: text}
	if m := placePhrase.FindStringSubmatch(text); m != nil {
		u.places = []string{m[1]}
		if joined.MatchString(m[1]) {
			u.places = conjunction.Split(m[1], -1)
		}
	}
	for _, m := range nameWord.FindAllStringSubmatch(text, -1) {
		u.names = append(u.names, m[1])
	}
	for _, m := range numberWord.FindAllString(text, -1) {
		if f, err := strconv.ParseFloat(m, 64); err == nil {
			u.numbers = append(u.numbers, f)
		}
	}
	return u
}

// synth makes up values that fit a schema, in either form the platform takes.
type synth struct {
	root map[string]any
	user userWords
	next int // the number of the user to take next
}

func newSynth(root map[string]any, user userWords) *synth { return &synth{root: root, user: user} }

// object makes up the required properties, or all when none is required.
func (s *synth) object(spec map[string]any, depth int) map[string]any {
	made := map[string]any{}
	properties, _ := spec["properties"].(map[string]any)
	wanted := stringsOf(spec["required"])
	if len(wanted) == 0 && depth < 3 {
		wanted = slices.Sorted(maps.Keys(properties))
	}
	for _, name := range wanted {
		property, _ := properties[name].(map[string]any)
		made[name] = s.value(property, name, depth+1)
	}
	return made
}

// value makes up a value for the property called name.
func (s *synth) value(spec map[string]any, name string, depth int) any {
	spec = s.resolve(spec)
	if depth > maxDepth {
		return nil
	}
	if fixed, ok := spec["const"]; ok {
		return fixed
	}
	if list, ok := spec["enum"].([]any); ok && len(list) > 0 {
		return list[0]
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := spec[key].([]any); ok {
			return s.value(firstNotNull(list), name, depth+1)
		}
	}
	switch typeOf(spec) {
	case "object":
		return s.object(spec, depth)
	case "array":
		return s.array(spec, name, depth)
	case "integer":
		return int64(math.Round(s.number(spec)))
	case "number":
		return s.number(spec)
	case "boolean":
		return true
	case "null":
		return nil
	}
	return s.text(spec, name)
}

// resolve follows references to definitions of the root.
func (s *synth) resolve(spec map[string]any) map[string]any {
	for range maxDepth {
		ref, ok := cmp.Or(spec["$ref"], spec["ref"]).(string)
		if !ok {
			return spec
		}
		var at any = s.root
		for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#"), "/") {
			if m, ok := at.(map[string]any); ok && step != "" {
				at = m[step]
			}
		}
		spec, _ = at.(map[string]any)
	}
	return nil
}

// typeOf returns the type in lower case; of several types the first that isn't
// null. Without a type, the keywords tell.
func typeOf(spec map[string]any) string {
	switch t := spec["type"].(type) {
	case string:
		return strings.ToLower(t)
	case []any:
		for _, one := range stringsOf(t) {
			if one != "null" {
				return one
			}
		}
		return "null"
	}
	if _, ok := spec["properties"]; ok {
		return "object"
	}
	if _, ok := spec["items"]; ok {
		return "array"
	}
	return "string"
}

func firstNotNull(list []any) map[string]any {
	for _, item := range list {
		if m, ok := item.(map[string]any); ok && typeOf(m) != "null" {
			return m
		}
	}
	return map[string]any{"type": "null"}
}

// array makes up minItems items, but at least one where maxItems lets it.
func (s *synth) array(spec map[string]any, name string, depth int) any {
	items, _ := spec["items"].(map[string]any)
	n := int(count(spec, "minItems", 1))
	n = min(max(n, 1), int(count(spec, "maxItems", math.MaxInt32)), 100)
	made := make([]any, 0, n)
	for range n {
		made = append(made, s.value(items, strings.TrimSuffix(name, "s"), depth+1))
	}
	return made
}

// number takes the user's next number, else 1, and moves it into the range.
func (s *synth) number(spec map[string]any) float64 {
	n := 1.0
	if s.next < len(s.user.numbers) {
		n = s.user.numbers[s.next]
		s.next++
	}
	n = max(n, count(spec, "minimum", n), count(spec, "exclusiveMinimum", n-1)+1)
	return min(n, count(spec, "maximum", n), count(spec, "exclusiveMaximum", n+1)-1)
}

// count reads a numeric keyword, which may also be written as a string.
func count(spec map[string]any, keyword string, otherwise float64) float64 {
	switch v := spec[keyword].(type) {
	case float64:
		return v
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return f
		}
	}
	return otherwise
}

// formats are examples for string formats.
func formats() map[string]string {
	return map[string]string{
		"date": "2026-01-15", "date-time": "2026-01-15T12:00:00Z", "time": "12:00:00Z", "duration": "PT1H",
		"email": "user@example.com", "uri": "https://example.com/", "uuid": "00000000-0000-4000-8000-000000000000",
	}
}

// text takes a string from the user's words as the property's name suggests.
func (s *synth) text(spec map[string]any, name string) string {
	format, _ := spec["format"].(string)
	if example, ok := formats()[format]; ok {
		return example
	}
	chosen := name
	switch {
	case isPlaceName(name) && len(s.user.places) > 0:
		chosen = s.user.places[0]
	case isWholeText(name) && s.user.text != "":
		chosen = s.user.text
	case len(s.user.names) > 0:
		chosen = s.user.names[0]
	case chosen == "":
		chosen = "text"
	}
	if limit := int(count(spec, "maxLength", math.MaxInt32)); len([]rune(chosen)) > limit {
		chosen = string([]rune(chosen)[:max(limit, 0)])
	}
	missing := int(count(spec, "minLength", 0)) - len([]rune(chosen))
	return chosen + strings.Repeat(".", min(max(missing, 0), 10_000))
}

// isPlaceName reports whether a property is named like a place.
func isPlaceName(name string) bool {
	return sharesWord(wordSet(name), "address area city cities country destination location origin place region town where")
}

// isWholeText reports whether a property is named like a text of the user.
func isWholeText(name string) bool {
	return sharesWord(wordSet(name), "answer content input message prompt query question request search text")
}

// shape is what the request wants an answer to look like.
type shape struct {
	schema map[string]any // nil for any JSON object
	bare   bool           // a plain enum value, not JSON
}

// responseShape returns the wanted shape; false for plain text.
func (x *exchange) responseShape() (shape, bool) {
	cfg := x.req.GenerationConfig
	kind, schema := cfg.ResponseMimeType, cfg.ResponseJSONSchema
	if len(schema) == 0 {
		schema = cfg.ResponseSchema
	}
	for _, f := range cfg.ResponseFormat {
		if f.Text != nil && f.Text.MimeType == "APPLICATION_JSON" {
			kind, schema = "application/json", f.Text.Schema
		}
	}
	switch kind {
	case "application/json":
		return shape{schema: decodeObject(schema)}, true
	case "text/x.enum":
		return shape{schema: decodeObject(schema), bare: true}, true
	}
	return shape{}, false
}

// sayShaped makes up an answer of the wanted shape.
func (x *exchange) sayShaped(want shape) (string, error) {
	if want.schema == nil {
		b, err := json.Marshal(map[string]string{"answer": x.sayPlain()})
		return string(b), err
	}
	text, _ := x.lastUserText()
	v := newSynth(want.schema, readWords(text)).value(want.schema, "", 0)
	if s, ok := v.(string); ok && want.bare {
		return s, nil
	}
	b, err := json.MarshalIndent(v, "", "  ")
	return string(b), err
}
