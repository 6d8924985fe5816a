package engine

import (
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// platformTool is one row of the table of tools that the platform runs itself.
type platformTool struct {
	// wire is the tool's member in the platform's request.
	wire string
	// names are the types of tools that ask for it.
	names []string
	// byName says that the names of functions ask for it as well, which other
	// gateways' clients use.
	byName bool
	// options are the members it takes, in the platform's case.
	options []string
	// own are the options that the vendor's own service takes in their place.
	own []string
	// at says which of the two has the tool.
	at place
	// search says that it may stand beside other search tools on models that
	// else take one kind of tool.
	search bool
	link   string
	// ownLink is the page of the vendor's own service.
	ownLink string
}

// place is who has a tool.
type place uint8

// The places.
const (
	atBoth   place = iota // Vertex AI and the vendor's own service
	atVertex              // Vertex AI alone
	atOwn                 // the vendor's own service alone
)

const (
	groundingPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/grounding/"
	ownToolPages  = "https://ai.google.dev/gemini-api/docs/"
)

// platformTools is the table. Each name is also understood in the other case
// style.
var platformTools = []platformTool{
	{
		wire: "googleSearch", names: []string{"web_search", "google_search", "web_search_preview"}, byName: true, search: true,
		options: []string{"excludeDomains", "blockingConfidence", "searchTypes"},
		link:    groundingPage + "grounding-with-google-search",
		own:     []string{"searchTypes", "timeRangeFilter"},
		ownLink: ownToolPages + "google-search",
	},
	{
		wire: "googleSearchRetrieval", names: []string{"web_search_retrieval", "google_search_retrieval"}, byName: true, search: true,
		options: []string{"dynamicRetrievalConfig"},
		link:    groundingPage + "grounding-with-google-search",
		own:     []string{"dynamicRetrievalConfig"},
		ownLink: ownToolPages + "google-search",
	},
	{
		at: atVertex, wire: "enterpriseWebSearch", names: []string{"enterprise_web_search"}, byName: true, search: true,
		options: []string{"excludeDomains", "blockingConfidence"},
		link:    groundingPage + "web-grounding-enterprise",
	},
	{
		wire: "googleMaps", names: []string{"google_maps"}, byName: true, search: true,
		options: []string{"groundingTypes", "enableWidget"},
		link:    groundingPage + "grounding-with-google-maps",
		own:     []string{"enableWidget"},
		ownLink: ownToolPages + "maps-grounding",
	},
	{
		wire: "urlContext", names: []string{"url_context"}, search: true,
		link:    "https://cloud.google.com/vertex-ai/generative-ai/docs/url-context",
		ownLink: ownToolPages + "url-context",
	},
	{
		wire: "codeExecution", names: []string{"code_execution", "code_interpreter"},
		link:    "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/code-execution",
		ownLink: ownToolPages + "code-execution",
	},
	{
		wire: "computerUse", names: []string{"computer_use", "computer_use_preview"}, byName: true,
		options: []string{"environment", "excludedPredefinedFunctions", "enablePromptInjectionDetection", "disabledSafetyPolicies"},
		link:    "https://cloud.google.com/vertex-ai/generative-ai/docs/computer-use",
		own:     []string{"environment", "excludedPredefinedFunctions", "enablePromptInjectionDetection", "disabledSafetyPolicies"},
		ownLink: ownToolPages + "computer-use",
	},
	{
		at: atVertex, wire: "retrieval", names: []string{"retrieval"}, search: true,
		options: []string{"vertexAiSearch", "vertexRagStore", "externalApi", "disableAttribution"},
		link:    groundingPage + "grounding-with-vertex-ai-search",
	},
	{
		at: atVertex, wire: "parallelAiSearch", names: []string{"parallel_ai_search"}, search: true,
		options: []string{"apiKey", "customConfigs", "enableZeroDataRetention"},
		link:    groundingPage + "grounding-with-parallel",
	},
	{
		at: atVertex, wire: "exaAiSearch", names: []string{"exa_ai_search"}, search: true,
		options: []string{"apiKey", "customConfigs"},
		link:    "https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Tool",
	},
	{
		at: atOwn, wire: "fileSearch", names: []string{"file_search"}, search: true,
		own:     []string{"fileSearchStoreNames", "metadataFilter", "topK"},
		ownLink: ownToolPages + "file-search",
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

// findPlatformTool returns the row that a type asks for, or nil. A type may end in
// a date, as web_search_preview_2025_03_11 does.
func findPlatformTool(kind string) *platformTool {
	if t := toolRows[kind]; t != nil {
		return t
	}
	head, _, dated := strings.Cut(kind, "_20")
	if !dated {
		return nil
	}
	return toolRows[head]
}

// findPlatformFunction returns the row that a function's name asks for, or nil: any
// other function is the caller's own.
func findPlatformFunction(name string) *platformTool {
	if t := toolRows[name]; t != nil && t.byName {
		return t
	}
	return nil
}

// askedFor returns the row that a tool asks for, by its type or by the name of its
// function, or nil.
func askedFor(t *providers.Tool) *platformTool {
	if namesFunction(t) {
		return findPlatformFunction(t.Function.Name)
	}
	return findPlatformTool(t.Type)
}

// schemaWords are members that a function's parameters have as a JSON Schema,
// and the name that Claude's tools have beside their type. They say nothing to a
// platform tool, which has a schema of its own.
var schemaWords = []string{
	"type", "properties", "required", "additionalProperties", "$schema", "description", "title", "strict", "name",
}

// takes reports whether the tool has the option, in either case style, at the
// vendor's own service or else on Vertex AI.
func (t *platformTool) takes(own bool, name string) bool {
	if own {
		return slices.Contains(t.own, camel(name))
	}
	return slices.Contains(t.options, camel(name))
}

// has returns the row if the tool is where the model is, else nil.
func (m *Model) has(t *platformTool) *platformTool {
	if t == nil || t.at == atBoth || (t.at == atOwn) == m.Own {
		return t
	}
	return nil
}

// platformTool returns the row that a type asks for, where the model is, or nil.
func (m *Model) platformTool(kind string) *platformTool { return m.has(findPlatformTool(kind)) }

// mcpServers is a tool of the vendor's own service that is a list, and can be
// asked for in the platform's own form alone.
//
// Source: https://ai.google.dev/api/caching#Tool
var mcpServers = &platformTool{at: atOwn, wire: "mcpServers"}
