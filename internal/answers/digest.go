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
	dirty bool // something was given to sum
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
	return d
}

func (d *Digest) free() {
	d.reset()
	d.parts, d.named, d.apart, d.alike, d.whole = nil, "", false, false, false
	digests.Put(d)
}

func (d *Digest) reset() {
	if d.dirty {
		d.sum.Reset()
		d.dirty = false
	}
	d.buf = d.buf[:0]
}

// key returns what was hashed. What fits into the buffer, as most requests do, is
// hashed at once.
func (d *Digest) key() cache.Key {
	if !d.dirty {
		return sha256.Sum256(d.buf)
	}
	d.flush()
	d.sum.Sum(d.out[:0])
	return d.out
}

func (d *Digest) flush() {
	_, _ = d.sum.Write(d.buf) // a hash takes everything
	d.dirty = true
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
	d.reset()
}

func (d *Digest) name(tag byte, name string) {
	d.room()
	if len(name) < shortText {
		d.buf = append(append(d.buf, tag, byte(len(name))), name...)
		return
	}
	d.buf = append(d.buf, tag)
	d.text(name)
}

// shortText is the first length that takes more than a byte to write.
const shortText = 1 << 7

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

// String hashes a member unless it is empty. Most are, so that this is to be small
// enough for the compiler to put it where it is called; so are those below.
func (d *Digest) String(name, s string) {
	if s != "" {
		d.member(name, s)
	}
}

func (d *Digest) member(name, s string) {
	if len(name) >= shortText || len(s) >= shortText {
		d.name(tagField, name)
		d.value(s)
		return
	}
	d.room()
	b := append(append(d.buf, tagField, byte(len(name))), name...)
	d.buf = append(append(b, tagString, byte(len(s))), s...)
}

func (d *Digest) value(s string) {
	if len(s) < shortText {
		d.buf = append(append(d.buf, tagString, byte(len(s))), s...)
	} else {
		d.buf = append(d.buf, tagString)
		d.text(s)
	}
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
		d.float(name, *f)
	}
}

func (d *Digest) float(name string, v float64) {
	d.name(tagField, name)
	if v == 0 {
		v = 0 // -0 is 0
	}
	d.buf = binary.LittleEndian.AppendUint64(append(d.buf, tagFloat), math.Float64bits(v))
}

func (d *Digest) optionalBool(name string, b *bool) {
	if b != nil {
		d.truth(name, *b)
	}
}

func (d *Digest) truth(name string, b bool) {
	d.name(tagField, name)
	d.bool(b)
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
	if n != 0 {
		d.length(name, n)
	}
	return n != 0
}

func (d *Digest) length(name string, n int) {
	d.name(tagField, name)
	d.buf = binary.AppendUvarint(append(d.buf, tagList), uint64(n))
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
	if len(raw) != 0 {
		d.json(name, raw)
	}
}

func (d *Digest) json(name string, raw []byte) {
	d.name(tagField, name)
	if len(d.buf)+len(raw) > blockSize {
		d.flush()
	}
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
	d.room()
	if cap(d.buf) > 16*blockSize {
		d.flush()
		d.buf = make([]byte, 0, blockSize+512)
	}
}
