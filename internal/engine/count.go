package engine

import (
	"context"
	"strings"

	"github.com/b650d4bf/gateway/internal/wire/gemini"
	"github.com/b650d4bf/gateway/providers"
)

var _ providers.TokenCounter = (*Engine)(nil)

// CountTokens counts the tokens of the prompt that req makes, for models of
// Gemini and of Claude. The platform does so for free, under a quota of its own.
// Of what a chat completion sends it takes messages and tools, for Gemini also
// the generation parameters, for Claude also thinking.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens
// and https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/count-tokens
func (p *Engine) CountTokens(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.TokenCount, error) {
	c := new(call)
	if _, err := p.prepare(t, req, c, false); err != nil {
		return nil, err
	}
	if c.in.model.Own && c.in.model.Family == FamilyClaude {
		return p.countMessages(ctx, c)
	}
	switch c.in.model.Family {
	case FamilyClaude:
		return p.countClaude(ctx, c)
	case FamilyGemini:
		return p.countGemini(ctx, c)
	}
	return nil, badModel("token counting is there for models of Gemini and Claude only")
}

// countGemini counts the tokens of the prompt that a Gemini model would get.
func (p *Engine) countGemini(ctx context.Context, c *call) (*providers.TokenCount, error) {
	u, err := p.site.URL(c.in.target, &c.in.model, "countTokens", "")
	if err != nil {
		return nil, err
	}
	var wire gemini.TokenCount
	err = p.taught(c, func() error {
		c.out = outgoing{}
		e := p.gemini.encoder(&c.in, &c.out)
		e.purpose = toCount
		if err := c.write(&e.w, e.countBody); err != nil {
			return err
		}
		return p.exchange(ctx, u, c, wire.Decode)
	})
	if err != nil {
		return nil, err
	}
	if !wire.HasTotal {
		return nil, c.named(answerError(providers.ErrBadResponse, "the platform's answer is no token count"))
	}
	out := &providers.TokenCount{TotalTokens: wire.Total, BillableCharacters: wire.BillableCharacters}
	out.Meta.Warnings = c.warnings()
	for _, m := range wire.Modalities {
		if out.ByModality == nil {
			out.ByModality = make(map[string]int64, len(wire.Modalities))
		}
		out.ByModality[strings.ToLower(m.Modality)] += m.Tokens
	}
	return out, nil
}

// about readies a call about the content of a request, which only models on
// Gemini's wire have.
func (p *Engine) about(c *call, t *providers.Target, req *providers.ChatCompletionRequest, ability string) error {
	if _, err := p.prepare(t, req, c, false); err != nil {
		return err
	}
	if c.in.model.Family != FamilyGemini {
		return badModel(ability + " is there for models of Gemini only")
	}
	return nil
}

// countBody writes a countTokens body. The vendor's own service takes all but the
// messages within a request for an answer.
//
// Source: https://ai.google.dev/api/tokens#method:-models.counttokens
func (e *geminiEncoder) countBody() error {
	if err := e.collect(); err != nil {
		return err
	}
	e.w.BeginObject()
	if e.m.Own {
		e.w.Key("generateContentRequest")
		e.w.BeginObject()
		e.w.Key("model")
		e.w.String(e.m.ownName())
	}
	for _, write := range []func() error{e.contents, e.system, e.tools, e.generationConfig, e.cachedContent, e.serviceTier, e.uncounted} {
		if err := write(); err != nil {
			return err
		}
	}
	e.leftovers()
	if e.m.Own {
		e.w.EndObject()
	}
	e.w.EndObject()
	return e.w.Err()
}

// uncounted says what became of the members that countTokens does not take. Most
// of them have no tokens.
func (e *geminiEncoder) uncounted() error {
	e.out.header = nil // of a class of service, which nothing is asked of here
	for i := range e.extra {
		m := &e.extra[i]
		if m.taken || m.row == nil || m.row.gemini != forward {
			continue
		}
		if m.taken = true; m.row.name == "continuation_token" {
			e.warnf(providers.WarnUnsupported, m.path, "left out: the tokens of the answer that goes on are not counted")
		}
	}
	return e.extras()
}
