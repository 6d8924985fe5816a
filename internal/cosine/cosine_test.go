package cosine_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/cosine"
)

func TestSimilarity(t *testing.T) {
	third := float32(1 / math.Sqrt(3))
	for name, tt := range map[string]struct {
		a, b []float32
		want float64
	}{
		"itself, though rounded": {[]float32{third, third, third}, []float32{third, third, third}, 1},
		"the opposite":           {[]float32{0.6, -0.8}, []float32{-0.6, 0.8}, -1},
		"a right angle":          {[]float32{1, 0}, []float32{0, 1}, 0},
		"another length":         {[]float32{3, 0}, []float32{0.5, 0}, 1},
		"between":                {[]float32{1, 0}, []float32{0.6, 0.8}, float64(float32(0.6))},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cosine.Similarity(tt.a, tt.b); math.Abs(got-tt.want) > 1e-7 || tt.want == 1 && got != 1 {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestVectorsWithoutDirectionAreNotValid(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{nil, {}, {0, 0}, {nan, 1}, {inf, 0}, {1, -inf}} {
		if cosine.Valid(v) {
			t.Errorf("%v is valid", v)
		}
	}
	if !cosine.Valid([]float32{0, 1e-20}) {
		t.Error("a short vector is not valid")
	}
}

func TestPackedVectorsComeBack(t *testing.T) {
	want := []float32{0, -1.5, math.MaxFloat32, math.SmallestNonzeroFloat32}
	packed := cosine.Append(nil, want)
	got := make([]float32, len(want))
	if !cosine.Parse(got, string(packed)) {
		t.Fatal("not read")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
	if cosine.Parse(got, packed[1:]) || cosine.Parse(got[1:], packed) {
		t.Error("another number of elements was read")
	}
}
