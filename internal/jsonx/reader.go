// Package jsonx reads and writes JSON without reflection: a pull [Reader] over
// a byte slice, an append [Writer], and helpers for raw objects kept as bytes.
//
// The grammar is RFC 8259 and what is accepted agrees with encoding/json,
// except that nesting stops at [MaxDepth]. Text is made valid UTF-8 when it is
// read into a string; raw values are handed out byte for byte.
package jsonx

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// MaxDepth is how many objects and arrays may be open at once. It bounds the
// stack a hostile document can claim.
const MaxDepth = 1000

// Kind is the type of a JSON value, known from its first byte.
type Kind uint8

// The kinds of values. Invalid stands for the end of the input and for errors.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Object
	Array
)

// String returns the name used in error texts.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Object:
		return "object"
	case Array:
		return "array"
	}
	return "nothing"
}

// What NextKey and NextElem have to expect.
const (
	inside     uint8 = iota // a value was read: a comma or the end follows
	justOpened              // a first member or the end follows
	nullOpened              // a null was opened as an empty object or array
)

// Reader pulls values out of one JSON document in the order they are written:
//
//	for r.Object(); r.NextKey(); {
//		switch string(r.Key()) {
//		case "role":
//			m.Role = r.String()
//		default:
//			r.Skip()
//		}
//	}
//	return r.End()
//
// Errors are sticky: after one, every method returns a zero value and every
// loop ends, so one look at Err or End is enough. A loop over an object or
// array must run to its end; a value the body leaves unread is skipped.
//
// A Reader is used as a value and is not safe for concurrent use. It never
// changes its input.
type Reader struct {
	data    []byte
	pos     int
	start   int // of the value read last, or of the end of the object or array closed last
	valueAt int // where the value announced by NextKey or NextElem starts; pos moves on when it is read
	depth   int
	state   uint8
	key     []byte
	keyBuf  []byte // unescaped keys
	scratch []byte // unescaped values handed out by Bytes
	texts   *Texts // nil when each string is for itself
	err     *Error
}

// NewReader returns a Reader over data, which must not change while it is read.
func NewReader(data []byte) Reader { return Reader{data: data, valueAt: -1} }

// Reset starts over with data and keeps the internal buffers.
func (r *Reader) Reset(data []byte) {
	*r = Reader{data: data, valueAt: -1, keyBuf: r.keyBuf, scratch: r.scratch, texts: r.texts}
}

// Pack has String and Intern put short strings into t.
func (r *Reader) Pack(t *Texts) { r.texts = t }

// Kind tells the kind of the next value without reading it. A byte that starts
// no value is recorded as an error.
func (r *Reader) Kind() Kind {
	c, ok := r.peek()
	if !ok {
		if r.pos == r.valueAt {
			r.fail(r.pos, faultEnd)
		}
		return Invalid
	}
	k := kindOf(c)
	if k == Invalid {
		r.fail(r.pos, faultValue)
	}
	return k
}

// kindOf tells the kind of the value that starts with c.
func kindOf(c byte) Kind {
	switch c {
	case '"':
		return String
	case '{':
		return Object
	case '[':
		return Array
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return Number
	}
	return Invalid
}

// Object enters an object; NextKey walks its members. A null reads as an empty
// object.
func (r *Reader) Object() { r.open('{', Object) }

// Array enters an array; NextElem walks its elements. A null reads as an empty
// array.
func (r *Reader) Array() { r.open('[', Array) }

func (r *Reader) open(bracket byte, k Kind) {
	c, ok := r.peek()
	if !ok || c != bracket {
		if r.Null() {
			r.state = nullOpened
			return
		}
		r.mismatch(k)
		return
	}
	if r.depth == MaxDepth {
		r.fail(r.pos, faultDepth)
		return
	}
	r.depth++
	r.start = r.pos
	r.pos++
	r.state = justOpened
}

// NextKey advances to the next member and reads its key. It returns false when
// the object has ended, and then the object is consumed.
//
// It is most of what reading costs, so that it looks for the usual first: the end of
// the object, or a key that has neither escapes nor letters beyond ASCII. All else is
// for anyKey, from where the Reader was.
func (r *Reader) NextKey() bool {
	data, i := r.data, r.pos
	if i >= len(data) || i == r.valueAt || r.state == nullOpened {
		return r.anyKey()
	}
	if r.state == inside {
		if data[i] == '}' {
			r.start, r.pos = i, i+1
			r.depth--
			return false
		}
		if data[i] != ',' {
			return r.anyKey()
		}
		i++
	}
	i = skipSpace(data, i)
	if i >= len(data) || data[i] != '"' {
		return r.anyKey()
	}
	end, wide := i+1, false
	for { // most keys end within two words
		if end+16 > len(data) {
			end, wide = scanPlain(data, end)
			break
		}
		words := data[end : end+16]
		low, high := stopsASCII(binary.LittleEndian.Uint64(words)), stopsASCII(binary.LittleEndian.Uint64(words[8:]))
		if low|high == 0 {
			end += 16
			continue
		}
		n := bits.TrailingZeros64(low)
		if low == 0 {
			n = 64 + bits.TrailingZeros64(high)
		}
		end += n >> 3
		break
	}
	if end+1 >= len(data) || wide || data[end] != '"' || data[end+1] != ':' {
		return r.anyKey()
	}
	r.start, r.key = i, data[i+1:end:end]
	r.pos = skipSpace(data, end+2)
	r.valueAt, r.state = r.pos, inside
	return true
}

