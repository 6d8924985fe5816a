package vector

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// odd returns numbers of all sizes, tiny ones and zeros of both signs too.
func odd(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		switch rng.IntN(8) {
		case 0:
			v[i] = math.Float32frombits(rng.Uint32() & 0x807fffff) // no normal number
		case 1:
			v[i] = float32(rng.NormFloat64() * 1e15)
		case 2:
			v[i] = float32(math.Copysign(0, rng.NormFloat64()))
		default:
			v[i] = float32(rng.NormFloat64())
		}
	}
	return v
}

// checkDots compares the kernels with each other and with the bound of errors.
func checkDots(t *testing.T, q, a, b, c, d []float32) {
	t.Helper()
	if got, want := dot64(q, a), dot64Go(q, a); math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("dot64 of %d numbers = %v, in Go %v", len(q), got, want)
	}
	var fastOut, goOut [4]float32
	dot4(&fastOut, q, a, b, c, d)
	dot4Go(&goOut, q, a, b, c, d)
	for i, v := range [][]float32{a, b, c, d} {
		want := dot64Go(q, v[:len(q)])
		var sizes float64
		for j, f := range q {
			sizes += math.Abs(float64(f) * float64(v[j]))
		}
		bound := dot4Error(len(q))*sizes + 1e-40
		if diff := math.Abs(float64(fastOut[i]) - want); !(diff <= bound) {
			t.Errorf("dot4 of %d numbers, vector %d: %v is %v off, at most %v", len(q), i, fastOut[i], diff, bound)
		}
		if diff := math.Abs(float64(goOut[i]) - want); !(diff <= bound) {
			t.Errorf("dot4Go of %d numbers, vector %d: %v is %v off, at most %v", len(q), i, goOut[i], diff, bound)
		}
	}
}

// checkAxpy compares the kernels, and looks at what lies behind y.
func checkAxpy(t *testing.T, y, x []float32, f float32) {
	t.Helper()
	long := append(append([]float32{}, y...), 7, 7, 7, 7, 7, 7, 7, 7)
	want := append([]float32{}, y...)
	axpy(long[:len(y):len(y)], x, f)
	axpyGo(want, x, f)
	want = append(want, 7, 7, 7, 7, 7, 7, 7, 7)
	for i := range want {
		if math.Float32bits(long[i]) != math.Float32bits(want[i]) {
			t.Fatalf("axpy of %d numbers, %d: %v, in Go %v", len(x), i, long[i], want[i])
		}
	}
}

// checkScan compares the kernels with each other, and with plain sums.
func checkScan(t *testing.T, codes []byte, tails []float32, weights *[sketchDims]int16, p *line) {
	t.Helper()
	n := len(codes) / blockCodes
	got, want, plain := make([]uint16, n+1), make([]uint16, n+1), make([]uint16, n+1)
	got[n], want[n], plain[n] = 0xabcd, 0xabcd, 0xabcd
	scan(got[:n], codes, tails, weights, p)
	scanGo(want[:n], codes, tails, weights, p)
	for row := range n * blockRows {
		var sum int32
		for k := range sketchDims {
			at := row/blockRows*blockCodes + k/2*2*blockRows + row%blockRows*2 + k%2
			sum += int32(int8(codes[at])) * int32(weights[k])
		}
		tail := tails[tailAt(row):]
		bound := float32(float32(p.scale*float32(sum))+tail[blockRows]) + float32(p.residual*tail[0])
		if !(bound < p.floor) {
			plain[row/blockRows] |= 1 << (row % blockRows)
		}
	}
	if diff := cmp.Diff(plain, want); diff != "" {
		t.Errorf("scan in Go (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(plain, got); diff != "" {
		t.Errorf("scan (-want +got)\n%s", diff)
	}
}

func TestKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		checkDots(t, odd(rng, n), odd(rng, n), odd(rng, n), odd(rng, n), odd(rng, n))
		checkAxpy(t, odd(rng, n), odd(rng, n), float32(rng.NormFloat64()))
	}
	for range 100 {
		n := rng.IntN(4000)
		checkDots(t, odd(rng, n), odd(rng, n), odd(rng, n), odd(rng, n), odd(rng, n))
		checkAxpy(t, odd(rng, n), odd(rng, n), float32(rng.NormFloat64()))
	}
}

func TestScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 300 {
		n := rng.IntN(6)
		codes, tails := make([]byte, n*blockCodes), make([]float32, n*blockTails)
		for j := range codes {
			codes[j] = byte(rng.IntN(255) - 127)
			if i < 3 {
				codes[j] = byte(127 - 254*(i%2)) // the largest sums
			}
		}
		for j := range tails {
			tails[j] = rng.Float32()
			if rng.IntN(9) == 0 {
				tails[j] = float32(math.Inf(-1))
			}
		}
		var weights [sketchDims]int16
		for j := range weights {
			weights[j] = int16(rng.IntN(2*math.MaxInt16+1) - math.MaxInt16)
			if i < 3 {
				weights[j] = math.MaxInt16
			}
		}
		checkScan(t, codes, tails, &weights, &line{rng.Float32() * 1e-8, rng.Float32(), rng.Float32()})
	}
}

// TestBoundsThatAreReached makes bounds that equal the floor: such a row stays.
func TestBoundsThatAreReached(t *testing.T) {
	s := newSlab()
	var r row
	r.codes[5], r.tails = 2, [2]float32{3, 4}
	s.set(17, &r)
	weights := [sketchDims]int16{5: 10}
	p := line{scale: 0.5, residual: 2, floor: 20} // 0.5*20 + 2*3 + 4
	masks := make([]uint16, 2)
	scan(masks, s.codes, s.tails, &weights, &p)
	if diff := cmp.Diff([]uint16{0, 2}, masks); diff != "" {
		t.Errorf("a bound as high as the floor (-want +got)\n%s", diff)
	}
	p.floor = math.Nextafter32(20, 21)
	scan(masks, s.codes, s.tails, &weights, &p)
	if diff := cmp.Diff([]uint16{0, 0}, masks); diff != "" {
		t.Errorf("a floor above (-want +got)\n%s", diff)
	}
	p.floor = float32(math.NaN())
	scan(masks, s.codes, s.tails, &weights, &p)
	if diff := cmp.Diff([]uint16{0xffff, 0xffff}, masks); diff != "" {
		t.Errorf("no floor (-want +got)\n%s", diff)
	}
}

func TestKernelsDoNotAllocate(t *testing.T) {
	v := make([]float32, 100)
	s := newSlab()
	if n := testing.AllocsPerRun(10, func() {
		var out [4]float32
		var weights [sketchDims]int16
		var masks [slabBlocks]uint16
		dot4(&out, v, v, v, v, v)
		axpy(v, v, float32(dot64(v, v)))
		scan(masks[:], s.codes, s.tails, &weights, &line{})
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// FuzzKernels reads vectors, codes and weights from the input.
func FuzzKernels(f *testing.F) {
	f.Add([]byte("a"), uint8(0))
	f.Add(make([]byte, 5*17*4), uint8(17))
	f.Add(binary.LittleEndian.AppendUint32(nil, 1), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, n uint8) {
		at := 0
		next := func() byte {
			if len(data) == 0 {
				return 0
			}
			at++
			return data[at%len(data)] + byte(at/len(data)*31)
		}
		number := func() float32 {
			f := math.Float32frombits(uint32(next()) | uint32(next())<<8 | uint32(next())<<16 | uint32(next())<<24)
			if !(math.Abs(float64(f)) <= 1e15) {
				return float32(int8(next()))
			}
			return f
		}
		numbers := func(n int) []float32 {
			v := make([]float32, n)
			for i := range v {
				v[i] = number()
			}
			return v
		}
		checkDots(t, numbers(int(n)), numbers(int(n)), numbers(int(n)), numbers(int(n)), numbers(int(n)))
		checkAxpy(t, numbers(int(n)), numbers(int(n)), number())
		codes, tails := make([]byte, int(n%3)*blockCodes), numbers(int(n%3)*blockTails)
		for i := range codes {
			codes[i] = next()
		}
		var weights [sketchDims]int16
		for i := range weights {
			weights[i] = int16(max(-math.MaxInt16, int(int16(uint16(next())|uint16(next())<<8))))
		}
		checkScan(t, codes, tails, &weights, &line{number() * 1e-20, number(), number()})
	})
}
