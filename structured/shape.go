package structured

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/b650d4bf/gateway"
)

// Shape is the schema of T, ready to ask for values and to check them. Make it
// once with [Of] and share it: it does not change, and is safe for concurrent
// use. The zero Shape is of no use, and its methods say so.
type Shape[T any] struct {
	root   *jsonschema.Schema
	ready  *jsonschema.Resolved
	schema json.RawMessage
}

// Of returns the shape of T, or an error that names the field no schema can be
// made for. A T that is a pointer has the schema of what it points to.
func Of[T any]() (*Shape[T], error) {
	t := reflect.TypeFor[T]()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	root, err := infer(t)
	if err != nil {
		return nil, err
	}
	ready, err := root.Resolve(nil)
	if err != nil {
		return nil, invalid(t.String(), "no schema can be made of the type: "+err.Error())
	}
	schema, err := json.Marshal(root)
	if err != nil {
		return nil, invalid(t.String(), "no schema can be made of the type: "+err.Error())
	}
	return &Shape[T]{root: root, ready: ready, schema: schema}, nil
}

// Schema returns the JSON Schema, which is the caller's own copy.
func (s *Shape[T]) Schema() json.RawMessage { return bytes.Clone(s.schema) }

// Tool declares a function whose arguments are a T, which must be a struct or a
// map. The schema is closed as OpenAI's strict mode wants it, but the strict
// member is not set: Vertex AI does not know it, and every call would carry a
// warning. There, the tool choice mode "validated" holds a model to the schema.
func (s *Shape[T]) Tool(name, description string) (gateway.Tool, error) {
	switch {
	case s.root == nil:
		return gateway.Tool{}, unmade()
	case name == "":
		return gateway.Tool{}, invalid("name", "a function needs a name")
	case s.root.Type != "object":
		return gateway.Tool{}, invalid(reflect.TypeFor[T]().String(), "arguments are an object: use a struct or a map")
	}
	return gateway.FunctionTool(name, description, s.Schema()), nil
}

// Format returns the response format that asks for a T. An empty name becomes
// that of the type, and "answer" for a type without one. Strict is set where
// OpenAI would take it: the answer is an object, and in all of it no member is
// optional and no value free.
func (s *Shape[T]) Format(name string) *gateway.ResponseFormat {
	if name == "" {
		name = formatName(reflect.TypeFor[T]())
	}
	f := &gateway.ResponseFormat{Type: "json_schema", JSONSchema: &gateway.JSONSchema{Name: name, Schema: s.Schema()}}
	if s.root != nil && s.root.Type == "object" && strict(s.root) {
		f.JSONSchema.Strict = new(true)
	}
	return f
}

// Create asks for a T and decodes the answer. The request is not changed, and
// must have no response format of its own. Where the answer came but does not
// fit, it is returned beside the error: for its usage, or its tool calls.
func (s *Shape[T]) Create(ctx context.Context, client *gateway.Client, req *gateway.ChatCompletionRequest, opts ...gateway.RequestOption) (T, *gateway.ChatCompletion, error) {
	var none T
	switch {
	case s.root == nil:
		return none, nil, unmade()
	case client == nil:
		return none, nil, &gateway.Error{Code: gateway.ErrInvalidConfig, Param: "client", Message: "the client is nil: use gateway.New"}
	case req == nil:
		return none, nil, invalid("request", "the request is nil")
	case req.ResponseFormat != nil:
		return none, nil, invalid("response_format", "it is made from the type: leave it out")
	}
	q := *req
	q.ResponseFormat = s.Format("")
	answer, err := client.Chat.Completions.Create(ctx, &q, opts...)
	if err != nil {
		return none, nil, err
	}
	value, err := s.Decode(answer)
	return value, answer, err
}

// strict reports whether OpenAI's strict mode takes the schema.
//
// Source: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
func strict(s *jsonschema.Schema) bool {
	if s.Type == "" && s.Types == nil {
		return s.AnyOf != nil // an enum, or null
	}
	if takes(s, "object") && (!closed(s) || len(s.Required) != len(s.Properties)) {
		return false
	}
	for _, sub := range s.Properties {
		if !strict(sub) {
			return false
		}
	}
	return s.Items == nil || strict(s.Items)
}

// formatName makes the name of a type one that OpenAI takes: letters, digits,
// '_' and '-', 64 at most.
func formatName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "answer"
	}
	return name[:min(len(name), 64)]
}

func unmade() error { return invalid("shape", "the shape is empty: use structured.Of") }

func invalid(param, message string) error {
	return &gateway.Error{Code: gateway.ErrInvalidRequest, Param: param, Message: message}
}
