package pipeline

import (
	"context"
	"slices"

	"github.com/b650d4bf/gateway/providers"
)

// FailPrompt records a chat completion whose stored prompt could not be rendered,
// and returns the error with the call's id. The call's settings name the prompt.
func (e *Engine) FailPrompt(ctx context.Context, client, call *Settings, stream bool, err error) error {
	rec := newRecorder(client, call, opChat, "", nil)
	rec.record.Stream = stream
	rec.start(ctx)
	err = rec.fail(err)
	rec.end()
	return err
}

// prompt notes which stored prompt made the request, and what became of its
// variables.
func (r *recorder) prompt(p *providers.RenderedPrompt) {
	if p == nil {
		return
	}
	c, m := &r.record.Call, &r.record.Meta
	c.Prompt, c.PromptVersion = p.ID, p.Version
	m.Prompt, m.PromptVersion = p.ID, p.Version
	m.Warnings = p.Warnings
}

// warnings lays the provider's warnings behind those about the prompt.
func (r *recorder) warnings(list []providers.Warning) {
	if m := &r.record.Meta; len(m.Warnings) == 0 {
		m.Warnings = list
	} else {
		m.Warnings = slices.Concat(m.Warnings, list)
	}
}
