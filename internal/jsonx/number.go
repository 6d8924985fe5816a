package jsonx

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Int reads an integer; null reads as 0. Integral numbers in any notation are
// accepted (13.0, 1e3); fractions and numbers beyond 64 bits are errors.
func (r *Reader) Int() int64 {
	if n, ok := r.digits(); ok {
		return n
	}
	lit := r.number()
	if lit == nil {
		return 0
	}
	return r.integer(lit)
}

// maxDigits is how many digits always fit into 64 bits.
const maxDigits = 18

// digits reads the usual integer: a few digits with neither sign, fraction nor
// exponent. It consumes nothing when the number is of another form.
func (r *Reader) digits() (int64, bool) {
	i := skipSpace(r.data, r.pos)
	if i >= len(r.data) {
		return 0, false
	}
	lit, n, size := r.data[i:], int64(0), 0
	for size < len(lit) && lit[size]-'0' <= 9 && size <= maxDigits {
		n = n*10 + int64(lit[size]-'0')
		size++
	}
	if size == 0 || size > maxDigits || size > 1 && lit[0] == '0' || size == len(lit) {
		return 0, false
	}
	switch lit[size] {
	case ',', '}', ']', ' ', '\n', '\r', '\t':
	default:
		return 0, false
	}
	r.start, r.pos = i, i+size
	return n, true
}

// LooseInt reads like Int and also accepts the number as a string, as protobuf
// writes 64-bit integers. [ProtoJSON]
//
// [ProtoJSON]: https://protobuf.dev/programming-guides/json/
func (r *Reader) LooseInt() int64 {
	if n, ok := r.digits(); ok {
		return n
	}
	if c, ok := r.peek(); !ok || c != '"' {
		return r.Int()
	}
	at := r.pos
	lit := r.Bytes()
	if r.err != nil {
		return 0
	}
	if len(lit) > 0 && kindOf(lit[0]) == Number {
		if end, f := skipNumber(lit, 0); f == faultNone && end == len(lit) {
			return r.integer(lit)
		}
	}
	r.fail(at, faultInteger)
	return 0
}

// Float reads a number; null reads as 0.
func (r *Reader) Float() float64 {
	if c, ok := r.peek(); ok && kindOf(c) == Number {
		if f, end, ok := plainFloat(r.data, r.pos); ok {
			r.start, r.pos = r.pos, end
			return f
		}
	}
	lit := r.number()
	if lit == nil {
		return 0
	}
	f, err := strconv.ParseFloat(stringView(lit), 64)
	if err != nil {
		r.fail(r.start, faultRange)
		return 0
	}
	return f
}

// number returns the number that is next, or nil after a null or an error.
func (r *Reader) number() []byte {
	c, ok := r.peek()
	if !ok || kindOf(c) != Number {
		if !r.Null() {
			r.mismatch(Number)
		}
		return nil
	}
	end, f := skipNumber(r.data, r.pos)
	if f != faultNone {
		r.fail(end, f)
		return nil
	}
	r.start, r.pos = r.pos, end
	return r.data[r.start:end]
}

// integer converts a number that was just read.
func (r *Reader) integer(lit []byte) int64 {
	n, ok := parseInt(lit)
	if !ok {
		r.fail(r.start, faultInteger)
	}
	return n
}

// parseInt converts a valid number if it is an integer of 64 bits.
func parseInt(lit []byte) (int64, bool) {
	d := splitDecimal(lit)
	if d.overflow || d.mant != 0 && d.exp < 0 {
		return 0, false
	}
	n := d.mant
	for range d.exp {
		if n == 0 {
			break
		}
		if n > math.MaxUint64/10 {
			return 0, false
		}
		n *= 10
	}
	switch {
	case d.neg && n <= 1<<63:
		return -int64(n), true
	case !d.neg && n < 1<<63:
		return int64(n), true
	}
	return 0, false
}

// decimal is mant * 10^exp, and mant does not end in a zero digit.
type decimal struct {
	mant     uint64
	exp      int
	neg      bool
	overflow bool // more digits than mant can hold
}

// splitDecimal takes a valid number apart.
func splitDecimal(lit []byte) decimal {
	var d decimal
	if lit[0] == '-' {
		d.neg, lit = true, lit[1:]
	}
	zeros, fraction := 0, false
	for i, c := range lit {
		if c|0x20 == 'e' {
			d.exp += exponent(lit[i+1:])
			break
		}
		if c == '.' {
			fraction = true
			continue
		}
		if fraction {
			d.exp--
		}
		// Zeros wait until a digit after them shows that they count.
		if c == '0' {
			zeros++
			continue
		}
		for ; zeros > 0; zeros-- {
			d.push(0)
		}
		zeros = 0
		d.push(c - '0')
	}
	d.exp += zeros
	return d
}

func (d *decimal) push(digit byte) {
	if d.mant > (math.MaxUint64-9)/10 {
		d.overflow = true
		return
	}
	d.mant = d.mant*10 + uint64(digit)
}

// maxExponent is far beyond all exponents that matter.
const maxExponent = 1 << 27

