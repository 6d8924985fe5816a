package gatewayotel

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/b650d4bf/gateway/providers"
)

// count is the recording of one call. Its options are one slice, since each call of
// an instrument would make one.
type count struct {
	ctx    context.Context //nolint:containedctx // it lives as long as the call that it is handed
	meters *meters
	with   []metric.RecordOption
	adding []metric.AddOption
	// unknown are the attributes of tokens of an unknown modality, which most are.
	unknown metric.MeasurementOption
}

// as takes the attributes of what is recorded next.
func (c *count) as(set attribute.Set) {
	o := metric.WithAttributeSet(set)
	c.with, c.adding = append(c.with[:0], o), append(c.adding[:0], o)
}

func (c *count) seconds(name string, d time.Duration) {
	if in, ok := c.meters.seconds[name]; ok {
		in.Record(c.ctx, d.Seconds(), c.with...)
	}
}

func (c *count) size(name string, n int64) {
	if in, ok := c.meters.sizes[name]; ok {
		in.Record(c.ctx, n, c.with...)
	}
}

func (c *count) sum(name string, n int64) {
	if in, ok := c.meters.sums[name]; ok {
		in.Add(c.ctx, n, c.adding...)
	}
}

// measure counts a call.
func (o *Observer) measure(ctx context.Context, s *state, r *providers.Record) {
	if !o.meters.enabled(ctx) {
		return
	}
	c := &count{ctx: ctx, meters: &o.meters}
	o.requests(c, r)
	base := o.labels(s, r)
	if spared(r) {
		c.as(attribute.NewSet(append(base, failure(r, keyCache.String(string(r.Meta.CacheStatus)))...)...))
		c.seconds(nameCacheDuration, r.Duration)
		return
	}
	c.as(attribute.NewSet(append(slices.Clip(base), failure(r)...)...))
	if s.op.family != inference {
		c.seconds(nameOperation, r.Duration)
	} else {
		c.seconds(nameDuration, r.Duration)
		if o.opts.Conventions.former() {
			c.seconds(nameOperation, r.Duration)
		}
		in, out := totals(r.Usage)
		c.size(nameInputEach, in)
		c.size(nameOutputEach, out)
	}
	if r.FirstChunk > 0 && s.op.family == inference {
		c.as(attribute.NewSet(base...))
		c.seconds(nameFirstChunk, r.FirstChunk)
		c.seconds(nameFormerFirst, r.FirstChunk)
	}
	c.tokens(s.op.family, base, r.Usage)
}

// labels are the attributes that all metrics of a call have. The name of a model that
// there is not is left out: callers could make a series out of each that they think of.
func (o *Observer) labels(s *state, r *providers.Record) []attribute.KeyValue {
	l := make(list, 0, 8)
	l.text(keyOperation, s.op.name)
	l.text(keyProvider, o.provider(r.Meta.Provider, r.Meta.Slug))
	if r.Meta.Model != "" && errorOf(r.Err) != string(providers.ErrModelNotFound) {
		l.text(keyRequestModel, r.Meta.Model)
	}
	l.text(keyResponseModel, r.ResponseModel)
	if a := last(r); a != nil {
		l.server(a.Server)
	}
	return l
}

// failure adds the type of the call's error, if it has one.
func failure(r *providers.Record, more ...attribute.KeyValue) []attribute.KeyValue {
	if kind := errorOf(r.Err); kind != "" {
		more = append(more, keyError.String(kind))
	}
	return more
}

func totals(u *providers.Usage) (in, out int64) {
	if u == nil {
		return 0, 0
	}
	return u.PromptTokens, u.CompletionTokens
}

// tokens counts what was spent. A call without a count has 0 of an unknown modality,
// failed ones included; the former conventions leave it out.
//
// Source: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-token-metrics.md
func (c *count) tokens(of family, base []attribute.KeyValue, u *providers.Usage) {
	if of == other {
		return
	}
	var none providers.Usage
	told := u != nil
	if !told {
		u = &none
	}
	c.unknown = metric.WithAttributeSet(with(base, keyModality.String(modalityUnknown)))
	if of == embeddings {
		c.split(base, nameEmbeddingTokens, split{unknown: u.PromptTokens})
	} else {
		c.split(base, nameInput, inputOf(u))
		c.split(base, nameOutput, outputOf(u))
		c.split(base, nameCacheRead, split{unknown: u.PromptTokensDetails.CachedTokens})
		c.split(base, nameCacheWrite, split{unknown: written(u)})
		c.split(base, nameReasoning, split{unknown: u.CompletionTokensDetails.ReasoningTokens})
	}
	if !told || c.meters.sizes[nameFormerUsage] == nil {
		return
	}
	c.as(with(base, keyTokenType.String("input")))
	c.size(nameFormerUsage, u.PromptTokens)
	if of == inference {
		c.as(with(base, keyTokenType.String("output")))
		c.size(nameFormerUsage, u.CompletionTokens)
	}
}

// split adds to a counter by modality: those that there are tokens of, or 0 of an
// unknown one.
func (c *count) split(base []attribute.KeyValue, name string, s split) {
	if c.meters.sums[name] == nil {
		return
	}
	for _, part := range [...]struct {
		modality string
		n        int64
	}{{modalityText, s.text}, {modalityAudio, s.audio}, {modalityImage, s.image}} {
		if part.n > 0 {
			c.as(with(base, keyModality.String(part.modality)))
			c.sum(name, part.n)
		}
	}
	if s.unknown > 0 || s == (split{}) {
		c.adding = append(c.adding[:0], c.unknown)
		c.sum(name, s.unknown)
	}
}

// with is a set of the attributes and one more.
func with(base []attribute.KeyValue, more attribute.KeyValue) attribute.Set {
	return attribute.NewSet(append(slices.Clip(base), more)...)
}

// requests counts the requests of a call, each with its own target and outcome.
func (o *Observer) requests(c *count, r *providers.Record) {
	for i := range r.Meta.Attempts {
		a := &r.Meta.Attempts[i]
		if a.Skipped != "" {
			continue
		}
		l := make(list, 0, 8)
		l.text(keyProvider, o.provider(a.Provider, a.Slug))
		if a.Code != providers.ErrModelNotFound { // as for labels
			l.text(keyRequestModel, a.Model)
		}
		l.server(a.Server)
		if a.Code != "" {
			l.text(keyError, errorType(a.Code))
		}
		c.as(attribute.NewSet(l...))
		c.seconds(nameAttempt, a.Duration)
	}
}

// ChunkReceived counts the time between two chunks of a stream.
func (o *Observer) ChunkReceived(ctx context.Context, r *providers.Record, since time.Duration) {
	s := o.state(ctx)
	if s == nil || s.op.family != inference || spared(r) {
		return
	}
	if s.chunks == nil {
		s.chunks = []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(o.labels(s, r)...))}
	}
	for _, name := range [...]string{namePerChunk, nameFormerPer} {
		if in, ok := o.meters.seconds[name]; ok {
			in.Record(ctx, since.Seconds(), s.chunks...)
		}
	}
}
