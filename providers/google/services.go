package google

import (
	"context"

	"github.com/b650d4bf/gateway/providers"
)

var (
	_ providers.ImageGenerator    = (*Provider)(nil)
	_ providers.SpeechSynthesizer = (*Provider)(nil)
)

// Images draws what req asks for, with models of Gemini, in as many requests as
// that takes, some of them at a time.
//
// Source: https://ai.google.dev/gemini-api/docs/image-generation
func (p *Provider) Images(ctx context.Context, t *providers.Target, req *providers.ImageRequest) (*providers.ImageResponse, error) {
	return p.engine.Images(ctx, t, req)
}

// Speech speaks the input and returns all of it, as a file.
//
// Source: https://ai.google.dev/gemini-api/docs/speech-generation
func (p *Provider) Speech(ctx context.Context, t *providers.Target, req *providers.SpeechRequest) (*providers.SpeechResponse, error) {
	return p.engine.Speech(ctx, t, req)
}

// SpeechStream speaks the input and returns once the service has begun to
// answer.
func (p *Provider) SpeechStream(ctx context.Context, t *providers.Target, req *providers.SpeechRequest) (providers.SpeechReader, error) {
	return p.engine.SpeechStream(ctx, t, req)
}
