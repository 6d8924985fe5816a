package pipeline

import (
	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// blame is what becomes of a try says of its target. A caller must not be able to have a
// target left alone that answers everybody else.
type blame struct {
	apart   bool // the call has the request go elsewhere
	hurried bool // the call gives it less time
}

// blame returns that of a call with the model, at a target of its plan.
func (f *flight[Q, T]) blame(l *leaf, model string) blame {
	return blame{apart: elsewhere(f.client, f.call, l, model), hurried: hurried(f.client, f.call, l, f.stream)}
}

// tell notes it for the outcome of a try.
func (b blame) tell(t *routing.Try) {
	if b.apart {
		t.Apart()
	}
	if b.hurried {
		t.Hurried()
	}
}

// elsewhere reports whether a call has its request go to another place than the target
// does by the plan.
func elsewhere(client, call *Settings, l *leaf, model string) bool {
	own := &l.settings
	provider := bare(first(own.Provider, client.Provider))
	if slug, _, err := splitSlug(model); err == nil && slug != "" && slug != provider && l.model == "" {
		return true
	}
	return call.BaseURL != "" ||
		differs(bare(call.Provider), provider) ||
		differs(call.Region, first(own.Region, client.Region)) ||
		differs(call.ProjectID, first(own.ProjectID, client.ProjectID)) ||
		own.Region == "" && differs(call.PathRegion, client.Region) ||
		own.ProjectID == "" && differs(call.PathProjectID, client.ProjectID)
}

// differs reports whether a call names a place, and another one.
func differs(named, usual string) bool { return named != "" && named != usual }

// hurried reports whether a call has a limit of time of its own that is shorter than
// that of the target and of the client. The end of a context is no such limit: a
// service ends its calls so, and a target that never answers has to be found out.
func hurried(client, call *Settings, l *leaf, stream bool) bool {
	usual := timeouts(client.Timeouts, providers.Timeouts{})
	if stream {
		usual.FirstByte = least(usual.FirstByte, l.settings.RequestTimeout)
	} else {
		usual.Total = least(usual.Total, l.settings.RequestTimeout)
	}
	less := func(own, usual int64) bool { return own > 0 && (usual == 0 || own < usual) }
	t := &call.Timeouts
	return less(int64(t.Total), int64(usual.Total)) || less(int64(t.FirstByte), int64(usual.FirstByte)) || less(int64(t.Idle), int64(usual.Idle))
}
