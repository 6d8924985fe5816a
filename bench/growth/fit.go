package growth

import (
	"errors"
	"math"
)

// Point is a size, and what it cost.
type Point struct{ X, Y float64 }

// errFew says that a curve is too short to be judged.
var errFew = errors.New("growth: an exponent needs three sizes in the upper half of the range, and costs above zero")

// upperHalf returns the points whose size is at least the geometric mean of the
// smallest and the largest: below it, what a call costs by itself hides how it
// grows.
func upperHalf(points []Point) []Point {
	least, most := math.Inf(1), 0.0
	for _, p := range points {
		least, most = min(least, p.X), max(most, p.X)
	}
	var out []Point
	for _, p := range points {
		if p.X >= math.Sqrt(least*most) {
			out = append(out, p)
		}
	}
	return out
}

// Exponent returns the k of cost = c * size^k that fits the upper half of the
// range best: the slope of the line through the logarithms, by least squares.
func Exponent(points []Point) (float64, error) {
	upper := upperHalf(points)
	var n, sx, sy, sxx, sxy float64
	for _, p := range upper {
		if p.X <= 0 || p.Y <= 0 {
			return 0, errFew
		}
		x, y := math.Log(p.X), math.Log(p.Y)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if n < 3 || n*sxx-sx*sx < 1e-9*n*sxx {
		return 0, errFew
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx), nil
}

// Rise returns how many times the cost of a smaller size a cost is at most, among
// the sizes from one on, which are in their order. A cost that falls, as what a
// call takes by itself is shared by more, has a rise of 1, as one of zero has.
func Rise(points []Point, from float64) float64 {
	least, rise := math.Inf(1), 1.0
	for _, p := range points {
		if p.X < from {
			continue
		}
		if least = min(least, p.Y); p.Y > 0 {
			rise = max(rise, p.Y/least)
		}
	}
	return rise
}
