package vertextest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// checkClaudeTools wants names to be unique, schemas to be of objects, and a
// choice among the tools there are.
//
// Sources: https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use and
// https://docs.claude.com/en/docs/build-with-claude/structured-outputs
func checkClaudeTools(c *claudeCall) error {
	names := map[string]bool{}
	for i, t := range c.Tools {
		if names[t.Name] {
			return claudeInvalid("tools: Tool names must be unique.")
		}
		names[t.Name] = true
		if t.Type != "" && t.Type != "custom" {
			if len(t.Allowed) > 0 && len(t.Blocked) > 0 {
				return claudeInvalid("tools.%d: Only one of allowed_domains and blocked_domains can be set.", i)
			}
			continue
		}
		at := fmt.Sprintf("tools.%d.custom.input_schema", i)
		if err := checkInputSchema(at, t); err != nil {
			return err
		}
	}
	switch {
	case c.ToolChoice.Type != "" && len(c.Tools) == 0:
		return claudeInvalid("tool_choice: tool_choice may only be specified while providing tools.")
	case c.ToolChoice.Type == "tool" && !names[c.ToolChoice.Name]:
		return claudeInvalid("tool_choice: Tool '%s' not found in provided tools", c.ToolChoice.Name)
	}
	return nil
}

var claudeProperty = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// checkInputSchema checks the schema of a custom tool.
func checkInputSchema(at string, t claudeTool) error {
	spec := decodeObject(t.InputSchema)
	kind, ok := spec["type"]
	switch {
	case !ok:
		return claudeInvalid("%s.type: Field required", at)
	case kind != "object":
		return claudeInvalid("%s.type: Input should be 'object'", at)
	}
	for _, keyword := range []string{"oneOf", "allOf", "anyOf"} {
		if _, ok := spec[keyword]; ok {
			return claudeInvalid("%s: input_schema does not support oneOf, allOf, or anyOf at the top level", at)
		}
	}
	properties, _ := spec["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !claudeProperty.MatchString(name) {
			return claudeInvalid("%s.properties: Property keys should match pattern '%s'", at, claudeProperty)
		}
	}
	if err := checkDraft(at, spec); err != nil || !t.Strict {
		return err
	}
	return strictSchema{spec}.check(at, spec, nil)
}

// checkDraft refuses what no JSON Schema of the draft that the API names may be,
// as far as clients get it wrong: types that don't exist.
func checkDraft(at string, v any) error {
	known := []string{"object", "array", "string", "number", "integer", "boolean", "null"}
	spec, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	kinds := stringsOf(spec["type"])
	if one, ok := spec["type"].(string); ok {
		kinds = []string{one}
	}
	for _, kind := range kinds {
		if !slices.Contains(known, kind) {
			return claudeInvalid("%s: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12).", at)
		}
	}
	for _, sub := range subschemas(spec) {
		if err := checkDraft(at, sub); err != nil {
			return err
		}
	}
	return nil
}

// subschemas lists the schemas right below one.
func subschemas(spec map[string]any) []any {
	var list []any
	for _, group := range []string{"properties", "$defs", "definitions"} {
		named, _ := spec[group].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			list = append(list, named[name])
		}
	}
	for _, group := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		choices, _ := spec[group].([]any)
		list = append(list, choices...)
	}
	return append(list, spec["items"], spec["additionalProperties"])
}

// checkClaudeFormat checks the schema of a structured answer, which can't go on
// with a given beginning.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/structured-outputs
func checkClaudeFormat(c *claudeCall) error {
	if c.OutputConfig.Format == nil {
		return nil
	}
	if c.Messages[len(c.Messages)-1].Role == "assistant" {
		return claudeInvalid("Prefilling assistant messages is not supported with structured outputs.")
	}
	spec := decodeObject(c.OutputConfig.Format.Schema)
	if err := checkDraft("output_config.format.schema", spec); err != nil {
		return err
	}
	return strictSchema{spec}.check("output_config.format.schema", spec, nil)
}

// strictSchema is a schema that answers are held to by their grammar.
type strictSchema struct{ root map[string]any }

