package vertextest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// schemaFile holds names, types and enums of the aiplatform v1 discovery
// document, revision 20261028, as a JSON Schema. It is facts alone; the value
// XHIGH of thinkingLevel is an addition taken from the model pages.
//
//go:embed vertex-v1.schema.json
var schemaFile []byte

// schema is the part of JSON Schema that schemaFile uses.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Additional *additional        `json:"additionalProperties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	Enum       []string           `json:"enum"`
	Pattern    *regexp.Regexp     `json:"pattern"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
	AnyOf      []*schema          `json:"anyOf"`
	Not        *schema            `json:"not"`
}

// additional is the value of additionalProperties: false, or a schema.
type additional struct {
	forbidden bool
	values    *schema
}

// UnmarshalJSON takes a boolean or a schema.
func (a *additional) UnmarshalJSON(b []byte) error {
	switch string(bytes.TrimSpace(b)) {
	case "true":
		return nil
	case "false":
		a.forbidden = true
		return nil
	}
	return json.Unmarshal(b, &a.values)
}

// definitions parses schemaFile once.
var definitions = sync.OnceValues(func() (map[string]*schema, error) {
	var file struct {
		Defs map[string]*schema `json:"$defs"`
	}
	if err := json.Unmarshal(schemaFile, &file); err != nil {
		return nil, fmt.Errorf("schema file: %w", err)
	}
	return file.Defs, nil
})

// Check validates a JSON body against a message of the platform's published v1
// schema, such as GenerateContentRequest or GenerateContentResponse. The error
// names each offence and its path. Check is strict: the platform also takes
// other spellings of names and values, and adds response members every month.
func Check(message string, body []byte) error {
	v, err := decodeBody(body)
	if err != nil {
		return err
	}
	return checkValue(message, v)
}

// decodeBody parses exactly one JSON value.
func decodeBody(body []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, malformed(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, invalid("Invalid JSON payload received. Expected end of input.")
	}
	return v, nil
}

// malformed turns a parse error into the platform's, without quoting the body.
func malformed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return invalid("Invalid JSON payload received. Unexpected end of string.")
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return invalid("Invalid JSON payload received. Unexpected token at byte %d.", syntax.Offset)
	}
	return invalid("Invalid JSON payload received.")
}

// checkValue validates a decoded value against the definition called message.
func checkValue(message string, v any) error {
	defs, err := definitions()
	if err != nil {
		return err
	}
	root, ok := defs[message]
	if !ok {
		return fmt.Errorf("vertextest: no message %q in the schema", message)
	}
	c := checker{defs: defs}
	c.check(root, v, "")
	return c.found.asError()
}

// violation is one offence. The field is the path of the member at fault, or of
// its parent when the member is unknown, in the platform's spelling.
type violation struct{ field, text string }

type violations []violation

// asError returns nil without offences, else an INVALID_ARGUMENT with details.
func (v violations) asError() error {
	if len(v) == 0 {
		return nil
	}
	texts := make([]string, 0, len(v))
	fields := make([]any, 0, len(v))
	for _, one := range v {
		texts = append(texts, one.text)
		f := map[string]string{"description": one.text}
		if one.field != "" {
			f["field"] = one.field
		}
		fields = append(fields, f)
	}
	return &statusError{
		Code:    http.StatusBadRequest,
		Status:  "INVALID_ARGUMENT",
		Message: strings.Join(texts, "\n"),
		Details: []any{detail("BadRequest", map[string]any{"fieldViolations": fields})},
	}
}

// checker walks a value along a schema and gathers offences.
type checker struct {
	defs  map[string]*schema
	found violations
}

func (c *checker) add(field, format string, args ...any) {
	c.found = append(c.found, violation{field, fmt.Sprintf(format, args...)})
}

// matches reports whether v fits s.
func (c *checker) matches(s *schema, v any) bool {
	trial := checker{defs: c.defs}
	trial.check(s, v, "")
	return len(trial.found) == 0
}

// check adds the offences of v, found at path, against s.
func (c *checker) check(s *schema, v any, path string) {
	for s.Ref != "" {
		s = c.defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
		if s == nil {
			return
		}
	}
	if len(s.AnyOf) > 0 && !slices.ContainsFunc(s.AnyOf, func(one *schema) bool { return c.matches(one, v) }) {
		c.add(path, "Invalid value at '%s'.", path)
		return
	}
	if s.Type != "" && !hasType(s.Type, v) {
		c.add(path, "Invalid value at '%s' (TYPE_%s).", path, strings.ToUpper(s.Type))
		return
	}
	switch v := v.(type) {
	case string:
		c.checkString(s, v, path)
	case float64:
		if s.Minimum != nil && v < *s.Minimum || s.Maximum != nil && v > *s.Maximum {
			c.add(path, "Invalid value at '%s' (TYPE_INT32), %v is out of range.", path, v)
		}
	case []any:
		for i, item := range v {
			if s.Items != nil {
				c.check(s.Items, item, fmt.Sprintf("%s[%d]", path, i))
			}
		}
	case map[string]any:
		c.checkObject(s, v, path)
	}
}

func (c *checker) checkString(s *schema, v, path string) {
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		c.add(path, "Invalid value at '%s' (TYPE_ENUM), %q", path, v)
	}
	if s.Pattern != nil && !s.Pattern.MatchString(v) {
		c.add(path, "Invalid value at '%s', the string doesn't have the required form (%s).", path, s.Pattern)
	}
}

func (c *checker) checkObject(s *schema, v map[string]any, path string) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		known, ok := s.Properties[name]
		switch {
		case ok:
			c.check(known, v[name], join(path, snake(name)))
		case s.Additional == nil:
		case s.Additional.forbidden:
			c.add(path, "%s", unknownNameText(name, path))
		case s.Additional.values != nil:
			c.check(s.Additional.values, v[name], join(path, name))
		}
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			field := join(path, snake(name))
			c.add(field, "Unable to submit request because the required field '%s' is missing.", field)
		}
	}
	if s.Not != nil {
		c.checkNot(s.Not, v, path)
	}
}

// checkNot reports the pairs of members that exclude each other.
func (c *checker) checkNot(not *schema, v map[string]any, path string) {
	for _, pair := range not.AnyOf {
		if len(pair.Required) == 0 || !c.matches(pair, v) {
			continue
		}
		last := pair.Required[len(pair.Required)-1]
		c.add(path, "Invalid value at '%s' (oneof), oneof field 'data' is already set. Cannot set '%s'", path, last)
		return
	}
}

// hasType reports whether a decoded value has a JSON Schema type.
func hasType(name string, v any) bool {
	switch name {
	case "object":
		_, ok := v.(map[string]any)
		return ok
	case "array":
		_, ok := v.([]any)
		return ok
	case "string":
		_, ok := v.(string)
		return ok
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "number":
		_, ok := v.(float64)
		return ok
	case "integer":
		f, ok := v.(float64)
		return ok && f == math.Trunc(f)
	}
	return true
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// snake turns lowerCamelCase into the snake_case of the platform's messages.
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
