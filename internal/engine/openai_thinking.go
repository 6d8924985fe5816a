package engine

import (
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// templateArguments is the member with the arguments of the chat template, as
// vLLM and SGLang call it.
const templateArguments = "chat_template_kwargs"

// reasoning turns thinking, which wins, or reasoning_effort into what the model
// takes: an effort, a switch of its chat template, or nothing.
func (e *openEncoder) reasoning() error {
	thinking, effort := e.q.Thinking, e.q.ReasoningEffort
	t := e.in.model.facts.Thinking
	e.q.Thinking = nil
	want, err := e.wantedReasoning(thinking, effort)
	if err != nil || want == nil {
		e.noteSwitch(t.Switch)
		return err
	}
	e.q.ReasoningEffort = ""
	switch {
	case t.ByLevel():
		e.effort(want, t.Levels)
	case t.Switch != "":
		e.turn(want, t.Switch)
	case e.knowsItsOwn() && thinking == nil:
		e.q.ReasoningEffort = effort
	case e.knowsItsOwn():
		e.warnf(providers.WarnUnsupported, "thinking", "left out: use reasoning_effort or "+templateArguments+
			", as the endpoint's server takes them, or give the endpoint a row in the model table")
	default:
		e.warnf(providers.WarnUnsupported, want.param, "left out: how much this model thinks can't be chosen")
	}
	e.noteSwitch(t.Switch)
	return nil
}

// knowsItsOwn reports whether the server knows what its models take, and we do
// not.
func (e *openEncoder) knowsItsOwn() bool {
	return e.family == FamilyEndpoint || e.family == FamilyOpenAI
}

func (e *openEncoder) wantedReasoning(t *providers.Thinking, effort string) (*reasoning, error) {
	if t == nil {
		if effort == "" {
			return nil, nil //nolint:nilnil // nothing is asked for, and that is no error
		}
		want, ok := efforts[strings.ToLower(effort)]
		if !ok && !e.knowsItsOwn() {
			return nil, providers.Invalid("reasoning_effort", "must be none, minimal, low, medium, high, xhigh or max")
		}
		want.param = "reasoning_effort"
		want.budget = 0
		return &want, nil
	}
	if effort != "" {
		e.warnf(providers.WarnConflict, "reasoning_effort", "left out: thinking is given too")
	}
	want := &reasoning{param: "thinking"}
	switch t.Type {
	case "enabled", "adaptive", "":
	case "disabled":
		want.off = true
	default:
		return nil, providers.Invalid("thinking.type", "must be enabled, disabled or adaptive")
	}
	if t.BudgetTokens != nil && !want.off {
		if *t.BudgetTokens < -1 {
			return nil, providers.Invalid("thinking.budget_tokens", "must be 0 or more, or -1 for as much as the model likes")
		}
		want.budget, want.off = max(*t.BudgetTokens, 0), *t.BudgetTokens == 0
	}
	return want, nil
}

// effort writes reasoning_effort.
func (e *openEncoder) effort(want *reasoning, levels []string) {
	level := want.level
	switch {
	case want.off:
		level = levels[0]
		e.warnf(providers.WarnAdjusted, want.param, "this model always thinks: the effort is its lowest, "+strings.ToLower(level))
	case level == "" && want.budget > 0:
		level = nearestLevel(levelForBudget(want.budget), levels)
		e.warnf(providers.WarnAdjusted, want.param, "this model thinks by effort: "+strings.ToLower(level)+" stands in for the budget")
	case level != "":
		if level = nearestLevel(level, levels); level != want.level {
			e.warnf(providers.WarnAdjusted, want.param, "this model does not have this effort: "+strings.ToLower(level)+" is used")
		}
	}
	e.q.ReasoningEffort = strings.ToLower(level)
}

// turn switches thinking on or off by an argument of the chat template. The
// caller's own argument wins.
func (e *openEncoder) turn(want *reasoning, name string) {
	arguments, _ := e.q.Extra.Get(templateArguments)
	if _, given := jsonx.Lookup(arguments, name); given {
		e.warnf(providers.WarnConflict, want.param, "left out: "+templateArguments+"."+name+" is given too")
		return
	}
	if !want.off && (want.budget > 0 || want.level != "") {
		e.warnf(providers.WarnAdjusted, want.param, "this model's thinking is on or off: it is on")
	}
	e.set(templateArguments, func(w *jsonx.Writer) {
		w.BeginObject()
		w.Members(arguments)
		w.AnyKey(name)
		w.Bool(!want.off)
		w.EndObject()
	})
}

// noteSwitch remembers for the decoder that thinking was switched on.
func (e *openEncoder) noteSwitch(name string) {
	if name == "" {
		return
	}
	arguments, _ := e.q.Extra.Get(templateArguments)
	value, _ := jsonx.Lookup(arguments, name)
	e.out.thinks = string(value) == "true"
}
