package pipeline

import (
	"context"
	"strconv"

	"github.com/b650d4bf/gateway/providers"
)

// Embeddings returns the vectors of all inputs: record(resolve(translate)), then
// strict.
func (e *Engine) Embeddings(ctx context.Context, client, call *Settings, req *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
	rec := newRecorder(client, call, opEmbeddings, req.Model, userMetadata(req.User))
	ctx = rec.start(ctx)
	out, err := e.embeddings(ctx, rec, client, call, req)
	if err != nil {
		err = rec.fail(err)
		rec.end()
		return nil, err
	}
	rec.vectors(out)
	out.Meta = rec.record.Meta
	out.EncodingFormat = req.EncodingFormat
	rec.end()
	if strict(client, call) {
		projectEmbeddings(out)
	}
	return out, nil
}

func (e *Engine) embeddings(ctx context.Context, rec *recorder, client, call *Settings, req *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
	if e.closed.Load() {
		return nil, errClosed()
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if err := e.resolve(ctx, client, call, req.Model, &rec.route); err != nil {
		return nil, err
	}
	p, err := abilityOf[providers.Embedder](&rec.route)
	if err != nil {
		return nil, err
	}
	to := &rec.route.target
	to.Labels = labels(client, call, rec.record.Metadata)
	if to.Progress = call.Progress; to.Progress == nil {
		to.Progress = client.Progress
	}
	rec.routed()
	out, err := p.Embeddings(ctx, to, req)
	if err != nil {
		return nil, err
	}
	if n, want := len(out.Data), len(req.Input.Items); n != want {
		return nil, &providers.Error{
			Code: providers.ErrBadResponse, Provider: to.Provider, Sent: true,
			Message: "there are " + strconv.Itoa(n) + " vectors for " + strconv.Itoa(want) + " inputs",
		}
	}
	return out, nil
}

// vectors notes what came back, and lays the provider's warnings into the meta.
func (r *recorder) vectors(a *providers.EmbeddingResponse) {
	r.record.Meta.Warnings = a.Meta.Warnings
	r.record.ResponseModel = r.route.target.Model
	if a.Usage != nil && (r.logger != nil || len(r.observers[0])+len(r.observers[1]) > 0) {
		r.record.Usage = &providers.Usage{PromptTokens: a.Usage.PromptTokens, TotalTokens: a.Usage.TotalTokens}
	}
	r.attempt(nil)
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
