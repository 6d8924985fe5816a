package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

const (
	// fallbackTokens is max_tokens where neither the request nor the model table
	// has a number.
	fallbackTokens = 4096
	// dynamicBudget is the budget, in tokens, of thinking that is just wanted, on
	// models that must be told one.
	dynamicBudget = 8192
	// minThinking is the least budget in tokens, and minAnswer what a budget
	// leaves to the answer.
	//
	// Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking
	minThinking, minAnswer = 1024, 1024
)

// plan settles what depends on each other: max_tokens, thinking, effort and the
// tool choice.
func (e *claudeEncoder) plan() error {
	limit, name := e.outputLimit()
	switch {
	case limit == nil:
		if e.limit = e.m.facts.OutputTokens; e.limit == 0 {
			e.limit = fallbackTokens
		}
	case *limit < 1:
		return providers.Invalid(name, "must be at least 1")
	default:
		e.limit = *limit
		if e.q.MaxTokens != nil && *e.q.MaxTokens != *limit {
			e.warnf(providers.WarnConflict, "max_tokens", "left out: max_completion_tokens is given too")
		}
	}
	if err := e.nativeOutput(); err != nil {
		return err
	}
	want, err := e.wantedReasoning()
	if err != nil {
		return err
	}
	if want != nil {
		e.reason(want)
	}
	if err := e.toolMode(); err != nil {
		return err
	}
	e.reconcile()
	return nil
}

func (e *claudeEncoder) outputLimit() (limit *int, name string) {
	if e.q.MaxCompletionTokens != nil {
		return e.q.MaxCompletionTokens, "max_completion_tokens"
	}
	return e.q.MaxTokens, "max_tokens"
}

// thinks reports whether thinking was asked for and is sent.
func (e *claudeEncoder) thinks() bool { return e.think == "enabled" || e.think == "adaptive" }

// claudeWish is what the request asks for, whichever member said so.
type claudeWish struct {
	reasoning
	effort   string // lower case; "" when none is given
	adaptive bool   // the type was adaptive
	display  string
}

// wantedReasoning reads thinking, which wins, reasoning_effort or
// thinking_config.
func (e *claudeEncoder) wantedReasoning() (*claudeWish, error) {
	t, effort := e.q.Thinking, strings.ToLower(e.q.ReasoningEffort)
	raw, path := e.take("thinking_config")
	if raw != nil {
		if t == nil && effort == "" {
			return googleWish(path, raw)
		}
		e.warnf(providers.WarnConflict, path, "left out: thinking or reasoning_effort is given too")
	}
	if t != nil {
		if effort != "" {
			e.warnf(providers.WarnConflict, "reasoning_effort", "left out: thinking is given too")
		}
		return thinkingWish(t)
	}
	if effort == "" {
		return nil, nil //nolint:nilnil // nothing is asked for, and that is no error
	}
	want, ok := efforts[effort]
	if !ok {
		return nil, providers.Invalid("reasoning_effort", "must be none, minimal, low, medium, high, xhigh or max")
	}
	want.param = "reasoning_effort"
	return &claudeWish{reasoning: want, effort: effort}, nil
}

// googleWish reads the setting in the terms of Gemini.
func googleWish(path string, raw []byte) (*claudeWish, error) {
	want, err := nativeThinking(path, raw)
	if err != nil {
		return nil, err
	}
	wish := &claudeWish{reasoning: *want, effort: strings.ToLower(want.level)}
	if want.hidden {
		wish.display = "omitted"
	}
	return wish, nil
}

func thinkingWish(t *providers.Thinking) (*claudeWish, error) {
	want := &claudeWish{reasoning: reasoning{param: "thinking"}}
	switch t.Type {
	case "enabled", "":
	case "adaptive":
		want.adaptive = true
	case "disabled", "between_tools":
		want.off = true
	default:
		return nil, providers.Invalid("thinking.type", "must be enabled, disabled or adaptive")
	}
	if raw, ok := t.Extra.Get("display"); ok {
		r := jsonx.NewReader(raw)
		if want.display = r.String(); r.Err() != nil || want.display != "summarized" && want.display != "omitted" {
			return nil, providers.Invalid("thinking.display", "must be summarized or omitted")
		}
	}
	if b := t.BudgetTokens; b != nil && !want.off {
		if *b < -1 {
			return nil, providers.Invalid("thinking.budget_tokens", "must be 0 or more, or -1 for as much as the model likes")
		}
		want.off, want.budget = *b == 0, max(*b, 0)
	}
	return want, nil
}

