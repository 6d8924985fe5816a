package openai

import (
	"context"

	"github.com/b650d4bf/gateway/providers"
)

var (
	_ providers.ImageGenerator    = (*Provider)(nil)
	_ providers.SpeechSynthesizer = (*Provider)(nil)
	_ providers.Reranker          = (*Provider)(nil)
)

// Images draws what req asks for, which is sent as it is. Edits are not passed on.
//
// Source: https://platform.openai.com/docs/api-reference/images/create
func (p *Provider) Images(ctx context.Context, t *providers.Target, req *providers.ImageRequest) (*providers.ImageResponse, error) {
	return p.engine.Images(ctx, t, req)
}

// Speech returns the spoken input, which is sent as it is, in the server's format.
//
// Source: https://platform.openai.com/docs/api-reference/audio/createSpeech
func (p *Provider) Speech(ctx context.Context, t *providers.Target, req *providers.SpeechRequest) (*providers.SpeechResponse, error) {
	return p.engine.Speech(ctx, t, req)
}

// SpeechStream is Speech for an answer that is read as it comes.
func (p *Provider) SpeechStream(ctx context.Context, t *providers.Target, req *providers.SpeechRequest) (providers.SpeechReader, error) {
	return p.engine.SpeechStream(ctx, t, req)
}

// Rerank orders documents, at servers that have that beside OpenAI's schema.
//
// Source: https://docs.cohere.com/reference/rerank
func (p *Provider) Rerank(ctx context.Context, t *providers.Target, req *providers.RerankRequest) (*providers.RerankResponse, error) {
	return p.engine.Rerank(ctx, t, req)
}
