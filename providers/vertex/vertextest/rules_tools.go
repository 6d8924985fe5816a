package vertextest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// maxFunctions is the largest number of functions in a request.
const maxFunctions = 512

var functionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$`)

// checkToolKinds wants one kind in each tool, and one kind over all before
// Gemini 3 unless all of them search.
func checkToolKinds(x *exchange) error {
	kinds := map[string]bool{}
	for i, t := range x.req.Tools {
		if len(t) == 0 {
			return invalid("tools[%d].tool_type: required one_of 'tool_type' must have one initialized field", i)
		}
		for kind := range t {
			kinds[kind] = true
		}
	}
	if len(kinds) < 2 || x.rules.mixesTools {
		return nil
	}
	search := []string{"googleSearch", "googleSearchRetrieval", "enterpriseWebSearch", "retrieval"}
	for kind := range kinds {
		if !slices.Contains(search, kind) {
			return invalid("Multiple tools are supported only when they are all search tools.")
		}
	}
	return nil
}

// checkFunctions checks the declarations.
func checkFunctions(x *exchange) error {
	declared := x.req.declarations()
	if n := len(declared); n > maxFunctions {
		return invalid("The number of function declarations is %d, which is more than the maximum of %d.", n, maxFunctions)
	}
	seen := map[string]bool{}
	for i, f := range declared {
		path := fmt.Sprintf("function_declarations[%d]", i)
		switch {
		case !functionName.MatchString(f.Name):
			return invalid("%s.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.", path)
		case seen[f.Name]:
			return invalid("Duplicate function declaration found: %s", f.Name)
		case len(f.Parameters) > 0 && len(f.ParametersJSONSchema) > 0:
			return invalid("%s: parameters and parameters_json_schema can't be set together.", path)
		case len(f.Response) > 0 && len(f.ResponseJSONSchema) > 0:
			return invalid("%s: response and response_json_schema can't be set together.", path)
		}
		seen[f.Name] = true
		if err := checkParameters(path, f); err != nil {
			return err
		}
	}
	return nil
}

// checkParameters wants an object in either form.
func checkParameters(path string, f functionDeclaration) error {
	raw := f.Parameters
	if len(raw) == 0 {
		raw = f.ParametersJSONSchema
	}
	if len(raw) == 0 {
		return nil
	}
	spec := decodeObject(raw)
	if _, typed := spec["type"]; (typed || len(f.Parameters) > 0) && typeOf(spec) != "object" {
		return invalid("%s: the parameters schema should be of type OBJECT.", path)
	}
	return checkSchemaForm(path+".parameters", f.Parameters)
}

// checkSchemaForm checks a Schema message for what its fields alone don't tell:
// arrays have items, and required properties exist.
func checkSchemaForm(path string, raw json.RawMessage) error {
	spec := decodeObject(raw)
	if spec == nil {
		return nil
	}
	if _, ok := spec["items"]; typeOf(spec) == "array" && !ok {
		return invalid("%s.items: missing field.", path)
	}
	properties, _ := spec["properties"].(map[string]any)
	for i, name := range stringsOf(spec["required"]) {
		if _, ok := properties[name]; !ok {
			return invalid("%s.required[%d]: property is not defined", path, i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if err := checkNested(path+".properties["+name+"]", properties[name]); err != nil {
			return err
		}
	}
	return checkNested(path+".items", spec["items"])
}

func checkNested(path string, v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return checkSchemaForm(path, raw)
}

// checkCalling checks toolConfig against the declarations.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling
func checkCalling(x *exchange) error {
	calling := x.req.ToolConfig.FunctionCallingConfig
	forced := calling.Mode == "ANY" || calling.Mode == "VALIDATED"
	declared := x.req.declarations()
	switch {
	case len(calling.AllowedFunctionNames) > 0 && !forced:
		return invalid("allowed_function_names should be set only when function calling mode is ANY or VALIDATED.")
	case forced && len(x.req.Tools) == 0:
		return invalid("Function calling config is set without function_declarations.")
	}
	for _, name := range calling.AllowedFunctionNames {
		if !slices.ContainsFunc(declared, func(f functionDeclaration) bool { return f.Name == name }) {
			return invalid("allowed_function_names contains %q, which is not declared.", name)
		}
	}
	return nil
}