// reason settles thinking by the model table.
func (e *claudeEncoder) reason(want *claudeWish) {
	t := e.m.facts.Thinking
	switch {
	case want.off:
		e.reasonNot(want)
	case !t.Adaptive && !t.ByBudget():
		e.warnf(providers.WarnUnsupported, want.param, "left out: this model does not think")
	case want.effort == "" && want.budget > 0 && t.ByBudget():
		e.explicitBudget(want.budget)
	case t.Adaptive:
		e.think = "adaptive"
		if word := want.effort; word != "" {
			e.setEffort(want.param, word)
		} else if want.budget > 0 {
			word := strings.ToLower(levelForBudget(want.budget))
			if e.effort = nearestEffort(word, t.Efforts); e.effort != "" {
				e.warnf(providers.WarnAdjusted, want.param, "this model takes no budget: the effort "+e.effort+" stands in for it")
			}
		}
	case want.budget > 0:
		e.impliedBudget(want.param, want.budget)
	default:
		if want.adaptive {
			e.warnf(providers.WarnAdjusted, want.param, "this model thinks by budget alone, which is set to "+strconv.Itoa(dynamicBudget)+" tokens at most")
		}
		e.impliedBudget(want.param, dynamicBudget)
	}
	if !e.thinks() {
		return
	}
	if e.show = want.display; e.show == "" && t.Hidden {
		e.show = "summarized"
	}
}

// reasonNot turns thinking off, or as far down as the model goes.
func (e *claudeEncoder) reasonNot(want *claudeWish) {
	t := e.m.facts.Thinking
	switch {
	case !t.Adaptive && !t.ByBudget():
	case t.Off == "":
		if len(t.Efforts) > 0 {
			e.effort = t.Efforts[0]
		}
		e.warnf(providers.WarnAdjusted, want.param, "this model always thinks: the effort is its lowest, "+e.effort)
	default:
		if e.think = t.Off; e.think != "disabled" {
			e.warnf(providers.WarnAdjusted, want.param, "this model always thinks: it does so between tool calls alone")
		}
	}
}

// setEffort settles the effort: the word itself when the model has it, else the
// next one.
func (e *claudeEncoder) setEffort(param, word string) {
	if len(e.m.facts.Thinking.Efforts) == 0 {
		e.warnf(providers.WarnUnsupported, param, "left out: this model takes no effort")
		return
	}
	if e.effort = nearestEffort(word, e.m.facts.Thinking.Efforts); e.effort != word {
		e.warnf(providers.WarnAdjusted, param, "this model does not have this effort: "+e.effort+" is used")
	}
}

// effortOrder lists all efforts, lowest first.
var effortOrder = []string{"minimal", "low", "medium", "high", "xhigh", "max"}

// nearestEffort returns the word itself when the model has it, else the next
// higher one, else the model's highest.
func nearestEffort(word string, has []string) string {
	if len(has) == 0 {
		return ""
	}
	for _, w := range effortOrder[max(0, slices.Index(effortOrder, word)):] {
		if slices.Contains(has, w) {
			return w
		}
	}
	return has[len(has)-1]
}

// explicitBudget takes the caller's budget. max_tokens grows to make room for
// the answer that it was meant for.
func (e *claudeEncoder) explicitBudget(budget int) {
	t := e.m.facts.Thinking
	own := e.limit
	limit, name := e.outputLimit()
	e.think, e.budget = "enabled", min(max(budget, t.MinBudget, minThinking), t.MaxBudget)
	if limit != nil && e.budget >= own {
		e.limit = e.budget + own
		if most := e.m.facts.OutputTokens; most > 0 && e.limit > most {
			e.limit = max(most, own)
		}
		if e.limit != own {
			e.warnf(providers.WarnAdjusted, name, "set to "+strconv.Itoa(e.limit)+": thinking counts against it, and the budget is not below it")
		}
	}
	if room := e.limit - min(own, max(minAnswer, own/2)); e.budget >= e.limit {
		e.budget = min(room, e.limit-1)
	}
	switch {
	case e.budget < minThinking:
		e.think, e.budget, e.limit = "", 0, own
		e.warnf(providers.WarnConflict, "thinking.budget_tokens", "left out: max_tokens leaves no room for thinking, which takes 1024 tokens at least")
	case e.budget != budget:
		e.warnf(providers.WarnAdjusted, "thinking.budget_tokens", "set to "+strconv.Itoa(e.budget)+" tokens, within what the model takes")
	}
}

