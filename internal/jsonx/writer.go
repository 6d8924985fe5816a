package jsonx

import (
	"errors"
	"math"
	"slices"
	"strconv"
)

var (
	errNotFinite = errors.New("jsonx: NaN and infinity cannot be written")
	errNotObject = errors.New("jsonx: members can be taken from an object only")
)

// Writer appends JSON to a byte slice. Commas are placed by looking at the last
// byte written; the nesting of calls is the caller's. The zero value is ready.
// A Writer is not safe for concurrent use.
type Writer struct {
	buf []byte
	err error
}

// Reset starts over and appends to buf[:0].
func (w *Writer) Reset(buf []byte) { *w = Writer{buf: buf[:0]} }

// Bytes returns what has been written. It is valid until the next write.
func (w *Writer) Bytes() []byte { return w.buf }

// Len returns the number of bytes written.
func (w *Writer) Len() int { return len(w.buf) }

// Truncate drops all but the first n bytes, with n a Len seen before.
func (w *Writer) Truncate(n int) { w.buf = w.buf[:n] }

// Grow makes room for n more bytes.
func (w *Writer) Grow(n int) { w.buf = slices.Grow(w.buf, n) }

// Err returns the first value that could not be written, or nil.
func (w *Writer) Err() error { return w.err }

// BeginObject opens an object.
func (w *Writer) BeginObject() { w.buf = append(w.separated(), '{') }

// EndObject closes an object.
func (w *Writer) EndObject() { w.buf = append(w.buf, '}') }

// BeginArray opens an array.
func (w *Writer) BeginArray() { w.buf = append(w.separated(), '[') }

// EndArray closes an array.
func (w *Writer) EndArray() { w.buf = append(w.buf, ']') }

// Key writes a key that is known to need no escaping.
func (w *Writer) Key(k string) {
	b := append(w.separated(), '"')
	b = append(b, k...)
	w.buf = append(b, '"', ':')
}

// AnyKey writes a key and escapes it.
func (w *Writer) AnyKey(k string) {
	w.buf = append(appendQuoted(w.separated(), bytesView(k)), ':')
}

// String writes a string. Only what JSON demands is escaped; invalid UTF-8
// becomes U+FFFD.
func (w *Writer) String(s string) { w.buf = appendQuoted(w.separated(), bytesView(s)) }

// StringBytes writes s like String.
func (w *Writer) StringBytes(s []byte) { w.buf = appendQuoted(w.separated(), s) }

// Verbatim writes the parts as one string without looking at them. They must
// need no escaping, like base64 and data URIs.
func (w *Writer) Verbatim(parts ...string) {
	b := append(w.separated(), '"')
	for _, p := range parts {
		b = append(b, p...)
	}
	w.buf = append(b, '"')
}

// Int writes an integer.
func (w *Writer) Int(n int64) { w.buf = strconv.AppendInt(w.separated(), n, 10) }

// Float writes a number in its shortest form. NaN and infinity are written as
// null and reported by Err.
func (w *Writer) Float(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.fail(errNotFinite)
		w.Null()
		return
	}
	w.buf = appendFloat(w.separated(), f)
}

// Bool writes true or false.
func (w *Writer) Bool(b bool) { w.buf = strconv.AppendBool(w.separated(), b) }

// Null writes null.
func (w *Writer) Null() { w.buf = append(w.separated(), "null"...) }

// Raw writes one complete JSON value as it is; an empty one is written as null.
func (w *Writer) Raw(b []byte) {
	if len(b) == 0 {
		w.Null()
		return
	}
	w.buf = append(w.separated(), b...)
}

// Members writes the members of the raw object obj into the object being
// written. Nothing is written for nil and for "{}"; what is not an object is
// reported by Err.
func (w *Writer) Members(obj []byte) {
	if len(obj) == 0 {
		return
	}
	inner, ok := membersOf(obj)
	if !ok {
		w.fail(errNotObject)
		return
	}
	if len(inner) > 0 {
		w.buf = append(w.separated(), inner...)
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// separated returns the buffer with a comma if the next value needs one.
func (w *Writer) separated() []byte {
	if n := len(w.buf); n > 0 {
		switch w.buf[n-1] {
		case '{', '[', ':', ',':
		default:
			return append(w.buf, ',')
		}
	}
	return w.buf
}

// appendFloat formats like encoding/json, which follows ECMAScript: exponents
// for tiny and huge numbers only, and without padding.
func appendFloat(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	if abs == 0 || 1e-6 <= abs && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1] // e-09 to e-9
		dst = dst[:n-1]
	}
	return dst
}
