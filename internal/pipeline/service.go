package pipeline

import (
	"context"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// service is one call of a family of requests of the type Q that are answered
// whole by a T.
type service[Q, T any] struct {
	operation string
	what      string // what the answer holds, for people
	req       Q
	model     string
	user      string
	check     func() error // finds what is wrong before anything else
	encode    func(Q) ([]byte, error)
	decode    func([]byte) (Q, string, error)
	rename    func(req Q, model string) Q
	ask       func(ctx context.Context, at *route, req Q) (T, error)
	meta      func(T) *providers.Meta
	usage     func(T) *providers.Usage      // nil when the answer tells none
	kept      *kind[Q, T]                   // how answers are kept; nil keeps none
	show      func(T) ([]byte, error)       // the answer as observers see it; nil shows none
	asks      func(Q) *providers.Parameters // nil for requests that have none
	bill      func(b *providers.Billed, req Q, answer T)
	// before refuses or changes the request of a plan's target; nil does neither.
	before func(context.Context, *routing.Try, Q) (Q, error)
}

// serve runs a call as record(resolve(ask)), through the plan where there is one.
// The caller projects the answer when strict says so.
func serve[Q, T any](ctx context.Context, e *Engine, client, call *Settings, s *service[Q, T]) (out T, strict bool, err error) {
	rec := newRecorder(client, call, s.operation, s.model, userMetadata(s.user))
	defer rec.drop() // what a panic has left
	if s.asks != nil && rec.observed() {
		rec.record.Parameters = s.asks(s.req)
	}
	if ctx = rec.start(ctx); rec.shows() {
		rec.request(s.encode(s.req))
	}
	if out, err = asked(ctx, e, rec, client, call, s); err != nil {
		rec.drop()
		err = rec.fail(err)
		rec.end()
		return out, false, err
	}
	rec.settled()
	meta := s.meta(out)
	rec.warnings(meta.Warnings)
	rec.record.ResponseModel = rec.route.target.Model
	rec.usage(s.usage(out))
	s.bill(&rec.record.Billed, s.req, out)
	rec.attempt(nil)
	*meta = rec.record.Meta
	if rec.content != nil && s.show != nil {
		rec.response(s.show(out))
	}
	rec.end()
	return out, rec.strict, nil
}

func asked[Q, T any](ctx context.Context, e *Engine, rec *recorder, client, call *Settings, s *service[Q, T]) (out T, err error) {
	if err := e.allowed(rec); err != nil {
		return out, err
	}
	if err := s.check(); err != nil {
		return out, err
	}
	plan, err := e.plan(client, call)
	if err != nil {
		return out, err
	}
	if plan != nil {
		return planned(ctx, e, rec, client, call, plan, s.planned())
	}
	if err := e.resolve(ctx, client, call, s.model, &rec.route); err != nil {
		return out, err
	}
	rec.route.target.Labels = labels(client, call, rec.record.Metadata)
	rec.routed()
	if s.kept != nil {
		if p := e.placeOf(&rec.spot, rec, client, call, cacheOf(client, call, nil), &rec.route, rec.strict); p != nil {
			p.until(&rec.route)
			out, _, err := through(ctx, p, s.kept, s.req, func(ctx context.Context, p *place, req Q) (T, error) { return s.ask(ctx, p.at, req) })
			return out, err
		}
	}
	return s.ask(ctx, &rec.route, s.req)
}

// planned is the call as a plan sends it.
func (s *service[Q, T]) planned() request[Q, T] {
	return request[Q, T]{
		req: s.req, model: s.model, encode: s.encode, decode: s.decode, rename: s.rename, share: sharer(s.kept), before: s.before,
		ask: func(ctx context.Context, at *route, req Q, t *routing.Try) (T, error) {
			out, err := s.ask(ctx, at, req)
			if err != nil {
				return out, err
			}
			if u := s.usage(out); u != nil {
				t.Used(u.TotalTokens)
			}
			m := s.meta(out)
			m.Warnings = append(m.Warnings, unguarded(t, s.what)...)
			return out, nil
		},
	}
}

// unguarded warns where a target has guards, which judge chat completions alone.
func unguarded(t *routing.Try, what string) []providers.Warning {
	l, ok := t.Leaf.Value.(*leaf)
	if !ok || len(l.settings.Guards) == 0 {
		return nil
	}
	return []providers.Warning{{
		Code: providers.WarnUnsupported, Param: "config.guards", Message: "guards judge chat completions: none was asked about the " + what,
	}}
}
