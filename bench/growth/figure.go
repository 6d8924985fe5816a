package growth

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// scales are the names of powers of a thousand.
var scales = map[Unit][]string{
	Nanoseconds: {" ns", " µs", " ms", " s"},
	Bytes:       {" B", " kB", " MB", " GB", " TB"},
}

// figure writes a figure with three digits and its unit; – for none.
func figure(v float64, unit Unit) string {
	if math.IsNaN(v) {
		return "–"
	}
	names, ok := scales[unit]
	if !ok {
		return count(v)
	}
	at := 0
	for ; at < len(names)-1 && rounded(v) >= 1000; at++ {
		v /= 1000
	}
	return count(v) + names[at]
}

// count writes a number, with commas between its thousands.
func count(v float64) string {
	if rounded(v) < 1000 {
		return digits(v)
	}
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// rounded returns a number with three digits.
func rounded(v float64) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return math.Round(v/unit) * unit
}

// digits writes three digits of a number, without zeros at the end.
func digits(v float64) string {
	switch v = rounded(v); {
	case v == 0:
		return "0"
	case math.Abs(v) < 0.01:
		return "<0.01"
	case math.Abs(v) >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	s := fmt.Sprintf("%.*f", max(2-int(math.Floor(math.Log10(math.Abs(v))+1e-9)), 0), v)
	if math.Abs(v) < 1 {
		s = fmt.Sprintf("%.2f", v)
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
