package engine

import (
	"errors"
	"strconv"

	"github.com/b650d4bf/gateway/internal/schema"
	"github.com/b650d4bf/gateway/providers"
)

// The memory of schemas that were turned into the platform's form: the same few
// come with every request.
const (
	maxSchemas     = 2048
	maxSchemaBytes = 32 << 20
)

// schemaOf says what a schema is for: the members it can be sent in, as JSON
// Schema or as the platform's own message.
type schemaOf struct {
	json, message string
	options       schema.Options
}

// schema writes the schema raw in the form that the model takes, and tells what
// had to be changed. at is the schema's place, asked for when there is something
// to tell.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/control-generated-output
func (e *geminiEncoder) schema(raw []byte, of schemaOf, at func() string) error {
	key := of.json
	if e.m.facts.SchemaForm {
		key, of.options.Form = of.message, schema.Message
	}
	out, changes, err := e.schemas.Transform(raw, of.options)
	if err != nil {
		return badSchema(at(), err)
	}
	if len(changes) > 0 {
		e.schemaChanges(at(), changes)
	}
	if out != nil { // else a function without parameters
		e.w.Key(key)
		e.w.Raw(out)
	}
	return nil
}

func badSchema(path string, err error) error {
	if fault, ok := errors.AsType[*schema.Error](err); ok {
		if fault.Path != "" {
			path += "." + fault.Path
		}
		return providers.Invalid(path, fault.Message)
	}
	return providers.Invalid(path, err.Error())
}

// schemaChanges tells of the changes. Those that are the same but for the place
// are told once, with the first place.
func (e *geminiEncoder) schemaChanges(path string, changes []schema.Change) {
	type kind struct{ keyword, message string }
	places := make(map[kind]int, len(changes))
	for _, c := range changes {
		places[kind{c.Keyword, c.Message}]++
	}
	for _, c := range changes {
		k := kind{c.Keyword, c.Message}
		n := places[k]
		if n == 0 {
			continue // told
		}
		places[k] = 0
		param, message := path, c.Message
		if c.Path != "" {
			param += "." + c.Path
		}
		if n > 1 {
			message += ", here and in " + strconv.Itoa(n-1) + " more places"
		}
		e.warnf(providers.WarnSchemaChanged, param, message)
	}
}
