package vector

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIndex(t *testing.T) {
	x := New(2)
	defer x.Close()
	add := func(a, b float32) uint32 {
		t.Helper()
		id, ok := x.Add([]float32{a, b})
		if !ok {
			t.Fatalf("Add(%v, %v) refused", a, b)
		}
		return id
	}
	east, north, also := add(1, 0), add(0, 1), add(1, 0)
	between := add(0.6, 0.8)
	search := func(threshold float32, limit int) []Hit { return x.Search(nil, []float32{1, 0}, threshold, limit) }

	want := []Hit{{east, 1}, {also, 1}, {between, 0.6}}
	if diff := cmp.Diff(want, search(0.5, 0)); diff != "" {
		t.Errorf("best first, equal ones by id (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want[:1], search(0.5, 1)); diff != "" {
		t.Errorf("limit (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]Hit{{east, 1}, {also, 1}, {between, 0.6}, {north, 0}}, search(-1, 0)); diff != "" {
		t.Errorf("all (-want +got)\n%s", diff)
	}
	x.Delete(east)
	x.Delete(east)
	x.Delete(99)
	if diff := cmp.Diff(want[1:], search(0.5, 0)); diff != "" {
		t.Errorf("after Delete (-want +got)\n%s", diff)
	}
	if got := x.Vector(east); got != nil {
		t.Errorf("deleted row is %v, want none", got)
	}
	if diff := cmp.Diff([]float32{0.6, 0.8}, x.Vector(between)); diff != "" {
		t.Error(diff)
	}
	if again := add(0, -1); again != east {
		t.Errorf("new row has id %d, want %d again", again, east)
	}
	if x.Len() != 4 {
		t.Errorf("Len = %d, want 4", x.Len())
	}
}

func TestWhatIsRefused(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := New(2)
	defer x.Close()
	x.Add([]float32{1, 0})
	for _, v := range [][]float32{nil, {1}, {1, 0, 0}, {nan, 1}, {inf, 0}, {-inf, inf}, {0, 0}, {2, 0}, {0.9, 0}} {
		if _, ok := x.Add(v); ok {
			t.Errorf("Add(%v) is taken", v)
		}
		if got := x.Search(nil, v, -1, 0); got != nil {
			t.Errorf("Search(%v) = %v, want none", v, got)
		}
	}
	if x.Len() != 1 {
		t.Errorf("Len = %d, want 1", x.Len())
	}
}

func TestNormalize(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{nil, {0, 0}, {nan, 1}, {inf, 1}} {
		if Normalize(slices.Clone(v)) {
			t.Errorf("Normalize(%v) = true", v)
		}
	}
	for _, v := range [][]float32{{3, 4}, {1e-40, 0}, {3e38, 3e38}, {-1}} {
		if !Normalize(v) || !isUnit(v) {
			t.Errorf("Normalize makes %v", v)
		}
	}
}

// TestSearchDoesNotAllocate searches with and without sketches.
func TestSearchDoesNotAllocate(t *testing.T) {
	for _, n := range []int{100, 1000} {
		rng := rand.New(rand.NewPCG(1, 20))
		x := small(128, 32)
		v := random(rng, 128)
		x.Add(v)
		for range n {
			x.Add(random(rng, 128))
		}
		if sketched := x.keep.now != nil; sketched != (n == 1000) {
			t.Fatalf("%d rows: searches use sketches: %v", n, sketched)
		}
		hits := make([]Hit, 0, 8)
		if got := testing.AllocsPerRun(20, func() { hits = x.Search(hits[:0], v, 0.9, 4) }); got != 0 {
			t.Errorf("%d rows: %v allocations, want 0", n, got)
		}
		if len(hits) != 1 {
			t.Errorf("%d rows: %v", n, hits)
		}
		x.Close()
	}
}

// TestSearchAppends keeps what dst has.
func TestSearchAppends(t *testing.T) {
	x := New(1)
	x.Add([]float32{1})
	x.Add([]float32{1})
	before := Hit{7, 0.1}
	if diff := cmp.Diff([]Hit{before, {0, 1}}, x.Search([]Hit{before}, []float32{1}, 0.5, 1)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// heap returns the bytes that are in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestMemory holds what rows cost beside their numbers: little, for many indexes
// of a few rows and for one of many.
func TestMemory(t *testing.T) {
	const dim = 768
	v := random(rand.New(rand.NewPCG(1, 21)), dim)
	for _, tt := range []struct{ indexes, rows, extra int }{
		{1000, 1, 1000}, {300, 3, 1100}, {20, 40, 3000}, {1, 1000, 50_000}, {1, 1100, 500_000}, {1, 12_000, 2_000_000},
	} {
		before := heap()
		all := make([]*Index, tt.indexes)
		var told int64
		for i := range all {
			all[i] = New(dim)
			for range tt.rows {
				all[i].Add(v)
			}
			told += all[i].Bytes()
		}
		took := (heap() - before) / tt.indexes
		extra := took - tt.rows*dim*4
		if extra > tt.extra {
			t.Errorf("an index of %d rows has %d bytes beside them, %d at most", tt.rows, extra, tt.extra)
		}
		if each := int(told) / tt.indexes; each < took/100*95-1000 || each > took/100*105 {
			t.Errorf("Bytes = %d, it takes %d", each, took)
		}
		runtime.KeepAlive(all)
	}
}

// TestMemoryOfDeletedRows is given back where all neighbours are deleted too, and
// not before.
func TestMemoryOfDeletedRows(t *testing.T) {
	const dim, n = 256, 5000
	for _, cut := range []int{4490, 4520, 4544} { // within either half of 64 rows, and between
		rng := rand.New(rand.NewPCG(1, 22))
		x := New(dim)
		var all [][]float32
		for range n {
			v := random(rng, dim)
			all = append(all, v)
			x.Add(v)
		}
		full := x.Bytes()
		for id := range cut {
			x.Delete(uint32(id))
		}
		if got := x.Bytes(); got > full/4 {
			t.Errorf("%d of %d bytes are left for a tenth of the rows", got, full)
		}
		for id := cut; id < n; id++ {
			if !slices.Equal(all[id], x.Vector(uint32(id))) {
				t.Fatalf("row %d has changed", id)
			}
		}
		for id := range n {
			x.Delete(uint32(id))
		}
		if got := x.Bytes(); got != 0 {
			t.Errorf("%d bytes are left for no row", got)
		}
	}
}

// TestFewRowsAmongDeletedOnes are found without sketches.
func TestFewRowsAmongDeletedOnes(t *testing.T) {
	const dim, n = 128, 4000
	rng := rand.New(rand.NewPCG(1, 23))
	x := New(dim)
	for range n {
		x.Add(random(rng, dim))
	}
	if x.keep.of(&x.rows) == nil {
		t.Fatal("no sketches")
	}
	for id := range uint32(n - 10) {
		x.Delete(id)
	}
	if x.keep.of(&x.rows) != nil {
		t.Error("sketches of deleted rows are read")
	}
	for id := range uint32(10) {
		id += n - 10
		if got := x.Search(nil, x.Vector(id), 0.99, 1); len(got) != 1 || got[0].ID != id {
			t.Errorf("row %d: %v", id, got)
		}
	}
}

// TestSketchesFollowTheRows trains again when there are many more rows, and when
// they are of another kind.
func TestSketchesFollowTheRows(t *testing.T) {
	const dim, start = 256, 64
	rng := rand.New(rand.NewPCG(1, 24))
	bases := func(x *Index, w world, n int) (made int) {
		draw, last := w(rng, dim), x.keep.now
		for range n {
			x.Add(draw())
			if x.keep.now != last {
				last = x.keep.now
				made++
			}
		}
		return made
	}
	x := small(dim, start)
	if got := bases(x, clustered, 1200); got != 1 {
		t.Errorf("%d bases for the first rows, want 1", got)
	}
	x.keep.rows = 1 << 30 // growth is not the reason
	if got := bases(x, clustered, 1200); got != 0 {
		t.Errorf("%d bases for more of the same, want 0", got)
	}
	if got := bases(x, uniform, 6000); got == 0 || got > 5 {
		t.Errorf("%d bases for other rows, want a few", got)
	}

	x = small(dim, start)
	if got := bases(x, uniform, 3000); got < 2 {
		t.Errorf("%d bases while rows grow by more than ten times, want 2", got)
	}
}

// TestSketchesLeaveFewRows says what training is worth.
func TestSketchesLeaveFewRows(t *testing.T) {
	const dim, n = 256, 5000
	for name, w := range map[string]world{"clustered": clustered, "templates": templates} {
		rng := rand.New(rand.NewPCG(1, 25))
		draw, x := w(rng, dim), New(dim)
		for range n {
			x.Add(draw())
		}
		queries := make([][]float32, 50)
		for i := range queries {
			queries[i] = draw()
		}
		if left := x.left(queries); left > n/50 {
			t.Errorf("%s: sketches leave %v of %d rows", name, left, n)
		}
	}
}
