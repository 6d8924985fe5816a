package gateway

import (
	"context"

	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
)

// EmbeddingsService turns texts, and with models for that also media, into
// vectors. It is safe for concurrent use.
type EmbeddingsService struct{ client *Client }

// Create returns one vector for each input, in the inputs' order. Inputs beyond
// what the platform takes at once are shared among several requests, a few at a
// time; the first failure ends the call. The caller keeps req, which is not
// changed.
func (s *EmbeddingsService) Create(ctx context.Context, req *EmbeddingRequest, opts ...RequestOption) (*EmbeddingResponse, error) {
	switch {
	case s.client == nil:
		return nil, errNoClient()
	case req == nil:
		return nil, providers.Invalid("request", "the request is nil")
	}
	call, err := s.client.call(opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.Embeddings(ctx, s.client.settings, call, req)
}

// WithEmbeddingProgress tells fn how many inputs of a call have their vectors,
// after each request that it takes. fn runs on the goroutine of the call.
func WithEmbeddingProgress(fn func(done, total int)) RequestOption {
	return requestOption(func(s *pipeline.Settings) error {
		if fn == nil {
			return invalidOption("embedding_progress", "must not be nil")
		}
		s.Progress = fn
		return nil
	})
}

// Embeddings, documented in package providers.
type (
	// EmbeddingRequest is the body of an embedding request.
	EmbeddingRequest = providers.EmbeddingRequest
	// EmbeddingInput is what to embed: one element or a list.
	EmbeddingInput = providers.EmbeddingInput
	// EmbeddingItem is one element of an input: a text, media, or both.
	EmbeddingItem = providers.EmbeddingItem
	// EmbeddingMedia is media by URL or inline.
	EmbeddingMedia = providers.EmbeddingMedia
	// EmbeddingResponse holds the vectors.
	EmbeddingResponse = providers.EmbeddingResponse
	// Embedding is what became of one input.
	Embedding = providers.Embedding
	// VideoEmbedding is the vector of one part of a video.
	VideoEmbedding = providers.VideoEmbedding
	// EmbeddingUsage counts the tokens of the inputs.
	EmbeddingUsage = providers.EmbeddingUsage
	// Embedder is the ability of a [Provider] to embed.
	Embedder = providers.Embedder
)

// EmbeddingText is an input of one text.
func EmbeddingText(text string) EmbeddingInput { return providers.EmbeddingText(text) }

// EmbeddingTexts is an input of several texts, each of which gets a vector.
func EmbeddingTexts(texts ...string) EmbeddingInput { return providers.EmbeddingTexts(texts...) }

// EmbeddingTokens is an input of texts that are given as tokens of the model's
// own, for OpenAI's API, servers like it and self-deployed endpoints.
func EmbeddingTokens(texts ...[]int64) EmbeddingInput { return providers.EmbeddingTokens(texts...) }

// EmbeddingItems is an input of elements that may hold media.
func EmbeddingItems(items ...EmbeddingItem) EmbeddingInput { return providers.EmbeddingItems(items...) }
