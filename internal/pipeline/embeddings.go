package pipeline

import (
	"context"
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// Embeddings returns the vectors of all inputs: record(resolve(translate)), then
// strict.
func (e *Engine) Embeddings(ctx context.Context, client, call *Settings, req *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
	rec := newRecorder(client, call, opEmbeddings, req.Model, userMetadata(req.User))
	defer rec.drop() // what a panic has left
	rec.asksVectors(req)
	if ctx = rec.start(ctx); rec.shows() {
		rec.request(req.MarshalJSON())
	}
	out, err := e.embeddings(ctx, rec, client, call, req)
	if err != nil {
		rec.drop()
		err = rec.fail(err)
		rec.end()
		return nil, err
	}
	rec.settled()
	rec.vectors(out)
	rec.record.Billed.Media = slices.ContainsFunc(req.Input.Items, func(it providers.EmbeddingItem) bool { return !it.IsText() && it.Tokens == nil })
	out.Meta = rec.record.Meta
	out.EncodingFormat = req.EncodingFormat
	rec.end()
	if rec.strict {
		projectEmbeddings(out)
	}
	return out, nil
}

func (e *Engine) embeddings(ctx context.Context, rec *recorder, client, call *Settings, req *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
	if err := e.allowed(rec); err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	progress := call.Progress
	if progress == nil {
		progress = client.Progress
	}
	plan, err := e.plan(client, call)
	if err != nil {
		return nil, err
	}
	if plan != nil {
		op := embeddingRequest(req, progress)
		op.share = shareEmbedding
		return planned(ctx, e, rec, client, call, plan, op)
	}
	if err := e.resolve(ctx, client, call, req.Model, &rec.route); err != nil {
		return nil, err
	}
	rec.route.target.Labels = labels(client, call, rec.record.Metadata)
	rec.route.target.Progress = progress
	rec.routed()
	if p := e.placeOf(&rec.spot, rec, client, call, cacheOf(client, call, nil), &rec.route, rec.strict); p != nil {
		p.until(&rec.route)
		out, _, err := shareEmbedding(ctx, p, req, func(ctx context.Context, p *place, req *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
			return embed(ctx, p.at, req)
		})
		return out, err
	}
	return embed(ctx, &rec.route, req)
}

// shareEmbedding answers from the cache, or asks. Who is told of the progress is
// told on the goroutine of the call, so that such a call shares with nobody.
func shareEmbedding(ctx context.Context, p *place, req *providers.EmbeddingRequest, ask asker[*providers.EmbeddingRequest, *providers.EmbeddingResponse]) (*providers.EmbeddingResponse, bool, error) {
	p.inline = p.call.Progress != nil || p.client.Progress != nil
	return through(ctx, p, &embeddingKind, req, ask)
}

// embeddingRequest is a call for embeddings that a plan sends.
func embeddingRequest(req *providers.EmbeddingRequest, progress func(done, total int)) request[*providers.EmbeddingRequest, *providers.EmbeddingResponse] {
	return request[*providers.EmbeddingRequest, *providers.EmbeddingResponse]{
		req: req, model: req.Model, encode: (*providers.EmbeddingRequest).MarshalJSON, decode: decodeEmbedding, rename: renameEmbedding,
		ask: func(ctx context.Context, at *route, req *providers.EmbeddingRequest, t *routing.Try) (*providers.EmbeddingResponse, error) {
			at.target.Progress = progress
			out, err := embed(ctx, at, req)
			if err != nil {
				return nil, err
			}
			if out.Usage != nil {
				t.Used(out.Usage.TotalTokens)
			}
			if l, ok := t.Leaf.Value.(*leaf); ok && len(l.settings.Guards) > 0 {
				out.Meta.Warnings = append(out.Meta.Warnings, providers.Warning{
					Code: providers.WarnUnsupported, Param: "config.guards", Message: "guards judge chat completions: none was asked about the embeddings",
				})
			}
			return out, nil
		},
	}
}

func decodeEmbedding(data []byte) (*providers.EmbeddingRequest, string, error) {
	req := new(providers.EmbeddingRequest)
	if err := req.UnmarshalJSON(data); err != nil {
		return nil, "", err
	}
	return req, req.Model, req.Validate()
}

func renameEmbedding(req *providers.EmbeddingRequest, model string) *providers.EmbeddingRequest {
	own := *req
	own.Model = model
	return &own
}

// embed asks the provider of a route.
func embed(ctx context.Context, at *route, req *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
	p, err := abilityOf[providers.Embedder](at)
	if err != nil {
		return nil, err
	}
	out, err := p.Embeddings(ctx, &at.target, req)
	if err != nil {
		return nil, err
	}
	if n, want := len(out.Data), len(req.Input.Items); n != want {
		return nil, &providers.Error{
			Code: providers.ErrBadResponse, Provider: at.target.Provider, Sent: true,
			Message: "there are " + strconv.Itoa(n) + " vectors for " + strconv.Itoa(want) + " inputs",
		}
	}
	return out, nil
}

// vectors notes what came back, and lays the provider's warnings into the meta.
func (r *recorder) vectors(a *providers.EmbeddingResponse) {
	r.warnings(a.Meta.Warnings)
	r.record.ResponseModel = r.route.target.Model
	if a.Usage != nil && (r.logger != nil || r.observed()) {
		r.record.Usage = &providers.Usage{PromptTokens: a.Usage.PromptTokens, TotalTokens: a.Usage.TotalTokens, Extra: a.Usage.Extra}
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
