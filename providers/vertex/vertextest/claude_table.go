package vertextest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// claudeMember is one member of an object of the Messages API.
type claudeMember struct {
	name  string
	is    string           // its type, in the notation of claudeShape
	need  bool             // it may not be left out
	check func(any) string // what is wrong with a value of the type, if anything
}

// claudeObjects are the objects of a request and their members. Whatever isn't
// here is refused.
//
// Source: https://docs.claude.com/en/api/messages and, for what a platform lacks,
// https://docs.claude.com/en/api/claude-on-vertex-ai
func claudeObjects() map[string][]claudeMember {
	const need = true
	objects := map[string][]claudeMember{
		"request": {
			{"anthropic_version", "string", need, oneOf("vertex-2023-10-16")},
			{"messages", "[@message]", need, nil},
			{"max_tokens", "integer", need, atLeast(1)},
			{"anthropic_beta", "[string]", false, nil},
			{"system", "string|[#system]", false, nil},
			{"stop_sequences", "[string]", false, nil},
			{"stream", "boolean", false, nil},
			{"temperature", "number", false, between(0, 1)},
			{"top_p", "number", false, between(0, 1)},
			{"top_k", "integer", false, atLeast(0)},
			{"tools", "[#tool]", false, nil},
			{"tool_choice", "#choice", false, nil},
			{"thinking", "#thinking", false, nil},
			{"output_config", "@output", false, nil},
			{"metadata", "@metadata", false, nil},
			{"cache_control", "#cache", false, nil},
			{"context_management", "any", false, nil},
		},
		"count": {
			{"anthropic_version", "string", false, oneOf("vertex-2023-10-16")},
			{"model", "string", need, nil},
			{"messages", "[@message]", need, nil},
			{"system", "string|[#system]", false, nil},
			{"tools", "[#tool]", false, nil},
			{"tool_choice", "#choice", false, nil},
			{"thinking", "#thinking", false, nil},
		},
		"message":  {{"role", "string", need, oneOf("user", "assistant")}, {"content", "string|[#block]", need, nil}},
		"metadata": {{"user_id", "string", false, atMostLong(256)}},
		"output":   {{"effort", "string", false, oneOf("low", "medium", "high", "xhigh", "max")}, {"format", "#format", false, nil}},

		"format.json_schema": {{"schema", "object", need, nil}},
		"cache.ephemeral":    {{"ttl", "string", false, oneOf("5m", "1h")}},
		"thinking.enabled":   {{"budget_tokens", "integer", need, atLeast(1024)}, {"display", "string", false, oneOf("summarized", "omitted")}},
		"thinking.adaptive":  {{"display", "string", false, oneOf("summarized", "omitted")}},

		"thinking.between_tools": {{"display", "string", false, oneOf("summarized", "omitted")}},
		"thinking.disabled":      {},
		"choice.auto":            {{"disable_parallel_tool_use", "boolean", false, nil}},
		"choice.any":             {{"disable_parallel_tool_use", "boolean", false, nil}},
		"choice.tool":            {{"name", "string", need, nil}, {"disable_parallel_tool_use", "boolean", false, nil}},
		"choice.none":            {},
	}
	maps.Copy(objects, blockObjects())
	maps.Copy(objects, toolObjects())
	return objects
}

// blockObjects are the blocks of messages, systems and results, and what they
// are made of.
//
// Source: https://docs.claude.com/en/api/messages
func blockObjects() map[string][]claudeMember {
	const need = true
	return map[string][]claudeMember{
		"system.text":             textMembers(),
		"block.text":              textMembers(),
		"block.image":             {{"source", "#image", need, nil}, {"cache_control", "#cache", false, nil}},
		"block.document":          documentMembers(),
		"block.search_result":     {{"source", "string", need, nil}, {"title", "string", need, nil}, {"content", "[#system]", need, nil}, {"citations", "@citing", false, nil}, {"cache_control", "#cache", false, nil}},
		"block.thinking":          {{"thinking", "string", need, nil}, {"signature", "string", need, nil}},
		"block.redacted_thinking": {{"data", "string", need, nil}},
		"block.tool_use":          usedMembers(),
		"block.server_tool_use":   usedMembers(),
		"block.tool_result": {
			{"tool_use_id", "string", need, all(matching(toolUseID), atMostLong(64))}, {"content", "string|[#result]", false, nil},
			{"is_error", "boolean", false, nil}, {"cache_control", "#cache", false, nil},
		},
		"block.web_search_tool_result":  foundMembers(),
		"block.tool_search_tool_result": foundMembers(),

		"result.text":           textMembers(),
		"result.image":          {{"source", "#image", need, nil}, {"cache_control", "#cache", false, nil}},
		"result.document":       documentMembers(),
		"result.search_result":  {{"source", "string", need, nil}, {"title", "string", need, nil}, {"content", "[#system]", need, nil}, {"citations", "@citing", false, nil}, {"cache_control", "#cache", false, nil}},
		"result.tool_reference": {{"tool_name", "string", need, nil}, {"cache_control", "#cache", false, nil}},
		"image.base64":          {{"media_type", "string", need, oneOf("image/jpeg", "image/png", "image/gif", "image/webp")}, {"data", "string", need, nil}},
		"document.base64":       {{"media_type", "string", need, oneOf("application/pdf")}, {"data", "string", need, nil}},
		"document.text":         {{"media_type", "string", need, oneOf("text/plain")}, {"data", "string", need, nil}},
		"document.content":      {{"content", "string|[#result]", need, nil}},
		"citing":                {{"enabled", "boolean", false, nil}},
	}
}

