package gateway

import (
	"context"

	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/providers"
)

// RerankService orders documents by how well they answer a query. It is safe for
// concurrent use.
type RerankService struct{ client *Client }

// Create scores the documents and returns the most relevant ones first. Documents
// beyond what the platform takes at once are shared among several requests, a few
// at a time; the first failure ends the call. The caller keeps req, which is not
// changed.
func (s *RerankService) Create(ctx context.Context, req *RerankRequest, opts ...RequestOption) (*RerankResponse, error) {
	call, err := s.client.begin(req == nil, opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.Rerank(ctx, s.client.settings, call, req)
}

// Rerank serves the HTTP front.
func (b backend) Rerank(ctx context.Context, req *RerankRequest, o *front.Overrides) (*RerankResponse, error) {
	return b.c.engine.Rerank(ctx, b.c.settings, callSettings(o), req)
}

// Reranking, documented in package providers.
type (
	// RerankRequest is the body of a rerank request.
	RerankRequest = providers.RerankRequest
	// RerankDocument is a document.
	RerankDocument = providers.RerankDocument
	// RerankResponse has the results, the most relevant first.
	RerankResponse = providers.RerankResponse
	// RerankResult is what became of one document.
	RerankResult = providers.RerankResult
	// Reranker is the ability of a [Provider] to order documents.
	Reranker = providers.Reranker
)

// RerankTexts are documents of a text each.
func RerankTexts(texts ...string) []RerankDocument { return providers.RerankTexts(texts...) }
