package engine

import (
	"context"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// countMessages counts the tokens of the prompt with the vendor's own service.
//
// Source: https://platform.claude.com/docs/en/api/messages-count-tokens
func (p *Engine) countMessages(ctx context.Context, c *call) (*providers.TokenCount, error) {
	u, err := p.site.URL(c.in.target, &c.in.model, "messages/count_tokens", "")
	if err != nil {
		return nil, err
	}
	var total int64
	var known bool
	decode := func(r *jsonx.Reader) {
		for r.Object(); r.NextKey(); {
			if string(r.Key()) == "input_tokens" && r.Kind() == jsonx.Number {
				total, known = r.Int(), true
				continue
			}
			r.Skip()
		}
	}
	err = p.taught(c, func() error {
		c.out = outgoing{}
		e := p.claude.encoder(&c.in, &c.out)
		e.counting = true
		err := c.write(&e.w, e.ownCountBody)
		if c.out.countUntold(); err != nil {
			return err
		}
		return p.exchange(ctx, u, c, decode)
	})
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, c.named(answerError(providers.ErrBadResponse, "the platform's answer is no token count"))
	}
	out := &providers.TokenCount{TotalTokens: total}
	out.Meta.Warnings = c.warnings()
	return out, nil
}

// countStages write what is counted: the members that make the prompt. The
// others have no tokens.
var countStages = [...]func(*claudeEncoder) error{
	(*claudeEncoder).tools,
	(*claudeEncoder).system,
	(*claudeEncoder).messages,
	(*claudeEncoder).thinking,
	(*claudeEncoder).outputConfig,
	(*claudeEncoder).extras,
	(*claudeEncoder).headers,
}

// ownUncounted are members that other stages than those of counting take.
var ownUncounted = []string{"service_tier", "safety_identifier"}

// ownCountBody writes a count_tokens body.
func (e *claudeEncoder) ownCountBody() error {
	if err := e.collect(); err != nil {
		return err
	}
	for _, name := range ownUncounted {
		e.take(name)
	}
	if err := e.plan(); err != nil {
		return err
	}
	e.w.BeginObject()
	e.w.Key("model")
	e.w.String(e.m.Name)
	for _, stage := range countStages {
		if err := stage(e); err != nil {
			return err
		}
	}
	e.leftovers()
	e.w.EndObject()
	e.dropMarks()
	return e.w.Err()
}
