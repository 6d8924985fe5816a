package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// reasoning is what the request asks for, whichever member said so.
type reasoning struct {
	param  string // the member it came from
	off    bool
	budget int    // tokens; 0 when a level or nothing is given
	level  string // platform word; "" when a budget or nothing is given
	hidden bool   // the thoughts themselves are not wanted
}

// efforts maps reasoning_effort to a level, and to the budget that the platform
// gives it on models that think by budget.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/start/openai
var efforts = map[string]reasoning{
	"none":    {off: true},
	"minimal": {level: "MINIMAL", budget: 1024},
	"low":     {level: "LOW", budget: 1024},
	"medium":  {level: "MEDIUM", budget: 8192},
	"high":    {level: "HIGH", budget: 24576},
	"xhigh":   {level: "XHIGH", budget: 32768},
	"max":     {level: "XHIGH", budget: 32768},
}

type levelBudget struct {
	level  string
	budget int
}

// levelOrder lists the levels, lowest first, with the budget up to which each
// one stands in for a budget.
var levelOrder = []levelBudget{{"MINIMAL", 512}, {"LOW", 2048}, {"MEDIUM", 12288}, {"HIGH", 32768}, {"XHIGH", 1 << 30}}

// thinking writes thinkingConfig by the model table: a budget or a level, never
// both.
func (e *geminiEncoder) thinking() error {
	want, err := e.wantedReasoning()
	if err != nil || want == nil {
		return err
	}
	switch t := e.m.facts.Thinking; {
	case t.ByBudget():
		e.budget(want, t)
	case t.ByLevel():
		e.level(want, t)
	case !want.off:
		e.warnf(providers.WarnUnsupported, want.param, "left out: this model does not think")
	}
	return nil
}

// wantedReasoning reads thinking, which wins, or reasoning_effort.
func (e *geminiEncoder) wantedReasoning() (*reasoning, error) {
	t, effort := e.q.Thinking, e.q.ReasoningEffort
	word, wordPath := e.outputEffort()
	raw, path := e.take("thinking_config")
	if raw != nil {
		if t == nil && effort == "" {
			want, err := nativeThinking(path, raw)
			if err == nil && word != "" {
				err = e.thinkHard(want, word, wordPath)
			}
			return want, err
		}
		e.warnf(providers.WarnConflict, path, "left out: thinking or reasoning_effort is given too")
	}
	if t != nil {
		if effort != "" {
			e.warnf(providers.WarnConflict, "reasoning_effort", "left out: thinking is given too")
		}
		want, err := e.wantedThinking(t)
		if err == nil && word != "" {
			err = e.thinkHard(want, word, wordPath)
		}
		return want, err
	}
	if effort == "" && word != "" {
		want := &reasoning{hidden: true} // nobody asked to see it
		return want, e.thinkHard(want, word, wordPath)
	}
	if effort == "" {
		return nil, nil //nolint:nilnil // nothing is asked for, and that is no error
	}
	want, ok := efforts[strings.ToLower(effort)]
	if !ok {
		return nil, providers.Invalid("reasoning_effort", "must be none, minimal, low, medium, high, xhigh or max")
	}
	want.param = "reasoning_effort"
	if word != "" {
		e.warnf(providers.WarnConflict, wordPath, "left out: reasoning_effort is given too")
	}
	return &want, nil
}

// nativeThinking reads the setting in the platform's own terms. It goes through
// the model table like any other.
func nativeThinking(path string, raw []byte) (*reasoning, error) {
	want := &reasoning{param: path}
	for name, value := range jsonx.Members(raw) {
		r := jsonx.NewReader(value)
		switch camel(name) {
		case "includeThoughts":
			want.hidden = !r.Bool()
		case "thinkingBudget":
			n := r.Int()
			want.budget, want.off = int(max(n, 0)), n == 0
		case "thinkingLevel":
			want.level = strings.ToUpper(r.String())
		default:
			return nil, providers.Invalid(path+"."+name, "use thinking_budget, thinking_level and include_thoughts")
		}
		if r.Err() != nil {
			return nil, providers.Invalid(path+"."+name, "not a value that the platform takes here")
		}
	}
	if want.level != "" && !slices.ContainsFunc(levelOrder, func(l levelBudget) bool { return l.level == want.level }) {
		return nil, providers.Invalid(path+".thinking_level", "must be MINIMAL, LOW, MEDIUM, HIGH or XHIGH")
	}
	return want, nil
}