// exponent reads the part after the e, up to maxExponent.
func exponent(lit []byte) int {
	neg := lit[0] == '-'
	if neg || lit[0] == '+' {
		lit = lit[1:]
	}
	n := 0
	for _, c := range lit {
		n = min(n*10+int(c-'0'), maxExponent)
	}
	if neg {
		return -n
	}
	return n
}

// plainFloat reads the number at start if it has no exponent and at most 19
// digits that count, as scores and vectors have. Whether there is a sign, and how
// many digits, no processor can foresee: there are few branches on either.
func plainFloat(data []byte, start int) (f float64, end int, ok bool) {
	sign := uint64(0)
	if data[start] == '-' {
		sign = 1
	}
	i := start + int(sign)
	first, mant, scale := i, uint64(0), 0
	for ; i < len(data) && data[i]-'0' <= 9; i++ {
		mant = mant*10 + uint64(data[i]-'0')
	}
	count := i - first // of the digits that fill mant
	if count == 0 || count > 1 && data[first] == '0' {
		return 0, 0, false
	}
	if i < len(data) && data[i] == '.' {
		point := i
		mant, i = fraction(data, i+1, mant)
		if scale = i - point - 1; scale == 0 {
			return 0, 0, false
		}
		if count += scale; count > maxExactDigits && data[first] == '0' {
			count = scale // and zeros before the others are in the scale, but fill nothing
			for k := point + 1; k < i && data[k] == '0'; k++ {
				count--
			}
		}
	}
	if count > maxExactDigits || scale >= len(powersOfFive) || i < len(data) && data[i]|0x20 == 'e' {
		return 0, 0, false
	}
	// A mantissa and a power of ten that are exact as floats need one rounding
	// only, which is the right one.
	switch {
	case mant <= 1<<53 && scale < len(powersOfTen):
		f = float64(mant) / powersOfTen[scale]
	case mant != 0:
		f = quotient(mant, scale)
	}
	return math.Float64frombits(math.Float64bits(f) | sign<<63), i, true
}

// fraction reads the digits at i, eight at a time, behind those of mant. It
// returns where they end.
func fraction(data []byte, i int, mant uint64) (uint64, int) {
	const (
		zeros = 0x3030303030303030 // "00000000"
		below = 0x7676767676767676 // carries from 10 on into the highest bit of a byte
		highs = 0x8080808080808080
	)
	for i+8 <= len(data) {
		x := binary.LittleEndian.Uint64(data[i:]) ^ zeros
		others := (x + below | x) & highs // exact up to the first byte that is no digit
		if others == 0 {
			mant = mant*1e8 + eightDigits(x)
			i += 8
			continue
		}
		n := bits.TrailingZeros64(others) / 8
		return mant*tens[n&7] + eightDigits(x<<(64-8*n)), i + n
	}
	for ; i < len(data) && data[i]-'0' <= 9; i++ {
		mant = mant*10 + uint64(data[i]-'0')
	}
	return mant, i
}

// eightDigits is the number whose digits are the bytes of x, the lowest first:
// pairs are joined, then pairs of pairs, and then both halves.
func eightDigits(x uint64) uint64 {
	const pairs = 0x000000ff000000ff
	x = x*10 + x>>8
	return ((x&pairs)*(1e6<<32+100) + (x>>16&pairs)*(1e4<<32+1)) >> 32
}

// tens are the powers of ten that less than eight digits need.
var tens = [8]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}

// maxExactDigits is how many digits always fit into 64 bits without a sign.
const maxExactDigits = 19

// quotient returns the float closest to mant / 10^scale, for a mant above 0.
func quotient(mant uint64, scale int) float64 {
	// mant / 10^scale is mant / 5^scale * 2^-scale. The dividend is shifted such
	// that the quotient has 63 or 64 bits; what remains only breaks ties.
	d := powersOfFive[scale]
	shift := 63 - bits.Len64(mant) + bits.Len64(d)
	var hi, lo uint64
	if shift >= 64 {
		hi = mant << (shift - 64)
	} else {
		hi, lo = mant>>(64-shift), mant<<shift
	}
	q, rest := bits.Div64(hi, lo, d)
	drop := bits.Len64(q) - 53
	cut, half := q&(1<<drop-1), uint64(1)<<(drop-1)
	m, exp := q>>drop, drop-shift-scale
	if cut > half || cut == half && (rest != 0 || m&1 == 1) {
		m++
	}
	if m == 1<<53 {
		m, exp = m>>1, exp+1
	}
	return math.Float64frombits(m&(1<<52-1) | uint64(exp+52+1023)<<52)
}

// powersOfFive are those that fit into 64 bits.
var powersOfFive = [...]uint64{
	1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125, 6103515625, 30517578125,
	152587890625, 762939453125, 3814697265625, 19073486328125, 95367431640625, 476837158203125, 2384185791015625, 11920928955078125,
	59604644775390625, 298023223876953125, 1490116119384765625, 7450580596923828125,
}

// powersOfTen are exact as floats.
var powersOfTen = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}
