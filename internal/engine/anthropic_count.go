package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/b650d4bf/gateway/internal/wire/anthropic"
	"github.com/b650d4bf/gateway/providers"
)

// claudeCounter is the model whose method counts the tokens of all Claude
// models. The one to count for is named in the body.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/count-tokens
const claudeCounter = "count-tokens"

// countClaude counts the tokens of the prompt that a Claude model would get.
func (p *Engine) countClaude(ctx context.Context, c *call) (*providers.TokenCount, error) {
	if err := p.gather(ctx, c); err != nil {
		return nil, err
	}
	verb, query := p.claude.verb(false)
	u, err := p.site.URL(c.in.target, counterOf(c.in.model), verb, query)
	if err != nil {
		return nil, err
	}
	var wire anthropic.TokenCount
	err = p.taught(c, func() error {
		c.out = outgoing{}
		e := claudeEncoder{f: *p.claude, q: c.in.chat, m: &c.in.model, in: &c.in, out: &c.out, counting: true}
		if err := c.write(&e.w, e.countBody); err != nil {
			return err
		}
		return p.exchange(ctx, u, c, wire.Decode)
	})
	if e, ok := errors.AsType[*providers.Error](err); ok && e.Code == providers.ErrModelNotFound {
		e.Message += " (token counts of Claude models are not there in every region: try global or us-east5)"
	}
	if err != nil {
		return nil, err
	}
	if !wire.HasInput {
		return nil, c.named(answerError(providers.ErrBadResponse, "the platform's answer is no token count"))
	}
	out := &providers.TokenCount{TotalTokens: wire.Input}
	out.Meta.Warnings = c.warnings()
	return out, nil
}

// counterOf returns the model that counts for m.
func counterOf(m Model) *Model {
	m.Resource = strings.TrimSuffix(m.Resource, m.Name)
	m.Name = claudeCounter
	if m.Resource != "" {
		m.Resource += claudeCounter
	}
	return &m
}

// countBody writes the body of a token count. Of what a message has it takes
// what becomes the prompt, and refuses the rest. It takes no beta features.
func (e *claudeEncoder) countBody() error {
	if err := e.collect(); err != nil {
		return err
	}
	if err := e.plan(); err != nil {
		return err
	}
	e.w.BeginObject()
	e.w.Key("anthropic_version")
	e.w.String(claudeVersion)
	e.w.Key("model")
	e.w.String(e.m.Name)
	for _, stage := range [...]func(*claudeEncoder) error{
		(*claudeEncoder).tools,
		(*claudeEncoder).system,
		(*claudeEncoder).messages,
		(*claudeEncoder).thinking,
		(*claudeEncoder).uncounted,
	} {
		if err := stage(e); err != nil {
			return err
		}
	}
	e.out.header = noHeaders
	e.leftovers()
	e.w.EndObject()
	e.dropMarks()
	e.out.keep(func(w *providers.Warning) bool { return !aboutLimits(w.Param) })
	e.out.countUntold()
	return e.w.Err()
}

// aboutLimits reports whether a warning is about a member that shapes the
// answer alone, and has no part in a count.
func aboutLimits(param string) bool {
	return param == "max_tokens" || param == "max_completion_tokens" || strings.HasSuffix(param, "output_config.effort")
}

// uncounted says what became of the members that a count does not take. Most of
// them have no tokens.
func (e *claudeEncoder) uncounted() error {
	const left = "left out: a count does not take it, "
	schema, err := e.wantedSchema()
	if err != nil {
		return err
	}
	switch {
	case schema != nil:
		e.warnf(providers.WarnUnsupported, "response_format", left+"so that the tokens of the schema are not counted")
	case e.format != nil:
		e.warnf(providers.WarnUnsupported, "output_config.format", left+"so that the tokens of the schema are not counted")
	}
	for i := range e.extra {
		m := &e.extra[i]
		switch {
		case m.taken:
		case m.row == nil:
			e.warnf(providers.WarnUnknown, m.path, "left out: the platform does not know it")
		case m.row.vertex == reject:
			return providers.Invalid(m.path, m.row.note)
		case m.row.name == "context_management":
			e.warnf(providers.WarnUnsupported, m.path, left+"so that the whole conversation is counted")
		}
	}
	return nil
}
