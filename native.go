package gateway

import (
	"context"

	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/providers"
)

// Native asks in Google's own schema.
func (b backend) Native(ctx context.Context, req *providers.NativeRequest, o *front.Overrides) (*providers.NativeAnswer, error) {
	return b.c.engine.Native(ctx, b.c.settings, callSettings(o), req)
}

// NativeStream is that for a stream.
func (b backend) NativeStream(ctx context.Context, req *providers.NativeRequest, o *front.Overrides) (front.NativeStream, error) {
	s, err := b.c.engine.NativeStream(ctx, b.c.settings, callSettings(o), req)
	if err != nil {
		return nil, err
	}
	return s, nil
}
