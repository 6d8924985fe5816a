package engine

import (
	"slices"

	"github.com/b650d4bf/gateway/providers"
)

// goesOn reports whether message i, of the assistant, follows another one of the
// assistant: they are one turn. System messages stand elsewhere.
func (e *claudeEncoder) goesOn(i int) bool {
	for j := i - 1; j >= 0; j-- {
		switch e.q.Messages[j].Role {
		case providers.RoleAssistant:
			return true
		case providers.RoleSystem, providers.RoleDeveloper:
		default:
			return false
		}
	}
	return false
}

// callsBefore returns the calls of the assistant's turn before message i.
func (e *claudeEncoder) callsBefore(i int) []providers.ToolCall {
	msgs := e.q.Messages
	last := i - 1
	for last >= 0 && msgs[last].Role != providers.RoleAssistant {
		last--
	}
	if last < 0 {
		return nil
	}
	first := last
scan:
	for j := last - 1; j >= 0; j-- {
		switch msgs[j].Role {
		case providers.RoleAssistant:
			first = j
		case providers.RoleSystem, providers.RoleDeveloper:
		default:
			break scan
		}
	}
	if first == last {
		return msgs[last].ToolCalls
	}
	var calls []providers.ToolCall
	for j := first; j <= last; j++ {
		if msgs[j].Role == providers.RoleAssistant {
			calls = append(calls, msgs[j].ToolCalls...)
		}
	}
	return calls
}

// results writes the tool messages run, which answer the calls of the turn
// before, into one user turn and in the order of the calls.
func (e *claudeEncoder) results(first int, run []providers.Message) error {
	calls := e.callsBefore(first)
	done := make([]bool, len(run))
	for j := range calls {
		for k := range run {
			if done[k] || run[k].ToolCallID != calls[j].ID && run[k].ToolCallID != "" {
				continue
			}
			done[k] = true
			if err := e.result(first+k, e.calls[j], &run[k]); err != nil {
				return err
			}
			break
		}
	}
	if k := slices.Index(done, false); k >= 0 {
		return providers.Invalid(messagePath(first+k, "tool_call_id"), "no tool call of the assistant message before has this id")
	}
	return nil
}

// result writes a tool_result.
func (e *claudeEncoder) result(i int, id string, m *providers.Message) error {
	e.begin(providers.RoleUser, i, "tool_result")
	e.w.Key("tool_use_id")
	e.w.String(id)
	if err := e.resultContent(i, m); err != nil {
		return err
	}
	if raw, _ := m.Extra.Get("is_error"); string(raw) == "true" {
		e.w.Key("is_error")
		e.w.Bool(true)
	}
	e.w.EndObject()
	if raw, ok := m.Extra.Get("cache_control"); ok {
		e.mark(messagePath(i, "cache_control"), raw, true)
	}
	return nil
}

// resultContent writes what a tool returned: a string, or a list of blocks when
// there is more than text. Nothing is nothing.
func (e *claudeEncoder) resultContent(i int, m *providers.Message) error {
	parts := m.Content.Parts()
	if !slices.ContainsFunc(parts, func(p providers.ContentPart) bool { return p.Type != providers.PartText || len(p.Extra) > 0 }) {
		if text := m.Content.Text(); text != "" {
			e.w.Key("content")
			e.w.String(text)
		}
		return nil
	}
	e.w.Key("content")
	e.w.BeginArray()
	for j := range parts {
		if err := e.userPart(i, j, &parts[j], func(string) {}); err != nil {
			return err
		}
	}
	e.w.EndArray()
	return nil
}
