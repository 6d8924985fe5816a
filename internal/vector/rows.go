package vector

import "math"

// Rows are cut from chunks, so that growing copies no vector: the first few have
// a chunk each, because a partition may hold one vector and there may be
// thousands of partitions; later ones share, because each allocation is work for
// the garbage collector. The last chunk is at most 3 % of all then.
const (
	single    = 1024 // rows with a chunk of their own
	chunkRows = 32
)

// rows stores vectors by id. The zero value with a dimension is ready.
type rows struct {
	dim    int
	shared bool // each row is the vector that was added, and no copy
	live   int
	n      uint32      // ids given out so far, freed ones too
	chunks [][]float32 // nil when no row of it is left
	alive  []uint64    // a bit per id
	free   []uint32    // ids to give out again
	spare  []float32   // a chunk of many rows, kept for the next one
	held   int         // numbers that all chunks have room for
}

// place returns the chunk of an id, its first number, and how many rows the chunk has.
func (r *rows) place(id uint32) (chunk, at, size int) {
	if r.shared || id < single {
		return int(id), 0, 1
	}
	id -= single
	return int(single + id/chunkRows), int(id%chunkRows) * r.dim, chunkRows
}

// at returns a row, or nil.
func (r *rows) at(id uint32) []float32 {
	if !r.has(id) {
		return nil
	}
	chunk, at, _ := r.place(id)
	return r.chunks[chunk][at : at+r.dim : at+r.dim]
}

func (r *rows) has(id uint32) bool {
	return id < r.n && r.alive[id/64]&(1<<(id%64)) != 0
}

// add stores a copy of v. It fails when all ids are in use.
func (r *rows) add(v []float32) (uint32, bool) {
	id, ok := r.take()
	if !ok {
		return 0, false
	}
	chunk, at, size := r.place(id)
	if chunk == len(r.chunks) {
		r.chunks = append(r.chunks, nil)
	}
	switch {
	case r.shared:
		r.chunks[chunk] = v
	case r.chunks[chunk] == nil:
		r.chunks[chunk] = r.chunk(size)
		fallthrough
	default:
		copy(r.chunks[chunk][at:], v)
	}
	r.alive[id/64] |= 1 << (id % 64)
	r.live++
	return id, true
}

// take returns an id that is not in use.
func (r *rows) take() (uint32, bool) {
	if last := len(r.free) - 1; last >= 0 {
		id := r.free[last]
		r.free = r.free[:last]
		return id, true
	}
	if r.n == math.MaxUint32 {
		return 0, false
	}
	id := r.n
	r.n++
	if int(id/64) == len(r.alive) {
		r.alive = append(r.alive, 0)
	}
	return id, true
}

// chunk returns room for rows, the spare one first.
func (r *rows) chunk(size int) []float32 {
	if size == chunkRows && r.spare != nil {
		c := r.spare
		r.spare = nil
		return c
	}
	r.held += size * r.dim
	return make([]float32, size*r.dim)
}

// remove forgets a row, and its chunk with the last row of it: entries of one
// age expire together.
func (r *rows) remove(id uint32) bool {
	if !r.has(id) {
		return false
	}
	r.alive[id/64] &^= 1 << (id % 64)
	r.free = append(r.free, id)
	r.live--
	chunk, _, size := r.place(id)
	switch {
	case size == 1:
		if r.chunks[chunk] = nil; !r.shared {
			r.held -= r.dim
		}
	case uint32(r.alive[id/64]>>(id%64/chunkRows*chunkRows)) == 0:
		r.held -= len(r.spare)
		r.spare, r.chunks[chunk] = r.chunks[chunk], nil
	}
	if r.live == 0 {
		r.clear()
	}
	return true
}

// clear forgets all rows. It leaves alone what does not change, which is read
// without a lock.
func (r *rows) clear() {
	r.live, r.n, r.held = 0, 0, 0
	r.chunks, r.alive, r.free, r.spare = nil, nil, nil, nil
}

// bytes returns the memory of the rows.
func (r *rows) bytes() int64 {
	return int64(cap(r.chunks)*24 + cap(r.alive)*8 + cap(r.free)*4 + r.held*4)
}
