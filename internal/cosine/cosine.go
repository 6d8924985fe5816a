// Package cosine measures stored vectors and packs them into bytes, for the stores
// whose servers keep or find vectors less precisely.
package cosine

import (
	"encoding/binary"
	"math"
)

// Size is what one element takes when packed.
const Size = 4

// Valid reports whether a vector has a direction: elements, all finite, not all 0.
func Valid(v []float32) bool {
	sum, _ := products(v, v)
	return sum > 0 && !math.IsInf(sum, 0) && !math.IsNaN(sum)
}

// Similarity returns the cosine of the angle between two valid vectors of one
// length, from -1 to 1. It is 1 for a vector and itself, which the product of
// vectors that were rounded to length 1 often is not.
func Similarity(a, b []float32) float64 { return To(a).Similarity(b) }

// Query is a valid vector that others are compared with.
type Query struct {
	vector []float32
	square float64
}

// To returns the query for a vector, which must not change.
func To(v []float32) Query {
	square, _ := products(v, v)
	return Query{v, square}
}

// Similarity is the function of that name.
func (q Query) Similarity(v []float32) float64 {
	product, square := products(q.vector, v)
	return max(-1, min(1, product/math.Sqrt(q.square*square)))
}

// products returns the product of a and b, and that of b with itself. Both are
// summed in the same order, so that they are equal for a vector and itself.
func products(a, b []float32) (ab, bb float64) {
	b = b[:len(a)]
	var ab0, ab1, bb0, bb1 float64
	i := 0
	for ; i+1 < len(a); i += 2 {
		x, y := float64(b[i]), float64(b[i+1])
		ab0 += float64(a[i]) * x
		ab1 += float64(a[i+1]) * y
		bb0 += x * x
		bb1 += y * y
	}
	if i < len(a) {
		x := float64(b[i])
		ab0 += float64(a[i]) * x
		bb0 += x * x
	}
	return ab0 + ab1, bb0 + bb1
}

// Append appends the elements of a vector as little-endian IEEE 754 numbers.
func Append(dst []byte, v []float32) []byte {
	for _, f := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
	}
	return dst
}

// Parse reads what [Append] wrote into dst, and reports whether that is as many
// elements as dst has.
func Parse[T string | []byte](dst []float32, packed T) bool {
	if len(packed) != Size*len(dst) {
		return false
	}
	for i := range dst {
		at := Size * i
		bits := uint32(packed[at]) | uint32(packed[at+1])<<8 | uint32(packed[at+2])<<16 | uint32(packed[at+3])<<24
		dst[i] = math.Float32frombits(bits)
	}
	return true
}
