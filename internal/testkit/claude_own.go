package testkit

import (
	"fmt"
	"slices"
	"strings"
)

// OwnClaudeBodyMembers are the members that a body for the vendor's own service
// may have.
//
// Source: https://platform.claude.com/docs/en/api/messages and
// https://platform.claude.com/docs/en/api/beta/messages/create
var OwnClaudeBodyMembers = []string{
	"model", "stream", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config",
	"temperature", "top_p", "top_k", "stop_sequences", "metadata", "cache_control", "context_management", "container",
	"mcp_servers", "service_tier", "speed", "inference_geo", "diagnostics", "fallbacks", "fallback_credit_token", "compaction",
}

// CountedClaudeBodyMembers are those of a body whose tokens are counted there.
//
// Source: https://platform.claude.com/docs/en/api/messages-count-tokens
var CountedClaudeBodyMembers = []string{
	"model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control", "context_management",
	"mcp_servers", "speed", "compaction",
}

// CheckOwnClaudeBody reports what the vendor's own service would refuse in a body,
// which names its model.
func CheckOwnClaudeBody(body []byte) error {
	return (&claudeBody{own: true}).check(body)
}

// head checks which members there are, and what says who is asked.
func (c *claudeBody) head() {
	members := ClaudeBodyMembers
	if c.own {
		members = OwnClaudeBodyMembers
	}
	for name := range c.top {
		if !slices.Contains(members, name) {
			c.failf("%s: extra inputs are not permitted", name)
		}
	}
	switch name, _ := c.top["model"].(string); {
	case c.own && name == "":
		c.failf("model: field required")
	case !c.own && c.top["anthropic_version"] != "vertex-2023-10-16":
		c.failf("anthropic_version is %v", c.top["anthropic_version"])
	}
}

// toolName is the name of a tool; a set of tools has none.
func (c *claudeBody) toolName(i int, t map[string]any) string {
	name, _ := t["name"].(string)
	if kind, _ := t["type"].(string); c.own && name == "" && strings.Contains(kind, "_toolset") {
		return fmt.Sprint(kind, "-", i)
	}
	return name
}

// userBlocks are the blocks of a user message.
func (c *claudeBody) userBlocks() []string {
	blocks := []string{"text", "image", "document", "search_result", "tool_result"}
	if c.own {
		blocks = append(blocks, "container_upload")
	}
	return blocks
}

// reference checks a source that leads elsewhere, and reports whether it is one.
func (c *claudeBody) reference(at string, s map[string]any) bool {
	names := map[string]string{"url": "url", "file": "file_id"}
	kind, _ := s["type"].(string)
	name, ok := names[kind]
	if !ok {
		return false
	}
	value, _ := s[name].(string)
	if web := strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "http://"); value == "" || kind == "url" && !web || len(s) != 2 {
		c.failf("%s: source %v", at, s)
	}
	return true
}

// CheckClaudeCount reports which members of a body are not counted.
func CheckClaudeCount(body map[string]any) (uncounted []string) {
	for name := range body {
		if !slices.Contains(CountedClaudeBodyMembers, name) {
			uncounted = append(uncounted, name)
		}
	}
	slices.Sort(uncounted)
	return uncounted
}
