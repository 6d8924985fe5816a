//go:build !purego

package vector

// fast says that the machine has AVX2 and FMA, and that its system keeps the
// registers.
var fast = detect()

// detect asks the processor, as Intel's manual says (volume 1, 14.7.1):
// https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html
func detect() bool {
	const (
		fma, osxsave, avx = 1 << 12, 1 << 27, 1 << 28 // leaf 1, ECX
		avx2              = 1 << 5                    // leaf 7, EBX
		xmmYmm            = 1<<1 | 1<<2               // XCR0
	)
	if most, _, _, _ := cpuid(0, 0); most < 7 {
		return false
	}
	_, _, c, _ := cpuid(1, 0)
	_, b, _, _ := cpuid(7, 0)
	all := uint32(fma | osxsave | avx)
	return c&all == all && b&avx2 != 0 && xgetbv()&xmmYmm == xmmYmm
}

// dot64 returns the dot product of vectors of one length, the shorter one's.
// Products of float32 are exact in float64, and the order of the sums is that of
// dot64Go, so that all machines return the same bits.
func dot64(a, b []float32) float64 {
	n := min(len(a), len(b))
	whole := n &^ 7
	if !fast || whole == 0 {
		return dot64Go(a, b)
	}
	s := dot64AVX2(&a[0], &b[0], whole)
	for i := whole; i < n; i++ {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

// dot4 sets out to the dot products of q with four vectors at least as long.
func dot4(out *[4]float32, q, a, b, c, d []float32) {
	n := len(q)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	whole := n &^ 15
	if !fast || whole == 0 {
		dot4Go(out, q, a, b, c, d)
		return
	}
	dot4AVX2(out, &q[0], &a[0], &b[0], &c[0], &d[0], whole)
	for i := whole; i < n; i++ {
		out[0] += q[i] * a[i]
		out[1] += q[i] * b[i]
		out[2] += q[i] * c[i]
		out[3] += q[i] * d[i]
	}
}

// axpy adds f times x to y, which is at least as long.
func axpy(y, x []float32, f float32) {
	y = y[:len(x)]
	whole := len(x) &^ 7
	if !fast {
		whole = 0
	}
	if whole > 0 {
		axpyAVX2(&y[0], &x[0], whole, f)
	}
	axpyGo(y[whole:], x[whole:], f)
}

// scan sets a mask per block of rows: a bit for each row whose bound reaches the
// floor. There are as many blocks as masks.
func scan(masks []uint16, codes []byte, tails []float32, weights *[sketchDims]int16, p *line) {
	n := len(masks)
	if !fast || n == 0 {
		scanGo(masks, codes, tails, weights, p)
		return
	}
	codes, tails = codes[:n*blockCodes], tails[:n*blockTails]
	scanAVX2(&masks[0], &codes[0], &tails[0], n, &weights[0], p)
}

func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)
func xgetbv() (eax uint32)

//go:noescape
func dot64AVX2(a, b *float32, n int) float64

//go:noescape
func dot4AVX2(out *[4]float32, q, a, b, c, d *float32, n int)

//go:noescape
func axpyAVX2(y, x *float32, n int, f float32)

//go:noescape
func scanAVX2(masks *uint16, codes *byte, tails *float32, n int, weights *int16, p *line)
