package growth

import (
	"math"
	"testing"
)

// curveOf returns the costs of the sizes up to 1000.
func curveOf(cost func(n float64) float64) []Point {
	var out []Point
	for _, n := range (&Run{}).sizes(1000, 0) {
		out = append(out, Point{float64(n), cost(float64(n))})
	}
	return out
}

func TestExponent(t *testing.T) {
	for name, c := range map[string]struct {
		cost func(float64) float64
		want float64
	}{
		"level":                          {func(float64) float64 { return 7 }, 0},
		"root":                           {math.Sqrt, 0.5},
		"linear":                         {func(n float64) float64 { return 3 * n }, 1},
		"quadratic":                      {func(n float64) float64 { return n * n / 100 }, 2},
		"falling":                        {func(n float64) float64 { return 1 / n }, -1},
		"linear where sizes are large":   {func(n float64) float64 { return max(n, 30) }, 1},
		"level where sizes are large":    {func(n float64) float64 { return 1 / min(n, 30) }, 0},
		"linear with noise of a quarter": {func(n float64) float64 { return n * (1 + 0.25*math.Sin(n)) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Exponent(curveOf(c.cost))
			if tolerance := 1e-9; err != nil || math.Abs(got-c.want) > tolerance && (math.Abs(got-c.want) > 0.1 || name != "linear with noise of a quarter") {
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestExponentNeedsACurve(t *testing.T) {
	for name, points := range map[string][]Point{
		"no point":                 nil,
		"two in the upper half":    {{1, 1}, {2, 2}, {3, 3}},
		"one size":                 {{2, 1}, {2, 2}, {2, 3}},
		"a cost of zero":           {{1, 1}, {10, 0}, {11, 1}, {12, 1}, {13, 1}},
		"a cost that is not known": {{10, 1}, {11, math.NaN()}},
	} {
		t.Run(name, func(t *testing.T) {
			if k, err := Exponent(points); err == nil {
				t.Errorf("the exponent is %v, want an error", k)
			}
		})
	}
}

func TestRise(t *testing.T) {
	for name, c := range map[string]struct {
		costs []float64
		from  float64
		want  float64
	}{
		"level":                              {[]float64{3, 3, 3}, 0, 1},
		"all zero":                           {[]float64{0, 0, 0}, 0, 1},
		"falling":                            {[]float64{9, 3, 1}, 0, 1},
		"rising":                             {[]float64{2, 3, 8}, 0, 4},
		"falling, then rising":               {[]float64{9, 2, 3}, 0, 1.5},
		"rising from zero":                   {[]float64{0, 1}, 0, math.Inf(1)},
		"rising before the sizes that count": {[]float64{1, 4, 6}, 2, 1.5},
	} {
		t.Run(name, func(t *testing.T) {
			var points []Point
			for i, cost := range c.costs {
				points = append(points, Point{float64(i + 1), cost})
			}
			if got := Rise(points, c.from); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
