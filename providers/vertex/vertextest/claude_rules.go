package vertextest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// applyRules applies what the shape can't say and every model wants, in a fixed
// order; the first refusal counts.
func (c *claudeCall) applyRules() error {
	for _, rule := range []func(*claudeCall) error{
		checkClaudeStops,
		checkClaudeTurns,
		checkClaudeBlocks,
		checkClaudeMedia,
		checkClaudeTools,
		checkClaudePairs,
		checkClaudeFormat,
		checkClaudeMarks,
	} {
		if err := rule(c); err != nil {
			return err
		}
	}
	return nil
}

// blank reports whether a text is nothing but white space.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// checkClaudeStops wants something to stop at.
//
// Source: https://docs.claude.com/en/api/messages
func checkClaudeStops(c *claudeCall) error {
	if slices.ContainsFunc(c.StopSequences, blank) {
		return claudeInvalid("stop_sequences: each stop sequence must contain non-whitespace")
	}
	return nil
}

// checkClaudeTurns wants messages, the user's first, none of them empty but for
// an answer to go on with, which doesn't end in white space. Messages of one role
// in a row are one turn to the API.
//
// Source: https://docs.claude.com/en/api/messages
func checkClaudeTurns(c *claudeCall) error {
	if len(c.Messages) == 0 {
		return claudeInvalid("messages: at least one message is required")
	}
	if c.Messages[0].Role != "user" {
		return claudeInvalid("messages: first message must use the \"user\" role")
	}
	last := len(c.Messages) - 1
	for i, m := range c.Messages {
		empty := len(m.Content) == 0 || len(m.Content) == 1 && m.Content[0].Type == "text" && m.Content[0].Text == ""
		switch {
		case empty && m.Role == "user":
			return claudeInvalid("messages.%d: user messages must have non-empty content", i)
		case empty && i < last:
			return claudeInvalid("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
	}
	m := c.Messages[last]
	if m.Role != "assistant" || len(m.Content) == 0 {
		return nil
	}
	end := m.Content[len(m.Content)-1]
	if end.Type == "text" && end.Text != strings.TrimRightFunc(end.Text, unicode.IsSpace) {
		return claudeInvalid("messages: final assistant content cannot end with trailing whitespace")
	}
	return nil
}

// blocksOf lists the blocks that messages of one role alone may have.
func blocksOf(role string) []string {
	if role == "user" {
		return []string{"image", "document", "tool_result", "search_result"}
	}
	return []string{"tool_use", "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result", "tool_search_tool_result"}
}

// checkClaudeBlocks wants blocks in the messages of their role, texts that say
// something, and an answer that doesn't end in thoughts.
//
// Source: https://docs.claude.com/en/api/messages
func checkClaudeBlocks(c *claudeCall) error {
	if slices.ContainsFunc(c.System, func(b claudeBlock) bool { return blank(b.Text) }) {
		return claudeInvalid("system: text content blocks must be non-empty")
	}
	for i, m := range c.Messages {
		foreign := blocksOf("assistant")
		if m.Role == "assistant" {
			foreign = blocksOf("user")
		}
		for j, b := range m.Content {
			at := fmt.Sprintf("messages.%d.content.%d", i, j)
			switch {
			case slices.Contains(foreign, b.Type):
				return claudeInvalid("%s: `%s` blocks can not be in `%s` messages", at, b.Type, m.Role)
			case b.Type == "text" && b.Text == "" && b.CacheControl != nil:
				return claudeInvalid("%s.text.cache_control: cache_control cannot be set for empty text blocks", at)
			case b.Type == "text" && b.Text == "" && (m.Role == "user" || len(m.Content) > 1):
				return claudeInvalid("messages: text content blocks must be non-empty")
			case b.Type == "text" && b.Text != "" && blank(b.Text):
				return claudeInvalid("messages: text content blocks must contain non-whitespace text")
			}
		}
		if n := len(m.Content); n > 0 && m.Role == "assistant" && strings.HasSuffix(m.Content[n-1].Type, "thinking") {
			return claudeInvalid("messages.%d: The final block in an assistant message cannot be `thinking`.", i)
		}
	}
	return nil
}

// turns returns the messages with those of one role in a row joined, as the API
// reads them. A turn stands where its first message does; the others are empty.
func (c *claudeCall) turns() []claudeMessage {
	list := make([]claudeMessage, len(c.Messages))
	at := 0
	for i, m := range c.Messages {
		if i == 0 || m.Role != list[at].Role {
			at = i
			list[at].Role = m.Role
		}
		list[at].Content = append(list[at].Content, m.Content...)
	}
	return list
}

// checkClaudePairs wants each tool call answered in the next turn, once and
// before anything else is said, and no result without its call.
//
// Source: https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use
func checkClaudePairs(c *claudeCall) error {
	seen := map[string]bool{}
	var open []string // calls of the turn before
	from := 0         // where that is
	for i, m := range c.turns() {
		if m.Role == "" {
			continue
		}
		if err := matchClaudeResults(i, from, m, open); err != nil {
			return err
		}
		open, from = nil, i
		for _, b := range m.Content {
			if b.Type != "tool_use" {
				continue
			}
			if seen[b.ID] {
				return claudeInvalid("messages.%d: `tool_use` ids must be unique", i)
			}
			seen[b.ID] = true
			open = append(open, b.ID)
		}
		if err := checkServerPairs(i, m); err != nil {
			return err
		}
	}
	if len(open) > 0 {
		return unanswered(from, open)
	}
	return nil
}

// matchClaudeResults compares the results of turn i with the calls of the turn
// before it.
func matchClaudeResults(i, from int, m claudeMessage, open []string) error {
	answered := map[string]bool{}
	leading := true // nothing but results so far
	for j, b := range m.Content {
		if b.Type != "tool_result" {
			leading = false
			continue
		}
		switch {
		case !slices.Contains(open, b.ToolUseID):
			return claudeInvalid("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
				i, j, b.ToolUseID)
		case answered[b.ToolUseID]:
			return claudeInvalid("messages.%d.content.%d: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", i, j, b.ToolUseID)
		case !leading:
			return unanswered(from, []string{b.ToolUseID})
		}
		answered[b.ToolUseID] = true
	}
	missing := slices.DeleteFunc(slices.Clone(open), func(id string) bool { return answered[id] })
	if len(missing) > 0 {
		return unanswered(from, missing)
	}
	return nil
}

// unanswered refuses the calls of turn i that lack a result.
func unanswered(i int, ids []string) error {
	return claudeInvalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		i, strings.Join(ids, ", "))
}

// checkServerPairs wants what the API's own tools found after the call in the
// same message.
func checkServerPairs(i int, m claudeMessage) error {
	called := map[string]bool{}
	for j, b := range m.Content {
		switch b.Type {
		case "server_tool_use":
			called[b.ID] = true
		case "web_search_tool_result", "tool_search_tool_result":
			if !called[b.ToolUseID] {
				return claudeInvalid("messages.%d.content.%d: unexpected `tool_use_id` found in `%s` blocks: %s.", i, j, b.Type, b.ToolUseID)
			}
		}
	}
	return nil
}

// maxMarks is how many blocks may have a cache_control.
const maxMarks = 4

// checkClaudeMarks bounds the marks of cached prefixes, and wants the longer lived
// before the shorter.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/prompt-caching
func checkClaudeMarks(c *claudeCall) error {
	marks := c.marks()
	if len(marks) > maxMarks {
		return claudeInvalid("A maximum of %d blocks with cache_control may be provided. Found %d.", maxMarks, len(marks))
	}
	short := false
	for _, m := range marks {
		if m.TTL == "1h" && short {
			return claudeInvalid("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.")
		}
		short = short || m.TTL != "1h"
	}
	return nil
}

// marks lists the marks of cached prefixes in the order of the prompt, a result's
// content before the result.
func (c *claudeCall) marks() []claudeCacheControl {
	var list []claudeCacheControl
	add := func(m *claudeCacheControl) {
		if m != nil {
			list = append(list, *m)
		}
	}
	for _, t := range c.Tools {
		add(t.CacheControl)
	}
	for _, b := range c.System {
		add(b.CacheControl)
	}
	for _, m := range c.Messages {
		for _, b := range m.Content {
			if b.Type == "tool_result" {
				for _, inner := range b.resultContent() {
					add(inner.CacheControl)
				}
			}
			add(b.CacheControl)
		}
	}
	add(c.CacheControl)
	return list
}
