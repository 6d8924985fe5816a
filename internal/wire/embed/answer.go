// Package embed is what the platform's methods for embeddings answer, without
// meaning: predict of text models and of multimodal ones, embedContent and
// batchEmbedContents. One decoder reads them all, told apart by their members;
// another one reads what servers answer that speak the OpenAI schema.
package embed

import "github.com/b650d4bf/gateway/internal/jsonx"

// Answer is one answer. Count and Size may be set before it is decoded: how many
// vectors are expected, and how long they are.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api,
// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/multimodal-embeddings-api and
// https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.publishers.models/embedContent
type Answer struct {
	Count, Size int

	// Vectors has one element for each instance or content, in order.
	Vectors []Vector
	// Tokens is the number of prompt tokens; Counted says that it was told.
	Tokens  int64
	Counted bool
	// BillableCharacters is what models priced by the character bill.
	BillableCharacters int64
	// Misplaced says that the indexes of the vectors are not those of inputs.
	Misplaced bool
	// Error is the raw error, in place of an answer.
	Error []byte

	told float64   // the sum of the statistics' token counts
	one  [1]Vector // room for the only vector
}

// Vector is what became of one instance or content.
type Vector struct {
	// Values is the vector of the text, or of the whole content.
	Values []float64
	// Image and Video are the vectors of media that have their own.
	Image []float64
	Video []Segment
	// Truncated says that the text was cut.
	Truncated bool
}

// Segment is the vector of one part of a video; offsets are in seconds.
type Segment struct {
	Start, End float64
	Values     []float64
}

// Decode reads one object. A member that is null counts as not given.
func (a *Answer) Decode(r *jsonx.Reader) {
	truncated := false
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "predictions":
			for r.Array(); r.NextElem(); {
				a.prediction(a.next(), r)
			}
		case "embeddings":
			for r.Array(); r.NextElem(); {
				a.values(a.next(), r)
			}
		case "embedding":
			a.values(a.next(), r)
		case "truncated":
			truncated = r.Bool()
		case "usageMetadata":
			a.usage(r)
		case "metadata":
			a.metadata(r)
		case "error":
			a.Error = r.Raw()
		default:
			r.Skip()
		}
	}
	if truncated && len(a.Vectors) == 1 {
		a.Vectors[0].Truncated = true
	}
	if !a.Counted && a.told > 0 && a.told < 1<<53 {
		a.Tokens, a.Counted = int64(a.told+0.5), true
	}
}

// next adds a vector.
func (a *Answer) next() *Vector {
	if a.Vectors == nil {
		a.Vectors = a.one[:0]
		if a.Count > len(a.one) {
			a.Vectors = make([]Vector, 0, a.Count)
		}
	}
	a.Vectors = append(a.Vectors, Vector{})
	return &a.Vectors[len(a.Vectors)-1]
}

// prediction reads an element of predictions, of either kind of model.
func (a *Answer) prediction(v *Vector, r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "embeddings":
			a.values(v, r)
		case "textEmbedding":
			v.Values = a.floats(r)
		case "imageEmbedding":
			v.Image = a.floats(r)
		case "videoEmbeddings":
			for r.Array(); r.NextElem(); {
				v.Video = append(v.Video, a.segment(r))
			}
		default:
			r.Skip()
		}
	}
}

// values reads a vector with what is said of it.
func (a *Answer) values(v *Vector, r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "values":
			v.Values = a.floats(r)
		case "statistics":
			a.statistics(v, r)
		default:
			r.Skip()
		}
	}
}

// statistics reads token_count, which may be a float.
func (a *Answer) statistics(v *Vector, r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "token_count", "tokenCount":
			a.told += r.Float()
		case "truncated":
			v.Truncated = r.Bool()
		default:
			r.Skip()
		}
	}
}

func (a *Answer) segment(r *jsonx.Reader) Segment {
	var s Segment
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "startOffsetSec":
			s.Start = r.Float()
		case "endOffsetSec":
			s.End = r.Float()
		case "embedding":
			s.Values = a.floats(r)
		default:
			r.Skip()
		}
	}
	return s
}

func (a *Answer) usage(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "promptTokenCount":
			a.Tokens, a.Counted = r.LooseInt(), true
		default:
			r.Skip()
		}
	}
}

func (a *Answer) metadata(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "billableCharacterCount":
			a.BillableCharacters = int64(r.Float())
		default:
			r.Skip()
		}
	}
}

// floats reads a vector of about the expected size. An empty one is not nil.
func (a *Answer) floats(r *jsonx.Reader) []float64 {
	const most = 1 << 14 // elements that a guess may claim
	list := r.Floats(make([]float64, 0, min(max(0, a.Size), most)))
	a.Size = max(a.Size, len(list))
	return list
}
