package vertextest

import (
	"fmt"
	"slices"
	"strings"
)

// applyClaudeRules applies what depends on the model, the verb and the features
// asked for, in a fixed order; the first refusal counts.
func (x *exchange) applyClaudeRules() error {
	for _, rule := range []func(*exchange) error{
		checkClaudeStream,
		checkClaudeFeatures,
		checkClaudeLimit,
		checkClaudeThinking,
		checkClaudeEffort,
		checkClaudeSampling,
		checkClaudeChoice,
		checkClaudePrefill,
		checkClaudeThoughts,
		checkClaudeSignatures,
	} {
		if err := rule(x); err != nil {
			return err
		}
	}
	return nil
}

// checkBetas refuses features that the platform doesn't have, or not for counts.
//
// Sources: https://docs.claude.com/en/api/beta-headers and
// https://github.com/BerriAI/litellm/pull/39597
func (x *exchange) checkBetas() error {
	known := claudeBetas()
	if x.route.own {
		known = append(known, ownBetas()...)
	}
	unknown := slices.DeleteFunc(x.betas(), func(b string) bool {
		return slices.Contains(known, b) && (x.target.model != countModel || !slices.Contains(uncountedBetas(), b))
	})
	if len(unknown) == 0 {
		return nil
	}
	for i, b := range unknown {
		unknown[i] = "`" + b + "`"
	}
	return claudeInvalid("Unexpected value(s) %s for the `anthropic-beta` header. Please consult our documentation at docs.claude.com or try again without the header.",
		strings.Join(unknown, ", "))
}

// checkClaudeStream wants verb and body to ask for the same.
//
// Source: https://docs.claude.com/en/api/claude-on-vertex-ai
func checkClaudeStream(x *exchange) error {
	switch {
	case x.route.own:
	case x.route.stream && !x.claude.Stream:
		return claudeInvalid("stream: Input should be true")
	case !x.route.stream && x.claude.Stream:
		return claudeInvalid("stream: Input should be false")
	}
	return nil
}

// checkClaudeFeatures refuses members and tools whose feature isn't asked for.
//
// Sources: https://docs.claude.com/en/docs/build-with-claude/context-editing and
// https://docs.claude.com/en/docs/agents-and-tools/tool-use/computer-use-tool
func checkClaudeFeatures(x *exchange) error {
	asked := func(prefixes ...string) bool {
		return slices.ContainsFunc(x.betas(), func(b string) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(b, p) })
		})
	}
	if isSet(x.claude.ContextManagement) && !asked("context-management-", "compact-") {
		return claudeInvalid("context_management: Extra inputs are not permitted")
	}
	for i, t := range x.claude.Tools {
		if strings.HasPrefix(t.Type, "computer_") && !asked("computer-use-") {
			return claudeInvalid("tools.%d: Input tag '%s' found using 'type' does not match any of the expected tags", i, t.Type)
		}
	}
	return nil
}

// checkClaudeLimit bounds the answer, and prompt and answer together.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/context-windows
func checkClaudeLimit(x *exchange) error {
	c := &x.claude
	if c.MaxTokens > c.facts.maxOutput {
		return claudeInvalid("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", c.MaxTokens, c.facts.maxOutput, servedClaude(c.facts.name))
	}
	if n := c.measure().total(); n > c.facts.context {
		return claudeInvalid("prompt is too long: %d tokens > %d maximum", n, c.facts.context)
	}
	return nil
}

// checkClaudeThinking applies the modes of thinking that the model has.
//
// Sources: https://docs.claude.com/en/docs/build-with-claude/extended-thinking and
// https://docs.claude.com/en/docs/build-with-claude/adaptive-thinking
func checkClaudeThinking(x *exchange) error {
	c, m := &x.claude, x.claude.facts
	switch mode := c.Thinking.Type; {
	case mode == "enabled" && !m.manual:
		return claudeInvalid("\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.")
	case mode == "adaptive" && !m.adaptive:
		return claudeInvalid("adaptive thinking is not supported on this model")
	case mode == "between_tools" && !m.between:
		return claudeInvalid("\"thinking.type.between_tools\" is not supported for this model.")
	case mode == "disabled" && m.always:
		return claudeInvalid("\"thinking.type.disabled\" is not supported for this model.")
	case mode == "disabled" && m.capped && (c.OutputConfig.Effort == "xhigh" || c.OutputConfig.Effort == "max"):
		return claudeInvalid("output_config.effort '%s' requires thinking; it can't be used with \"thinking.type.disabled\".", c.OutputConfig.Effort)
	case mode == "enabled" && c.Thinking.BudgetTokens >= c.MaxTokens && !slices.Contains(x.betas(), "interleaved-thinking-2025-05-14"):
		return claudeInvalid("`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size")
	}
	return nil
}

