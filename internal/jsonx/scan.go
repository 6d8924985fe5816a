package jsonx

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Masks for tests of eight bytes at once.
const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// stops marks which of eight bytes of text are a quote, a backslash or a control byte:
// the lowest mark is the highest bit of the first of them.
func stops(w uint64) uint64 {
	// With the second bit flipped, control bytes and the quote are just those below
	// '!'. A borrow can mark a byte above a true hit by mistake, never one below.
	low, slash := w^(lowBits*2), w^(lowBits*'\\')
	return ((low-lowBits*'!')&^low | (slash-lowBits)&^slash) & highBits
}

// stopsASCII is stops with bytes beyond ASCII marked, too. As there, only what is above
// a true hit can be marked by mistake.
func stopsASCII(w uint64) uint64 {
	return (w | (w ^ (lowBits * 2) - lowBits*'!') | (w ^ (lowBits * '\\') - lowBits)) & highBits
}

// scanPlain returns the index of the first quote, backslash or control byte at
// or after i, or len(data), and whether bytes beyond ASCII may lie before it.
func scanPlain(data []byte, i int) (end int, wide bool) {
	for ; i+8 <= len(data); i += 8 {
		if hits := stopsASCII(binary.LittleEndian.Uint64(data[i:])); hits != 0 {
			i += bits.TrailingZeros64(hits) >> 3
			if data[i] < utf8.RuneSelf {
				return i, false
			}
			return scanWide(data, i), true
		}
	}
	if rest := len(data) - i; rest > 0 && len(data) >= 8 {
		// The rest is moved down in the last word, and the zeros behind it are stops.
		w := binary.LittleEndian.Uint64(data[len(data)-8:]) >> (64 - 8*uint(rest))
		i += bits.TrailingZeros64(stopsASCII(w)) >> 3
	}
	if i >= len(data) || len(data) >= 8 && data[i] < utf8.RuneSelf {
		return i, false
	}
	end = scanWide(data, i)
	return end, true
}

// scanWide is scanPlain for text with bytes beyond ASCII.
func scanWide(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		if hits := stops(binary.LittleEndian.Uint64(data[i:])); hits != 0 {
			return i + bits.TrailingZeros64(hits)>>3
		}
	}
	for ; i < len(data); i++ {
		if c := data[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}

// skipValue returns the index after the value at i, or the offset of what is
// wrong with it. depth counts the objects and arrays open around it.
func skipValue(data []byte, i, depth int) (int, fault) {
	if i >= len(data) {
		return i, faultEnd
	}
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{':
		return skipObject(data, i, depth+1)
	case '[':
		return skipArray(data, i, depth+1)
	case 't':
		return skipLiteral(data, i, "true")
	case 'f':
		return skipLiteral(data, i, "false")
	case 'n':
		return skipLiteral(data, i, "null")
	}
	if kindOf(data[i]) == Number {
		return skipNumber(data, i)
	}
	return i, faultValue
}

func skipObject(data []byte, i, depth int) (int, fault) {
	if depth > MaxDepth {
		return i, faultDepth
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, faultNone
	}
	for {
		var f fault
		if i, f = skipMember(data, i, depth); f != faultNone {
			return i, f
		}
		var done bool
		if i, done, f = skipSeparator(data, i, '}'); done || f != faultNone {
			return i, f
		}
	}
}

// skipMember passes over a key, the colon and the value.
func skipMember(data []byte, i, depth int) (int, fault) {
	if i >= len(data) {
		return i, faultEnd
	}
	if data[i] != '"' {
		return i, faultKey
	}
	i, f := skipString(data, i)
	if f != faultNone {
		return i, f
	}
	i = skipSpace(data, i)
	if i >= len(data) {
		return i, faultEnd
	}
	if data[i] != ':' {
		return i, faultColon
	}
	return skipValue(data, skipSpace(data, i+1), depth)
}

func skipArray(data []byte, i, depth int) (int, fault) {
	if depth > MaxDepth {
		return i, faultDepth
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == ']' {
		return i + 1, faultNone
	}
	for {
		var f fault
		if i, f = skipValue(data, i, depth); f != faultNone {
			return i, f
		}
		var done bool
		if i, done, f = skipSeparator(data, i, ']'); done || f != faultNone {
			return i, f
		}
	}
}

// skipSeparator passes over a comma, to the start of what follows it, or over
// the closing bracket, and then done is true.
func skipSeparator(data []byte, i int, closing byte) (next int, done bool, f fault) {
	i = skipSpace(data, i)
	switch {
	case i >= len(data):
		return i, false, faultEnd
	case data[i] == closing:
		return i + 1, true, faultNone
	case data[i] != ',':
		return i, false, separatorFault(closing)
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == closing {
		return i, false, faultTrailingComma
	}
	return i, false, faultNone
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && data[i] <= ' ' && isSpace(data[i]) {
		i++
	}
	return i
}

func skipLiteral(data []byte, i int, lit string) (int, fault) {
	end := i + len(lit)
	if end <= len(data) && string(data[i:end]) == lit {
		return end, faultNone
	}
	return i, faultLiteral
}

// skipString passes over the string whose opening quote is at i.
func skipString(data []byte, i int) (int, fault) {
	i++
	for {
		i, _ = scanPlain(data, i)
		switch {
		case i >= len(data):
			return i, faultEnd
		case data[i] == '"':
			return i + 1, faultNone
		case data[i] != '\\':
			return i, faultControl
		}
		n, f := escapeLen(data[i:])
		i += n
		if f != faultNone {
			return i, f
		}
	}
}

// escapeLen returns the length of the escape at the start of b, or the offset
// of what is wrong with it.
func escapeLen(b []byte) (int, fault) {
	if len(b) < 2 {
		return len(b), faultEnd
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, faultNone
	case 'u':
		if len(b) < 6 {
			return len(b), faultEnd
		}
		if _, ok := hex4(b[2:]); ok {
			return 6, faultNone
		}
	}
	return 0, faultEscape
}

// hex4 reads the four digits of a \u escape. b must not be shorter.
func hex4(b []byte) (r rune, ok bool) {
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// skipNumber passes over the number at start.
func skipNumber(data []byte, start int) (int, fault) {
	i := start
	if data[i] == '-' {
		i++
	}
	first := i
	i = skipDigits(data, i)
	switch {
	case i == first:
		return start, faultNumber
	case data[first] == '0':
		i = first + 1 // a leading zero stands alone
	}
	if i < len(data) && data[i] == '.' {
		first = i + 1
		if i = skipDigits(data, first); i == first {
			return start, faultNumber
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		first = i + 1
		if first < len(data) && (data[first] == '+' || data[first] == '-') {
			first++
		}
		if i = skipDigits(data, first); i == first {
			return start, faultNumber
		}
	}
	return i, faultNone
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	return i
}
