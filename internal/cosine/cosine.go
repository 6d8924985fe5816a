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
	sum := dot(v, v)
	return sum > 0 && !math.IsInf(sum, 0) && !math.IsNaN(sum)
}

// Similarity returns the cosine of the angle between two valid vectors of one
// length, from -1 to 1. It is 1 for a vector and itself, which the product of
// vectors that were rounded to length 1 often is not.
func Similarity(a, b []float32) float64 {
	return max(-1, min(1, dot(a, b)/math.Sqrt(dot(a, a)*dot(b, b))))
}

func dot(a, b []float32) float64 {
	b = b[:len(a)]
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
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
