package cache

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"
)

// Key is the digest of everything that an answer depends on.
type Key [32]byte

// String returns the key in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// IsZero reports whether the key is not set.
func (k Key) IsZero() bool { return k == Key{} }

// ParseKey reads what [Key.String] wrote.
func ParseKey(s string) (Key, error) {
	var k Key
	if n, err := hex.Decode(k[:], []byte(s[:min(len(s), hex.EncodedLen(len(k)))])); err != nil || n != len(k) || len(s) != hex.EncodedLen(n) {
		return Key{}, errors.New("cache: a key is 64 hexadecimal digits")
	}
	return k, nil
}

// Entry is one kept answer.
type Entry struct {
	// Key is what the answer is for.
	Key Key
	// Body is the answer, which stores do not look into.
	Body []byte
	// Created and Expires bound its time, in whole milliseconds.
	Created, Expires time.Time
	// Namespace is the part of the cache that it was explicitly put into; empty
	// for none.
	Namespace string
	// Operation and Model say what was asked, for lists.
	Operation, Model string
	// Parts are digests of what the key is made of, so that a miss can be
	// explained by what differs.
	Parts []Part

	// Group is the digest of everything that must be the same for the entry to
	// be found by similarity; zero for an entry that is found by its key alone.
	Group Key
	// Vector is what the entry means, of length 1; nil without a group.
	Vector []float32
	// Text is what the vector was made of.
	Text string
}

// Part is the digest of one part of a key.
type Part struct {
	Name string
	Sum  uint64
}

// Expired reports whether the entry's time is over.
func (e *Entry) Expired(now time.Time) bool { return !now.Before(e.Expires) }

// The form of stored entries: magic and version, checksum of what follows, the
// members in order with their lengths.
const (
	entryMagic  = "gwc\x01"
	entryHeader = len(entryMagic) + 4
)

// AppendBinary appends the entry as bytes that [ParseEntry] reads, with a
// checksum. The form is the same on all machines.
func (e *Entry) AppendBinary(dst []byte) ([]byte, error) {
	start := len(dst)
	dst = append(dst, entryMagic...)
	dst = append(dst, 0, 0, 0, 0)
	dst = append(dst, e.Key[:]...)
	dst = binary.AppendVarint(dst, e.Created.UnixMilli())
	dst = binary.AppendVarint(dst, e.Expires.UnixMilli())
	dst = appendString(dst, e.Namespace)
	dst = appendString(dst, e.Operation)
	dst = appendString(dst, e.Model)
	dst = binary.AppendUvarint(dst, uint64(len(e.Parts)))
	for _, p := range e.Parts {
		dst = binary.LittleEndian.AppendUint64(appendString(dst, p.Name), p.Sum)
	}
	dst = append(dst, e.Group[:]...)
	dst = binary.AppendUvarint(dst, uint64(len(e.Vector)))
	for _, f := range e.Vector {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
	}
	dst = appendString(dst, e.Text)
	dst = appendString(dst, e.Body)
	sum := crc32.Checksum(dst[start+entryHeader:], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(dst[start+len(entryMagic):], sum)
	return dst, nil
}

// ParseEntry reads what [Entry.AppendBinary] wrote. The entry shares no memory
// with data. The error is, or wraps, [ErrCorrupt].
func ParseEntry(data []byte) (*Entry, error) {
	if len(data) < entryHeader || string(data[:len(entryMagic)]) != entryMagic {
		return nil, fmt.Errorf("%w: it does not begin as this version writes it", ErrCorrupt)
	}
	r := fields{data: data[entryHeader:]}
	if binary.LittleEndian.Uint32(data[len(entryMagic):]) != crc32.Checksum(r.data, crc32.MakeTable(crc32.Castagnoli)) {
		return nil, fmt.Errorf("%w: its checksum differs", ErrCorrupt)
	}
	e := new(Entry)
	copy(e.Key[:], r.take(len(e.Key)))
	e.Created, e.Expires = time.UnixMilli(r.varint()), time.UnixMilli(r.varint())
	e.Namespace, e.Operation, e.Model = string(r.bytes()), string(r.bytes()), string(r.bytes())
	if n := r.count(9); n > 0 { // a part has its length and its sum
		e.Parts = make([]Part, n)
	}
	for i := range e.Parts {
		e.Parts[i].Name = string(r.bytes())
		e.Parts[i].Sum = binary.LittleEndian.Uint64(r.take(8))
	}
	copy(e.Group[:], r.take(len(e.Group)))
	if n := r.count(4); n > 0 {
		e.Vector = make([]float32, n)
	}
	for i := range e.Vector {
		e.Vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(r.take(4)))
	}
	e.Text, e.Body = string(r.bytes()), append([]byte(nil), r.bytes()...)
	if r.bad || len(r.data) > 0 {
		return nil, fmt.Errorf("%w: its members do not fit", ErrCorrupt)
	}
	return e, nil
}

func appendString[T string | []byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// fields reads the members of a stored entry. After one that is not there it
// gives zeros, and bad is set.
type fields struct {
	data []byte
	bad  bool
}

// take returns the next n bytes, or zeros; n is at most 32 where they may lack.
func (r *fields) take(n int) []byte {
	if r.bad = r.bad || n > len(r.data); r.bad {
		return make([]byte, min(n, len(Key{})))
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *fields) varint() int64 {
	v, n := binary.Varint(r.data)
	r.skip(n)
	return v
}

// count returns the number of elements of at least that many bytes that follow.
func (r *fields) count(size int) int {
	v, n := binary.Uvarint(r.data)
	if r.skip(n); r.bad || v > uint64(len(r.data)/size) {
		r.bad = true
		return 0
	}
	return int(v)
}

func (r *fields) bytes() []byte { return r.take(r.count(1)) }

func (r *fields) skip(n int) {
	if r.bad = r.bad || n <= 0; !r.bad {
		r.data = r.data[n:]
	}
}