// anyKey is NextKey for whatever follows.
func (r *Reader) anyKey() bool {
	if !r.next('}') {
		return false
	}
	if r.pos >= len(r.data) || r.data[r.pos] != '"' {
		r.failHere(faultKey)
		return false
	}
	key, ok := r.plain()
	if !ok {
		if key, ok = r.unescaped(r.keyBuf[:0]); !ok {
			return false
		}
		r.keyBuf = key
	}
	r.key = key
	if c, ok := r.peek(); !ok || c != ':' {
		r.failHere(faultColon)
		return false
	}
	r.pos++
	r.peek()
	r.valueAt = r.pos
	return true
}

// Key returns the unescaped key of the current member, valid until the next
// call of NextKey.
func (r *Reader) Key() []byte { return r.key }

// NextElem advances to the next element. It returns false when the array has
// ended, and then the array is consumed.
func (r *Reader) NextElem() bool {
	if !r.next(']') {
		return false
	}
	r.valueAt = r.pos
	return true
}

// next moves to the start of the next member or element; it returns false
// after the closing bracket and after an error.
func (r *Reader) next(closing byte) bool {
	if r.pos == r.valueAt {
		r.Skip()
	}
	state := r.state
	r.state = inside
	if state == nullOpened {
		return false
	}
	c, ok := r.peek()
	if !ok {
		r.fail(r.pos, faultEnd)
		return false
	}
	if c == closing {
		r.start = r.pos
		r.pos++
		r.depth--
		return false
	}
	if state == justOpened {
		return true
	}
	if c != ',' {
		r.fail(r.pos, separatorFault(closing))
		return false
	}
	r.pos++
	c, ok = r.peek()
	if !ok || c == closing {
		r.failHere(faultTrailingComma)
		return false
	}
	return true
}

// Null consumes a null if it is next and reports whether it did.
func (r *Reader) Null() bool {
	if r.pos < len(r.data) && r.data[r.pos]-'!' < 'n'-'!' { // any other value, but for objects
		return false
	}
	return r.null()
}

// null is Null for whatever is next.
func (r *Reader) null() bool {
	c, ok := r.peek()
	return ok && c == 'n' && r.literal("null")
}

// Bool reads a boolean; null reads as false.
func (r *Reader) Bool() bool {
	c, ok := r.peek()
	switch {
	case !ok:
	case c == 't':
		return r.literal("true")
	case c == 'f':
		r.literal("false")
		return false
	case c == 'n':
		r.literal("null")
		return false
	}
	r.mismatch(Bool)
	return false
}

// literal consumes lit, whose first byte is known to be next.
func (r *Reader) literal(lit string) bool {
	end, f := skipLiteral(r.data, r.pos, lit)
	if f != faultNone {
		r.fail(end, f)
		return false
	}
	r.start, r.pos = r.pos, end
	return true
}

// Raw returns the exact bytes of the next value, validated. They alias the
// input; the capacity ends with them, so appending copies.
func (r *Reader) Raw() []byte {
	r.peek()
	end, f := skipValue(r.data, r.pos, r.depth)
	if f != faultNone {
		r.fail(end, f)
		return nil
	}
	r.start, r.pos = r.pos, end
	return r.data[r.start:end:end]
}

// Skip passes over the next value and validates it.
func (r *Reader) Skip() { r.Raw() }

// Failf records an error of meaning at the value about to be read, or else at
// the one just read. The first error wins. The text must not quote the input.
func (r *Reader) Failf(format string, args ...any) {
	if r.err != nil {
		return
	}
	at := r.start
	if r.pos == r.valueAt {
		at = r.pos
	}
	r.failText(at, fmt.Sprintf(format, args...))
}

// Err returns the first error, an [*Error], or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// End returns Err, or an error when anything but white space follows.
func (r *Reader) End() error {
	if _, ok := r.peek(); ok {
		r.fail(r.pos, faultTrailing)
	}
	return r.Err()
}

// peek skips white space and returns the next byte, if there is one.
func (r *Reader) peek() (byte, bool) {
	for r.pos < len(r.data) {
		c := r.data[r.pos]
		if c > ' ' || !isSpace(c) {
			return c, true
		}
		r.pos++
	}
	return 0, false
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }
