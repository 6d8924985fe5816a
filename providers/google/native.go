package google

import (
	"context"

	"github.com/b650d4bf/gateway/providers"
)

var _ providers.NativeGenerator = (*Provider)(nil)

// Native sends a request in Google's own schema and returns the answer as it came.
// Of the body, names of models become those of the target, and labels made from
// metadata are left out, which a warning says.
//
// Source: https://ai.google.dev/api/generate-content
func (p *Provider) Native(ctx context.Context, t *providers.Target, req *providers.NativeRequest) (*providers.NativeAnswer, error) {
	return p.engine.Native(ctx, t, req)
}

// NativeStream sends a request for a stream likewise.
func (p *Provider) NativeStream(ctx context.Context, t *providers.Target, req *providers.NativeRequest) (providers.NativeEvents, error) {
	return p.engine.NativeStream(ctx, t, req)
}
