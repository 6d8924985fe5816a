package gatewayotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/b650d4bf/gateway/providers"
)

// Observer makes spans and metrics of calls. It is made by [New], given to a client by
// gateway.WithObserver, and safe for concurrent use by any number of clients.
type Observer struct {
	opts    Options
	tracer  trace.Tracer
	meters  meters
	content content
}

var (
	_ providers.ContentObserver = (*Observer)(nil)
	_ providers.ChunkObserver   = (*Observer)(nil)
)

// New returns an observer. It fails for options that can't be, and where the meter
// provider makes no instruments.
func New(opts Options) (*Observer, error) {
	if err := opts.complete(); err != nil {
		return nil, err
	}
	o := &Observer{
		opts: opts, tracer: opts.TracerProvider.Tracer(Scope),
		content: content{limit: opts.MaxContent, redact: opts.Redact, schemas: opts.ToolSchemas, reasons: opts.Conventions.former()},
	}
	return o, o.meters.make(opts.MeterProvider.Meter(Scope), opts.Conventions)
}

// state is what an observer keeps of a call while it runs. It is in the context of
// the call.
type state struct {
	span   trace.Span
	op     operation
	chunks []metric.RecordOption // of a stream, once it has begun
}

// stateKey is the key of the state in the context: several observers may watch a
// call.
type stateKey struct{ of *Observer }

func (o *Observer) state(ctx context.Context) *state {
	s, _ := ctx.Value(stateKey{o}).(*state)
	return s
}

// CallStart begins the span of the call, which the context carries from then on.
func (o *Observer) CallStart(ctx context.Context, c providers.Call) context.Context {
	s := &state{op: operationOf(&c)}
	model := bare(c.Model)
	first := make([]attribute.KeyValue, 0, 2)
	first = append(first, keyOperation.String(s.op.name))
	if model != "" {
		first = append(first, keyRequestModel.String(short(model)))
	}
	ctx, s.span = o.tracer.Start(ctx, spanName(s.op.name, model),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(c.Start), trace.WithAttributes(first...))
	if s.span.IsRecording() {
		s.span.SetAttributes(o.asked(&c)...)
	}
	return context.WithValue(ctx, stateKey{o}, s)
}

// spanName is the name that the conventions give a span.
//
// Source: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/client-inference.md
func spanName(operation, model string) string {
	if model == "" {
		return operation
	}
	return operation + " " + short(model)
}

// CallEnd ends the span of the call, with those of its requests, and counts it.
func (o *Observer) CallEnd(ctx context.Context, r providers.Record) {
	s := o.state(ctx)
	if s == nil {
		return
	}
	ctx = trace.ContextWithSpan(ctx, s.span)
	o.measure(ctx, s, &r)
	if s.span.IsRecording() {
		o.describe(s, &r)
		o.trail(ctx, s, &r)
	}
	s.span.End(trace.WithTimestamp(r.Start.Add(r.Duration)))
}

// describe tells how the call went.
func (o *Observer) describe(s *state, r *providers.Record) {
	asked, model := bare(r.Call.Model), modelOf(r)
	if model != asked {
		s.span.SetName(spanName(s.op.name, model))
	}
	s.span.SetAttributes(o.answered(s, r)...)
	if kind := errorOf(r.Err); kind != "" {
		s.span.SetStatus(codes.Error, kind) // messages may hold what a platform said
	}
}

// trail makes a span of each request of the call, and an event of each target that
// was passed over.
func (o *Observer) trail(ctx context.Context, s *state, r *providers.Record) {
	number := 0
	for i := range r.Meta.Attempts {
		a := &r.Meta.Attempts[i]
		begin := a.Start
		if begin.IsZero() {
			begin = r.Start
		}
		if a.Skipped != "" {
			s.span.AddEvent(eventSkipped, trace.WithTimestamp(begin), trace.WithAttributes(skipped(a)...))
			continue
		}
		number++
		if o.opts.NoAttempts {
			continue
		}
		_, span := o.tracer.Start(ctx, spanName("attempt", a.Model),
			trace.WithSpanKind(trace.SpanKindInternal), trace.WithTimestamp(begin), trace.WithAttributes(o.sent(a, number)...))
		if a.Code != "" {
			span.SetStatus(codes.Error, errorType(a.Code))
		}
		span.End(trace.WithTimestamp(begin.Add(a.Duration)))
	}
}

// WantsContent reports whether the call's span takes content.
func (o *Observer) WantsContent(ctx context.Context, c providers.Call) bool {
	s := o.state(ctx)
	return o.opts.Content && s != nil && s.span.IsRecording() && c.Operation == "chat"
}

// CallContent adds what was asked and answered to the span.
func (o *Observer) CallContent(ctx context.Context, _ providers.Record, c providers.CallContent) {
	if s := o.state(ctx); s != nil && o.opts.Content {
		s.span.SetAttributes(o.content.attributes(c)...)
	}
}
