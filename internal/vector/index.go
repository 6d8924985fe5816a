// Package vector finds the stored vectors that are similar to another one. It
// finds all of them, always: nothing is approximate.
//
// # How
//
// A few vectors are compared one by one. From about a thousand on, each has a
// sketch of 72 bytes beside it, from which follows how similar it can be at most.
// A search reads all sketches, and only the vectors that these leave, which is
// mostly those that it finds. Memory is what bounds it: 72 bytes a vector to read
// instead of 3072, at 768 dimensions.
//
// Whether sketches are good or not, a search returns the same; see type basis for
// the proof. How good they are is a matter of training, which Add does a little of;
// see type keeper.
//
// # Machines
//
// The loops are in assembly for amd64 with AVX2 and FMA, and in Go for all other
// machines, and with the build tag purego. All return the same bits.
package vector

import (
	"math"
	"slices"
	"sync"
)

// unit is how far the length of a vector may be from 1.
const unit = 1e-3

// Hit is a row that was found.
type Hit struct {
	ID uint32
	// Similarity is the cosine, computed in float64 and rounded once. It may
	// exceed 1 by a rounding.
	Similarity float32
}

// Index keeps vectors of one dimension, each of length 1, and finds those whose
// cosine with another one reaches a threshold. It is safe for concurrent use, and
// has no goroutine.
type Index struct {
	mu   sync.RWMutex
	rows rows
	keep keeper
}

// New returns an empty index for vectors of dim numbers.
func New(dim int) *Index {
	return &Index{rows: rows{dim: max(dim, 0)}, keep: keeper{start: sketchStart}}
}

// NewShared returns an empty index that keeps the vectors that are added, and not
// copies of them: they must not change while they are in.
func NewShared(dim int) *Index {
	x := New(dim)
	x.rows.shared = true
	return x
}

// Add stores a copy of v and returns the id of its row. It refuses a vector of
// another dimension, and one whose length is not 1, by which it refuses numbers
// that are not finite too; see [Normalize].
func (x *Index) Add(v []float32) (id uint32, ok bool) {
	if len(v) != x.rows.dim || !isUnit(v) {
		return 0, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if id, ok = x.rows.add(v); ok {
		x.keep.added(&x.rows, id, v)
	}
	return id, ok
}

// Delete forgets a row. An id that has none is no error. A later row may get
// the id again.
func (x *Index) Delete(id uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.rows.remove(id) {
		x.keep.removed(&x.rows, id)
	}
}

// Search appends to dst all rows whose similarity to q is at least threshold,
// the most similar first and equal ones by id; at most limit of them, unless it
// is 0. A q that [Index.Add] would refuse finds none.
func (x *Index) Search(dst []Hit, q []float32, threshold float32, limit int) []Hit {
	if len(q) != x.rows.dim || !isUnit(q) {
		return dst
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := newSearch(dst, q, threshold)
	if k := x.keep.of(&x.rows); k != nil {
		s.sketched(&x.rows, k)
	} else {
		s.flat(&x.rows)
	}
	return s.sorted(len(dst), limit)
}

// Vector returns a copy of a row, or nil for an id that has none.
func (x *Index) Vector(id uint32) []float32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Clone(x.rows.at(id))
}

// Len returns the number of rows.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.rows.live
}

// Bytes returns about how much memory the index takes.
func (x *Index) Bytes() int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.rows.bytes() + x.keep.bytes()
}

// Close lets go of all rows. The index is empty afterwards.
func (x *Index) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rows.clear()
	x.keep.reset()
}

// Normalize scales v to length 1 in place. It reports false, and leaves v as it
// is, when that is impossible: all numbers are 0, or some are not finite.
func Normalize(v []float32) bool {
	n := math.Sqrt(dot64(v, v))
	if n == 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		return false
	}
	for i, f := range v {
		v[i] = float32(float64(f) / n)
	}
	return true
}

// isUnit reports whether the length of v is 1. A number that is not finite makes
// it false.
func isUnit(v []float32) bool { return math.Abs(math.Sqrt(dot64(v, v))-1) <= unit }
