package vertex

import (
	"context"

	"github.com/b650d4bf/gateway/providers"
)

var (
	_ providers.ImageGenerator    = (*Provider)(nil)
	_ providers.SpeechSynthesizer = (*Provider)(nil)
	_ providers.Reranker          = (*Provider)(nil)
)

// Images draws what req asks for, with models of Imagen and of Gemini, in as many
// requests as that takes, some of them at a time.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api and
// https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-generation
func (p *Provider) Images(ctx context.Context, t *providers.Target, req *providers.ImageRequest) (*providers.ImageResponse, error) {
	return p.engine.Images(ctx, t, req)
}

// Speech speaks the input and returns all of it, as a file.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/speech/text-to-speech
func (p *Provider) Speech(ctx context.Context, t *providers.Target, req *providers.SpeechRequest) (*providers.SpeechResponse, error) {
	return p.engine.Speech(ctx, t, req)
}

// SpeechStream speaks the input and returns once the platform has begun to
// answer.
func (p *Provider) SpeechStream(ctx context.Context, t *providers.Target, req *providers.SpeechRequest) (providers.SpeechReader, error) {
	return p.engine.SpeechStream(ctx, t, req)
}

// Rerank orders documents by how well they answer a query, with the ranking
// service of Vertex AI Search.
//
// Source: https://cloud.google.com/generative-ai-app-builder/docs/ranking
func (p *Provider) Rerank(ctx context.Context, t *providers.Target, req *providers.RerankRequest) (*providers.RerankResponse, error) {
	return p.engine.Rerank(ctx, t, req)
}
