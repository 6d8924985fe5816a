package engine

import (
	"slices"
	"strings"
)

// platformTool is one row of the table of tools that the platform runs itself.
type platformTool struct {
	// wire is the tool's member in the platform's request.
	wire string
	// names are the types of tools, or names of functions, that ask for it.
	names []string
	// options are the members it takes, in the platform's case.
	options []string
	// search says that it may stand beside other search tools on models that
	// else take one kind of tool.
	search bool
	link   string
}

const groundingPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/grounding/"

// platformTools is the table. Each name is also understood in the other case
// style.
var platformTools = []platformTool{
	{
		wire: "googleSearch", names: []string{"web_search", "google_search", "web_search_preview"}, search: true,
		options: []string{"excludeDomains", "blockingConfidence", "searchTypes"},
		link:    groundingPage + "grounding-with-google-search",
	},
	{
		wire: "googleSearchRetrieval", names: []string{"web_search_retrieval", "google_search_retrieval"}, search: true,
		options: []string{"dynamicRetrievalConfig"},
		link:    groundingPage + "grounding-with-google-search",
	},
	{
		wire: "enterpriseWebSearch", names: []string{"enterprise_web_search"}, search: true,
		options: []string{"excludeDomains", "blockingConfidence"},
		link:    groundingPage + "web-grounding-enterprise",
	},
	{
		wire: "googleMaps", names: []string{"google_maps"}, search: true,
		options: []string{"groundingTypes", "enableWidget"},
		link:    groundingPage + "grounding-with-google-maps",
	},
	{
		wire: "urlContext", names: []string{"url_context"}, search: true,
		link: "https://cloud.google.com/vertex-ai/generative-ai/docs/url-context",
	},
	{
		wire: "codeExecution", names: []string{"code_execution", "code_interpreter"},
		link: "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/code-execution",
	},
	{
		wire: "computerUse", names: []string{"computer_use", "computer_use_preview"},
		options: []string{"environment", "excludedPredefinedFunctions", "enablePromptInjectionDetection", "disabledSafetyPolicies"},
		link:    "https://cloud.google.com/vertex-ai/generative-ai/docs/computer-use",
	},
	{
		wire: "retrieval", names: []string{"retrieval"}, search: true,
		options: []string{"vertexAiSearch", "vertexRagStore", "externalApi", "disableAttribution"},
		link:    groundingPage + "grounding-with-vertex-ai-search",
	},
	{
		wire: "parallelAiSearch", names: []string{"parallel_ai_search"}, search: true,
		options: []string{"apiKey", "customConfigs", "enableZeroDataRetention"},
		link:    groundingPage + "grounding-with-parallel",
	},
	{
		wire: "exaAiSearch", names: []string{"exa_ai_search"}, search: true,
		options: []string{"apiKey", "customConfigs"},
		link:    "https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Tool",
	},
}

// toolRows finds a row by each of its names, in either case style.
var toolRows = indexTools()

func indexTools() map[string]*platformTool {
	index := make(map[string]*platformTool, 4*len(platformTools))
	for i := range platformTools {
		t := &platformTools[i]
		index[t.wire] = t
		for _, name := range t.names {
			index[name], index[camel(name)] = t, t
		}
	}
	return index
}

// findPlatformTool returns the row that a type or a function's name asks for, or
// nil. A type may end in a date, as web_search_preview_2025_03_11 does.
func findPlatformTool(name string) *platformTool {
	if t := toolRows[name]; t != nil {
		return t
	}
	head, _, dated := strings.Cut(name, "_20")
	if !dated {
		return nil
	}
	return toolRows[head]
}

// schemaWords are members that a function's parameters have as a JSON Schema,
// and the name that Claude's tools have beside their type. They say nothing to a
// platform tool, which has a schema of its own.
var schemaWords = []string{
	"type", "properties", "required", "additionalProperties", "$schema", "description", "title", "strict", "name",
}

// takes reports whether the tool has the option, in either case style.
func (t *platformTool) takes(name string) bool { return slices.Contains(t.options, camel(name)) }
