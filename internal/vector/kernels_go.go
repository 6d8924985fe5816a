package vector

import "encoding/binary"

// The kernels in Go, for all machines. Those in assembly return the same bits,
// but for dot4, whose error both keep below what roundings allows.

// dot64Go is dot64: eight sums, added in the order of the assembly.
func dot64Go(a, b []float32) float64 {
	b = b[:min(len(a), len(b))]
	a = a[:len(b)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for len(a) >= 8 && len(b) >= 8 {
		s0 += float64(a[0]) * float64(b[0])
		s1 += float64(a[1]) * float64(b[1])
		s2 += float64(a[2]) * float64(b[2])
		s3 += float64(a[3]) * float64(b[3])
		s4 += float64(a[4]) * float64(b[4])
		s5 += float64(a[5]) * float64(b[5])
		s6 += float64(a[6]) * float64(b[6])
		s7 += float64(a[7]) * float64(b[7])
		a, b = a[8:], b[8:]
	}
	sum := (s0 + s4 + (s2 + s6)) + (s1 + s5 + (s3 + s7))
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// dot4Go is dot4. It sums by parts of 64 numbers, which keeps the error small.
func dot4Go(out *[4]float32, q, a, b, c, d []float32) {
	*out = [4]float32{}
	for len(q) > 0 {
		n := min(len(q), 64)
		var s0, s1, s2, s3 float32
		pa, pb, pc, pd := a[:n], b[:n], c[:n], d[:n]
		for i, f := range q[:n] {
			s0 += f * pa[i]
			s1 += f * pb[i]
			s2 += f * pc[i]
			s3 += f * pd[i]
		}
		out[0] += s0
		out[1] += s1
		out[2] += s2
		out[3] += s3
		q, a, b, c, d = q[n:], a[n:], b[n:], c[n:], d[n:]
	}
}

// axpyGo is axpy.
func axpyGo(y, x []float32, f float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float32(f * v) // the conversion keeps it from being fused
	}
}

// scanGo is scan.
func scanGo(masks []uint16, codes []byte, tails []float32, weights *[sketchDims]int16, p *line) {
	for i := range masks {
		var sums [blockRows]int32
		sumBlock(&sums, codes[i*blockCodes:(i+1)*blockCodes], weights)
		tail := tails[i*blockTails : (i+1)*blockTails]
		var mask uint16
		for r, sum := range sums {
			bound := float32(p.scale * float32(sum))
			bound += tail[blockRows+r]
			bound += float32(p.residual * tail[r])
			if !(bound < p.floor) {
				mask |= 1 << r
			}
		}
		masks[i] = mask
	}
}

// sumBlock sets sums to the products of 16 rows with the weights. It multiplies
// two rows at once: codes made positive by adding 128 stand in the two halves of
// a word, and so do the sums, the lower of which may have borrowed from the upper.
func sumBlock(sums *[blockRows]int32, codes []byte, weights *[sketchDims]int16) {
	const (
		positive = 0x8080808080808080
		halves   = 0x000000ff000000ff
	)
	var total int32
	for _, w := range weights {
		total += int32(w)
	}
	for part := 0; part < 2*blockRows; part += 8 { // four rows
		var even, odd uint64
		for pair := 0; pair < sketchDims; pair += 2 {
			at := pair*blockRows + part
			c := binary.LittleEndian.Uint64(codes[at:at+8]) ^ positive
			first, second := uint64(int64(weights[pair])), uint64(int64(weights[pair+1]))
			even += (c&halves)*first + (c>>8&halves)*second
			odd += (c>>16&halves)*first + (c>>24&halves)*second
		}
		for i, both := range [2]uint64{even, odd} {
			low := int32(both)
			high := int32((both - uint64(int64(low))) >> 32)
			sums[part/2+i] = low - 128*total
			sums[part/2+2+i] = high - 128*total
		}
	}
}
