package vertextest

import (
	"slices"
	"strings"
)

// vertexOnly are the members that the Gemini API doesn't know. Arrays on the way
// have no step of their own.
//
// Source: https://pkg.go.dev/google.golang.org/genai, which refuses them there,
// and https://ai.google.dev/api/generate-content
func vertexOnly() []string {
	return []string{
		"modelArmorConfig", "outputConfig", "generationConfig.audioTimestamp", "generationConfig.routingConfig",
		"generationConfig.imageConfig.personGeneration", "generationConfig.imageConfig.prominentPeople",
		"generationConfig.imageConfig.imageOutputOptions", "safetySettings.method",
		"toolConfig.functionCallingConfig.streamFunctionCallArguments",
		"tools.retrieval", "tools.enterpriseWebSearch", "tools.parallelAiSearch", "tools.exaAiSearch",
		"tools.googleSearch.excludeDomains", "tools.googleSearch.blockingConfidence", "tools.googleMaps.groundingTypes",
		"contents.parts.inlineData.displayName", "contents.parts.functionCall.partialArgs",
	}
}

// directOnly are the members that only the Gemini API knows, beside kinds of tools
// and parts.
//
// Source: https://ai.google.dev/api/generate-content and
// https://ai.google.dev/api/caching
func directOnly() []string {
	return []string{
		"serviceTier", "store", "generationConfig.enableEnhancedCivicAnswers", "toolConfig.includeServerSideToolInvocations",
		"tools.googleSearch.timeRangeFilter", "contents.parts.partMetadata",
	}
}

// serviceTiers are the classes of service.
//
// Source: https://ai.google.dev/gemini-api/docs/priority-inference
var serviceTiers = []any{nil, "standard", "flex", "priority"}

// adaptGenerate adapts a request for an answer.
func (x *exchange) adaptGenerate(body map[string]any) error {
	if !x.cfg.withoutChecks {
		if err := checkDirect(body); err != nil {
			return err
		}
	}
	x.tier, _ = body["serviceTier"].(string)
	for _, path := range directOnly() {
		deleteMember(body, strings.Split(path, "."))
	}
	if tools := listOf(body["tools"]); len(tools) > 0 {
		body["tools"] = slices.DeleteFunc(tools, func(v any) bool { return asObject(v)["fileSearch"] != nil || asObject(v)["mcpServers"] != nil })
	}
	for _, c := range listOf(body["contents"]) {
		content := asObject(c)
		parts := listOf(content["parts"])
		kept := slices.DeleteFunc(parts, func(v any) bool {
			return asObject(v)["toolCall"] != nil || asObject(v)["toolResponse"] != nil
		})
		if len(parts) > 0 {
			content["parts"] = kept
		}
		for _, v := range kept {
			adaptFile(asObject(v))
		}
	}
	if name, ok := body["cachedContent"].(string); ok {
		if id, ok := strings.CutPrefix(name, "cachedContents/"); ok {
			body["cachedContent"] = "projects/direct/locations/global/cachedContents/" + id
		}
	}
	return nil
}

// checkDirect refuses what the Gemini API does.
func checkDirect(body map[string]any) error {
	for _, path := range vertexOnly() {
		steps := strings.Split(path, ".")
		if parent, ok := findMember(body, steps, ""); ok {
			return unknownName(steps[len(steps)-1], parent)
		}
	}
	if !slices.Contains(serviceTiers, body["serviceTier"]) {
		return invalid("Invalid value at 'service_tier' (TYPE_ENUM).")
	}
	functions, others := 0, 0
	for _, v := range listOf(body["tools"]) {
		for name := range asObject(v) {
			if name == "functionDeclarations" {
				functions++
			} else {
				others++
			}
		}
	}
	if told, _ := asObject(body["toolConfig"])["includeServerSideToolInvocations"].(bool); functions > 0 && others > 0 && !told {
		return invalid("Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.")
	}
	if name, ok := body["cachedContent"].(string); ok && !strings.HasPrefix(name, "cachedContents/") {
		return invalid("Invalid cached content name. Expected cachedContents/{id}.")
	}
	for _, c := range listOf(body["contents"]) {
		for _, p := range listOf(asObject(c)["parts"]) {
			if uri, _ := asObject(asObject(p)["fileData"])["fileUri"].(string); strings.HasPrefix(uri, "gs://") {
				return invalid("Invalid or unsupported file uri: %s", uri)
			}
		}
	}
	return nil
}

// adaptFile gives a file of the service a type, which the service knows.
func adaptFile(part map[string]any) {
	file := asObject(part["fileData"])
	uri, _ := file["fileUri"].(string)
	if file["mimeType"] == nil && strings.HasPrefix(uri, "https://generativelanguage.googleapis.com/v1beta/files/") {
		file["mimeType"] = "application/pdf"
	}
}

// asObject returns a decoded object, or nothing.
func asObject(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

// deleteMember deletes the members that a path leads to.
func deleteMember(v any, path []string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			deleteMember(item, path)
		}
	case map[string]any:
		if len(path) == 1 {
			delete(v, path[0])
			return
		}
		deleteMember(v[path[0]], path[1:])
	}
}
