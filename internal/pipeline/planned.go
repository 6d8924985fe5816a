package pipeline

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/internal/served"
	"github.com/b650d4bf/gateway/internal/weigh"
	"github.com/b650d4bf/gateway/providers"
)

// request is a call that a plan may send to several targets: a request of the
// type Q that is answered by a T.
type request[Q, T any] struct {
	req    Q
	model  string
	stream bool
	free   bool                            // it uses no tokens
	looks  bool                            // no target is asked, and nothing changes: share answers for each
	encode func(Q) ([]byte, error)         // the request, as JSON
	decode func([]byte) (Q, string, error) // the changed request and its model
	rename func(req Q, model string) Q     // the request for another model
	ask    func(ctx context.Context, at *route, req Q, t *routing.Try) (T, error)
	// before judges the target's own request, after its answer; nil ones don't.
	before func(ctx context.Context, t *routing.Try, req Q) (Q, error)
	after  func(ctx context.Context, t *routing.Try, req Q, out T) (T, error)
	// share answers from the cache, or asks; nil for an operation without one. It
	// reports whether it asked. The place is nil for a target without a cache, which
	// only a request that looks comes with.
	share func(ctx context.Context, p *place, req Q, ask asker[Q, T]) (T, bool, error)
}

// flight is a call on its way through a plan. It is one piece, so that planning
// takes little memory.
type flight[Q, T any] struct {
	request[Q, T]

	engine       *Engine
	rec          *recorder
	client, call *Settings
	ctx          context.Context // the caller's own, for streams
	total        time.Duration   // the limit of the whole call; 0 is none
	view         view
	walk         routing.Call
}

// landed is an answer with the target that gave it.
type landed[T any] struct {
	value    T
	route    *route
	strict   bool
	warnings []providers.Warning // of the config
}

// planned sends a call where a plan says. Each target gets a translation of its
// own, so that facts, signatures and warnings are the target's.
func planned[Q, T any](ctx context.Context, e *Engine, rec *recorder, client, call *Settings, p *Plan, op request[Q, T]) (T, error) {
	f := &flight[Q, T]{
		request: op, engine: e, rec: rec, client: client, call: call, ctx: ctx,
		total: timeouts(client.Timeouts, call.Timeouts).Total,
	}
	f.view = view{metadata: rec.record.Metadata, header: call.Incoming, source: f}
	f.walk = routing.Call{View: &f.view, Stream: op.stream, Looks: op.looks}
	if p.counts && !op.free {
		f.walk.Tokens = f.view.tokens()
	}
	if f.total > 0 { // queues and pauses included
		limited, cancel := context.WithDeadline(ctx, rec.record.Start.Add(f.total))
		defer cancel()
		ctx = limited
	}
	rec.planned = true
	var ahead routing.Ahead[landed[T]]
	if op.share != nil && (op.looks || p.caches || call.Cache != nil || client.Cache != nil) {
		ahead = f.ahead
	}
	out, err := routing.RunAhead(ctx, e.router, p.tree, &f.walk, &rec.record.Meta.Attempts, ahead, f.try)
	rec.walked(&f.walk, err == nil)
	if err != nil {
		rec.asked()
		return out.value, err
	}
	rec.route, rec.strict = *out.route, out.strict
	rec.routed()
	rec.warnings(slices.Clone(out.warnings)) // the plan's serve every call
	return out.value, nil
}

// try asks one target. It is called from two goroutines when a request is hedged.
func (f *flight[Q, T]) try(ctx context.Context, t *routing.Try) (landed[T], error) {
	if r, ok := t.Carry.(*readied[Q]); ok {
		return f.detached(ctx, t, r)
	}
	var out landed[T]
	if f.stream {
		ctx = f.ctx // a stream goes on after its target was found
	}
	l, _ := t.Leaf.Value.(*leaf) // every leaf has one
	own := l.over(f.client, f.call, f.stream)
	if left := f.total - time.Since(f.rec.record.Start); f.total > 0 {
		own.Timeouts.Total = least(own.Timeouts.Total, max(left, 1))
	}
	req, model, err := f.changed(l)
	if err != nil {
		return out, err
	}
	out.route, out.strict, out.warnings = new(route), strict(f.client, &own), l.warnings
	if err := f.engine.resolve(ctx, f.client, &own, model, out.route); err != nil {
		return out, err
	}
	f.blame(l, model).tell(t)
	to := &out.route.target
	to.Labels = labels(f.client, &own, f.rec.record.Metadata)
	t.Attempt.Provider, t.Attempt.Slug, t.Attempt.Model = to.Provider, to.Slug, to.Model
	ctx, note := served.Within(ctx)
	defer func() { t.Attempt.Server = note.Server() }()
	if f.before != nil {
		if req, err = f.before(ctx, t, req); err != nil {
			return out, err
		}
	}
	if out.value, err = f.ask(ctx, out.route, req, t); err == nil && f.after != nil {
		out.value, err = f.after(ctx, t, req, out.value)
	}
	return out, err
}

// changed applies the target's params to the request.
func (f *flight[Q, T]) changed(l *leaf) (req Q, model string, err error) {
	switch {
	case l.changes:
		data, err := f.view.json()
		if err != nil {
			return req, "", err
		}
		if data, err = config.Apply(data, &l.settings); err == nil {
			req, model, err = f.decode(data)
		}
		return req, model, wrongParams(err)
	case l.model != "":
		return f.rename(f.req, l.model), l.model, nil
	}
	return f.req, f.model, nil
}

// json returns the request as JSON.
func (f *flight[Q, T]) json() ([]byte, error) { return f.encode(f.req) }

