package testkit

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The checks below say what the platform takes from Claude models, and are
// written from its documentation alone: the tables of the translator are what they
// check.
//
// Source: https://platform.claude.com/docs/en/api/messages and
// https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai

// ClaudeBodyMembers are the members that a body may have.
var ClaudeBodyMembers = []string{
	"anthropic_version", "stream", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config",
	"temperature", "top_p", "top_k", "stop_sequences", "metadata", "cache_control", "context_management",
}

// claudeBody is a body being checked, for a model.
type claudeBody struct {
	model string
	own   bool // for the vendor's own service
	top   map[string]any
	marks int
	ids   map[string]bool
	errs  []error
}

// CheckClaudeBody reports what Vertex AI would refuse in a body for a model.
func CheckClaudeBody(model string, body []byte) error {
	return (&claudeBody{model: model}).check(body)
}

func (c *claudeBody) check(body []byte) error {
	c.ids = map[string]bool{}
	if err := json.Unmarshal(body, &c.top); err != nil {
		return err
	}
	if c.own {
		c.model, _ = c.top["model"].(string)
	}
	c.model = strings.TrimPrefix(c.model, "anthropic.")
	c.head()
	if n, _ := c.top["max_tokens"].(float64); n < 1 {
		c.failf("max_tokens: must be greater than 0")
	}
	c.mark(c.top)
	c.tools()
	c.blocks("system", list(c.top["system"]), []string{"text"})
	c.messages()
	c.thinking()
	c.output()
	c.stops()
	if c.marks > 4 {
		c.failf("a maximum of 4 blocks with cache_control may be provided, found %d", c.marks)
	}
	return errors.Join(c.errs...)
}

func (c *claudeBody) failf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

func (c *claudeBody) mark(o map[string]any) {
	v, ok := o["cache_control"]
	if !ok {
		return
	}
	c.marks++
	mark := object(v)
	for k, v := range mark {
		if k == "type" && v != "ephemeral" || k == "ttl" && v != "5m" && v != "1h" || k != "type" && k != "ttl" {
			c.failf("cache_control.%s: %v", k, v)
		}
	}
}

var toolNamePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

func (c *claudeBody) tools() {
	names := map[string]bool{}
	for i, v := range list(c.top["tools"]) {
		t := object(v)
		c.mark(t)
		name := c.toolName(i, t)
		if !toolNamePattern.MatchString(name) || names[name] {
			c.failf("tools.%d.name: %q", i, name)
		}
		names[name] = true
		if kind, _ := t["type"].(string); kind != "" && kind != "custom" {
			continue
		}
		for k := range t {
			if !slices.Contains([]string{
				"type", "name", "description", "input_schema", "strict", "cache_control", "defer_loading", "input_examples",
				"eager_input_streaming", "allowed_callers",
			}, k) {
				c.failf("tools.%d.%s: extra inputs are not permitted", i, k)
			}
		}
		if object(t["input_schema"])["type"] != "object" {
			c.failf("tools.%d.input_schema.type: must be object", i)
		}
		if strict, _ := t["strict"].(bool); strict {
			c.closed("tools.input_schema", t["input_schema"])
		}
	}
	choice := object(c.top["tool_choice"])
	if choice == nil {
		return
	}
	kind := choice["type"]
	switch {
	case len(names) == 0:
		c.failf("tool_choice without tools")
	case kind == "tool" && !names[fmt.Sprint(choice["name"])]:
		c.failf("tool_choice: tool %v not found", choice["name"])
	case kind != "auto" && kind != "any" && kind != "tool" && kind != "none":
		c.failf("tool_choice.type: %v", kind)
	case kind == "none" && choice["disable_parallel_tool_use"] != nil:
		c.failf("tool_choice.none.disable_parallel_tool_use: extra inputs are not permitted")
	}
	if kind == "any" || kind == "tool" {
		if object(c.top["thinking"])["type"] == "enabled" {
			c.failf("thinking may not be enabled when tool_choice forces tool use")
		}
		if c.alwaysThinks() {
			c.failf("tool_choice forces tool use is not compatible with this model")
		}
	}
}

// is reports whether the model is one of the families.
func (c *claudeBody) is(families ...string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(c.model, "claude-"), "@")
	if at := strings.LastIndex(name, "-20"); at > 0 && c.own {
		name = name[:at]
	}
	return slices.Contains(families, name)
}

// The classes of models, by the documentation.
func (c *claudeBody) alwaysThinks() bool {
	return c.is("fable-5", "mythos-5", "fable-5-1", "mythos-5-1", "opus-5-5")
}

func (c *claudeBody) adaptiveOnly() bool {
	return c.alwaysThinks() || c.is("opus-4-7", "opus-4-8", "sonnet-5", "opus-5", "sonnet-5-5", "haiku-5-5")
}

func (c *claudeBody) adaptive() bool { return c.adaptiveOnly() || c.is("opus-4-6", "sonnet-4-6") }

