package vault

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// digest stands for a key. Nobody can make two keys with the same digest, so
// nobody is given the signature of another call.
type digest [sha256.Size]byte

const (
	// maxInline is the length in bytes above which a text, an object or an array
	// stands as its own digest within what holds it. Sorting members moves only
	// that much of each, and the time taken is bound by the size of the text.
	maxInline = 128
	// maxRoom is the capacity in bytes above which scratch memory is not reused.
	maxRoom = 64 << 10
)

// The form that is digested has a tag before each value. It is complete in
// itself: no value is the beginning of another.
const (
	tagText      = 's' // a length and as many bytes
	tagLongText  = 'S' // a digest
	tagNumber    = '#' // digits, 'e' and an exponent
	tagNegative  = '-' // the same
	tagFarNumber = '?' // the text of a number with an immense exponent
	tagNested    = 'h' // a digest of an object or an array
	tagInvalid   = '!' // all the rest, which is not JSON
)

// room is the scratch memory for one digest.
type room struct {
	reader  jsonx.Reader
	in      []byte
	out     []byte
	members []member
}

// member is where a member of an object lies in out: its key, then its value.
type member struct{ start, value, end int }

// digest returns the digest of the key.
func (v *Vault) digest(k *Key) digest {
	c, ok := v.rooms.Get().(*room)
	if !ok {
		c = new(room)
	}
	sum := c.digest(k)
	c.reader.Reset(nil)
	if max(cap(c.in), cap(c.out)) <= maxRoom {
		v.rooms.Put(c)
	}
	return sum
}

func (c *room) digest(k *Key) digest {
	c.out, c.members = c.out[:0], c.members[:0]
	for _, s := range [...]string{k.Issuer, k.ID, k.Name} {
		c.in = append(c.in[:0], s...)
		c.text(c.in)
	}
	c.arguments(k.Arguments)
	return sha256.Sum256(c.out)
}

func (c *room) arguments(s string) {
	if strings.TrimSpace(s) == "" {
		s = "{}"
	}
	c.in = append(c.in[:0], s...)
	c.reader.Reset(c.in)
	start := len(c.out)
	c.value()
	if c.reader.End() != nil {
		c.out = append(append(c.out[:start], tagInvalid), s...)
	}
}

// value writes the value that is next. After an error it may write anything.
func (c *room) value() {
	switch r := &c.reader; r.Kind() {
	case jsonx.Object:
		c.object()
	case jsonx.Array:
		c.array()
	case jsonx.String:
		c.text(r.Bytes())
	case jsonx.Number:
		c.number(r.Raw())
	case jsonx.Null, jsonx.Bool: // told apart by the first byte
		if lit := r.Raw(); len(lit) > 0 {
			c.out = append(c.out, lit[0])
		}
	case jsonx.Invalid: // the reader has the error
	}
}

// object writes the members in the order of their keys; of those with the same
// key, in the order they came.
func (c *room) object() {
	start, first, sorted := len(c.out), len(c.members), true
	c.out = append(c.out, '{')
	for c.reader.Object(); c.reader.NextKey(); {
		m := member{start: len(c.out)}
		c.text(c.reader.Key())
		m.value = len(c.out)
		c.value()
		m.end = len(c.out)
		if n := len(c.members); n > first && c.compare(c.members[n-1], m) > 0 {
			sorted = false
		}
		c.members = append(c.members, m)
	}
	if !sorted {
		c.sort(c.members[first:])
	}
	c.members = c.members[:first]
	c.close(start, '}')
}

func (c *room) compare(a, b member) int {
	if n := bytes.Compare(c.out[a.start:a.value], c.out[b.start:b.value]); n != 0 {
		return n
	}
	return cmp.Compare(a.start, b.start)
}

// sort puts the members at the end of out in order.
func (c *room) sort(list []member) {
	from, to := list[0].start, len(c.out)
	slices.SortFunc(list, c.compare)
	for _, m := range list {
		c.out = append(c.out, c.out[m.start:m.end]...)
	}
	copy(c.out[from:to], c.out[to:])
	c.out = c.out[:to]
}

func (c *room) array() {
	start := len(c.out)
	c.out = append(c.out, '[')
	for c.reader.Array(); c.reader.NextElem(); {
		c.value()
	}
	c.close(start, ']')
}

// close ends the object or array that began at start.
func (c *room) close(start int, bracket byte) {
	c.out = append(c.out, bracket)
	if len(c.out)-start > maxInline {
		sum := sha256.Sum256(c.out[start:])
		c.out = append(append(c.out[:start], tagNested), sum[:]...)
	}
}

func (c *room) text(s []byte) {
	if len(s) > maxInline {
		sum := sha256.Sum256(s)
		c.out = append(append(c.out, tagLongText), sum[:]...)
		return
	}
	c.out = binary.AppendUvarint(append(c.out, tagText), uint64(len(s)))
	c.out = append(c.out, s...)
}

// number writes a number by its exact value: 1, 1.0 and 10e-1 are the same, and
// so are 0 and -0. Nothing is rounded.
func (c *room) number(lit []byte) {
	start, tag := len(c.out), byte(tagNumber)
	mantissa, exponent := lit, int64(0)
	if i := bytes.IndexAny(lit, "eE"); i >= 0 {
		mantissa = lit[:i]
		var err error
		if exponent, err = strconv.ParseInt(string(lit[i+1:]), 10, 32); err != nil {
			c.out = append(c.out, tagFarNumber)
			c.text(lit)
			return
		}
	}
	if len(mantissa) > 0 && mantissa[0] == '-' {
		tag, mantissa = tagNegative, mantissa[1:]
	}
	c.out = append(c.out, tag)
	first, fraction := len(c.out), false
	for _, d := range mantissa {
		if d == '.' {
			fraction = true
			continue
		}
		if fraction {
			exponent--
		}
		if d != '0' || len(c.out) > first {
			c.out = append(c.out, d)
		}
	}
	for len(c.out) > first && c.out[len(c.out)-1] == '0' {
		c.out = c.out[:len(c.out)-1]
		exponent++
	}
	if len(c.out) == first {
		c.out[start], exponent = tagNumber, 0
	}
	c.out = binary.AppendVarint(append(c.out, 'e'), exponent)
}