// checkClaudeEffort applies the efforts that the model has.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/effort
func checkClaudeEffort(x *exchange) error {
	effort, known := x.claude.OutputConfig.Effort, x.claude.facts.efforts
	switch {
	case effort == "":
		return nil
	case len(known) == 0:
		return claudeInvalid("This model does not support the effort parameter.")
	case !slices.Contains(known, effort):
		return claudeInvalid("This model does not support effort level '%s'. Supported levels: %s.", effort, strings.Join(slices.Sorted(slices.Values(known)), ", "))
	}
	return nil
}

// checkClaudeSampling applies what the model takes of the sampling parameters,
// and what thinking leaves of them.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/extended-thinking#feature-compatibility
func checkClaudeSampling(x *exchange) error {
	c, m := &x.claude, x.claude.facts
	const more = "Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
	if !m.sampling {
		for _, p := range []struct {
			name string
			set  bool
		}{{"temperature", c.Temperature != nil}, {"top_p", c.TopP != nil}, {"top_k", c.TopK != nil}} {
			if p.set {
				return claudeInvalid("`%s` is deprecated for this model.", p.name)
			}
		}
		return nil
	}
	if c.Temperature != nil && c.TopP != nil {
		return claudeInvalid("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
	}
	switch {
	case !c.thinks():
	case c.Temperature != nil && *c.Temperature != 1:
		return claudeInvalid("`temperature` may only be set to 1 when thinking is enabled. %s", more)
	case c.TopP != nil && *c.TopP < 0.95:
		return claudeInvalid("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled. %s", more)
	case c.TopK != nil:
		return claudeInvalid("`top_k` must be unset when thinking is enabled. %s", more)
	}
	return nil
}

// checkClaudeChoice refuses to force a tool on a model that thinks first.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/extended-thinking#extended-thinking-with-tool-use
func checkClaudeChoice(x *exchange) error {
	switch {
	case !x.claude.choiceForces():
	case !x.claude.facts.forced:
		return claudeInvalid("tool_choice forces tool use is not compatible with this model.")
	case x.claude.Thinking.Type == "enabled":
		return claudeInvalid("Thinking may not be enabled when tool_choice forces tool use.")
	}
	return nil
}

// checkClaudePrefill refuses to go on with a given beginning, where the model
// doesn't or thinks first.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/prompt-engineering/prefill-claudes-response
func checkClaudePrefill(x *exchange) error {
	last := x.claude.Messages[len(x.claude.Messages)-1]
	if last.Role != "assistant" || last.paused() {
		return nil
	}
	if !x.claude.facts.prefill {
		return claudeInvalid("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	return nil
}

// paused reports whether a message is one of the model's that a tool of the API
// left unfinished.
func (m claudeMessage) paused() bool {
	return slices.ContainsFunc(m.Content, func(b claudeBlock) bool { return b.Type == "server_tool_use" })
}

// checkClaudeThoughts wants the turn that goes on to begin with thoughts when the
// request has a budget for them. Adaptive thinking doesn't mind.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks
func checkClaudeThoughts(x *exchange) error {
	if x.claude.Thinking.Type != "enabled" {
		return nil
	}
	list := x.claude.Messages
	first := 0 // message after the latest one that the user wrote
	for i, m := range list {
		if m.Role == "user" && !slices.ContainsFunc(m.Content, func(b claudeBlock) bool { return b.Type == "tool_result" }) {
			first = i + 1
		}
	}
	if first == len(list) || len(list[first].Content) == 0 {
		return nil
	}
	if begin := list[first].Content[0].Type; begin != "thinking" && begin != "redacted_thinking" {
		return claudeInvalid("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking",
			first, begin)
	}
	return nil
}

// checkClaudeSignatures refuses thoughts that no Claude had.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/extended-thinking#thinking-encryption
func checkClaudeSignatures(x *exchange) error {
	for i, m := range x.claude.Messages {
		for j, b := range m.Content {
			at := fmt.Sprintf("messages.%d.content.%d", i, j)
			switch {
			case b.Type == "thinking" && !b.genuine():
				return claudeInvalid("%s: Invalid `signature` in `thinking` block", at)
			case b.Type == "redacted_thinking" && !b.genuine():
				return claudeInvalid("%s: Invalid `data` in `redacted_thinking` block", at)
			}
		}
	}
	return nil
}
