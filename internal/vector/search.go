package vector

import (
	"cmp"
	"math/bits"
	"slices"
)

// search collects the rows that are similar to q. Rows come in fours, in float32
// first: that is faster than one by one, and tells all but a few that are near
// the threshold. These are judged in float64.
type search struct {
	hits      []Hit
	q         []float32
	threshold float32
	floor     float32 // what is below it in float32 is below the threshold

	seen int // rows
	n    int // of them, that wait
	ids  [4]uint32
	rows [4][]float32
}

func newSearch(dst []Hit, q []float32, threshold float32) search {
	// Both lengths may be off by unit, and the comparison rounds twice.
	off := dot4Error(len(q))*(1+3*unit) + 1e-6
	return search{hits: dst, q: q, threshold: threshold, floor: float32(float64(threshold) - off)}
}

// add considers a row.
func (s *search) add(id uint32, row []float32) {
	s.ids[s.n], s.rows[s.n] = id, row
	s.n++
	s.seen++
	if s.n == len(s.ids) {
		s.flush()
	}
}

// flush judges the rows that wait.
func (s *search) flush() {
	if s.n == 0 {
		return
	}
	for i := s.n; i < len(s.rows); i++ {
		s.rows[i] = s.rows[0]
	}
	var near [4]float32
	dot4(&near, s.q, s.rows[0], s.rows[1], s.rows[2], s.rows[3])
	for i := range s.n {
		if near[i] < s.floor {
			continue
		}
		if similarity := float32(dot64(s.rows[i], s.q)); similarity >= s.threshold {
			s.hits = append(s.hits, Hit{ID: s.ids[i], Similarity: similarity})
		}
	}
	s.n = 0
}

// flat considers all rows.
func (s *search) flat(r *rows) {
	for word, alive := range r.alive {
		for ; alive != 0; alive &= alive - 1 {
			id := uint32(word*64 + bits.TrailingZeros64(alive))
			s.add(id, r.at(id))
		}
	}
	s.flush()
}

// sketched considers the rows that their sketches leave.
func (s *search) sketched(r *rows, k *sketches) {
	var weights [sketchDims]int16
	var p line
	k.basis.query(&weights, &p, s.q, s.threshold)
	var masks [slabBlocks]uint16
	for n := range k.slabs {
		first := uint32(n * slabRows)
		if first >= r.n {
			break
		}
		blocks := min(slabBlocks, int(r.n-first+blockRows-1)/blockRows)
		scan(masks[:blocks], k.slabs[n].codes, k.slabs[n].tails, &weights, &p)
		for block, mask := range masks[:blocks] {
			for ; mask != 0; mask &= mask - 1 {
				id := first + uint32(block*blockRows+bits.TrailingZeros16(mask))
				if r.has(id) {
					s.add(id, r.at(id))
				}
			}
		}
	}
	s.flush()
}

// sorted returns the hits after the first ones, the best first, and no more than limit.
func (s *search) sorted(before, limit int) []Hit {
	found := s.hits[before:]
	slices.SortFunc(found, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.ID, b.ID))
	})
	if limit > 0 && len(found) > limit {
		return s.hits[:before+limit]
	}
	return s.hits
}
