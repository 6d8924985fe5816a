package prices

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Amount is money in billionths of a US dollar. Sums are exact, up to nine billion
// dollars.
type Amount int64

// Units of an [Amount].
const (
	NanoDollar Amount = 1
	Dollar     Amount = 1e9
)

// USD returns the amount in dollars.
func (a Amount) USD() float64 { return float64(a) / float64(Dollar) }

// String returns the amount in dollars with all its digits and no more, such as
// "0.000123".
func (a Amount) String() string {
	sign, n := "", uint64(a)
	if a < 0 {
		sign, n = "-", uint64(-a)
	}
	whole := sign + strconv.FormatUint(n/uint64(Dollar), 10)
	rest := n % uint64(Dollar)
	if rest == 0 {
		return whole
	}
	digits := strconv.FormatUint(rest+uint64(Dollar), 10)[1:]
	return whole + "." + strings.TrimRight(digits, "0")
}

// MarshalJSON writes the amount as a number of dollars, exactly.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalJSON reads a number of dollars, rounded to a billionth.
func (a *Amount) UnmarshalJSON(b []byte) error {
	out, err := ParseAmount(string(b))
	if err == nil {
		*a = out
	}
	return err
}

// ParseAmount reads a number of dollars, such as "0.000123" or "1e-6", rounded to
// a billionth.
func ParseAmount(s string) (Amount, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 9e9 {
		return 0, errors.New("prices: an amount is a number of dollars between -9e9 and 9e9")
	}
	return Amount(math.Round(f * float64(Dollar))), nil
}
