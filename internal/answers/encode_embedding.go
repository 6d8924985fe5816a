package answers

import "github.com/b650d4bf/gateway/providers"

// EncodeEmbedding returns the kept form of vectors, with their full precision.
func EncodeEmbedding(k *Kept, a *providers.EmbeddingResponse) []byte {
	w := newWriter(kindEmbedding, k)
	w.str(a.Model)
	w.str(a.Provider)
	w.raw(a.Extra)
	if w.has(a.Usage != nil) {
		w.int(a.Usage.PromptTokens)
		w.int(a.Usage.TotalTokens)
		w.raw(a.Usage.Extra)
	}
	w.int(int64(len(a.Data)))
	for i := range a.Data {
		e := &a.Data[i]
		w.int(int64(e.Index))
		w.vector(e.Embedding)
		w.vector(e.ImageEmbedding)
		w.int(int64(len(e.VideoEmbeddings)))
		for j := range e.VideoEmbeddings {
			v := &e.VideoEmbeddings[j]
			w.int(int64(v.Index))
			w.vector(v.Embedding)
			w.float(v.StartOffset)
			w.float(v.EndOffset)
		}
		w.raw(e.Extra)
	}
	return w.b
}

// DecodeEmbedding reads what [EncodeEmbedding] wrote. The error is, or wraps,
// cache.ErrCorrupt.
func DecodeEmbedding(body []byte) (*providers.EmbeddingResponse, Kept, error) {
	var k Kept
	r, err := newReader(kindEmbedding, body, &k)
	if err != nil {
		return nil, k, err
	}
	a := &providers.EmbeddingResponse{Model: r.str(), Provider: r.str(), Extra: r.raw()}
	if r.has() {
		a.Usage = &providers.EmbeddingUsage{PromptTokens: r.int(), TotalTokens: r.int(), Extra: r.raw()}
	}
	const minData, minVideo = 5, 18
	if n := r.count(minData); n > 0 {
		a.Data = make([]providers.Embedding, n)
	}
	for i := range a.Data {
		e := &a.Data[i]
		e.Index, e.Embedding, e.ImageEmbedding = int(r.int()), r.vector(), r.vector()
		if n := r.count(minVideo); n > 0 {
			e.VideoEmbeddings = make([]providers.VideoEmbedding, n)
		}
		for j := range e.VideoEmbeddings {
			e.VideoEmbeddings[j] = providers.VideoEmbedding{Index: int(r.int()), Embedding: r.vector(), StartOffset: r.float(), EndOffset: r.float()}
		}
		e.Extra = r.raw()
	}
	return a, k, r.end()
}

func (w *writer) vector(v []float64) {
	w.int(int64(len(v)))
	for _, f := range v {
		w.float(f)
	}
}

func (r *reader) vector() []float64 {
	n := r.count(8)
	if n == 0 {
		return nil
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = r.float()
	}
	return v
}
