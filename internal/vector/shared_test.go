package vector

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestSharedRows compares an index that keeps vectors with one that copies them.
func TestSharedRows(t *testing.T) {
	const dim = 128
	r := rand.New(rand.NewPCG(1, 2))
	random := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64()) + 2
		}
		Normalize(v)
		return v
	}
	shared, copied := NewShared(dim), New(dim)
	for range 6000 {
		v := random()
		a, okA := shared.Add(v)
		b, okB := copied.Add(slices.Clone(v))
		if a != b || !okA || !okB {
			t.Fatalf("Add: %d, %v and %d, %v", a, okA, b, okB)
		}
		if r.IntN(3) == 0 {
			id := uint32(r.IntN(int(a) + 1))
			shared.Delete(id)
			copied.Delete(id)
		}
	}
	for range 20 {
		q := random()
		if a, b := shared.Search(nil, q, 0.8, 0), copied.Search(nil, q, 0.8, 0); !slices.Equal(a, b) || len(a) == 0 {
			t.Errorf("%d are found, and %d", len(a), len(b))
		}
	}
	if a, b := shared.Bytes(), copied.Bytes(); a > b/4 {
		t.Errorf("%d bytes, and %d", a, b)
	}
	shared.Close()
	if _, ok := shared.Add(random()); !ok || shared.Len() != 1 {
		t.Error("a closed index does not begin again")
	}
}

// TestSearchWhileTheLastRowGoes is for the race detector.
func TestSearchWhileTheLastRowGoes(t *testing.T) {
	x, v := New(2), []float32{1, 0}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range 5000 {
			id, _ := x.Add(v)
			x.Delete(id)
			runtime.Gosched()
		}
		x.Close()
	}()
	for {
		if hits := x.Search(nil, v, 0.5, 0); len(hits) > 1 {
			t.Errorf("%d are found", len(hits))
		}
		select {
		case <-over:
			return
		default:
		}
	}
}
