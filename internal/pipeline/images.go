package pipeline

import (
	"context"
	"strconv"

	"github.com/b650d4bf/gateway/providers"
)

const opImages = "images"

// Images returns what was drawn.
func (e *Engine) Images(ctx context.Context, client, call *Settings, req *providers.ImageRequest) (*providers.ImageResponse, error) {
	out, strict, err := serve(ctx, e, client, call, &service[*providers.ImageRequest, *providers.ImageResponse]{
		operation: opImages, what: "images", req: req, model: req.Model, user: req.User, check: req.Validate,
		encode: (*providers.ImageRequest).MarshalJSON, decode: decodeImages, rename: renameImages, ask: draw,
		meta: func(a *providers.ImageResponse) *providers.Meta { return &a.Meta }, usage: imageTokens,
		kept: &imageKind,
		bill: func(b *providers.Billed, _ *providers.ImageRequest, a *providers.ImageResponse) {
			b.Images, b.ImageSize = len(a.Data), a.Size
		},
	})
	if err != nil {
		return nil, err
	}
	if strict {
		projectImages(out)
	}
	return out, nil
}

func decodeImages(data []byte) (*providers.ImageRequest, string, error) {
	req := new(providers.ImageRequest)
	if err := req.UnmarshalJSON(data); err != nil {
		return nil, "", err
	}
	return req, req.Model, req.Validate()
}

func renameImages(req *providers.ImageRequest, model string) *providers.ImageRequest {
	own := *req
	own.Model = model
	return &own
}

// draw asks the provider of a route.
func draw(ctx context.Context, at *route, req *providers.ImageRequest) (*providers.ImageResponse, error) {
	p, err := abilityOf[providers.ImageGenerator](at)
	if err != nil {
		return nil, err
	}
	return p.Images(ctx, &at.target, req)
}

// imageTokens are the counts of an answer as those of a chat completion.
func imageTokens(a *providers.ImageResponse) *providers.Usage {
	if a.Usage == nil {
		return nil
	}
	u := &providers.Usage{
		PromptTokens: a.Usage.InputTokens, CompletionTokens: a.Usage.OutputTokens, TotalTokens: a.Usage.TotalTokens, Extra: a.Usage.Extra,
	}
	u.PromptTokensDetails.Extra = drawnTokens(a.Usage.InputTokensDetails)
	u.CompletionTokensDetails.Extra = drawnTokens(a.Usage.OutputTokensDetails)
	return u
}

// drawnTokens are the tokens of images, as the details of a chat completion have
// them.
func drawnTokens(t *providers.ImageTokens) providers.Extra {
	if t == nil || t.ImageTokens == 0 {
		return nil
	}
	return providers.Extra(`{"image_tokens":` + strconv.FormatInt(t.ImageTokens, 10) + `}`)
}

// projectImages takes out what is not of the OpenAI schema.
func projectImages(a *providers.ImageResponse) {
	a.Extra = nil
	if a.Usage != nil {
		a.Usage.Extra = nil
	}
	for i := range a.Data {
		a.Data[i].Extra = nil
	}
}
