package engine

import (
	"context"
	"math"
	"strconv"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/wire/embed"
	"github.com/b650d4bf/gateway/providers"
)

var _ providers.Embedder = (*Engine)(nil)

// Embeddings returns a vector for each input. Inputs that do not fit into one
// request are shared among several, some of them at a time; the first failure
// ends them all. Vectors of a reduced length are made unit vectors where the
// platform leaves them as they were cut.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings
func (p *Engine) Embeddings(ctx context.Context, t *providers.Target, req *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
	e := &embedding{p: p, t: t, q: req, items: req.Input.Items}
	if err := e.prepare(); err != nil {
		return nil, err
	}
	e.out = new(embedAnswer)
	e.out.Model, e.out.Provider, e.out.EncodingFormat = req.Model, p.site.Name(), req.EncodingFormat
	e.out.Data = e.out.one[:]
	if len(e.items) > 1 {
		e.out.Data = make([]providers.Embedding, len(e.items))
	}
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	e.finish()
	return &e.out.EmbeddingResponse, nil
}

// embedAnswer is an answer with what belongs to it, in one allocation.
type embedAnswer struct {
	providers.EmbeddingResponse
	usage providers.EmbeddingUsage
	one   [1]providers.Embedding
	extra [48]byte
}

// embedding is one call, however many requests it takes. What the requests share
// does not change while they are under way.
type embedding struct {
	p     *Engine
	t     *providers.Target
	q     *providers.EmbeddingRequest
	items []providers.EmbeddingItem

	model Model
	row   *catalog.EmbeddingModel
	known bool
	embedSettings
	media [][]embedMedia // of each item; nil when none has any
	remarks

	out        *embedAnswer
	tokens     int64
	counted    bool
	characters int64
	truncated  []int         // inputs
	alone      embedExchange // the only request of most calls
}

// prepare finds the model and whatever is wrong before anything is sent.
func (e *embedding) prepare() error {
	if err := e.findModel(); err != nil {
		return err
	}
	if e.predicts() {
		return e.preparePredictor()
	}
	if err := e.readSettings(); err != nil {
		return err
	}
	if err := e.readMedia(); err != nil {
		return err
	}
	if !e.isOpen() {
		e.leftovers()
	}
	return nil
}

// findModel reads the model reference and finds the model's facts.
func (e *embedding) findModel() error {
	site, ok := e.p.site.(EmbeddingSite)
	if !ok {
		return badModel(e.p.site.Name() + " has no models that embed")
	}
	m, named, err := site.EmbeddingModel(e.t.Model)
	if err != nil {
		return err
	}
	if m.isServer() {
		e.model = m
		e.serverRow()
		return nil
	}
	publisher := ""
	if named {
		publisher = m.Publisher
	}
	e.row, e.known = e.p.models.LookupEmbedding(publisher, m.Name)
	if e.row == nil {
		e.row = &catalog.EmbeddingModel{Method: catalog.EmbedPredict, MaxInputs: 1, Tasks: catalog.TaskParameter}
	}
	if m.Own {
		e.row = ownRow(e.row)
	}
	switch {
	case !e.known:
		e.warn(providers.WarnUnknownModel, "model", "the model is not in the table of models that embed; it is spoken to by "+
			string(e.row.Method)+", without a check of its limits")
	default:
		m.Publisher = e.row.Publisher
	}
	e.model = m
	return nil
}

// ownBatch is the most inputs of one request at the vendor's own service.
//
// Source: https://ai.google.dev/api/embeddings#method:-models.batchembedcontents
const ownBatch = 100

// ownRow is the row of a model at the vendor's own service, where all have the
// same method, and the limits of Vertex AI do not count.
func ownRow(row *catalog.EmbeddingModel) *catalog.EmbeddingModel {
	own := *row
	own.Method, own.MaxInputs, own.RequestTokens = catalog.EmbedContent, ownBatch, 0
	return &own
}

// verb is the method for a request with n inputs.
func (e *embedding) verb(n int) string {
	switch {
	case e.isOpen():
		return e.openVerb()
	case e.row.Method != catalog.EmbedContent || e.predicts():
		return "predict"
	case n > 1:
		return "batchEmbedContents"
	}
	return "embedContent"
}

