package prompts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

// Library renders the prompts of a store; gateway.WithPrompts gives it to a client.
// It is safe for concurrent use.
type Library struct{ store Store }

var _ providers.PromptLibrary = (*Library)(nil)

// New returns a library of the prompts in a store.
func New(store Store) *Library { return &Library{store} }

// Render fills in a prompt, by its id, "id@version" or "id@label"; "id@latest" is
// the highest version. A variable that a tag asks for and that is not given is an
// error, which names all of them; one that no tag asks for is a warning.
func (l *Library) Render(ctx context.Context, ref string, variables map[string]any) (*providers.RenderedPrompt, error) {
	id, selector, err := split(ref)
	if err != nil {
		return nil, err
	}
	if l == nil || l.store == nil {
		return nil, notFound("the prompt library has no store: make it with prompts.New")
	}
	p, err := l.store.Prompt(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound):
		var e *NotFoundError
		if !errors.As(err, &e) {
			e = &NotFoundError{ID: id}
		}
		return nil, notFound(e.text())
	case err != nil:
		return nil, err
	case p == nil || len(p.versions) == 0:
		return nil, notFound((&NotFoundError{ID: id}).text())
	}
	v, err := p.find(selector)
	if err != nil {
		return nil, notFound(fmt.Sprintf("prompt %q %v", p.id, err))
	}
	req, err := v.render(ctx, variables)
	if err != nil {
		return nil, err
	}
	return &providers.RenderedPrompt{
		ID: p.id, Version: strconv.Itoa(v.number), Request: req, Warnings: v.unused(variables),
	}, nil
}

func notFound(message string) error {
	return &providers.Error{Code: providers.ErrPromptNotFound, Param: "id", Message: message}
}

// render returns the request that the version makes. All but the messages is
// shared with other renderings.
func (v *version) render(ctx context.Context, variables map[string]any) (*providers.ChatCompletionRequest, error) {
	r := newRenderer(ctx, variables)
	req := v.request
	req.Messages = make([]providers.Message, 0, len(v.messages))
	for i := range v.messages {
		req.Messages = v.messages[i].render(req.Messages, r)
		if r.err != nil {
			break
		}
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	return &req, nil
}

// unused warns of variables that the version does not know.
func (v *version) unused(variables map[string]any) []providers.Warning {
	var out []providers.Warning
	for name := range variables {
		if _, ok := slices.BinarySearch(v.names, name); ok {
			continue
		}
		out = append(out, providers.Warning{Code: providers.WarnUnknown, Param: name})
	}
	slices.SortFunc(out, func(a, b providers.Warning) int { return cmp.Compare(a.Param, b.Param) })
	if len(out) > maxNamed {
		out = out[:maxNamed]
	}
	for i := range out {
		name := out[i].Param
		out[i].Param = join("variables", name)
		out[i].Message = "left out: the prompt has no such variable" + hint(catalog.Near(name, v.names))
	}
	return out
}
