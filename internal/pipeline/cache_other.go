package pipeline

import (
	"context"

	"github.com/b650d4bf/gateway/internal/answers"
	"github.com/b650d4bf/gateway/providers"
)

// jsonValue is a value that its JSON holds all of.
type jsonValue[T any] interface {
	*T
	MarshalJSON() ([]byte, error)
	UnmarshalJSON(data []byte) error
}

// jsonKind keeps the answers of an operation whose requests and answers are all in
// their JSON. It takes nothing more than this to give an operation a cache.
func jsonKind[Q, T any, PQ jsonValue[Q], PT jsonValue[T]](meta func(PT) *providers.Meta) kind[PQ, PT] {
	return kind[PQ, PT]{
		write: answers.WriteJSON(PQ.MarshalJSON),
		clone: func(req PQ) PQ {
			own := PQ(new(Q))
			if data, err := req.MarshalJSON(); err != nil || own.UnmarshalJSON(data) != nil {
				return req
			}
			return own
		},
		encode: func(k *answers.Kept, out PT) ([]byte, error) {
			data, err := out.MarshalJSON()
			return answers.EncodeJSON(k, data, err)
		},
		decode: func(body []byte) (PT, answers.Kept, error) {
			data, k, err := answers.DecodeJSON(body)
			out := PT(new(T))
			if err == nil {
				err = out.UnmarshalJSON(data)
			}
			return out, k, err
		},
		meta: meta,
	}
}

// The operations that are kept by their JSON.
var (
	imageKind  = jsonKind[providers.ImageRequest, providers.ImageResponse](func(a *providers.ImageResponse) *providers.Meta { return &a.Meta })
	rerankKind = jsonKind[providers.RerankRequest, providers.RerankResponse](func(a *providers.RerankResponse) *providers.Meta { return &a.Meta })
)

// sharer shares the answers of a kind; nil for none.
func sharer[Q, T any](k *kind[Q, T]) func(context.Context, *place, Q, asker[Q, T]) (T, bool, error) {
	if k == nil {
		return nil
	}
	return func(ctx context.Context, p *place, req Q, ask asker[Q, T]) (T, bool, error) {
		return through(ctx, p, k, req, ask)
	}
}
