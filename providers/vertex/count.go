package vertex

import (
	"context"
	"strings"

	"github.com/b650d4bf/gateway/internal/wire/gemini"
	"github.com/b650d4bf/gateway/providers"
)

var _ providers.TokenCounter = (*Provider)(nil)

// CountTokens counts the tokens of the prompt that req makes. The platform does
// so for free, under a quota of its own. Of what a chat completion sends it
// takes messages, tools and generation parameters.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens
func (p *Provider) CountTokens(ctx context.Context, t *providers.Target, req *providers.ChatCompletionRequest) (*providers.TokenCount, error) {
	c := new(call)
	var err error
	if c.model, err = geminiModel(t.Model, "token counting"); err != nil {
		return nil, err
	}
	c.warnings = c.model.lookup(p.models)
	u, err := endpoint(t, &c.model, "countTokens", "")
	if err != nil {
		return nil, err
	}
	e := geminiEncoder{q: req, m: &c.model, purpose: toCount}
	if err := c.write(&e.w, e.countBody); err != nil {
		return nil, err
	}
	c.warnings = append(c.warnings, e.warnings...)
	var wire gemini.TokenCount
	if err := p.exchange(ctx, t, u, c, wire.Decode); err != nil {
		return nil, err
	}
	if !wire.HasTotal {
		return nil, answerError(providers.ErrBadResponse, "the platform's answer is no token count")
	}
	out := &providers.TokenCount{TotalTokens: wire.Total, BillableCharacters: wire.BillableCharacters}
	out.Meta.Warnings = c.warnings
	for _, m := range wire.Modalities {
		if out.ByModality == nil {
			out.ByModality = make(map[string]int64, len(wire.Modalities))
		}
		out.ByModality[strings.ToLower(m.Modality)] += m.Tokens
	}
	return out, nil
}

// geminiModel parses a model reference and refuses models that are not spoken to
// on Gemini's wire.
func geminiModel(ref, ability string) (model, error) {
	m, err := parseModel(ref)
	if err == nil && m.publisher != "google" {
		err = badModel(ability + " is there for models of google only")
	}
	return m, err
}

// countBody writes a countTokens body.
func (e *geminiEncoder) countBody() error {
	e.w.BeginObject()
	for _, write := range []func() error{e.contents, e.system, e.tools, e.generationConfig, e.extras} {
		if err := write(); err != nil {
			return err
		}
	}
	e.leftovers()
	e.w.EndObject()
	return e.w.Err()
}

// uncountedParams are the members that add to a prompt and that countTokens does
// not take. What else it does not take has no tokens.
var uncountedParams = map[string]string{
	"cachedContent":     "left out: the tokens of the cached content are not counted",
	"continuationToken": "left out: the tokens of the answer that goes on are not counted",
}

func (e *geminiEncoder) uncounted(name string, p *param) {
	if why := uncountedParams[p.wire]; why != "" {
		e.warnf(providers.WarnUnsupported, name, why)
	}
}