// impliedBudget takes a budget that is ours: max_tokens is the caller's, and at
// least half of it stays for the answer.
func (e *claudeEncoder) impliedBudget(param string, budget int) {
	t := e.m.facts.Thinking
	fit := min(max(budget, t.MinBudget, minThinking), t.MaxBudget, e.limit/2)
	if fit < minThinking {
		e.warnf(providers.WarnConflict, param, "left out: max_tokens leaves no room for thinking, which takes 1024 tokens at least")
		return
	}
	if fit < budget {
		e.warnf(providers.WarnAdjusted, param, "the budget is "+strconv.Itoa(fit)+" tokens, to leave room for the answer")
	}
	e.think, e.budget = "enabled", fit
}

// reconcile gives way where thinking does not go with the rest of the request.
func (e *claudeEncoder) reconcile() {
	forced := e.choice == "any" || e.choice == "tool"
	if forced && e.m.facts.NoForcedTools {
		e.choice, forced = "auto", false
		e.warnf(providers.WarnAdjusted, "tool_choice", "set to auto: this model refuses to be forced to a call")
	}
	switch {
	case e.think != "enabled":
	case forced:
		e.think, e.budget = "disabled", 0
		e.warnf(providers.WarnConflict, e.thinkingParam(), "left out: it does not go with a tool choice that demands a call")
	case e.prefilled(): // by a model that still takes it
		e.think, e.budget = "disabled", 0
		e.warnf(providers.WarnConflict, e.thinkingParam(), "left out: it does not go with an assistant message to go on from")
	case e.lostThinking() && e.m.facts.Thinking.Adaptive: // which makes no such demand
		e.think, e.budget = "adaptive", 0
		e.warnf(providers.WarnSignature, e.thinkingParam(),
			"sent without its budget: the thinking before the last tool calls is missing: send the assistant message back as it came")
	case e.lostThinking():
		e.think, e.budget = "disabled", 0
		e.warnf(providers.WarnSignature, e.thinkingParam(),
			"left out: the thinking before the last tool calls is missing: send the assistant message back as it came")
	}
	if e.think == "disabled" && (e.effort == "xhigh" || e.effort == "max") {
		e.effort = "high"
		e.warnf(providers.WarnAdjusted, "output_config.effort", "set to high, the most that goes without thinking")
	}
}

// prefilled reports whether the conversation ends with words of the assistant.
func (e *claudeEncoder) prefilled() bool {
	msgs := e.q.Messages
	last := len(msgs) - 1
	for last >= 0 && (msgs[last].Role == providers.RoleSystem || msgs[last].Role == providers.RoleDeveloper) {
		last--
	}
	if last < 0 || msgs[last].Role != providers.RoleAssistant || e.m.facts.NoPrefill {
		return false
	}
	thinks, says := e.outline(&msgs[last])
	return says && !thinks
}

func (e *claudeEncoder) thinkingParam() string {
	if e.q.Thinking == nil && e.q.ReasoningEffort != "" {
		return "reasoning_effort"
	}
	return "thinking"
}

// thinking writes the setting.
func (e *claudeEncoder) thinking() error {
	if e.think == "" {
		return nil
	}
	e.w.Key("thinking")
	e.w.BeginObject()
	e.w.Key("type")
	e.w.String(e.think)
	if e.budget > 0 {
		e.w.Key("budget_tokens")
		e.w.Int(int64(e.budget))
	}
	if e.show != "" && e.thinks() {
		e.w.Key("display")
		e.w.String(e.show)
	}
	e.w.EndObject()
	return nil
}