// unsupported are the keywords that the grammar has no means for, by type.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/structured-outputs
func unsupported(kind string) []string {
	return map[string][]string{
		"integer": {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"},
		"number":  {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"},
		"string":  {"maxLength", "minLength"},
		"array":   {"maxItems", "uniqueItems"},
		"object":  {"maxProperties", "minProperties", "patternProperties"},
	}[kind]
}

// check walks a schema; the references on the way to it must not come again.
func (s strictSchema) check(at string, v any, refs []string) error {
	spec, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if ref, ok := spec["$ref"].(string); ok {
		switch {
		case slices.Contains(refs, ref):
			return claudeInvalid("%s: Circular reference detected in schema definitions: %s", at, ref)
		case !leads(s.root, ref, "#"):
			return claudeInvalid("%s: $ref '%s' does not lead to a definition of the schema", at, ref)
		}
		return s.check(at, (&synth{root: s.root}).resolve(map[string]any{"$ref": ref}), append(slices.Clip(refs), ref))
	}
	kind, _ := spec["type"].(string)
	if open, said := spec["additionalProperties"].(bool); kind == "object" && (!said || open) {
		return claudeInvalid("%s: For 'object' type, 'additionalProperties' must be explicitly set to false", at)
	}
	var found []string
	for _, keyword := range unsupported(kind) {
		if _, ok := spec[keyword]; ok {
			found = append(found, keyword)
		}
	}
	if len(found) > 0 {
		return claudeInvalid("%s: For '%s' type, properties %s are not supported", at, kind, strings.Join(found, ", "))
	}
	if n := count(spec, "minItems", 0); kind == "array" && n > 1 {
		return claudeInvalid("%s: For 'array' type, 'minItems' values other than 0 or 1 are not supported", at)
	}
	below := maps.Clone(spec)
	delete(below, "$defs")
	delete(below, "definitions")
	for _, sub := range subschemas(below) {
		if err := s.check(at, sub, refs); err != nil {
			return err
		}
	}
	return nil
}

// checkClaudeMedia wants data that can be decoded and is what it says it is, as
// far as its first bytes tell.
//
// Sources: https://docs.claude.com/en/docs/build-with-claude/vision and
// https://docs.claude.com/en/docs/build-with-claude/pdf-support
func checkClaudeMedia(c *claudeCall) error {
	for i, m := range c.Messages {
		for j, b := range m.Content {
			at := fmt.Sprintf("messages.%d.content.%d.%s", i, j, b.Type)
			if err := checkClaudeSource(at, b); err != nil {
				return err
			}
			if b.Type != "tool_result" {
				continue
			}
			for k, inner := range b.resultContent() {
				if err := checkClaudeSource(fmt.Sprintf("%s.content.%d.%s", at, k, inner.Type), inner); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// maxClaudeImage is how many bytes an image may have.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/vision
const maxClaudeImage = 5 << 20

func checkClaudeSource(at string, b claudeBlock) error {
	if b.Source.Type != "base64" {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(b.Source.Data)
	at += ".source.base64"
	if err != nil {
		return claudeInvalid("%s.data: Invalid base64 data", at)
	}
	if b.Type != "image" {
		if len(data) == 0 {
			return claudeInvalid("%s.data: PDF cannot be empty", at)
		}
		return nil
	}
	switch kind := http.DetectContentType(data); {
	case len(data) == 0:
		return claudeInvalid("%s: image cannot be empty", at)
	case len(data) > maxClaudeImage:
		return claudeInvalid("%s: image exceeds 5 MB maximum: %d bytes > %d bytes", at, len(data), maxClaudeImage)
	case strings.HasPrefix(kind, "image/") && kind != b.Source.MediaType:
		return claudeInvalid("%s.media_type: Image does not match the provided media type %s", at, b.Source.MediaType)
	}
	return nil
}

// choiceForces reports whether the choice makes the model call a tool.
func (c *claudeCall) choiceForces() bool {
	return c.ToolChoice.Type == "any" || c.ToolChoice.Type == "tool"
}

// isSet reports whether a raw member is there.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
