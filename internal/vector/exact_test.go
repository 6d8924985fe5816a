package vector

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// small returns an index that sketches soon.
func small(dim int, start uint32) *Index {
	x := New(dim)
	x.keep.start = start
	return x
}

// ranked returns all rows as Search would.
func ranked(stored map[uint32][]float32, q []float32) []Hit {
	var out []Hit
	for id, v := range stored {
		out = append(out, Hit{id, float32(dot64(v, q))})
	}
	slices.SortFunc(out, func(a, b Hit) int {
		return cmp.Or(-cmp.Compare(a.Similarity, b.Similarity), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// checkSearch compares an index with all that was stored in it, at thresholds
// that some row reaches exactly, or misses by the least there is.
func checkSearch(t *testing.T, rng *rand.Rand, x *Index, stored map[uint32][]float32, q []float32) {
	t.Helper()
	all := ranked(stored, q)
	thresholds := []float32{0.95, 1, 0.8, rng.Float32()*2 - 1}
	if len(all) > 0 {
		s := all[rng.IntN(len(all))].Similarity
		thresholds = append(thresholds, s, math.Nextafter32(s, 2), math.Nextafter32(s, -2))
	}
	for _, threshold := range thresholds {
		want, limit := all, rng.IntN(3)*rng.IntN(20)
		if i := slices.IndexFunc(all, func(h Hit) bool { return h.Similarity < threshold }); i >= 0 {
			want = all[:i]
		}
		if limit > 0 {
			want = want[:min(limit, len(want))]
		}
		if got := x.Search(nil, q, threshold, limit); !slices.Equal(want, got) {
			t.Fatalf("threshold %v, limit %d, %d rows (-want +got)\n%s", threshold, limit, len(stored), gocmp.Diff(want, got))
		}
	}
}

// TestSearchIsExact compares searches with brute force, in all worlds, before
// there are sketches and with them.
func TestSearchIsExact(t *testing.T) {
	worlds := map[string]world{
		"clustered": clustered, "uniform": uniform, "templates": templates, "duplicates": duplicates, "one": one,
		"edges": edges, "sparse": sparse, "drifting": drifting,
	}
	for _, dim := range []int{1, 3, 64, 130, 256, 768, 1408, 1536, 3072} {
		for name, w := range worlds {
			if dim > 768 && (testing.Short() || name != "clustered" && name != "edges" && name != "drifting") {
				continue // making vectors takes long
			}
			t.Run(fmt.Sprintf("%s/%d", name, dim), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(uint64(dim), 7))
				draw := w(rng, dim)
				x := small(dim, 32)
				defer x.Close()
				stored := map[uint32][]float32{}
				most := 2000
				if dim >= 768 {
					most = 900
				}
				for i := range most {
					v := draw()
					id, ok := x.Add(v)
					if !ok {
						t.Fatalf("Add refuses %v", v)
					}
					stored[id] = v
					if i%197 == 0 || i == most-1 {
						checkSearch(t, rng, x, stored, draw())
						checkSearch(t, rng, x, stored, near(rng, v, 0.95+float64(rng.IntN(3)-1)*1e-6))
						checkSearch(t, rng, x, stored, v)
					}
				}
				if sketched := x.keep.now != nil; sketched != (dim >= sketchLeast) {
					t.Errorf("searches use sketches: %v", sketched)
				}
			})
		}
	}
}

// play applies random calls to an index and to a map, and compares them.
func play(t *testing.T, x *Index, dim, calls int, rng *rand.Rand) {
	t.Helper()
	stored := map[uint32][]float32{}
	draw := drifting(rng, dim)
	var ids []uint32
	for i := range calls {
		// Tides: mostly Add for a while, then mostly Delete.
		adds := 0.7
		if i/4000%2 == 1 {
			adds = 0.35
		}
		switch p := rng.Float64(); {
		case p < adds:
			v := draw()
			id, ok := x.Add(v)
			if _, taken := stored[id]; taken || !ok {
				t.Fatalf("Add returns id %d, %v", id, ok)
			}
			stored[id], ids = v, append(ids, id)
		case p < 0.995 && len(ids) > 0:
			j := rng.IntN(len(ids))
			x.Delete(ids[j])
			x.Delete(ids[j])
			if got := x.Vector(ids[j]); got != nil {
				t.Fatalf("row %d is there after Delete", ids[j])
			}
			delete(stored, ids[j])
			ids = slices.Delete(ids, j, j+1)
		case len(ids) > 0:
			id := ids[rng.IntN(len(ids))]
			if diff := gocmp.Diff(stored[id], x.Vector(id)); diff != "" {
				t.Fatalf("row %d (-want +got)\n%s", id, diff)
			}
			checkSearch(t, rng, x, stored, near(rng, stored[id], 0.97))
		}
		if x.Len() != len(stored) {
			t.Fatalf("Len = %d, want %d", x.Len(), len(stored))
		}
	}
	for _, id := range ids {
		x.Delete(id)
	}
	if x.Len() != 0 || x.Bytes() != 0 {
		t.Errorf("%d rows and %d bytes are left", x.Len(), x.Bytes())
	}
}

// TestChurn compares with a map through 30,000 calls, while sketches come, are
// made anew and go.
func TestChurn(t *testing.T) {
	for _, dim := range []int{2, 130} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			t.Parallel()
			x := small(dim, 48)
			defer x.Close()
			play(t, x, dim, 30_000, rand.New(rand.NewPCG(uint64(dim), 8)))
		})
	}
}

