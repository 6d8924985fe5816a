package vector

import "math"

// A slab is the sketches of 1024 rows: 72 KB, so that room is found without a
// pause, and a scan of it fits the fastest caches.
const (
	slabBlocks = 64
	slabRows   = slabBlocks * blockRows
)

// slab holds sketches by blocks of 16 rows. A block has its codes by pairs of
// dimensions, as the kernels want them: both codes of row 0, both of row 1, and so
// on; then the next pair. Of its tails the residuals come first.
type slab struct {
	codes []byte
	tails []float32
}

func newSlab() slab {
	s := slab{make([]byte, slabBlocks*blockCodes), make([]float32, slabBlocks*blockTails)}
	for at := range slabRows {
		s.clear(at)
	}
	return s
}

// clear makes the bound of a row so low that no query meets it.
func (s *slab) clear(at int) { s.tails[tailAt(at)+blockRows] = float32(math.Inf(-1)) }

// tailAt is where the residual of a row is; 16 further is the other tail.
func tailAt(at int) int { return at/blockRows*blockTails + at%blockRows }

// set keeps the sketch of a row.
func (s *slab) set(at int, r *row) {
	codes := s.codes[at/blockRows*blockCodes+at%blockRows*2:]
	for k := 0; k < sketchDims; k += 2 {
		codes[k*blockRows] = byte(r.codes[k])
		codes[k*blockRows+1] = byte(r.codes[k+1])
	}
	tail := tailAt(at)
	s.tails[tail], s.tails[tail+blockRows] = r.tails[0], r.tails[1]
}

// sketches are those of all rows with an id below done.
type sketches struct {
	basis *basis
	slabs []slab
	done  uint32
}

// set keeps the sketch of a row, and returns the length of its residual.
func (s *sketches) set(id uint32, x []float32) float32 {
	var r row
	s.basis.sketch(&r, x)
	n := int(id / slabRows)
	for n >= len(s.slabs) {
		s.slabs = append(s.slabs, newSlab())
	}
	s.slabs[n].set(int(id%slabRows), &r)
	return r.tails[0]
}

// clear forgets a row.
func (s *sketches) clear(id uint32) {
	if n := int(id / slabRows); n < len(s.slabs) {
		s.slabs[n].clear(int(id % slabRows))
	}
}

// bytes returns the memory of the sketches.
func (s *sketches) bytes() int64 {
	if s == nil {
		return 0
	}
	return int64(cap(s.basis.b)+cap(s.basis.mu))*4 + int64(len(s.slabs))*(slabBlocks*(blockCodes+4*blockTails)+48)
}
