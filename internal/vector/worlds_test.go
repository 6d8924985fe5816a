package vector

import (
	"math"
	"math/rand/v2"
)

// random returns a vector of length 1.
func random(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for {
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		if Normalize(v) {
			return v
		}
	}
}

// A world makes a source of vectors of length 1, of one kind.
type world func(rng *rand.Rand, dim int) func() []float32

// uniform vectors have nothing in common.
func uniform(rng *rand.Rand, dim int) func() []float32 {
	return func() []float32 { return random(rng, dim) }
}

// clustered ones are near one of 256 centres each.
func clustered(rng *rand.Rand, dim int) func() []float32 { return around(rng, dim, 0, 0.6) }

// templates are alike: most pairs have a cosine of 0.74 to 0.9.
func templates(rng *rand.Rand, dim int) func() []float32 { return around(rng, dim, 1.7, 0.61) }

// around returns vectors near one of many centres, all of which share a part.
func around(rng *rand.Rand, dim int, shared, spread float64) func() []float32 {
	// Directions fade, as those of texts do.
	draw := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(rng.NormFloat64() / math.Sqrt(1+float64(i)/8))
		}
		Normalize(v)
		return v
	}
	base, centres := random(rng, dim), make([][]float32, 256)
	for i := range centres {
		centres[i] = draw()
	}
	return func() []float32 {
		v, own := draw(), centres[rng.IntN(len(centres))]
		for i := range v {
			v[i] = float32(shared*float64(base[i]) + 0.7*float64(own[i]) + spread*float64(v[i]))
		}
		Normalize(v)
		return v
	}
}

// duplicates repeats ten vectors.
func duplicates(rng *rand.Rand, dim int) func() []float32 {
	var all [10][]float32
	for i := range all {
		all[i] = random(rng, dim)
	}
	return func() []float32 { return all[rng.IntN(len(all))] }
}

// one is always the same.
func one(rng *rand.Rand, dim int) func() []float32 {
	v := random(rng, dim)
	return func() []float32 { return v }
}

// edges are at 0.95 to one of ten vectors, and a millionth more or less.
func edges(rng *rand.Rand, dim int) func() []float32 {
	draw := duplicates(rng, dim)
	return func() []float32 { return near(rng, draw(), 0.95+float64(rng.IntN(3)-1)*1e-6) }
}

// sparse vectors have few numbers that are not 0, and tiny ones.
func sparse(rng *rand.Rand, dim int) func() []float32 {
	return func() []float32 {
		v := make([]float32, dim)
		for range 1 + rng.IntN(3) {
			v[rng.IntN(dim)] = float32(rng.NormFloat64())
		}
		v[rng.IntN(dim)] = math.Float32frombits(rng.Uint32() & 0x807fffff)
		if !Normalize(v) {
			v[0] = 1
		}
		return v
	}
}

// drifting vectors are of another kind after each 700.
func drifting(rng *rand.Rand, dim int) func() []float32 {
	kinds := []func() []float32{clustered(rng, dim), templates(rng, dim), uniform(rng, dim), sparse(rng, dim)}
	n := 0
	return func() []float32 {
		n++
		return kinds[n/700%len(kinds)]()
	}
}

// near returns a vector at a cosine of about c to v.
func near(rng *rand.Rand, v []float32, c float64) []float32 {
	if len(v) == 1 {
		return v
	}
	n := random(rng, len(v))
	d := dot64(n, v)
	for i := range n {
		n[i] -= float32(d) * v[i]
	}
	Normalize(n)
	for i := range n {
		n[i] = float32(c*float64(v[i]) + math.Sqrt(1-c*c)*float64(n[i]))
	}
	Normalize(n)
	return n
}