// FuzzIndex takes the input for calls.
func FuzzIndex(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 0x40, 0x80, 0xc0, 0xff}, uint8(1))
	f.Add([]byte{255, 0, 255, 1, 9, 0x81}, uint8(130))
	f.Fuzz(func(t *testing.T, calls []byte, dim uint8) {
		rng := rand.New(rand.NewPCG(uint64(dim), 9))
		x := small(int(dim), 8)
		defer x.Close()
		stored := map[uint32][]float32{}
		for _, c := range calls[:min(len(calls), 60)] {
			switch arg := uint32(c & 0x3f); c >> 6 {
			case 0: // a few rows near each other
				v := random(rand.New(rand.NewPCG(uint64(arg%4), 1)), max(1, int(dim)))
				for range arg {
					v = near(rng, v, 0.95)
					if id, ok := x.Add(v); ok {
						stored[id] = v
					} else if dim > 0 {
						t.Fatalf("Add refuses %v", v)
					}
				}
			case 1:
				for id := arg; id < arg*8; id++ {
					x.Delete(id)
					delete(stored, id)
				}
			case 2:
				if v := stored[arg*3]; v != nil {
					checkSearch(t, rng, x, stored, near(rng, v, 0.95))
				}
			case 3:
				if arg == 0x3f {
					x.Close()
					clear(stored)
				}
			}
		}
		if x.Len() != len(stored) {
			t.Errorf("Len = %d, want %d", x.Len(), len(stored))
		}
	})
}

// TestConcurrent searches while others add and delete. Rows that stay are found
// always, and deleted ones never.
func TestConcurrent(t *testing.T) {
	const dim, stay, rounds = 160, 200, 1500
	x := small(dim, 64)
	rng := rand.New(rand.NewPCG(1, 10))
	staying := map[uint32][]float32{}
	for range stay {
		v := random(rng, dim)
		id, _ := x.Add(v)
		staying[id] = v
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 11))
			var own []uint32
			for range rounds {
				v := random(rng, dim)
				id, _ := x.Add(v)
				own = append(own, id)
				if len(own) < 300 {
					continue
				}
				x.Delete(own[0])
				own = own[1:]
				if len(x.Search(nil, v, 0.999, 1)) != 1 {
					t.Error("a row is missing that was added")
				}
			}
		})
		wg.Go(func() {
			var hits []Hit
			for range 4 {
				for id, v := range staying {
					hits = x.Search(hits[:0], v, 0.999, 0)
					if len(hits) == 0 || hits[0].ID != id {
						t.Errorf("row %d is missing: %v", id, hits)
					}
					x.Vector(id)
					x.Len()
					x.Bytes()
				}
			}
		})
	}
	wg.Wait()
	x.Close()
	x.Close()
	if x.Len() != 0 {
		t.Errorf("%d rows after Close", x.Len())
	}
}
