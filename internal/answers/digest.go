// Package answers says what the response cache needs to know of requests and
// answers: the key of a request, the form in which an answer is kept, the chunks
// that a kept answer is streamed as, and which answers are kept at all. It knows no
// store and asks nobody.
package answers

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Version is part of each key: keys of different versions never meet. It changes
// with every change of what a key is made of, and of how it is written.
const Version = 1

// The tags of what is hashed. Each value says its length or has a fixed one, so
// that no two sequences of values are written alike.
const (
	tagPart = 1 + iota
	tagField
	tagString
	tagInt
	tagFloat
	tagFalse
	tagTrue
	tagList
	tagBegin
	tagEnd
	tagJSON
	tagRaw
)

// Digest hashes what a key is made of. Get one from a pool with newDigest, and
// give it back with free.
type Digest struct {
	sum   hash.Hash
	buf   []byte
	out   cache.Key    // room for the result
	parts []cache.Part // of an explained key: the digests of the parts so far
	named string       // the part under way
	apart bool         // each part is hashed by itself
	alike bool         // the texts that are compared by meaning are left out
	whole bool         // with alike: the first message's text is kept
}

// blockSize is how much is collected before it is hashed: more than the hash
// needs for its speed, and little enough to stay near the processor.
const blockSize = 4 << 10

var digests = sync.Pool{New: func() any {
	return &Digest{sum: sha256.New(), buf: make([]byte, 0, blockSize+512)}
}}

func newDigest() *Digest {
	d, _ := digests.Get().(*Digest)
	*d = Digest{sum: d.sum, buf: d.buf[:0]}
	d.sum.Reset()
	return d
}

func (d *Digest) free() { digests.Put(d) }

// key returns what was hashed.
func (d *Digest) key() cache.Key {
	d.flush()
	d.sum.Sum(d.out[:0])
	return d.out
}

func (d *Digest) flush() {
	_, _ = d.sum.Write(d.buf) // a hash takes everything
	d.buf = d.buf[:0]
}

// room hashes what has been collected when that is much.
func (d *Digest) room() {
	if len(d.buf) >= blockSize {
		d.flush()
	}
}

// Part begins a part of the key. The parts of an explained key are hashed apart.
func (d *Digest) Part(name string) {
	if d.apart {
		d.endPart()
		d.named = name
	}
	d.name(tagPart, name)
}

// endPart keeps the digest of the part under way.
func (d *Digest) endPart() {
	if d.named != "" {
		k := d.key()
		d.parts = append(d.parts, cache.Part{Name: d.named, Sum: binary.LittleEndian.Uint64(k[:])})
	}
	d.sum.Reset()
	d.buf = d.buf[:0]
}

func (d *Digest) name(tag byte, name string) {
	d.room()
	d.buf = append(d.buf, tag)
	d.text(name)
}

// text writes a length and that many bytes.
func (d *Digest) text(s string) {
	d.buf = binary.AppendUvarint(d.buf, uint64(len(s)))
	for len(s) > blockSize {
		d.buf = append(d.buf, s[:blockSize]...)
		s = s[blockSize:]
		d.flush()
	}
	d.buf = append(d.buf, s...)
}

// String hashes a member unless it is empty.
func (d *Digest) String(name, s string) {
	if s != "" {
		d.name(tagField, name)
		d.value(s)
	}
}

func (d *Digest) value(s string) {
	d.buf = append(d.buf, tagString)
	d.text(s)
	d.room()
}

// Int hashes a member.
func (d *Digest) Int(name string, n int64) {
	d.name(tagField, name)
	d.buf = binary.LittleEndian.AppendUint64(append(d.buf, tagInt), uint64(n))
}

// optionalInt, optionalFloat and optionalBool hash a member that is set.
func (d *Digest) optionalInt(name string, n *int) {
	if n != nil {
		d.Int(name, int64(*n))
	}
}

func (d *Digest) optionalFloat(name string, f *float64) {
	if f != nil {
		d.name(tagField, name)
		v := *f
		if v == 0 {
			v = 0 // -0 is 0
		}
		d.buf = binary.LittleEndian.AppendUint64(append(d.buf, tagFloat), math.Float64bits(v))
	}
}

func (d *Digest) optionalBool(name string, b *bool) {
	if b != nil {
		d.name(tagField, name)
		d.bool(*b)
	}
}

func (d *Digest) bool(b bool) {
	if b {
		d.buf = append(d.buf, tagTrue)
		return
	}
	d.buf = append(d.buf, tagFalse)
}

// list hashes the length of a list, and reports whether it has elements.
func (d *Digest) list(name string, n int) bool {
	if n == 0 {
		return false
	}
	d.name(tagField, name)
	d.buf = binary.AppendUvarint(append(d.buf, tagList), uint64(n))
	return true
}

// object begins a member that is an object; begin begins an element of a list.
func (d *Digest) object(name string) {
	d.name(tagField, name)
	d.begin()
}

func (d *Digest) begin() { d.buf = append(d.buf, tagBegin) }
func (d *Digest) end()   { d.buf = append(d.buf, tagEnd) }

func (d *Digest) strings(name string, list []string) {
	if d.list(name, len(list)) {
		for _, s := range list {
			d.value(s)
		}
	}
}

// Map hashes entries in the order of their names.
func (d *Digest) Map(name string, entries map[string]string) {
	if !d.list(name, len(entries)) {
		return
	}
	var room [16]string
	names := room[:0]
	for k := range maps.Keys(entries) {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		d.value(k)
		d.value(entries[k])
	}
}

// JSON hashes raw JSON without the white space between its tokens. The order of
// its members counts, since answers may follow it.
func (d *Digest) JSON(name string, raw []byte) {
	if len(raw) == 0 {
		return
	}
	d.name(tagField, name)
	d.flush()
	if !jsonx.Valid(raw) {
		d.buf = append(binary.AppendUvarint(append(d.buf, tagRaw), uint64(len(raw))), raw...)
		d.trim()
		return
	}
	// The length is not known before: the end is told by a tag, which can't be
	// mistaken for a byte of JSON.
	d.buf = append(jsonx.Compact(append(d.buf, tagJSON), raw), tagEnd)
	d.trim()
}

// trim lets go of a buffer that one large value has grown.
func (d *Digest) trim() {
	d.flush()
	if cap(d.buf) > 16*blockSize {
		d.buf = make([]byte, 0, blockSize+512)
	}
}
