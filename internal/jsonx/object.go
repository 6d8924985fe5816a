package jsonx

import (
	"bytes"
	"iter"
	"slices"
)

// space is what JSON allows between tokens.
const space = " \t\r\n"

// Valid reports whether data is one JSON value.
func Valid(data []byte) bool {
	end, f := skipValue(data, skipSpace(data, 0), 0)
	return f == faultNone && skipSpace(data, end) == len(data)
}

// Lookup returns the raw value of the first member of obj with the key. The
// value aliases obj.
func Lookup(obj []byte, key string) ([]byte, bool) {
	if len(obj) == 0 {
		return nil, false
	}
	r := NewReader(obj)
	for r.Object(); r.NextKey(); {
		if string(r.Key()) == key {
			v := r.Raw()
			return v, v != nil
		}
		r.Skip()
	}
	return nil, false
}

// LookupString returns the text of the first member of obj with the key, "" when
// it is none.
func LookupString(obj []byte, key string) string {
	raw, ok := Lookup(obj, key)
	if !ok || raw[0] != '"' {
		return ""
	}
	r := NewReader(raw)
	return r.String()
}

// Members yields the unescaped keys and raw values of obj in order, up to the
// first error. The values alias obj.
func Members(obj []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if len(obj) == 0 {
			return
		}
		r := NewReader(obj)
		for r.Object(); r.NextKey(); {
			key := string(r.Key())
			v := r.Raw()
			if v == nil || !yield(key, v) {
				return
			}
		}
	}
}

// AppendMember adds a member to the raw object obj; if obj is nil, or not an
// object, a new one is made. Like append it writes into the spare capacity of
// obj if there is enough, so only the result may be used after that.
func AppendMember(obj []byte, key string, value []byte) []byte {
	const around = len(`,"":null}`)
	w := Writer{buf: bytes.Trim(obj, space)}
	if n := len(w.buf); n >= 2 && w.buf[0] == '{' && w.buf[n-1] == '}' {
		w.buf = bytes.TrimRight(w.buf[:n-1], space)
		// All or nothing: the brace may be followed by bytes that belong to
		// others, and must not be overwritten unless there is room for the rest.
		w.buf = slices.Grow(w.buf, around+maxEscaped*len(key)+len(value))
	} else {
		w.buf = []byte{'{'}
	}
	w.AnyKey(key)
	w.Raw(value)
	w.EndObject()
	return w.buf
}

// DeleteMember returns obj without the members that have the key; the others
// keep their bytes. obj itself is not changed, and it is returned if it is
// malformed or there is nothing to delete.
func DeleteMember(obj []byte, key string) []byte {
	if _, ok := Lookup(obj, key); !ok {
		return obj
	}
	w := Writer{buf: make([]byte, 0, len(obj))}
	w.BeginObject()
	r := NewReader(obj)
	for r.Object(); r.NextKey(); {
		from, hit := r.start, string(r.Key()) == key
		if r.Skip(); !hit && r.err == nil {
			w.Raw(obj[from:r.pos])
		}
	}
	if r.End() != nil {
		return obj
	}
	w.EndObject()
	return w.buf
}

// Compact appends src to dst without insignificant white space. src must be
// valid; dst may be src[:0].
func Compact(dst, src []byte) []byte {
	from := 0 // what is not appended yet
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case isSpace(c):
			dst = append(dst, src[from:i]...)
			i++
			from = i
		case c == '"':
			i, _ = skipString(src, i)
		default:
			i++
		}
	}
	return append(dst, src[from:]...)
}

// membersOf returns what is between the braces of obj, trimmed.
func membersOf(obj []byte) ([]byte, bool) {
	obj = bytes.Trim(obj, space)
	if n := len(obj); n >= 2 && obj[0] == '{' && obj[n-1] == '}' {
		return bytes.Trim(obj[1:n-1], space), true
	}
	return nil, false
}
