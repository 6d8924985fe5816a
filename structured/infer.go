package structured

import (
	"encoding"
	"encoding/json"
	"log/slog"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Enum is a string type that takes only some values. Enum returns them, in the
// order the model shall see; it is called on a zero value.
type Enum interface{ Enum() []string }

// infer makes the schema of a type that is no pointer.
func infer(t reflect.Type) (*jsonschema.Schema, error) {
	v := survey{own: known(), seen: map[reflect.Type]bool{}}
	if err := v.visit(t, typeName(t)); err != nil {
		return nil, err
	}
	s, err := v.schema(t, typeName(t))
	if err != nil {
		return nil, err
	}
	splitNull(s)
	return s, nil
}

// splitNull writes an enum that may be null as a choice of the two: the list of
// values rules null out, and Gemini models take strings alone in it. They also
// take nothing beside anyOf, so the description stays with the values.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference#schema
func splitNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Enum != nil && s.Types != nil {
		values := *s
		values.Type, values.Types = "string", nil
		*s = jsonschema.Schema{AnyOf: []*jsonschema.Schema{&values, {Type: "null"}}}
		return
	}
	for _, sub := range s.Properties {
		splitNull(sub)
	}
	splitNull(s.Items)
	splitNull(s.AdditionalProperties)
}

// known are the types whose JSON is not that of their kind. A schema without a
// keyword would be written as true, which not every model takes.
func known() map[reflect.Type]*jsonschema.Schema {
	free := &jsonschema.Schema{Description: "Any JSON value."}
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[any]():             free,
		reflect.TypeFor[json.RawMessage](): free,
		reflect.TypeFor[json.Number]():     {Type: "number"},
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[big.Int]():         {Type: "integer"},
		reflect.TypeFor[slog.Level]():      {Type: "string"},
	}
}

// survey goes through a type before the library does. It refuses what would
// not come back as encoding/json has it, and gives the library the schemas it
// does not make itself.
type survey struct {
	own  map[reflect.Type]*jsonschema.Schema
	seen map[reflect.Type]bool // true while below it
}

// schema has the library make the schema of t, which was visited.
func (v *survey) schema(t reflect.Type, path string) (*jsonschema.Schema, error) {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: v.own})
	if err != nil {
		return nil, invalid(path, err.Error())
	}
	return s, nil
}

func (v *survey) visit(t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if v.own[t] != nil {
		return nil
	}
	if below, ok := v.seen[t]; ok {
		if below {
			return invalid(path, "the type "+t.String()+" contains itself, and its schema would not end: use json.RawMessage at some depth")
		}
		return nil
	}
	v.seen[t] = true
	defer func() { v.seen[t] = false }()
	if done, err := v.methods(t, path); done || err != nil {
		return err
	}
	switch t.Kind() {
	case reflect.Struct:
		return v.fields(t, path)
	case reflect.Slice:
		return v.slice(t, path)
	case reflect.Array:
		return v.visit(t.Elem(), path+"[]")
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return invalid(path, "the keys of an object are strings, and those of "+t.String()+" are not")
		}
		return v.visit(t.Elem(), path+"[]")
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return invalid(path, "no value can be decoded into "+t.String()+": use a concrete type, or any")
		}
		v.own[t] = v.own[reflect.TypeFor[any]()]
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return invalid(path, "JSON has no value for "+t.String())
	default:
	}
	return nil
}

// methods handles a type whose methods decide what it looks like.
func (v *survey) methods(t reflect.Type, path string) (done bool, err error) {
	if t.Kind() == reflect.Interface {
		return false, nil
	}
	pointer := reflect.PointerTo(t)
	switch {
	case pointer.Implements(reflect.TypeFor[Enum]()):
		e, _ := reflect.TypeAssert[Enum](reflect.New(t))
		values := e.Enum()
		if t.Kind() != reflect.String || len(values) == 0 {
			return true, invalid(path, "an enum is a string type with one value or more")
		}
		s := &jsonschema.Schema{Type: "string"}
		for _, value := range values {
			s.Enum = append(s.Enum, value)
		}
		v.own[t] = s
	case pointer.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return true, invalid(path, t.String()+" has an UnmarshalJSON of its own, so its schema is unknown: use a plain type, or json.RawMessage")
	case pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		v.own[t] = &jsonschema.Schema{Type: "string"}
	default:
		return false, nil
	}
	return true, nil
}

// slice gives a slice a schema of its own: the library's may be null.
func (v *survey) slice(t reflect.Type, path string) error {
	if t.Elem().Kind() == reflect.Uint8 {
		v.own[t] = &jsonschema.Schema{Type: "string", Description: "Base64."}
		return nil
	}
	if err := v.visit(t.Elem(), path+"[]"); err != nil {
		return err
	}
	items, err := v.schema(t.Elem(), path+"[]")
	if err != nil {
		return err
	}
	v.own[t] = &jsonschema.Schema{Type: "array", Items: items}
	return nil
}

// fields visits the fields of a struct, those of embedded structs among them.
func (v *survey) fields(t reflect.Type, path string) error {
	names := make(map[string]bool, t.NumField())
	promoted := map[string]string{}
	for _, f := range reflect.VisibleFields(t) {
		at := path + "." + f.Name
		if f.Anonymous {
			if err := embedded(&f, at); err != nil {
				return err
			}
			promote(f.Type, at, promoted)
			continue
		}
		name, options := jsonName(&f)
		switch {
		case name == "":
			continue
		case strings.ContainsAny(name, "\"'`\\"):
			return invalid(at, "encoding/json passes over a name with quotes or a backslash in the json tag")
		case names[name]:
			return invalid(at, "another field has the name "+name+" too")
		case strings.Contains(","+options+",", ",string,"):
			return invalid(at, "the schema cannot say that a value is in a string: leave the option string out of the json tag")
		}
		names[name] = true
		if err := v.visit(f.Type, at); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(promoted)) {
		if !names[name] {
			return invalid(promoted[name], "a Go name outside hides the field "+name+" from the schema, though not from encoding/json: rename one")
		}
	}
	return nil
}

// promote notes the names that an embedded struct itself adds, with their
// paths. What it embeds in turn is among the visible fields too.
func promote(t reflect.Type, path string, names map[string]string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for f := range t.Fields() {
		if name, _ := jsonName(&f); name != "" && !f.Anonymous {
			names[name] = path + "." + f.Name
		}
	}
}

// embedded refuses embedded fields that encoding/json does not flatten, or
// cannot set.
func embedded(f *reflect.StructField, path string) error {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		if !f.IsExported() {
			return invalid(path, "encoding/json cannot set an embedded pointer to a type that is not exported: embed the struct")
		}
	}
	if t.Kind() != reflect.Struct && !f.IsExported() {
		return nil
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name != "" || t.Kind() != reflect.Struct {
		return invalid(path, "only structs without a json name can be embedded: give the field a Go name")
	}
	return nil
}

// jsonName returns the name of a field that is not embedded, "" for none, and
// the options of its tag.
func jsonName(f *reflect.StructField) (name, options string) {
	tag := f.Tag.Get("json")
	if !f.IsExported() || tag == "-" {
		return "", ""
	}
	name, options, _ = strings.Cut(tag, ",")
	if name == "" {
		name = f.Name
	}
	return name, options
}

// typeName is the name of a type in errors.
func typeName(t reflect.Type) string {
	if t.Name() == "" {
		return t.Kind().String()
	}
	return t.Name()
}
