package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/alike"
	"github.com/b650d4bf/gateway/internal/answers"
	"github.com/b650d4bf/gateway/providers"
)

// Embedding says how texts become vectors. The zero value asks
// [DefaultEmbeddingModel] of the platform.
type Embedding struct {
	// Func takes the place of the client's own embeddings.
	Func func(ctx context.Context, text string) ([]float32, error)
	// Provider is the catalog entry or provider to ask.
	Provider string
	// Model is what is asked; with Func it is a name for what that does, since
	// vectors of different models are never compared.
	Model string
	// Dimensions is the length of the vectors; 0 is the model's own, and for the
	// default model 768.
	Dimensions int
	// MaxTokens bounds a text; 0 is 2048.
	MaxTokens int
	// Timeout bounds one embedding; 0 is 2 seconds.
	Timeout time.Duration
}

// What embeds texts where nothing else is said.
const (
	DefaultEmbeddingModel      = "gemini-embedding-001"
	defaultEmbeddingDimensions = 768
	defaultEmbeddingTokens     = 2048
	defaultEmbeddingTime       = 2 * time.Second
	similarityTask             = "SEMANTIC_SIMILARITY"
	// spaceVersion changes with how texts and vectors are made ready.
	spaceVersion = "1"
	// maxTokens is what a request must have less of to be compared by meaning.
	maxTokens = 8191
)

// withDefaults fills in what is not said.
func (m Embedding) withDefaults() Embedding {
	if m.Func == nil && m.Model == "" {
		m.Model = DefaultEmbeddingModel
		if m.Dimensions == 0 {
			m.Dimensions = defaultEmbeddingDimensions
		}
	}
	if m.MaxTokens == 0 {
		m.MaxTokens = defaultEmbeddingTokens
	}
	m.MaxTokens = min(m.MaxTokens, maxTokens-1)
	if m.Timeout == 0 {
		m.Timeout = defaultEmbeddingTime
	}
	return m
}

// space names what vectors can be compared within.
func (m *Embedding) space(dimensions int) string {
	from := "client"
	if m.Func != nil {
		from = "func"
	}
	return fmt.Sprintf("%s %q %q %d %s v%s", from, m.Provider, m.Model, dimensions, similarityTask, spaceVersion)
}

// meaning is what a request is compared by.
type meaning struct {
	text      string
	vector    []float32
	group     cache.Key
	exactOnly bool   // the answer is not found by it
	begun     uint64 // the mark of the group when the work began
}

// semantic reports whether requests are compared by meaning.
func (p *place) semantic() bool { return p.set.Mode == config.CacheSemantic }

// mean returns what the request means, nil when it is not compared; the result
// then says why.
func (p *place) mean(ctx context.Context, res *result) *meaning {
	text, reason := answers.Text(p.chat)
	spec := p.cache.cfg.Embedding.withDefaults()
	if reason == "" && !alike.Fits(text, spec.MaxTokens) {
		reason = "the text is too long to be compared by meaning"
	}
	if reason == "" && !p.searchable() {
		reason = "the store does not search by meaning"
	}
	if reason == "" && !p.cache.embeds.closed() {
		reason = "embeddings failed too often and are left alone for a while"
	}
	if reason != "" {
		res.info.Semantic = reason
		return nil
	}
	vector, err := within(ctx, spec.Timeout, func(ctx context.Context) ([]float32, error) { return p.embed(ctx, &spec, text) })
	p.cache.count.Embeddings.Add(1)
	if ctx.Err() == nil {
		p.cache.embeds.tell(err == nil)
	}
	if err != nil {
		p.cache.count.EmbeddingFaults.Add(1)
		res.info.Semantic, res.info.Err = "the text could not be embedded", err
		return nil
	}
	strict := either(p.call.StrictContext, p.client.StrictContext, false)
	m := &meaning{
		text: text, vector: vector,
		group: answers.Group(&p.scope, p.chat, strict, spec.space(len(vector))),
	}
	m.begun = p.cache.marks.at(&m.group)
	return m
}

func (p *place) searchable() bool {
	store, err := p.cache.open()
	_, ok := store.(cache.Searcher)
	return err == nil && ok
}

// embed returns the vector of a text, of length 1.
func (p *place) embed(ctx context.Context, spec *Embedding, text string) ([]float32, error) {
	if spec.Func != nil {
		v, err := spec.Func(ctx, text)
		if err != nil {
			return nil, err
		}
		return unit(v, spec.Dimensions)
	}
	req := &providers.EmbeddingRequest{
		Model: spec.Model, Input: providers.EmbeddingText(text), TaskType: similarityTask, AutoTruncate: new(false),
	}
	if spec.Dimensions > 0 {
		req.Dimensions = new(spec.Dimensions)
	}
	client, call := p.embedder(spec)
	out, err := p.engine.Embeddings(ctx, client, call, req)
	if err != nil {
		return nil, err
	}
	if len(out.Data) != 1 {
		return nil, errors.New("the embedding of one text is not one vector")
	}
	v := make([]float32, len(out.Data[0].Embedding))
	for i, f := range out.Data[0].Embedding {
		v[i] = float32(f)
	}
	return unit(v, spec.Dimensions)
}

