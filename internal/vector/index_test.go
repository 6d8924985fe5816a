package vector

import (
	"math"
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
