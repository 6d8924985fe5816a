package config_test

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// fits reports whether v is valid under the part of JSON Schema that the file
// uses. A keyword it doesn't know ends the test.
func fits(t *testing.T, root, schema dict, v any) bool {
	t.Helper()
	ok := true
	for _, keyword := range sortedKeys(schema) {
		arg := schema[keyword]
		switch keyword {
		case "$schema", "title", "description", "$defs":
		case "$ref":
			ok = ok && fits(t, root, resolve(t, root, arg.(string)), v)
		case "type":
			ok = ok && hasType(arg, v)
		case "enum":
			ok = ok && slices.Contains(arg.([]any), v)
		case "anyOf":
			ok = ok && count(t, root, arg, v) > 0
		case "oneOf":
			ok = ok && count(t, root, arg, v) == 1
		case "allOf":
			ok = ok && count(t, root, arg, v) == len(arg.([]any))
		case "not":
			ok = ok && !fits(t, root, arg.(dict), v)
		default:
			ok = ok && fitsKind(t, root, schema, keyword, v)
		}
	}
	return ok
}

func count(t *testing.T, root dict, schemas, v any) int {
	t.Helper()
	n := 0
	for _, s := range schemas.([]any) {
		if fits(t, root, s.(dict), v) {
			n++
		}
	}
	return n
}

// fitsKind judges the keywords that are about one type, and let others pass.
func fitsKind(t *testing.T, root, schema dict, keyword string, v any) bool {
	t.Helper()
	limit, _ := schema[keyword].(float64)
	text, isText := v.(string)
	number, isNumber := v.(float64)
	list, isList := v.([]any)
	object, isObject := v.(dict)
	switch keyword {
	case "minLength":
		return !isText || float64(utf8.RuneCountInString(text)) >= limit
	case "maxLength":
		return !isText || float64(utf8.RuneCountInString(text)) <= limit
	case "pattern":
		return !isText || regexp.MustCompile(schema[keyword].(string)).MatchString(text)
	case "minimum":
		return !isNumber || number >= limit
	case "exclusiveMinimum":
		return !isNumber || number > limit
	case "maximum":
		return !isNumber || number <= limit
	case "minItems":
		return !isList || float64(len(list)) >= limit
	case "maxItems":
		return !isList || float64(len(list)) <= limit
	case "uniqueItems":
		seen := map[string]bool{}
		for _, e := range list {
			b, _ := json.Marshal(e)
			if seen[string(b)] {
				return false
			}
			seen[string(b)] = true
		}
		return true
	case "items":
		return !slices.ContainsFunc(list, func(e any) bool { return !fits(t, root, schema[keyword].(dict), e) })
	case "minProperties":
		return !isObject || float64(len(object)) >= limit
	case "required":
		return !isObject || hasAll(object, schema[keyword])
	case "dependentRequired":
		for name, needs := range schema[keyword].(dict) {
			if _, has := object[name]; has && !hasAll(object, needs) {
				return false
			}
		}
		return true
	case "properties":
		return fitsMembers(t, root, schema, object)
	case "patternProperties", "additionalProperties":
		return true // with properties
	}
	t.Fatalf("unknown keyword %s", keyword)
	return false
}

func fitsMembers(t *testing.T, root, schema, object dict) bool {
	t.Helper()
	properties, _ := schema["properties"].(dict)
	patterns, _ := schema["patternProperties"].(dict)
	for name, v := range object {
		s, known := properties[name].(dict)
		for pattern, one := range patterns {
			if !known && regexp.MustCompile(pattern).MatchString(name) {
				s, known = one.(dict), true
			}
		}
		switch allowed, given := schema["additionalProperties"].(bool); {
		case !known && given && !allowed:
			return false
		case known && !fits(t, root, s, v):
			return false
		}
	}
	return true
}

func hasAll(object dict, names any) bool {
	return !slices.ContainsFunc(names.([]any), func(n any) bool {
		_, has := object[n.(string)]
		return !has
	})
}

func resolve(t *testing.T, root dict, ref string) dict {
	t.Helper()
	at := root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		next, ok := at[step].(dict)
		if !ok {
			t.Fatalf("%s leads nowhere", ref)
		}
		at = next
	}
	return at
}

func hasType(want, v any) bool {
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(one any) bool { return hasType(one, v) })
	}
	switch v := v.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	case string:
		return want == "string"
	case float64:
		return want == "number" || want == "integer" && v == math.Trunc(v)
	case []any:
		return want == "array"
	case dict:
		return want == "object"
	}
	return false
}
