package gateway

import (
	"context"

	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
)

// ImagesService draws and changes images. It is safe for concurrent use.
type ImagesService struct{ client *Client }

// Generate draws what the prompt says. Images beyond what the platform gives at
// once are shared among several requests, a few at a time; the first failure ends
// the call. The caller keeps req, which is not changed.
func (s *ImagesService) Generate(ctx context.Context, req *ImageRequest, opts ...RequestOption) (*ImageResponse, error) {
	if req != nil && len(req.Images) > 0 {
		return nil, providers.Invalid("image", "an image is given: use Edit to change it")
	}
	return s.draw(ctx, req, opts)
}

// Edit changes the images of the request as the prompt says. It works as Generate
// does.
func (s *ImagesService) Edit(ctx context.Context, req *ImageRequest, opts ...RequestOption) (*ImageResponse, error) {
	if req != nil && len(req.Images) == 0 {
		return nil, providers.Invalid("image", "an image is required: it is what is changed")
	}
	return s.draw(ctx, req, opts)
}

func (s *ImagesService) draw(ctx context.Context, req *ImageRequest, opts []RequestOption) (*ImageResponse, error) {
	call, err := s.client.begin(req == nil, opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.Images(ctx, s.client.settings, call, req)
}

// begin collects the settings of one call; none says that there is no request.
func (c *Client) begin(none bool, opts []RequestOption) (*pipeline.Settings, error) {
	switch {
	case c == nil:
		return nil, errNoClient()
	case none:
		return nil, providers.Invalid("request", "the request is nil")
	}
	return c.call(opts)
}

// Images serves the HTTP front.
func (b backend) Images(ctx context.Context, req *ImageRequest, o *front.Overrides) (*ImageResponse, error) {
	return b.c.engine.Images(ctx, b.c.settings, callSettings(o), req)
}

// furtherModels lists the models that draw and those that order documents, but
// for those that the table of models has too.
func (b backend) furtherModels(prefix string) []front.Model {
	var list []front.Model
	for _, m := range b.c.models.Images() {
		if row, known := b.c.models.Lookup(m.Publisher, m.Name); m.Family || known && row.Name == m.Name {
			continue
		}
		list = append(list, front.Model{ID: prefix + m.Name, OwnedBy: m.Publisher})
	}
	for _, m := range b.c.models.Rankers() {
		list = append(list, front.Model{ID: prefix + m.Name, OwnedBy: "google"})
	}
	return list
}

// Images, documented in package providers.
type (
	// ImageRequest is the body of an image request.
	ImageRequest = providers.ImageRequest
	// ImageInput is an image that is sent along.
	ImageInput = providers.ImageInput
	// ImageResponse holds the images.
	ImageResponse = providers.ImageResponse
	// Image is one image.
	Image = providers.Image
	// ImageUsage counts the tokens of images.
	ImageUsage = providers.ImageUsage
	// ImageTokens are tokens by what they stand for.
	ImageTokens = providers.ImageTokens
	// ImageGenerator is the ability of a [Provider] to draw.
	ImageGenerator = providers.ImageGenerator
)

// ImageBytes is an image that is sent along. The type is one such as
// "image/png"; "" leaves it to the first bytes.
func ImageBytes(mimeType string, data []byte) ImageInput { return providers.ImageBytes(mimeType, data) }