// walked notes what part the features of a plan had in the call.
func (r *recorder) walked(c *routing.Call, answered bool) {
	m := &r.record.Meta
	m.Fallback, m.LoadBalance = providers.FeatureStatus(c.FellBack), providers.FeatureStatus(c.Balanced)
	for i := range m.Attempts {
		a := &m.Attempts[i]
		if a.Skipped != "" {
			continue
		}
		if a.Retry > 0 {
			m.Retry = providers.RetryFailed
		}
		if answered && a.Code == "" {
			if a.Retry > 0 {
				m.Retry = providers.RetryStatus(a.Retry + 1)
			}
			return
		}
	}
}

// choose returns the plan of a call, nil for none. The call's config takes the
// place of the client's.
func (e *Engine) choose(client, call *Settings) (*Plan, error) {
	switch {
	case call.Plan != nil:
		return call.Plan, nil
	case call.Config != nil:
		return newPlan(call.Config, visitors)
	case call.ConfigID != "":
		return e.planByID(client, call, call.ConfigID)
	case client.Plan != nil || client.ConfigID == "":
		return client.Plan, nil
	}
	return e.planByID(client, call, client.ConfigID)
}

// planByID returns the plan of a config of the catalog. It is made once, until
// the catalog has another config of that id.
func (e *Engine) planByID(client, call *Settings, id string) (*Plan, error) {
	source := call.Catalog
	if source == nil {
		source = client.Catalog
	}
	list, ok := source.(catalog.Configs)
	if !ok {
		return nil, configError("no catalog has configs: give the client one with WithCatalog, or the config itself", nil)
	}
	c, err := list.Config(id)
	if err != nil {
		return nil, configError("", err)
	}
	if have, ok := e.plans.Load(id); ok {
		if p, ok := have.(*Plan); ok && p.made == c {
			return p, nil
		}
	}
	p, err := NewPlan(c)
	if err != nil {
		return nil, err
	}
	e.plans.Store(id, p)
	return p, nil
}

// configError says that there is no such config.
func configError(message string, err error) error {
	e := &providers.Error{Code: providers.ErrInvalidConfig, Param: "config", Message: message}
	if err != nil {
		e.Message, e.Err = err.Error(), err
	}
	return e
}

// over lays the call's settings over the target's.
func (l *leaf) over(client, call *Settings, stream bool) Settings {
	own, t := *call, &l.settings
	own.Provider = first(call.Provider, t.Provider)
	own.Region = first(call.Region, t.Region)
	own.ProjectID = first(call.ProjectID, t.ProjectID)
	own.CustomHost, own.HostOf = t.CustomHost, t.Provider
	if own.Strict == nil {
		own.Strict = t.StrictCompliance
	}
	if limit := t.RequestTimeout; limit > 0 {
		now := timeouts(client.Timeouts, call.Timeouts)
		if stream {
			own.Timeouts.FirstByte = least(now.FirstByte, limit)
		} else {
			own.Timeouts.Total = least(now.Total, limit)
		}
	}
	if len(t.ForwardHeaders) > 0 && len(call.Incoming) > 0 {
		own.Header = forwarded(call, t.ForwardHeaders)
	}
	return own
}

// forwarded adds headers of the incoming request to the call's, which win.
func forwarded(call *Settings, names []string) http.Header {
	out := make(http.Header, len(call.Header)+len(names))
	for _, name := range names {
		name = http.CanonicalHeaderKey(name)
		if values := call.Incoming[name]; len(values) > 0 {
			out[name] = values
		}
	}
	for name, values := range call.Header {
		out[http.CanonicalHeaderKey(name)] = values
	}
	return out
}

// least returns the smaller limit, of which 0 is none.
func least(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// wrongParams says that the params of a target make a request of no use of one
// that was good.
func wrongParams(err error) error {
	if err == nil {
		return nil
	}
	out := &providers.Error{Code: providers.ErrInvalidConfig, Param: "config", Err: err}
	out.Message = "the params of the target make an invalid request: " + err.Error()
	if e, ok := errors.AsType[*providers.Error](err); ok {
		out.Param, out.Message = e.Param, "the params of the target make an invalid request: "+e.Message
	}
	return out
}

// view is what the conditions of a config see of a call.
type view struct {
	metadata map[string]string
	header   http.Header
	source   interface{ json() ([]byte, error) }
	once     sync.Once
	data     []byte
	err      error
}

var _ config.View = (*view)(nil)

// Metadata returns an entry of the call's metadata.
func (v *view) Metadata(key string) (string, bool) {
	s, ok := v.metadata[key]
	return s, ok
}

// Header returns the first value of a header of the incoming request.
func (v *view) Header(name string) (string, bool) {
	values := v.header[http.CanonicalHeaderKey(name)]
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

// Param returns a member of the request.
func (v *view) Param(path []string) ([]byte, bool) {
	data, err := v.json()
	if err != nil {
		return nil, false
	}
	return config.Param(data, path)
}

// json returns the request as JSON, made once. A hedge may ask for it meanwhile.
func (v *view) json() ([]byte, error) {
	v.once.Do(func() { v.data, v.err = v.source.json() })
	return v.data, v.err
}

// tokens is about what the call will use.
func (v *view) tokens() int64 {
	data, err := v.json()
	if err != nil {
		return 0
	}
	return weigh.Tokens(data)
}

// asked notes the target of the last request, which failed.
func (r *recorder) asked() {
	m := &r.record.Meta
	for i := len(m.Attempts) - 1; i >= 0; i-- {
		if a := &m.Attempts[i]; a.Provider != "" {
			m.Provider, m.Slug, m.Model = a.Provider, a.Slug, a.Model
			return
		}
	}
}
