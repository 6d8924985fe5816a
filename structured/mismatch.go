package structured

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/b650d4bf/gateway"
)

// MismatchError says what of an answer does not fit its type, and where. It
// quotes no answer: names are those of the type, and a key of a map is "*".
type MismatchError struct {
	// Path is the place of the first fault, such as "steps[2].minutes", or ""
	// for the whole.
	Path string
	// Problem is a phrase such as "is a string and must be an integer".
	Problem string
}

// Error returns the place and the problem.
func (e *MismatchError) Error() string {
	if e.Path == "" {
		return "the answer " + e.Problem
	}
	return e.Path + " " + e.Problem
}

// failure is the error of a call.
func (e *MismatchError) failure() error {
	return &gateway.Error{Code: gateway.ErrBadResponse, Message: e.Error(), Err: e, Sent: true}
}

// locate finds the innermost place at which value does not fit s. The library
// says no more than a path in the schema, and quotes the value.
func locate(s *jsonschema.Schema, value any, path string) *MismatchError {
	if s.AnyOf != nil { // an enum, or null, which fits
		s = s.AnyOf[0]
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range s.PropertyOrder {
			if member, ok := value[name]; ok && !fits(s.Properties[name], member) {
				return locate(s.Properties[name], member, join(path, name))
			}
		}
		if s.AdditionalProperties != nil && !closed(s) {
			for _, key := range slices.Sorted(maps.Keys(value)) {
				if s.Properties[key] == nil && !fits(s.AdditionalProperties, value[key]) {
					return locate(s.AdditionalProperties, value[key], join(path, "*"))
				}
			}
		}
	case []any:
		if s.Items == nil {
			break
		}
		items, err := s.Items.CloneSchemas().Resolve(nil)
		for i := range value {
			if err == nil && items.Validate(value[i]) != nil {
				return locate(s.Items, value[i], path+"["+strconv.Itoa(i)+"]")
			}
		}
	}
	return &MismatchError{Path: path, Problem: problem(s, value)}
}

// fits reports whether value is valid for a schema within another one.
func fits(s *jsonschema.Schema, value any) bool {
	ready, err := s.CloneSchemas().Resolve(nil)
	return err != nil || ready.Validate(value) == nil
}

// problem says what is wrong with a value whose members and elements fit.
func problem(s *jsonschema.Schema, value any) string {
	if kind := kindOf(value); !takes(s, kind) {
		return "is " + article(kind) + " and must be " + wanted(s)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := value[name]; !ok {
				return "lacks " + strconv.Quote(name)
			}
		}
		return "has members that the type does not have"
	case []any:
		if s.MaxItems != nil {
			return fmt.Sprintf("has length %d and must have length %d", len(value), *s.MaxItems)
		}
	case float64:
		if s.Minimum != nil && value < *s.Minimum {
			return "is below " + strconv.FormatFloat(*s.Minimum, 'f', -1, 64)
		}
		if s.Maximum != nil && value > *s.Maximum {
			return "is above " + strconv.FormatFloat(*s.Maximum, 'f', -1, 64)
		}
	case string:
		if s.Enum != nil {
			return fmt.Sprintf("is none of %q", s.Enum)
		}
	}
	return "does not fit the schema"
}

// misfit finds the innermost place at which valid JSON that fits the schema
// cannot be decoded, such as a number too large for its type.
func misfit(t reflect.Type, raw []byte, path string) *MismatchError {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			break
		}
		for _, f := range reflect.VisibleFields(t) {
			name, _ := jsonName(&f)
			if member, ok := members[name]; ok && !f.Anonymous && !decodes(f.Type, member) {
				return misfit(f.Type, member, join(path, name))
			}
		}
	case reflect.Map:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(members)) {
			if !decodes(t.Elem(), members[key]) {
				return misfit(t.Elem(), members[key], join(path, "*"))
			}
		}
	case reflect.Slice, reflect.Array:
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) != nil {
			break
		}
		for i := range elements {
			if !decodes(t.Elem(), elements[i]) {
				return misfit(t.Elem(), elements[i], path+"["+strconv.Itoa(i)+"]")
			}
		}
	default:
	}
	return &MismatchError{Path: path, Problem: "does not fit the Go type " + t.String()}
}

func decodes(t reflect.Type, raw []byte) bool {
	return json.Unmarshal(raw, reflect.New(t).Interface()) == nil
}

// closed reports whether an object may have no further members.
func closed(s *jsonschema.Schema) bool {
	return s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil
}

// kinds are the types that a schema takes; nil is every type.
func kinds(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

func takes(s *jsonschema.Schema, kind string) bool {
	k := kinds(s)
	return k == nil || slices.Contains(k, kind) || kind == "integer" && slices.Contains(k, "number")
}

// wanted lists the types that a schema takes, null last.
func wanted(s *jsonschema.Schema) string {
	var names []string
	for _, k := range slices.Backward(kinds(s)) {
		names = append(names, article(k))
	}
	return strings.Join(names, " or ")
}

func article(kind string) string {
	switch kind {
	case "null":
		return kind
	case "array", "integer", "object":
		return "an " + kind
	}
	return "a " + kind
}

// kindOf is the schema's word for the type of a decoded value.
func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		if value == math.Trunc(value) {
			return "integer"
		}
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