func (c *claudeBody) thoughtless() bool {
	return c.is("3", "3-opus", "3-sonnet", "3-haiku", "3-5-sonnet", "3-5-haiku", "3-5-sonnet-v2")
}

func (c *claudeBody) thinking() {
	t := object(c.top["thinking"])
	kind := t["type"]
	budget, hasBudget := t["budget_tokens"].(float64)
	most, _ := c.top["max_tokens"].(float64)
	switch {
	case t == nil:
	case c.thoughtless():
		c.failf("thinking: this model does not support it")
	case kind == "enabled" && (c.adaptiveOnly() || !hasBudget || budget < 1024 || budget >= most):
		c.failf("thinking.enabled: budget %v of %v", budget, most)
	case kind == "adaptive" && !c.adaptive(), kind == "disabled" && (c.alwaysThinks() || c.is("sonnet-5-5")):
		c.failf("thinking.type.%v is not supported for this model", kind)
	case kind == "between_tools" && !c.is("sonnet-5-5"):
		c.failf("thinking.type.%v is not supported for this model", kind)
	case kind != "enabled" && kind != "adaptive" && kind != "disabled" && kind != "between_tools":
		c.failf("thinking.type: %v", kind)
	case kind != "enabled" && hasBudget:
		c.failf("thinking.budget_tokens: extra inputs are not permitted")
	}
	c.display(t["display"], kind)
	c.sampling(kind == "enabled" || kind == "adaptive")
}

func (c *claudeBody) display(how, kind any) {
	if how != nil && (how != "summarized" && how != "omitted" || kind == "disabled" || kind == "between_tools") {
		c.failf("thinking.display: %v", how)
	}
}

func (c *claudeBody) sampling(thinking bool) {
	temperature, hot := c.top["temperature"].(float64)
	topP, hasP := c.top["top_p"].(float64)
	_, hasK := c.top["top_k"]
	switch {
	case c.adaptiveOnly() && (hot || hasP || hasK):
		c.failf("temperature, top_p and top_k are not supported for this model")
	case hot && (temperature < 0 || temperature > 1):
		c.failf("temperature: range: 0..1")
	case thinking && (hot && temperature != 1 || hasK || hasP && topP < 0.95):
		c.failf("temperature, top_p or top_k with thinking")
	case hot && hasP && c.is("opus-4-1", "sonnet-4-5", "haiku-4-5", "opus-4-5", "opus-4-6", "sonnet-4-6"):
		c.failf("temperature and top_p cannot both be specified for this model")
	}
}

func (c *claudeBody) output() {
	o := object(c.top["output_config"])
	for k := range o {
		if k != "effort" && k != "format" && (!c.own || k != "task_budget") {
			c.failf("output_config.%s: extra inputs are not permitted", k)
		}
	}
	if effort, ok := o["effort"].(string); ok {
		words := []string{"low", "medium", "high"}
		switch {
		case c.adaptiveOnly():
			words = append(words, "xhigh", "max")
		case c.adaptive():
			words = append(words, "max")
		case !c.is("opus-4-5"):
			words = nil
		}
		if !slices.Contains(words, effort) {
			c.failf("this model does not support effort level %q", effort)
		}
		if off := object(c.top["thinking"])["type"] == "disabled"; off && (effort == "xhigh" || effort == "max") {
			c.failf("effort %s without thinking", effort)
		}
	}
	if f := object(o["format"]); f != nil {
		if f["type"] != "json_schema" || c.thoughtless() || c.is("3-7-sonnet", "sonnet-4", "opus-4") {
			c.failf("output_config.format: %v", f["type"])
		}
		c.closed("output_config.format.schema", f["schema"])
	}
}

// closed checks that a schema is one that an answer can be held to.
func (c *claudeBody) closed(path string, v any) {
	for i, e := range list(v) {
		c.closed(fmt.Sprintf("%s.%d", path, i), e)
	}
	o := object(v)
	if o == nil {
		return
	}
	if open, given := o["additionalProperties"].(bool); o["type"] == "object" && (open || !given) {
		c.failf("%s: additionalProperties must be explicitly set to false", path)
	}
	for k, e := range o {
		switch k {
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems",
			"uniqueItems", "minProperties", "maxProperties", "oneOf", "not", "if":
			c.failf("%s: %s is not supported", path, k)
		case "properties", "$defs":
			for name, e := range object(e) {
				c.closed(path+"."+name, e)
			}
		case "items", "anyOf", "allOf":
			c.closed(path+"."+k, e)
		}
	}
}

func (c *claudeBody) stops() {
	stops, given := c.top["stop_sequences"]
	if given && len(list(stops)) == 0 {
		c.failf("stop_sequences: empty")
	}
	for _, s := range list(stops) {
		if text, _ := s.(string); strings.TrimSpace(text) == "" {
			c.failf("stop_sequences: each stop sequence must contain non-whitespace")
		}
	}
}

