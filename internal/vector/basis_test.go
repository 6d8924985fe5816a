package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// anyBasis returns one that training might make, or one that it would not: the
// bound has to hold whatever it is. With bend the directions are not orthogonal.
func anyBasis(rng *rand.Rand, dim int, offset, bend, scale float64) *basis {
	b := &basis{mu: make([]float32, dim), b: make([]float32, sketchDims*dim)}
	for i, f := range random(rng, dim) {
		b.mu[i] = float32(offset * float64(f))
	}
	for k := range sketchDims { // directions of axes, two of each turned by one angle
		angle := rng.Float64() * 6
		if k%2 == 0 {
			b.direction(k)[k], b.direction(k)[(k+1)%dim] = float32(math.Cos(angle)), float32(math.Sin(angle))
			b.direction(k + 1)[k], b.direction(k + 1)[(k+1)%dim] = float32(-math.Sin(angle)), float32(math.Cos(angle))
		}
		b.scales[k] = float32(scale * (0.5 + rng.Float64()) / 127)
	}
	for k := range sketchDims {
		axpy(b.direction(k), random(rng, dim), float32(bend))
	}
	b.seal(skew(b))
	return b
}

// skew returns how far the directions are from being orthonormal.
func skew(b *basis) float64 {
	var off float64
	for k := range sketchDims {
		for j := range sketchDims {
			d := dot64(b.direction(k), b.direction(j))
			if j == k {
				d--
			}
			off += d * d
		}
	}
	return math.Sqrt(off)
}

// inSpan returns a vector that directions of axes have all of.
func inSpan(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	copy(v, random(rng, min(dim, sketchDims)))
	return v
}

// TestBoundsHold asks of pairs whether a row could be passed over that is as
// similar as the threshold, for vectors that the bound fits closely too.
func TestBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	for _, dim := range []int{128, 131, 768} {
		for _, offset := range []float64{0, 0.3, 1, 3} {
			for _, bend := range []float64{0, 1e-6, 1e-3, 0.05} {
				for _, scale := range []float64{1e-3, 0.1, 0.5, 1.5} {
					b := anyBasis(rng, dim, offset, bend, scale)
					t.Run(fmt.Sprintf("%d/%v/%v/%v", dim, offset, bend, scale), func(t *testing.T) {
						for range 40 {
							draw := []func(*rand.Rand, int) []float32{random, inSpan}[rng.IntN(2)]
							x := draw(rng, dim)
							q := [][]float32{x, near(rng, x, 0.9), draw(rng, dim), b.worst(x)}[rng.IntN(4)]
							checkBound(t, b, x, q)
						}
					})
				}
			}
		}
	}
}

// worst returns a query to which the codes of x err as far as they can.
func (b *basis) worst(x []float32) []float32 {
	var co coordinates
	b.project(&co, x)
	q := make([]float32, len(x))
	for k, c := range co.c {
		s := float64(b.scales[k])
		axpy(q, b.direction(k), float32(c-s*max(-127, min(127, math.Round(c/s)))))
	}
	Normalize(q)
	if !isUnit(q) {
		return x
	}
	return q
}

// checkBound makes a slab of one row and scans it.
func checkBound(t *testing.T, b *basis, x, q []float32) {
	t.Helper()
	var r row
	b.sketch(&r, x)
	s := newSlab()
	s.set(3, &r)
	var weights [sketchDims]int16
	var p line
	similarity := float32(dot64(x, q))
	b.query(&weights, &p, q, similarity)
	masks := []uint16{0}
	scan(masks, s.codes, s.tails, &weights, &p)
	if masks[0] != 1<<3 {
		t.Fatalf("a row of similarity %v is passed over at that threshold", similarity)
	}
}

// axes returns a basis of the first axes, the first of them stretched.
func axes(dim int, mu []float32, stretch, scale float64) *basis {
	b := &basis{mu: mu, b: make([]float32, sketchDims*dim)}
	for k := range sketchDims {
		b.direction(k)[k] = 1
		b.scales[k] = float32(scale / 127)
	}
	b.b[0] = float32(stretch)
	b.seal(math.Abs(stretch*stretch - 1))
	return b
}

// TestBoundsOfStretchedDirections takes vectors of one such direction and one
// that no direction has: what is left of them is more or less than it seems.
func TestBoundsOfStretchedDirections(t *testing.T) {
	const dim = 128
	for _, stretch := range []float64{0.8, 0.99, 1, 1.01, 1.2} {
		b := axes(dim, make([]float32, dim), stretch, 1.3)
		at := func(in, out float64) []float32 {
			v := make([]float32, dim)
			v[0], v[100] = float32(in), float32(out)
			Normalize(v)
			return v
		}
		for angle := 0.0; angle < 2*math.Pi; angle += 0.1 {
			for other := 0.0; other < 2*math.Pi; other += 0.1 {
				checkBound(t, b, at(math.Sincos(angle)), at(math.Sincos(other)))
			}
		}
	}
}

// TestBoundsAreClose keeps the bound from being true and useless: for rows that
// the basis has all of it is near the similarity.
func TestBoundsAreClose(t *testing.T) {
	const dim = 768
	rng := rand.New(rand.NewPCG(14, 15))
	for _, offset := range []float32{0, 0.5} {
		mu := make([]float32, dim)
		axpy(mu, inSpan(rng, dim), offset)
		b := axes(dim, mu, 1, 0.8)
		for range 200 {
			x, q := inSpan(rng, dim), inSpan(rng, dim)
			var r row
			b.sketch(&r, x)
			s := newSlab()
			s.set(3, &r)
			var weights [sketchDims]int16
			var p line
			b.query(&weights, &p, q, float32(dot64(x, q))+0.03)
			masks := []uint16{0}
			scan(masks, s.codes, s.tails, &weights, &p)
			if masks[0] != 0 {
				t.Fatal("a row stays that is 0.03 below the threshold")
			}
		}
	}
}

// TestTrainingMeasuresItsDirections compares what bounds count on with what the
// directions are, where rows differ in all dimensions and where they do not.
func TestTrainingMeasuresItsDirections(t *testing.T) {
	for name, w := range map[string]world{"uniform": uniform, "one": one, "sparse": sparse} {
		rng := rand.New(rand.NewPCG(16, 17))
		draw, x := w(rng, 200), small(200, 32)
		for range 1000 {
			x.Add(draw())
		}
		b := x.keep.now.basis
		want := b.loose
		d := skew(b)
		if b.seal(d); b.loose < want*0.999999 || b.loose > want*1.000001 || d > 1e-5 {
			t.Errorf("%s: bounds count on %v, directions are off by %v", name, want, d)
		}
	}
}
