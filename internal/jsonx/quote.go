package jsonx

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// escape is what stands for a byte within a string: size characters, of which the
// first is the lowest byte of text.
type escape struct {
	text uint64
	size int
}

// maxEscaped is how many bytes a byte of text can take at most.
const maxEscaped = len(`\u0000`)

// escapes has what stands for each byte that JSON demands to be escaped.
var escapes = func() (all [128]escape) {
	set := func(c byte, text string) {
		var word [8]byte
		all[c] = escape{size: copy(word[:], text)}
		all[c].text = binary.LittleEndian.Uint64(word[:])
	}
	const hex = "0123456789abcdef"
	for c := range byte(' ') {
		set(c, `\u00`+hex[c>>4:c>>4+1]+hex[c&15:c&15+1])
	}
	for i, c := range []byte("\b\f\n\r\t\"\\") {
		set(c, `\`+`bfnrt"\`[i:i+1])
	}
	return all
}()

// slack is the room that a step needs: for a word of text, and for the word of an
// escape behind its last byte.
const slack = 16

// copyWord copies eight bytes of text, and returns them with the marks of their stops.
func copyWord(dst, text []byte) (w, hits uint64) {
	w = binary.LittleEndian.Uint64(text)
	binary.LittleEndian.PutUint64(dst, w)
	return w, stops(w)
}

// appendQuoted appends s as a JSON string. A word is copied as it is looked at: in
// most texts the runs between two escapes are too short for a copy of their own.
func appendQuoted(dst, s []byte) []byte {
	n := len(dst) + 1
	dst = append(slices.Grow(dst, len(s)+2+slack), '"')
	room := dst[:cap(dst)]
	i, seen := 0, uint64(0)
	for i+8 <= len(s) {
		if n+slack > len(room) {
			room = slices.Grow(room[:n], len(s)-i+2*slack)
			room = room[:cap(room)]
		}
		w, hits := copyWord(room[n:n+8], s[i:i+8])
		if hits == 0 {
			seen |= w
			i, n = i+8, n+8
			continue
		}
		shift := bits.TrailingZeros64(hits) &^ 7
		seen |= w & (1<<shift - 1)
		i, n = i+shift>>3+1, n+shift>>3
		e := &escapes[w>>shift&127]
		binary.LittleEndian.PutUint64(room[n:n+8], e.text)
		n += e.size
	}
	out, wide := appendTail(room[:n], s[i:])
	if (wide || seen&highBits != 0) && !utf8.Valid(s) {
		return appendQuotedRepaired(dst[:len(dst)-1], s)
	}
	return append(out, '"')
}

// appendQuotedRepaired does so with text that is not UTF-8. What is repaired is kept
// behind dst for as long.
func appendQuotedRepaired(dst, s []byte) []byte {
	out := appendRepaired(dst, s)
	begin, end := len(dst), len(out)
	return slices.Delete(appendQuoted(out, out[begin:]), begin, end)
}

// appendTail appends the last bytes of a string, and reports whether any of them is
// beyond ASCII.
func appendTail(dst, s []byte) (_ []byte, wide bool) {
	for _, c := range s {
		if c >= ' ' && c != '"' && c != '\\' {
			dst, wide = append(dst, c), wide || c >= utf8.RuneSelf
			continue
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], escapes[c].text)
		dst = append(dst, word[:escapes[c].size]...)
	}
	return dst, wide
}

// unescaped has what the second byte of an escape stands for, 0 where that is not one
// character.
var unescaped = func() (all [128]byte) {
	for i, c := range []byte("\b\f\n\r\t\"\\/") {
		all[`bfnrt"\/`[i]] = c
	}
	return all
}()

// appendUnquoted appends the text of a string from its byte i on, up to its end, an
// escape of more than two bytes, or what may not be in a string. It returns the index
// of that, or len(data), and whether bytes beyond ASCII are among those before it. Like
// appendQuoted it copies words.
func appendUnquoted(dst, data []byte, i int) (_ []byte, end int, wide bool) {
	n, room := len(dst), dst[:cap(dst)]
	seen := uint64(0)
	for i+8 <= len(data) {
		if n+slack > len(room) {
			room = slices.Grow(room[:n], n/2+4*slack)
			room = room[:cap(room)]
		}
		w, hits := copyWord(room[n:n+8], data[i:i+8])
		if hits == 0 {
			seen |= w
			i, n = i+8, n+8
			continue
		}
		shift := bits.TrailingZeros64(hits) &^ 7
		seen |= w & (1<<shift - 1)
		i, n = i+shift>>3, n+shift>>3
		c := simpleEscape(data, i)
		if c == 0 {
			return room[:n], i, seen&highBits != 0
		}
		room[n] = c
		i, n = i+2, n+1
	}
	dst = room[:n]
	for i < len(data) {
		c, size := data[i], 1
		if c < ' ' || c == '"' || c == '\\' {
			if c, size = simpleEscape(data, i), 2; c == 0 {
				break
			}
		}
		seen |= uint64(c)
		dst, i = append(dst, c), i+size
	}
	return dst, i, seen&highBits != 0
}

// simpleEscape returns what the two bytes at i stand for, 0 when they are no escape
// of two.
func simpleEscape(data []byte, i int) byte {
	if data[i] != '\\' || i+1 >= len(data) || data[i+1] >= utf8.RuneSelf {
		return 0
	}
	return unescaped[data[i+1]]
}
