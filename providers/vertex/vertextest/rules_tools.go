package vertextest

import (
	"fmt"
	"regexp"
	"slices"
)

// maxFunctions is the largest number of functions in a request.
const maxFunctions = 512

var functionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$`)

// toolFact is what is known of one kind of tool.
type toolFact struct {
	kind   string
	search bool // may go with other tools that search, before Gemini 3
	from   int  // first version that takes it
	before int  // first version that doesn't any more; 0 for none
	source string
}

// toolTable lists the kinds of tools.
func toolTable() []toolFact {
	const docs = "https://cloud.google.com/vertex-ai/generative-ai/docs/"
	return []toolFact{
		{kind: "functionDeclarations", source: docs + "multimodal/function-calling"},
		{kind: "googleSearch", search: true, from: 20, source: docs + "grounding/grounding-with-google-search"},
		{kind: "googleSearchRetrieval", search: true, before: 20, source: "https://github.com/genkit-ai/genkit/issues/1901"},
		{kind: "enterpriseWebSearch", search: true, from: 20, source: docs + "grounding/web-grounding-enterprise"},
		{kind: "googleMaps", search: true, from: 20, source: docs + "grounding/grounding-with-google-maps"},
		{kind: "urlContext", search: true, from: 20, source: docs + "url-context"},
		{kind: "retrieval", search: true, source: docs + "grounding/grounding-with-vertex-ai-search"},
		{kind: "parallelAiSearch", search: true, from: 20, source: docs + "grounding/grounding-with-parallel"},
		{kind: "exaAiSearch", search: true, from: 20, source: docs + "model-reference/inference"},
		{kind: "codeExecution", from: 15, source: docs + "multimodal/code-execution"},
		{kind: "computerUse", from: 25, source: docs + "computer-use"},
	}
}

// checkToolKinds wants one kind in each tool, kinds the model takes, and one
// kind over all before Gemini 3 unless all of them search.
func checkToolKinds(x *exchange) error {
	kinds, others := map[string]bool{}, false
	for i, t := range x.req.Tools {
		if len(t) == 0 {
			return invalid("tools[%d].tool_type: required one_of 'tool_type' must have one initialized field", i)
		}
		for _, fact := range toolTable() {
			if _, ok := t[fact.kind]; !ok {
				continue
			}
			if err := x.checkToolKind(fact); err != nil {
				return err
			}
			kinds[fact.kind] = true
			others = others || !fact.search
		}
	}
	if x.facts.computer && !kinds["computerUse"] {
		return invalid("This model requires the use of the Computer Use tool.")
	}
	if len(kinds) > 1 && others && !x.rules.mixesTools && !x.facts.computer {
		return invalid("Multiple tools are supported only when they are all search tools.")
	}
	return nil
}

// checkToolKind refuses a kind the model doesn't take.
func (x *exchange) checkToolKind(fact toolFact) error {
	usesComputers := x.facts.computer || x.facts.version >= 30 && !x.facts.imageOut
	switch {
	case fact.before > 0 && x.facts.version >= fact.before:
		return invalid("Unable to submit request because Please use google_search field instead of google_search_retrieval field.. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini")
	case x.facts.version < fact.from, fact.kind == "computerUse" && !usesComputers:
		return invalid("Unable to submit request because the tool %s is not supported by this model.", snake(fact.kind))
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
		case len(f.ParametersJSONSchema) > 0 && !x.rules.jsonSchemas:
			return unknownName("parametersJsonSchema", "tools[0]."+path)
		case len(f.ResponseJSONSchema) > 0 && !x.rules.jsonSchemas:
			return unknownName("responseJsonSchema", "tools[0]."+path)
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
		if err := x.checkParameters(path, f); err != nil {
			return err
		}
	}
	return nil
}

// checkParameters wants an object in either form.
func (x *exchange) checkParameters(path string, f functionDeclaration) error {
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
	if err := x.checkSchemaForm(path+".parameters", f.Parameters); err != nil {
		return err
	}
	return checkJSONForm(path+".parameters_json_schema", f.ParametersJSONSchema)
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
	case calling.StreamArguments && !x.rules.streamsArgs:
		return invalid("Unable to submit request because stream_function_call_arguments is not supported by this model.")
	case calling.StreamArguments && !x.route.stream:
		return invalid("Unable to submit request because stream_function_call_arguments is only supported by StreamGenerateContent.")
	}
	for _, name := range calling.AllowedFunctionNames {
		if !slices.ContainsFunc(declared, func(f functionDeclaration) bool { return f.Name == name }) {
			return invalid("allowed_function_names contains %q, which is not declared.", name)
		}
	}
	return nil
}
