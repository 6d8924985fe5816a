package vertextest

import (
	"slices"
	"strings"
)

const ownPrefix = "own "

// isOwn reports whether an object of the table is a body for Anthropic's own API.
func isOwn(object string) bool { return strings.HasPrefix(object, ownPrefix) }

// CheckOwnMessages is [CheckMessages] for a call of Anthropic's own API.
func CheckOwnMessages(body []byte) error { return checkMessages(ownPrefix+"request", body) }

// CheckOwnMessagesCount is [CheckMessagesCount] for one of Anthropic's own API.
func CheckOwnMessagesCount(body []byte) error { return checkMessages(ownPrefix+"count", body) }

// ownObjects are the objects of requests to Anthropic's own API that the platform
// does not have, or has with other members.
//
// Source: https://platform.claude.com/docs/en/api/messages and
// https://platform.claude.com/docs/en/api/messages-count-tokens
func ownObjects() map[string][]claudeMember {
	const need = true
	platform := claudeObjects()
	body := func(of string, more ...claudeMember) []claudeMember {
		list := slices.DeleteFunc(slices.Clone(platform[of]), func(m claudeMember) bool {
			return m.name == "anthropic_version" || m.name == "anthropic_beta" || m.name == "model"
		})
		return slices.Concat([]claudeMember{{"model", "string", need, nil}}, list, more)
	}
	named := func(name string, more ...claudeMember) []claudeMember {
		return append([]claudeMember{
			{"name", "string", need, oneOf(name)}, {"max_uses", "integer", false, atLeast(1)}, {"allowed_callers", "[string]", false, nil},
			{"cache_control", "#cache", false, nil},
		}, more...)
	}
	reference := func(name string) []claudeMember { return []claudeMember{{name, "string", need, nil}} }
	return map[string][]claudeMember{
		ownPrefix + "request": body("request",
			claudeMember{"container", "any", false, nil}, claudeMember{"mcp_servers", "[@mcp]", false, nil},
			claudeMember{"service_tier", "string", false, oneOf("auto", "standard_only")}, claudeMember{"speed", "string", false, oneOf("standard", "fast")},
			claudeMember{"inference_geo", "string", false, nil}, claudeMember{"diagnostics", "object", false, nil},
			claudeMember{"fallbacks", "any", false, nil}, claudeMember{"fallback_credit_token", "string", false, nil},
			claudeMember{"compaction", "object", false, nil}),
		ownPrefix + "count": body("count",
			claudeMember{"output_config", "@output", false, nil}, claudeMember{"cache_control", "#cache", false, nil},
			claudeMember{"context_management", "any", false, nil},
			claudeMember{"mcp_servers", "[@mcp]", false, nil}, claudeMember{"speed", "string", false, oneOf("standard", "fast")},
			claudeMember{"compaction", "object", false, nil}),
		"output": append(slices.Clone(platform["output"]), claudeMember{"task_budget", "object", false, nil}),
		"mcp": {
			{"type", "string", need, oneOf("url")}, {"url", "string", need, nil}, {"name", "string", need, nil},
			{"authorization_token", "string", false, nil}, {"tool_configuration", "object", false, nil},
		},

		"image.url":     reference("url"),
		"image.file":    reference("file_id"),
		"document.url":  reference("url"),
		"document.file": reference("file_id"),

		"block.container_upload":                       {{"file_id", "string", need, nil}, {"cache_control", "#cache", false, nil}},
		"block.web_fetch_tool_result":                  foundMembers(),
		"block.advisor_tool_result":                    foundMembers(),
		"block.code_execution_tool_result":             foundMembers(),
		"block.bash_code_execution_tool_result":        foundMembers(),
		"block.text_editor_code_execution_tool_result": foundMembers(),
		"block.mcp_tool_use":                           append(usedMembers(), claudeMember{"server_name", "string", need, nil}),
		"block.mcp_tool_result":                        append(foundMembers(), claudeMember{"is_error", "boolean", false, nil}),
		"block.compaction":                             {{"content", "any", false, nil}, {"encrypted_content", "any", false, nil}, {"cache_control", "#cache", false, nil}},

		"tool.code_execution": named("code_execution"),
		"tool.web_fetch": named("web_fetch", claudeMember{"allowed_domains", "[string]", false, nil}, claudeMember{"blocked_domains", "[string]", false, nil},
			claudeMember{"citations", "@citing", false, nil}, claudeMember{"max_content_tokens", "integer", false, atLeast(1)}),
		"tool.advisor": named("advisor", claudeMember{"model", "string", need, nil}, claudeMember{"max_tokens", "integer", false, atLeast(1)}, claudeMember{"caching", "#cache", false, nil}),
		"tool.mcp_toolset": {
			{"mcp_server_name", "string", need, nil}, {"default_config", "object", false, nil}, {"configs", "object", false, nil},
			{"tools", "[object]", false, nil}, {"cache_control", "#cache", false, nil},
		},
	}
}