// ask sends one request, for the inputs of the span, and puts their vectors into
// the answer.
func (e *embedding) ask(ctx context.Context, s span) (*embed.Answer, error) {
	x := &e.alone
	if s.len() < len(e.items) {
		x = new(embedExchange)
	}
	x.call.in = request{target: e.t, model: e.model, site: e.p.site}
	x.answer.Count, x.answer.Size = s.len(), e.size()
	if err := x.do(ctx, e, s); err != nil {
		return nil, err
	}
	answer := &x.answer
	if len(answer.Vectors) != s.len() {
		return nil, x.call.named(answerError(providers.ErrBadResponse, "the platform gave "+strconv.Itoa(len(answer.Vectors))+
			" vectors for "+strconv.Itoa(s.len())+" inputs"))
	}
	if answer.Misplaced {
		return nil, x.call.named(answerError(providers.ErrBadResponse, "the indexes of the vectors are not those of the inputs"))
	}
	for i := range answer.Vectors {
		if err := e.place(s.from+i, &answer.Vectors[i]); err != nil {
			return nil, x.call.named(err)
		}
	}
	return answer, nil
}

// size is the expected length of a vector.
func (e *embedding) size() int {
	if e.dimensions > 0 {
		return e.dimensions
	}
	return e.row.Dimensions
}

// place puts the vector of one input where it belongs.
func (e *embedding) place(i int, v *embed.Vector) error {
	d := &e.out.Data[i]
	d.Index = i
	if v.Image != nil {
		d.ImageEmbedding = e.normal(v.Image)
	}
	if len(v.Video) > 0 {
		d.VideoEmbeddings = make([]providers.VideoEmbedding, len(v.Video))
		for j, part := range v.Video {
			d.VideoEmbeddings[j] = providers.VideoEmbedding{
				Index: j, Embedding: e.normal(part.Values), StartOffset: part.Start, EndOffset: part.End,
			}
		}
	}
	switch {
	case len(v.Values) > 0:
		d.Embedding = e.normal(v.Values)
	case len(v.Image) > 0:
		d.Embedding = d.ImageEmbedding
	case len(v.Video) > 0:
		d.Embedding = d.VideoEmbeddings[0].Embedding
	}
	if len(d.Embedding) == 0 {
		return answerError(providers.ErrEmptyResponse, "the platform gave no vector for "+e.q.InputPath(i))
	}
	return nil
}

// nearOne is how far from 1 the length of a unit vector may be, whose elements
// were rounded to 32 bits.
const nearOne = 1e-5

// normal makes a vector of reduced length a unit vector, in place. One that is
// one but for rounding stays as the platform wrote it, and so does every vector
// of a server, which decides that itself.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings
func (e *embedding) normal(vector []float64) []float64 {
	if e.dimensions == 0 || e.dimensions == e.row.Dimensions || e.model.isServer() {
		return vector
	}
	var sum float64
	for _, f := range vector {
		sum += f * f
	}
	length := math.Sqrt(sum)
	if length == 0 || math.Abs(length-1) <= nearOne || math.IsInf(length, 0) {
		return vector
	}
	for i := range vector {
		vector[i] /= length
	}
	return vector
}

// count adds up what a request used.
func (e *embedding) count(s span, a *embed.Answer) {
	e.tokens += a.Tokens
	e.counted = e.counted || a.Counted
	e.characters += a.BillableCharacters
	for i := range a.Vectors {
		if a.Vectors[i].Truncated {
			e.truncated = append(e.truncated, s.from+i)
		}
	}
}

// finish completes the answer.
func (e *embedding) finish() {
	if e.counted || e.characters > 0 {
		e.out.usage = providers.EmbeddingUsage{PromptTokens: e.tokens, TotalTokens: e.tokens}
		e.out.Usage = &e.out.usage
	}
	if e.characters > 0 {
		extra := append(e.out.extra[:0], `{"billable_characters":`...)
		e.out.Usage.Extra = append(strconv.AppendInt(extra, e.characters, 10), '}')
	}
	e.truncationWarning()
	e.countUntold()
	e.out.Meta.Warnings = e.warnings
}
