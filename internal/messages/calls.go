package messages

import (
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// call takes a piece of a tool call in.
func (a *answer) call(d *providers.ToolCallDelta) error {
	signature := d.Function.ThoughtSignature
	if a.open.kind == "tool_use" && a.open.from == d.Index {
		if signature != "" {
			a.trailing = append(a.trailing, carrier{onBefore, signature})
		}
		if h := a.open.held; h != nil && d.Function.Name != "" {
			h.name = d.Function.Name
			a.release()
		}
		a.arguments(d.Function.Arguments)
		return nil
	}
	if slices.Contains(a.closed, d.Index) && d.Function.Arguments == "{}" {
		return nil // which it has
	}
	if d.Index != a.calls {
		return answerError("the pieces of the answer's tool calls are mixed")
	}
	a.calls++
	if err := a.sign(onCall, signature); err != nil {
		return err
	}
	h := head{kind: "tool_use", id: d.ID, name: d.Function.Name}
	if caller, ok := d.Extra.Get("caller"); ok {
		h.raw = jsonx.AppendMember(nil, "caller", caller)
	}
	if err := a.begin(&h, d.Index); err != nil {
		return err
	}
	a.arguments(d.Function.Arguments)
	return nil
}

func (a *answer) arguments(s string) {
	switch {
	case s == "":
	case a.open.held != nil:
		a.open.early = append(a.open.early, s...)
	default:
		a.open.said = true
		a.to.piece(inputDelta, s)
	}
}

// release begins the call that waited for its name.
func (a *answer) release() {
	h, early := a.open.held, a.open.early
	a.open.held, a.open.early = nil, nil
	a.to.begin(h)
	a.arguments(string(early))
}
