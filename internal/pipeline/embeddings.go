package pipeline

import (
	"context"
	"strconv"

	"github.com/b650d4bf/gateway/providers"
)

// Embeddings returns the vectors of all inputs: record(resolve(translate)), then
// strict.
func (e *Engine) Embeddings(ctx context.Context, client, call *Settings, req *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
	var out *providers.EmbeddingResponse
	own := userMetadata(req.User)
	t := task{
		client: client, call: call, operation: opEmbeddings, model: req.Model, metadata: own, check: req.Validate,
		note: func(rec *recorder) {
			rec.record.ResponseModel = rec.route.target.Model
			if u := out.Usage; u != nil {
				rec.record.Usage = &providers.Usage{PromptTokens: u.PromptTokens, TotalTokens: u.TotalTokens}
			}
		},
	}
	err := run(ctx, e, &t, func(ctx context.Context, p providers.Embedder, to *providers.Target) (*providers.Meta, error) {
		to.Labels = labels(client, call, metadata(metadata(client.Metadata, own), call.Metadata))
		if to.Progress = call.Progress; to.Progress == nil {
			to.Progress = client.Progress
		}
		got, err := p.Embeddings(ctx, to, req)
		if err != nil {
			return nil, err
		}
		if n, want := len(got.Data), len(req.Input.Items); n != want {
			return nil, &providers.Error{
				Code: providers.ErrBadResponse, Provider: to.Provider, Sent: true,
				Message: "there are " + strconv.Itoa(n) + " vectors for " + strconv.Itoa(want) + " inputs",
			}
		}
		out = got
		return &out.Meta, nil
	})
	if err != nil {
		return nil, err
	}
	out.EncodingFormat = req.EncodingFormat
	if strict(client, call) {
		projectEmbeddings(out)
	}
	return out, nil
}

// projectEmbeddings takes the platform's own counters out. The vectors of media
// stay: who asks for them has left the OpenAI schema.
func projectEmbeddings(a *providers.EmbeddingResponse) {
	a.Extra = nil
	if a.Usage != nil {
		a.Usage.Extra = nil
	}
	for i := range a.Data {
		a.Data[i].Extra = nil
	}
}