// messages checks the turns, and that each call has its result at the beginning
// of the next turn.
func (c *claudeBody) messages() {
	role := "assistant"
	var calls []string
	turns := list(c.top["messages"])
	if len(turns) == 0 {
		c.failf("messages: at least one message is required")
	}
	for i, v := range turns {
		m := object(v)
		path := fmt.Sprintf("messages.%d", i)
		if m["role"] == role || m["role"] != "user" && m["role"] != "assistant" || len(m) != 2 {
			c.failf("%s: %v after %s", path, m["role"], role)
		}
		role, _ = m["role"].(string)
		blocks := list(m["content"])
		if len(blocks) == 0 {
			c.failf("%s: no content", path)
			continue
		}
		if role == "user" {
			c.results(path, blocks, calls)
			c.blocks(path, blocks, c.userBlocks())
			calls = nil
			continue
		}
		calls = c.calls(path, blocks)
		c.blocks(path, blocks, nil)
	}
	if len(calls) > 0 {
		c.failf("tool_use ids were found without tool_result blocks")
	}
	last := object(turns[len(turns)-1])
	c.prefill(last)
}

func (c *claudeBody) prefill(last map[string]any) {
	if last["role"] != "assistant" {
		return
	}
	blocks := list(last["content"])
	if len(blocks) == 0 {
		return
	}
	end := object(blocks[len(blocks)-1])
	if end["type"] == "text" && c.adaptive() {
		c.failf("this model does not support assistant message prefill")
	}
	if text, _ := end["text"].(string); text != strings.TrimRight(text, " \n\t\r") {
		c.failf("final assistant content cannot end with trailing whitespace")
	}
}

func (c *claudeBody) calls(path string, blocks []any) []string {
	var ids []string
	thought := false
	for _, v := range blocks {
		b := object(v)
		switch b["type"] {
		case "thinking", "redacted_thinking":
			thought = true
		case "tool_use":
			id, _ := b["id"].(string)
			if !toolNamePattern.MatchString(id) || c.ids[id] {
				c.failf("%s: id %q", path, id)
			}
			c.ids[id] = true
			ids = append(ids, id)
			if object(b["input"]) == nil {
				c.failf("%s: input must be an object", path)
			}
		}
	}
	if first := object(blocks[0])["type"]; thought && first != "thinking" && first != "redacted_thinking" {
		c.failf("%s: thinking is not first but %v", path, first)
	}
	return ids
}

func (c *claudeBody) results(path string, blocks []any, calls []string) {
	var got []string
	for i, v := range blocks {
		b := object(v)
		if b["type"] != "tool_result" {
			continue
		}
		if i != len(got) {
			c.failf("%s: tool_result after other content", path)
		}
		id, _ := b["tool_use_id"].(string)
		got = append(got, id)
		if parts, ok := b["content"].([]any); ok {
			c.blocks(path+".content", parts, []string{"text", "image", "document", "search_result", "tool_reference"})
		}
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(calls))
	if !slices.Equal(got, want) {
		c.failf("%s: results %v of calls %v", path, got, want)
	}
}

// blocks checks each block by itself; nil allows what an assistant says.
func (c *claudeBody) blocks(path string, blocks []any, kinds []string) {
	for i, v := range blocks {
		b := object(v)
		c.mark(b)
		kind, _ := b["type"].(string)
		at := fmt.Sprintf("%s.%d(%s)", path, i, kind)
		if kinds != nil && !slices.Contains(kinds, kind) || kind == "" {
			c.failf("%s: not allowed here", at)
		}
		switch kind {
		case "text":
			if text, _ := b["text"].(string); strings.TrimSpace(text) == "" {
				c.failf("%s: text content blocks must contain non-whitespace text", at)
			}
		case "thinking":
			if _, ok := b["thinking"].(string); !ok || b["signature"] == "" || b["signature"] == nil || b["cache_control"] != nil {
				c.failf("%s: not as it came", at)
			}
		case "redacted_thinking":
			if b["data"] == "" || b["data"] == nil {
				c.failf("%s: not as it came", at)
			}
		case "image", "document":
			c.source(at, kind, object(b["source"]))
		}
	}
}

func (c *claudeBody) source(at, kind string, s map[string]any) {
	mime, _ := s["media_type"].(string)
	data, _ := s["data"].(string)
	switch {
	case c.own && c.reference(at, s):
	case s["type"] == "text" && kind == "document" && mime == "text/plain" && data != "":
	case s["type"] == "base64":
		if _, err := base64.StdEncoding.DecodeString(data); err != nil || data == "" {
			c.failf("%s: %v", at, err)
		}
		image := slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, mime)
		if kind == "image" && !image || kind == "document" && mime != "application/pdf" {
			c.failf("%s: %s", at, mime)
		}
	default:
		c.failf("%s: source %v", at, s["type"])
	}
}
