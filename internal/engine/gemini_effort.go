package engine

import (
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// outputEffort returns the effort of an output_config in the form of Claude's
// schema, and takes it off: the platform's own has no such member. "" is none.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/effort
func (e *geminiEncoder) outputEffort() (word, path string) {
	for i := range e.extra {
		m := &e.extra[i]
		if m.name != "output_config" || m.taken {
			continue
		}
		raw, ok := jsonx.Lookup(m.value, "effort")
		if !ok {
			continue
		}
		if m.value = jsonx.DeleteMember(m.value, "effort"); string(m.value) == "{}" {
			m.taken = true
		}
		r := jsonx.NewReader(raw)
		if word, path = strings.ToLower(r.String()), m.path+".effort"; word == "" && r.Err() != nil {
			word = string(raw) // which is refused
		}
		return word, path
	}
	return "", ""
}

// thinkHard lays the effort over what thinking asks for. A budget, or that there
// is to be none, says more.
func (e *geminiEncoder) thinkHard(want *reasoning, word, path string) error {
	effort, ok := efforts[word]
	switch {
	case !ok || effort.off:
		return providers.Invalid(path, "must be low, medium, high, xhigh or max")
	case want.off || want.budget > 0 || want.level != "":
		e.warnf(providers.WarnConflict, path, "left out: "+want.param+" says how much")
	default:
		want.param, want.level, want.budget = path, effort.level, effort.budget
	}
	return nil
}
