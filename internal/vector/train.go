package vector

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Sizes of samples. Fewer rows make a worse basis, more a later one.
const (
	leastSample = 128
	mostSample  = 2048
	measured    = 256 // rows that scales are measured by
	meanStep    = 16  // rows of one step of the mean, which is cheap
)

// trainer finds a basis by subspace iteration: it multiplies directions with the
// covariance of a sample, makes them orthonormal, and starts over with them; they
// turn towards those in which rows differ most. It does so in steps of a few
// microseconds, one row or one direction each.
type trainer struct {
	basis  *basis
	next   []float32 // directions times covariance
	stage  stage
	warm   bool // has directions to begin with
	passes int  // left
	sample int  // rows of each pass
	at     int  // rows or directions of the stage that are done
	off    float64
	top    [sketchDims]float64 // largest coordinates
	rest   float64             // sum of residuals
	w      []float32           // scratch
	rng    *rand.Rand
}

// stage is what a step does.
type stage uint8

const (
	average  stage = iota // sums rows, for the offset
	scatter               // makes random directions to begin with
	multiply              // adds one row's part of the covariance
	straight              // makes one direction orthogonal to those before
	measure               // learns how large coordinates are
	ready                 // has a basis
)

// newTrainer returns one for about n rows. It begins with the directions of the
// basis that served before, if any.
func newTrainer(dim, n int, before *basis) *trainer {
	t := &trainer{
		basis: &basis{mu: make([]float32, dim)}, next: make([]float32, sketchDims*dim), w: make([]float32, dim),
		passes: 3, sample: max(leastSample, min(mostSample, n/2)),
		rng: rand.New(rand.NewPCG(uint64(dim), uint64(n))),
	}
	if before != nil {
		t.basis.b, t.passes, t.warm = before.b, 2, true
	} else {
		t.basis.b = make([]float32, sketchDims*dim)
	}
	return t
}

// step does a little work, and reports whether the basis is ready.
func (t *trainer) step(r *rows) bool {
	switch t.stage {
	case average:
		t.average(r)
	case scatter:
		t.fill(t.basis.direction(t.at))
		t.advance(sketchDims, multiply)
	case multiply:
		t.multiply(t.pick(r))
		t.advance(t.sample, straight)
	case straight:
		t.straighten()
	case measure:
		t.measure(t.pick(r))
	}
	return t.stage == ready
}

// advance counts, and goes to the next stage after so many.
func (t *trainer) advance(of int, next stage) {
	t.at++
	if t.at >= of {
		t.at, t.stage = 0, next
	}
}

// pick returns a random row. After many were deleted it prefers those that
// follow gaps, which is no harm.
func (t *trainer) pick(r *rows) []float32 {
	id := t.rng.Uint32N(r.n)
	word, alive := int(id/64), r.alive[id/64]>>(id%64)<<(id%64)
	for alive == 0 {
		word = (word + 1) % len(r.alive)
		alive = r.alive[word]
	}
	return r.at(uint32(word*64 + bits.TrailingZeros64(alive)))
}

// fill sets v to random numbers.
func (t *trainer) fill(v []float32) {
	for i := range v {
		v[i] = t.rng.Float32() - 0.5
	}
}

// average adds some rows to the offset, and divides by their number in the end.
func (t *trainer) average(r *rows) {
	mu := t.basis.mu
	for range meanStep {
		axpy(mu, t.pick(r), 1)
		t.advance(t.sample, scatter)
		if t.stage != average {
			break
		}
	}
	if t.stage == average {
		return
	}
	for i := range mu {
		mu[i] /= float32(t.sample)
	}
	if t.warm {
		t.stage = multiply
	}
}

// multiply adds the part of one row.
func (t *trainer) multiply(x []float32) {
	for i, mu := range t.basis.mu {
		t.w[i] = x[i] - mu
	}
	dim := len(t.w)
	for k := 0; k < sketchDims; k += 4 {
		var dots [4]float32
		b := t.basis
		dot4(&dots, t.w, b.direction(k), b.direction(k+1), b.direction(k+2), b.direction(k+3))
		for i, dot := range dots {
			axpy(t.next[(k+i)*dim:(k+i+1)*dim], t.w, dot)
		}
	}
}

// straighten makes one direction orthogonal to those before it, twice, because
// the first time leaves errors, and its length 1. One of which nothing is left is
// replaced by a random one: rows differ in fewer directions than there are.
func (t *trainer) straighten() {
	dim := len(t.w)
	direction := func(k int) []float32 { return t.next[k*dim : (k+1)*dim] }
	v := direction(t.at)
	ok := Normalize(v)
	for range 2 {
		for k := 0; k < t.at; k += 4 {
			last := t.at - 1
			var dots [4]float32
			dot4(&dots, v, direction(k), direction(min(k+1, last)), direction(min(k+2, last)), direction(min(k+3, last)))
			for i, dot := range dots[:min(4, t.at-k)] {
				axpy(v, direction(k+i), -dot)
			}
		}
	}
	if !ok || dot64(v, v) < 1e-6 || !Normalize(v) {
		t.fill(v)
		return
	}
	for k := range t.at {
		d := dot64(v, direction(k))
		t.off += 2 * d * d
	}
	d := dot64(v, v) - 1
	t.off += d * d
	t.advance(sketchDims, multiply)
	if t.stage == multiply {
		t.turn()
	}
}

// turn ends a pass.
func (t *trainer) turn() {
	t.basis.b = t.next
	t.passes--
	if t.passes > 0 {
		t.next, t.off = make([]float32, len(t.next)), 0
		return
	}
	t.next, t.stage = nil, measure
	t.basis.seal(math.Sqrt(t.off))
}

// measure learns of one row how large coordinates are, and sets the scales in the
// end.
func (t *trainer) measure(x []float32) {
	var co coordinates
	t.basis.project(&co, x)
	for k, c := range co.c {
		t.top[k] = max(t.top[k], math.Abs(c))
	}
	t.rest += co.rest
	t.advance(measured, ready)
	if t.stage != ready {
		return
	}
	for k, top := range t.top {
		t.basis.scales[k] = float32(max(1.1*top, 1e-4) / 127)
	}
	t.basis.seal(math.Sqrt(t.off))
}
