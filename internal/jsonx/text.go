package jsonx

import (
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string; null reads as "". Escapes are resolved; invalid UTF-8
// and lone surrogates become U+FFFD.
func (r *Reader) String() string {
	if b, ok := r.plain(); ok {
		return r.texts.string(b)
	}
	if !r.quoted() {
		return ""
	}
	buf := GetBuffer()
	defer buf.Free()
	b, ok := r.unescaped(buf.B)
	if !ok {
		return ""
	}
	buf.B = b
	return r.texts.string(b)
}

// quoted reports whether a string is next. If none is, it reads a null.
func (r *Reader) quoted() bool {
	if c, ok := r.peek(); ok && c == '"' {
		return true
	}
	if !r.Null() {
		r.mismatch(String)
	}
	return false
}

// Bytes reads a string like String without allocating. The result aliases the
// input when it can; else it is valid until the next call on the Reader.
func (r *Reader) Bytes() []byte {
	b, ok := r.plain()
	if ok || !r.quoted() {
		return b
	}
	if b, ok = r.unescaped(r.scratch[:0]); !ok {
		return nil
	}
	r.scratch = b
	return b
}

// Intern reads a string like String, but returns prev when the value equals
// it: for members that repeat in each chunk of a stream.
func (r *Reader) Intern(prev string) string {
	b, ok := r.plain()
	if !ok {
		b = r.Bytes()
	}
	if string(b) == prev {
		return prev
	}
	return r.texts.string(b)
}

// plain reads what is next if it is a string whose bytes stand for themselves, and
// otherwise leaves it where it is.
func (r *Reader) plain() ([]byte, bool) {
	data, i := r.data, skipSpace(r.data, r.pos)
	if i >= len(data) || data[i] != '"' {
		return nil, false
	}
	end, wide := scanPlain(data, i+1)
	if end >= len(data) || data[end] != '"' {
		return nil, false
	}
	b := data[i+1 : end : end]
	if wide && !utf8.Valid(b) {
		return nil, false
	}
	r.start, r.pos = i, end+1
	return b, true
}

// unescaped reads the string that is next and appends its text to dst.
func (r *Reader) unescaped(dst []byte) ([]byte, bool) {
	dst, end, f := unescape(dst, r.data, r.pos+1)
	if f != faultNone {
		r.fail(end, f)
		return nil, false
	}
	r.start, r.pos = r.pos, end
	return dst, true
}

// unescape appends the text of a string whose first byte is at i, and returns
// the index after the closing quote or the offset of what is wrong.
func unescape(dst, data []byte, i int) ([]byte, int, fault) {
	for {
		before, first := len(dst), i
		var wide bool
		dst, i, wide = appendUnquoted(dst, data, i)
		if part := data[first:i]; wide && !utf8.Valid(part) {
			dst = appendRepaired(dst[:before], part) // kept there for as long
			end := len(dst)
			dst, _, _ = appendUnquoted(dst, dst[before:], 0)
			dst = slices.Delete(dst, before, end)
		}
		switch {
		case i >= len(data):
			return dst, i, faultEnd
		case data[i] == '"':
			return dst, i + 1, faultNone
		case data[i] != '\\':
			return dst, i, faultControl
		}
		if n, f := escapeLen(data[i:]); f != faultNone {
			return dst, i + n, f
		}
		c, n := unescapeRune(data[i:])
		dst = utf8.AppendRune(dst, c)
		i += n
	}
}

// unescapeRune resolves the \u escape at the start of b, with its second half
// if it is a surrogate pair, and returns the bytes consumed.
func unescapeRune(b []byte) (rune, int) {
	c, _ := hex4(b[2:])
	if !utf16.IsSurrogate(c) {
		return c, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if low, ok := hex4(b[8:]); ok {
			if pair := utf16.DecodeRune(c, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return utf8.RuneError, 6
}

// appendRepaired appends b with U+FFFD for each byte that is not UTF-8.
func appendRepaired(dst, b []byte) []byte {
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		dst = utf8.AppendRune(dst, c)
		b = b[n:]
	}
	return dst
}
