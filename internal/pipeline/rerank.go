package pipeline

import (
	"context"

	"github.com/b650d4bf/gateway/providers"
)

const opRerank = "rerank"

// Rerank returns documents in the order of how well they answer a query.
func (e *Engine) Rerank(ctx context.Context, client, call *Settings, req *providers.RerankRequest) (*providers.RerankResponse, error) {
	out, strict, err := serve(ctx, e, client, call, &service[*providers.RerankRequest, *providers.RerankResponse]{
		operation: opRerank, what: "documents", req: req, model: req.Model, user: req.User, check: req.Validate,
		encode: (*providers.RerankRequest).MarshalJSON, decode: decodeRerank, rename: renameRerank, ask: rerank,
		meta: func(a *providers.RerankResponse) *providers.Meta { return &a.Meta }, usage: noTokens,
		kept: &rerankKind,
		bill: func(b *providers.Billed, req *providers.RerankRequest, _ *providers.RerankResponse) {
			b.Documents = len(req.Documents)
		},
	})
	if err != nil {
		return nil, err
	}
	if strict {
		out.Extra = nil
	}
	return out, nil
}

func decodeRerank(data []byte) (*providers.RerankRequest, string, error) {
	req := new(providers.RerankRequest)
	if err := req.UnmarshalJSON(data); err != nil {
		return nil, "", err
	}
	return req, req.Model, req.Validate()
}

func renameRerank(req *providers.RerankRequest, model string) *providers.RerankRequest {
	own := *req
	own.Model = model
	return &own
}

// rerank asks the provider of a route.
func rerank(ctx context.Context, at *route, req *providers.RerankRequest) (*providers.RerankResponse, error) {
	p, err := abilityOf[providers.Reranker](at)
	if err != nil {
		return nil, err
	}
	return p.Rerank(ctx, &at.target, req)
}

// noTokens is the usage of an answer that tells none.
func noTokens(*providers.RerankResponse) *providers.Usage { return nil }