// embedder returns the settings of the embedding: where the model is asked, unless
// the client says another place, and as whom.
func (p *place) embedder(spec *Embedding) (client, call *Settings) {
	own := *p.client
	own.Plan, own.ConfigID, own.Cache, own.Guards, own.Progress, own.Strict = nil, "", nil, nil, nil, nil
	own.Header, own.LabelPrefix = nil, nil
	call = &Settings{
		Provider: spec.Provider, Catalog: p.call.Catalog, FallbackToken: p.call.FallbackToken,
		Metadata: map[string]string{"_purpose": "response-cache"}, Debug: new(false),
	}
	if spec.Provider == "" && own.Provider == "" {
		call.Provider, call.Token = p.at.target.Slug, p.call.Token
		call.Region, call.ProjectID, call.BaseURL = p.call.Region, p.call.ProjectID, p.call.BaseURL
	}
	return &own, call
}

// unit returns the vector with the length 1.
func unit(v []float32, dimensions int) ([]float32, error) {
	if len(v) == 0 || dimensions > 0 && len(v) != dimensions {
		return nil, errors.New("the embedding has " + strconv.Itoa(len(v)) + " dimensions, and not " + strconv.Itoa(dimensions))
	}
	sum := 0.0
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	if length := math.Sqrt(sum); length > 0 && !math.IsInf(length, 0) && !math.IsNaN(length) {
		out := make([]float32, len(v))
		for i, f := range v {
			out[i] = float32(float64(f) / length)
		}
		return out, nil
	}
	return nil, errors.New("the embedding has no direction")
}

// threshold is the least similarity of a hit.
func (p *place) threshold() float64 {
	if p.set.Threshold > 0 {
		return p.set.Threshold
	}
	return config.DefaultThreshold
}

// maxCandidates bounds how many similar entries are looked at for a hit.
const maxCandidates = 8

// search returns the entries of a group that are similar enough, the most similar
// first.
func (p *place) search(ctx context.Context, m *meaning, group cache.Key, limit int) ([]cache.Match, error) {
	q := cache.Query{Group: group, Vector: m.vector, Threshold: p.threshold(), Limit: limit}
	return use(ctx, p.cache, readTime, func(ctx context.Context, s cache.Store) ([]cache.Match, error) {
		searcher, ok := s.(cache.Searcher)
		if !ok {
			return nil, nil
		}
		return searcher.Search(ctx, &q)
	})
}

// fits reports whether a match may answer: nothing in the texts contradicts, and it
// is as similar as the store says.
func (p *place) fits(m *meaning, group cache.Key, found *cache.Match) bool {
	e := found.Entry
	if e == nil || e.Group != group || e.Expired(time.Now()) || !p.recent(e) || !(found.Similarity >= p.threshold()) { // NaN is not
		return false
	}
	_, conflict := alike.Conflict(m.text, e.Text)
	return !conflict
}

// similar looks for an answer to a request that means the same.
func (p *place) similar(ctx context.Context, res *result) bool {
	m := res.meaning
	list, err := p.search(ctx, m, m.group, maxCandidates)
	if err != nil {
		res.info.Err = err
		p.cache.count.Faults.Add(1)
		return false
	}
	for i := range list {
		if p.fits(m, m.group, &list[i]) {
			res.hit(list[i].Entry, providers.CacheSemanticHit)
			res.info.Similarity = min(list[i].Similarity, 1)
			p.cache.count.SemanticHits.Add(1)
			return true
		}
	}
	return false
}

// replace deletes the answers to all requests that mean the same, and those that
// were given from them.
func (p *place) replace(ctx context.Context, m *meaning) error {
	var errs []error
	for _, group := range []cache.Key{m.group, aliasGroup(m.group)} {
		list, err := p.search(ctx, m, group, 0)
		errs = append(errs, err)
		for i := range list {
			if list[i].Entry == nil {
				continue
			}
			if _, conflict := alike.Conflict(m.text, list[i].Entry.Text); conflict {
				continue // it would not answer this request
			}
			key := list[i].Entry.Key
			errs = append(errs, p.cache.delete(ctx, key))
		}
	}
	return errors.Join(errs...)
}

// aliasGroup is where entries are that repeat the answers of a group.
func aliasGroup(group cache.Key) cache.Key {
	return sha256.Sum256(append([]byte("alias of "), group[:]...))
}