// toolObjects are the tools: those of the caller, and those that the API defines.
//
// Source: https://docs.claude.com/en/docs/agents-and-tools/tool-use/overview
func toolObjects() map[string][]claudeMember {
	const need = true
	return map[string][]claudeMember{
		"tool.custom": {
			{"name", "string", need, matching(claudeToolName)}, {"input_schema", "object", need, nil}, {"description", "string", false, nil},
			{"strict", "boolean", false, nil}, {"eager_input_streaming", "boolean", false, nil}, {"defer_loading", "boolean", false, nil},
			{"input_examples", "[object]", false, nil}, {"cache_control", "#cache", false, nil},
		},
		"tool.web_search": {
			{"name", "string", need, oneOf("web_search")}, {"max_uses", "integer", false, atLeast(1)}, {"allowed_domains", "[string]", false, nil},
			{"blocked_domains", "[string]", false, nil}, {"user_location", "any", false, nil}, {"allowed_callers", "[string]", false, nil},
			{"cache_control", "#cache", false, nil},
		},
		"tool.bash":             {{"name", "string", need, oneOf("bash")}, {"cache_control", "#cache", false, nil}},
		"tool.text_editor":      {{"name", "string", need, oneOf("str_replace_editor", "str_replace_based_edit_tool")}, {"max_characters", "integer", false, atLeast(1)}, {"cache_control", "#cache", false, nil}},
		"tool.memory":           {{"name", "string", need, oneOf("memory")}, {"cache_control", "#cache", false, nil}},
		"tool.tool_search_tool": {{"name", "string", need, oneOf("tool_search_tool_bm25", "tool_search_tool_regex")}, {"cache_control", "#cache", false, nil}},
		"tool.computer": {
			{"name", "string", need, oneOf("computer")}, {"display_width_px", "integer", need, atLeast(1)}, {"display_height_px", "integer", need, atLeast(1)},
			{"display_number", "integer", false, atLeast(0)}, {"enable_zoom", "boolean", false, nil}, {"cache_control", "#cache", false, nil},
		},
	}
}

func textMembers() []claudeMember {
	return []claudeMember{{"text", "string", true, nil}, {"citations", "any", false, nil}, {"cache_control", "#cache", false, nil}}
}

func documentMembers() []claudeMember {
	return []claudeMember{
		{"source", "#document", true, nil}, {"title", "string", false, nil}, {"context", "string", false, nil},
		{"citations", "@citing", false, nil}, {"cache_control", "#cache", false, nil},
	}
}

func usedMembers() []claudeMember {
	return []claudeMember{
		{"id", "string", true, all(matching(toolUseID), atMostLong(64))}, {"name", "string", true, matching(claudeToolName)}, {"input", "object", true, nil},
		{"caller", "any", false, nil}, {"cache_control", "#cache", false, nil},
	}
}

func foundMembers() []claudeMember {
	return []claudeMember{
		{"tool_use_id", "string", true, all(matching(toolUseID), atMostLong(64))}, {"content", "any", true, nil}, {"caller", "any", false, nil}, {"cache_control", "#cache", false, nil},
	}
}

var (
	toolUseID      = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	claudeToolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	// datedTool is the type of a tool that the API defines.
	datedTool = regexp.MustCompile(`^(web_search|web_fetch|code_execution|advisor|bash|text_editor|memory|computer|tool_search_tool)(?:_bm25|_regex)?_20[0-9]{6}$`)
)

// oneOf takes some strings.
func oneOf(known ...string) func(any) string {
	return func(v any) string {
		if s, _ := v.(string); slices.Contains(known, s) {
			return ""
		}
		return "Input should be " + quoted(known)
	}
}

// quoted lists names in the API's words.
func quoted(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return "'" + names[0] + "'"
	}
	return "'" + strings.Join(names[:last], "', '") + "' or '" + names[last] + "'"
}

// atLeast bounds a number from below.
func atLeast(low float64) func(any) string {
	return func(v any) string {
		if f, _ := v.(float64); f >= low {
			return ""
		}
		return fmt.Sprintf("Input should be greater than or equal to %v", low)
	}
}

// between bounds a number.
func between(low, high float64) func(any) string {
	return func(v any) string {
		if f, _ := v.(float64); f > high {
			return fmt.Sprintf("Input should be less than or equal to %v", high)
		}
		return atLeast(low)(v)
	}
}

// all applies several checks; the first offence counts.
func all(checks ...func(any) string) func(any) string {
	return func(v any) string {
		for _, check := range checks {
			if wrong := check(v); wrong != "" {
				return wrong
			}
		}
		return ""
	}
}

// atMostLong bounds the length of a string.
func atMostLong(n int) func(any) string {
	return func(v any) string {
		if s, _ := v.(string); len([]rune(s)) <= n {
			return ""
		}
		return fmt.Sprintf("String should have at most %d characters", n)
	}
}

// matching takes strings that match a pattern.
func matching(pattern *regexp.Regexp) func(any) string {
	return func(v any) string {
		if s, _ := v.(string); pattern.MatchString(s) {
			return ""
		}
		return fmt.Sprintf("String should match pattern '%s'", pattern)
	}
}