func (e *geminiEncoder) wantedThinking(t *providers.Thinking) (*reasoning, error) {
	want := &reasoning{param: "thinking", hidden: extraText(t.Extra, "display") == "omitted"}
	switch t.Type {
	case "enabled", "adaptive", "":
	case "disabled":
		want.off = true
		return want, nil
	default:
		return nil, providers.Invalid("thinking.type", "must be enabled, disabled or adaptive")
	}
	if t.BudgetTokens == nil {
		return want, nil
	}
	want.budget, want.off = *t.BudgetTokens, *t.BudgetTokens == 0
	if want.budget < -1 {
		return nil, providers.Invalid("thinking.budget_tokens", "must be 0 or more, or -1 for as much as the model likes")
	}
	want.budget = max(want.budget, 0)
	if limit, name := e.outputLimit(); limit != nil && want.budget >= *limit {
		e.warnf(providers.WarnConflict, "thinking.budget_tokens",
			"not below "+name+": thinking counts against it, and the answer may be empty")
	}
	return want, nil
}

// budget writes thinkingBudget: -1 is as much as the model likes, 0 is off.
func (e *geminiEncoder) budget(want *reasoning, t catalog.Thinking) {
	n := -1
	switch {
	case want.off && t.CanDisable:
		n = 0
	case want.off:
		n = t.MinBudget
		e.warnf(providers.WarnAdjusted, want.param, "this model always thinks: the budget is its least, "+strconv.Itoa(n)+" tokens")
	case want.budget > 0:
		n = min(max(want.budget, t.MinBudget), t.MaxBudget)
		if n != want.budget && want.level == "" {
			e.warnf(providers.WarnAdjusted, want.param, "the budget was set to "+strconv.Itoa(n)+" tokens, within the model's range")
		}
	}
	e.w.Key("thinkingConfig")
	e.w.BeginObject()
	e.includeThoughts(want)
	e.w.Key("thinkingBudget")
	e.w.Int(int64(n))
	e.w.EndObject()
}

// level writes thinkingLevel, or leaves the level to the model when nothing
// says how much.
func (e *geminiEncoder) level(want *reasoning, t catalog.Thinking) {
	level := want.level
	switch {
	case want.off:
		level = t.Levels[0]
		e.warnf(providers.WarnAdjusted, want.param, "this model always thinks: the level is its lowest, "+level)
	case level == "" && want.budget > 0:
		level = nearestLevel(levelForBudget(want.budget), t.Levels)
		e.warnf(providers.WarnAdjusted, want.param, "this model thinks by level: "+level+" stands in for the budget")
	case level != "":
		level = nearestLevel(want.level, t.Levels)
		if level != want.level {
			e.warnf(providers.WarnAdjusted, want.param, "this model does not have this level: "+level+" is used")
		}
	}
	e.w.Key("thinkingConfig")
	e.w.BeginObject()
	e.includeThoughts(want)
	if level != "" {
		e.w.Key("thinkingLevel")
		e.w.String(level)
	}
	e.w.EndObject()
}

func (e *geminiEncoder) includeThoughts(want *reasoning) {
	if !want.off && !want.hidden {
		e.w.Key("includeThoughts")
		e.w.Bool(true)
	}
}

func levelForBudget(budget int) string {
	for _, l := range levelOrder {
		if budget <= l.budget {
			return l.level
		}
	}
	return "XHIGH"
}

// nearestLevel returns the level itself when the model has it, else the next
// higher one, else the model's highest.
func nearestLevel(level string, has []string) string {
	reached := false
	for _, l := range levelOrder {
		reached = reached || l.level == level
		if reached && slices.Contains(has, l.level) {
			return l.level
		}
	}
	return has[len(has)-1]
}
