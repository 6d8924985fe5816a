//go:build !amd64 || purego

package vector

// dot64 returns the dot product of vectors of one length, the shorter one's.
func dot64(a, b []float32) float64 { return dot64Go(a, b) }

// dot4 sets out to the dot products of q with four vectors at least as long.
func dot4(out *[4]float32, q, a, b, c, d []float32) { dot4Go(out, q, a, b, c, d) }

// axpy adds f times x to y, which is at least as long.
func axpy(y, x []float32, f float32) { axpyGo(y, x, f) }

// scan sets a mask per block of rows: a bit for each row whose bound reaches the
// floor. There are as many blocks as masks.
func scan(masks []uint16, codes []byte, tails []float32, weights *[sketchDims]int16, p *line) {
	scanGo(masks, codes, tails, weights, p)
}
