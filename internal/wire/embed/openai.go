package embed

import (
	"encoding/base64"
	"encoding/binary"
	"math"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// DecodeOpenAI reads one object of the OpenAI schema. Its vectors may be numbers
// or base64, and in any order: each says by its index which input it is of. One
// without an index is of the input at its own place.
//
// Source: https://platform.openai.com/docs/api-reference/embeddings/object
func (a *Answer) DecodeOpenAI(r *jsonx.Reader) {
	var places []int // of the vectors; nil while each is at its own
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "data":
			for r.Array(); r.NextElem(); {
				place := len(a.Vectors)
				own := place
				a.element(a.next(), &place, r)
				if place != own && places == nil {
					places = make([]int, own, max(a.Count, own+1))
					for i := range places {
						places[i] = i
					}
				}
				if places != nil {
					places = append(places, place)
				}
			}
		case "usage":
			a.openUsage(r)
		case "error":
			a.Error = r.Raw()
		default:
			r.Skip()
		}
	}
	if places != nil {
		a.order(places)
	}
}

// order puts the vectors at their places, or says that they have none.
func (a *Answer) order(places []int) {
	out := make([]Vector, len(a.Vectors))
	taken := make([]bool, len(out))
	for i, at := range places {
		if at < 0 || at >= len(out) || taken[at] {
			a.Misplaced = true
			return
		}
		out[at], taken[at] = a.Vectors[i], true
	}
	a.Vectors = out
}

// element reads an element of data.
func (a *Answer) element(v *Vector, place *int, r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "index":
			if !r.Null() {
				*place = int(r.Int())
			}
		case "embedding":
			if r.Kind() == jsonx.String {
				v.Values = unpack(r)
			} else {
				v.Values = a.floats(r)
			}
		default:
			r.Skip()
		}
	}
}

func (a *Answer) openUsage(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "prompt_tokens":
			if !r.Null() {
				a.Tokens, a.Counted = r.Int(), true
			}
		default:
			r.Skip()
		}
	}
}

// unpack reads base64 of little-endian floats of 32 bits.
func unpack(r *jsonx.Reader) []float64 {
	const (
		floats = 3 * 64             // of a block
		chars  = 4 * floats / 3 * 4 // which they are; blocks end at whole floats and whole groups alike
	)
	text := r.Bytes()
	var block [chars / 4 * 3]byte
	vector := make([]float64, 0, base64.StdEncoding.DecodedLen(len(text))/4)
	for len(text) > 0 {
		n, err := base64.StdEncoding.Decode(block[:], text[:min(chars, len(text))])
		last := len(text) <= chars
		if err != nil || n%4 != 0 || !last && n != len(block) {
			r.Failf("not the base64 of floats of 32 bits")
			return nil
		}
		for i := 0; i < n; i += 4 {
			vector = append(vector, float64(math.Float32frombits(binary.LittleEndian.Uint32(block[i:]))))
		}
		text = text[min(chars, len(text)):]
	}
	return vector
}
