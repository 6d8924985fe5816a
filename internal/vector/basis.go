package vector

import "math"

const (
	sketchDims = 64 // numbers kept of each row, with 8 bits each

	blockRows  = 16 // rows of one step of scan
	blockCodes = blockRows * sketchDims
	blockTails = blockRows * 2
)

// basis says how rows become sketches. With an offset mu and 64 directions B, a
// row x has w = x - mu, coordinates c = Bw, kept as codes with scales, and the
// length r of what is left, the residual Nw with N = 1 - B'B. For a query q with
// v = q - mu,
//
//	q·x = v·w + mu·x + (q·mu - mu·mu)
//	v·w = Bv·Bw + Nv·Nw <= Bv·Bw + |Nv| |Nw|
//
// the latter by Cauchy and Schwarz, which bounds the similarity from above whatever
// mu and B are. Training makes the bound close, and nothing else depends on it.
//
// The bound covers all roundings too. B is not quite orthonormal: with
// d = |BB' - 1|, measured, N - N² = B'(1 - BB')B is at most d(1+d), so that
// Nv·Nw differs from v·Nw by d(1+d)|v||w| at most, and |Nw|² <= |w|² - |Bw|²|w|².
// Coordinates are computed in float32 and are off by drift in total, see below.
// The rest is computed in float64, whose roundings are of the size 1e-13 and
// vanish in slack.
type basis struct {
	mu     []float32 // the offset
	b      []float32 // B, row after row
	bmu    [sketchDims]float64
	scales [sketchDims]float32

	mumu  float64 // |mu|²
	loose float64 // d(1+d)
	drift float64 // bounds the error of all coordinates of a vector together
	most  float64 // bounds |v|, |w|, |Bv| and |Bw|
	codes float64 // bounds the length of what the scales let pass beyond |Bw|
	usual float64 // the length of the error of codes that most rows stay below
}

// slack is above what the roundings of scan and of a similarity can amount to:
// no number in it exceeds 32, it rounds eight times, and each time errs by 2^-24
// of the number.
const slack = 2e-5

// roundUp is a factor above the error of rounding to float32.
const roundUp = 1 + 1.0/(1<<23)

// dot4Error bounds the error of dot4 for vectors of length 1. Each product goes
// through n roundings at most: n²-³ sums of the assembly hold n/16 numbers each,
// those in Go 64 and n/64; adding them up and the rest are the constant. See
// Higham, Accuracy and Stability of Numerical Algorithms, section 3.1.
func dot4Error(n int) float64 {
	const u = 1.0 / (1 << 24)
	return 1.01 * u * (float64(n)/16 + 96)
}

// seal computes what follows from mu, b, scales and d, which stay as they are
// from then on.
func (b *basis) seal(d float64) {
	dim := len(b.mu)
	b.mumu = dot64(b.mu, b.mu)
	b.loose = d * (1 + d)
	length := 1 + unit + math.Sqrt(b.mumu)
	b.drift = math.Sqrt(sketchDims) * dot4Error(dim) * (1 + unit) * (1 + d)
	b.most = length*(1+d) + b.drift
	var squares float64
	for k := range sketchDims {
		b.bmu[k] = dot64(b.direction(k), b.mu)
		squares += float64(b.scales[k]) * float64(b.scales[k])
	}
	b.codes = math.Sqrt(squares) / 2
	// Errors are even in a step of the scale: a twelfth of its square on average.
	b.usual = 1.15 * math.Sqrt(squares/12)
}

// direction returns row k of B.
func (b *basis) direction(k int) []float32 {
	dim := len(b.mu)
	return b.b[k*dim : (k+1)*dim : (k+1)*dim]
}

// coordinates are what project finds of a vector.
type coordinates struct {
	c      [sketchDims]float64 // Bw
	length float64             // |Bw|
	mu     float64             // mu·x
	rest   float64             // bounds |Nw|
}

// project sets out to the coordinates of a vector of length 1.
func (b *basis) project(out *coordinates, x []float32) {
	var squares float64
	for k := 0; k < sketchDims; k += 4 {
		var dots [4]float32
		dot4(&dots, x, b.direction(k), b.direction(k+1), b.direction(k+2), b.direction(k+3))
		for i, dot := range dots {
			c := float64(dot) - b.bmu[k+i]
			out.c[k+i] = c
			squares += c * c
		}
	}
	out.length = math.Sqrt(squares)
	out.mu = dot64(b.mu, x)
	w2 := max(0, dot64(x, x)-2*out.mu+b.mumu)
	known := max(0, out.length-b.drift)
	out.rest = math.Sqrt(max(0, w2*(1+b.loose)-known*known)) + 1e-6
}

// row is the sketch of a row: codes and its two tails. A row matches only if
// scale*sum(codes*weights) + tails[0]*residual + tails[1] reaches the floor.
type row struct {
	codes [sketchDims]int8
	tails [2]float32
}

// sketch sets out to the sketch of a vector.
func (b *basis) sketch(out *row, x []float32) {
	var co coordinates
	b.project(&co, x)
	var squares float64
	for k, c := range co.c {
		s := float64(b.scales[k])
		code := max(-127, min(127, math.Round(c/s)))
		out.codes[k] = int8(code)
		e := c - s*code
		squares += e * e
	}
	// A row that the scales do not reach has more error than is usual. The query
	// counts what is usual, the row counts the rest.
	over := max(0, math.Sqrt(squares)-b.usual)
	out.tails[0] = float32(co.rest * roundUp)
	out.tails[1] = float32(co.mu + b.most*over)
}

// line is what scan needs of a query besides the weights.
type line struct{ scale, residual, floor float32 }

// query sets weights and line for a query of length 1: no row whose similarity
// reaches the threshold is below the floor. With codes k, scales s and their
// errors e, Bv·Bw is the sum of (s Bv)k and of Bv·e; weights are s Bv in steps of
// line.scale, whose errors count 127 times at most.
func (b *basis) query(weights *[sketchDims]int16, p *line, q []float32, threshold float32) {
	var co coordinates
	b.project(&co, q)
	var top float64
	for k := range co.c {
		co.c[k] *= float64(b.scales[k])
		top = max(top, math.Abs(co.c[k]))
	}
	p.scale = float32(top / math.MaxInt16 * roundUp)
	var off float64
	for k, c := range co.c {
		weight := 0.0
		if p.scale > 0 {
			weight = max(-math.MaxInt16, min(math.MaxInt16, math.Round(c/float64(p.scale))))
		}
		weights[k] = int16(weight)
		off += math.Abs(c - float64(p.scale)*weight)
	}
	rest := co.mu - b.mumu + // q·mu - mu·mu
		127*off + // roundings of weights
		b.drift*(b.most+b.codes) + // error of Bv, times what codes stand for
		(co.length+b.drift)*(b.usual+b.drift) + // Bv·e
		b.loose*b.most*b.most +
		slack
	p.residual = float32(co.rest * roundUp)
	p.floor = float32(float64(threshold) - rest)
}
