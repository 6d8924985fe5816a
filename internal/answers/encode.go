package answers

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// bodyVersion is the first byte of each kept answer. One of another version is not
// read.
const bodyVersion = 1

// The kinds of kept answers, the second byte.
const (
	kindChat      = 'c'
	kindEmbedding = 'e'
	kindOther     = 'j'
	kindNative    = 'n'
)

// Kept is what is kept of an answer beside it.
type Kept struct {
	// Took is how long the answer took, in whole milliseconds.
	Took time.Duration
	// Warnings are those of the answer.
	Warnings []providers.Warning
}

// errBody says that a body is no kept answer.
func errBody(why string) error { return fmt.Errorf("%w: %s", cache.ErrCorrupt, why) }

// writer writes the members of an answer, in order and with their lengths.
type writer struct{ b []byte }

func newWriter(kind byte, k *Kept) writer {
	w := writer{make([]byte, 0, 512)}
	w.b = append(w.b, bodyVersion, kind)
	w.int(k.Took.Milliseconds())
	w.int(int64(len(k.Warnings)))
	for i := range k.Warnings {
		w.str(k.Warnings[i].Code)
		w.str(k.Warnings[i].Param)
		w.str(k.Warnings[i].Message)
	}
	return w
}

func (w *writer) int(n int64) { w.b = binary.AppendVarint(w.b, n) }

func (w *writer) str(s string) { w.b = append(binary.AppendUvarint(w.b, uint64(len(s))), s...) }

func (w *writer) raw(b []byte) { w.b = append(binary.AppendUvarint(w.b, uint64(len(b))), b...) }

func (w *writer) float(f float64) { w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(f)) }

// has writes whether a member follows.
func (w *writer) has(there bool) bool {
	if there {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
	return there
}

// reader reads what writer wrote. After a member that is not there it gives zeros,
// and bad is set. Texts share the memory of the body, which never changes.
type reader struct {
	s    string
	at   int // what was read of it
	bad  bool
	room []byte // for bytes that callers may change, while they fit
}

func newReader(kind byte, body []byte, k *Kept) (reader, error) {
	if len(body) < 2 || body[0] != bodyVersion || body[1] != kind {
		return reader{}, errBody("the answer does not begin as this version writes it")
	}
	r := reader{s: jsonx.SharedString(body[2:])}
	if ms := r.int(); ms >= 0 && ms < math.MaxInt64/int64(time.Millisecond) {
		k.Took = time.Duration(ms) * time.Millisecond
	}
	if n := r.count(3); n > 0 {
		k.Warnings = make([]providers.Warning, n)
	}
	for i := range k.Warnings {
		k.Warnings[i] = providers.Warning{Code: r.str(), Param: r.str(), Message: r.str()}
	}
	return r, nil
}

// end reports whether everything was read, and nothing was missing.
func (r *reader) end() error {
	if r.bad || r.left() != 0 {
		return errBody("the members of the answer do not fit")
	}
	return nil
}

func (r *reader) int() int64 {
	return signed(r.uint())
}

// signed is the number that was written as u.
func signed(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// left is the number of bytes that were not read.
func (r *reader) left() int { return len(r.s) - r.at }

// uint reads a number. Most take one byte.
func (r *reader) uint() uint64 {
	if at := r.at; at < len(r.s) && r.s[at] < 0x80 {
		r.at = at + 1
		return uint64(r.s[at])
	}
	return r.longUint()
}

func (r *reader) longUint() uint64 {
	var u uint64
	for i := 0; i < r.left() && i < binary.MaxVarintLen64; i++ {
		c := r.s[r.at+i]
		u |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.at += i + 1
			return u
		}
	}
	r.fail()
	return 0
}

func (r *reader) fail() { r.at, r.bad = len(r.s), true }

// count reads the number of elements of at least that many bytes that follow.
func (r *reader) count(size int) int {
	n := r.int()
	switch {
	case n == 0:
	case n < 0 || n > int64(r.left()/size):
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) str() (s string) {
	r.setStr(&s)
	return s
}

// raw returns bytes of its own: callers may change them.
func (r *reader) raw() (b providers.Extra) {
	r.setRaw(&b)
	return b
}

// own copies bytes, into the room when they fit.
func (r *reader) own(s string) []byte {
	if len(s) > len(r.room) {
		return []byte(s)
	}
	n := copy(r.room, s)
	own := r.room[:n:n]
	r.room = r.room[n:]
	return own
}

// intTo, strTo and rawTo read a member that is 0 or empty so far. So are most
// members of an answer, and each of those is a byte that is 0: these are just small
// enough for the compiler to put them where they are called.
func (r *reader) intTo(n *int64) {
	if r.at < len(r.s) && r.s[r.at] == 0 {
		r.at++
		return
	}
	r.setInt(n)
}

func (r *reader) strTo(s *string) {
	if r.at < len(r.s) && r.s[r.at] == 0 {
		r.at++
		return
	}
	r.setStr(s)
}

func (r *reader) rawTo(b *providers.Extra) {
	if r.at < len(r.s) && r.s[r.at] == 0 {
		r.at++
		return
	}
	r.setRaw(b)
}

func (r *reader) setInt(n *int64) {
	if at := r.at; at < len(r.s) && r.s[at] < 0x80 {
		r.at = at + 1
		*n = signed(uint64(r.s[at]))
		return
	}
	*n = signed(r.longUint())
}

func (r *reader) setStr(s *string) {
	var n uint64
	at := r.at
	if at < len(r.s) && r.s[at] < 0x80 {
		n = uint64(r.s[at])
		at++
	} else {
		n = r.longUint()
		at = r.at
	}
	if n > uint64(len(r.s)-at) {
		r.fail()
		return
	}
	r.at = at + int(n)
	*s = r.s[at:r.at]
}

func (r *reader) setRaw(b *providers.Extra) {
	var s string
	if r.setStr(&s); s != "" {
		*b = r.own(s)
	}
}

func (r *reader) float() float64 {
	if r.left() < 8 {
		r.fail()
		return 0
	}
	var u uint64
	for i := range 8 {
		u |= uint64(r.s[r.at+i]) << (8 * i)
	}
	r.at += 8
	return math.Float64frombits(u)
}

func (r *reader) has() bool {
	if r.left() == 0 {
		r.fail()
		return false
	}
	r.at++
	return r.s[r.at-1] == 1
}

// WriteJSON hashes the request of any operation by its JSON, but for its model,
// which the target has, and for what no answer depends on.
func WriteJSON[Q any](encode func(Q) ([]byte, error)) Writer[Q] {
	return func(d *Digest, req Q) {
		json, err := encode(req)
		d.Part("request")
		if err != nil {
			d.String("error", err.Error())
		}
		for _, name := range jsonOut {
			json = jsonx.DeleteMember(json, name)
		}
		d.JSON("json", json)
	}
}

// jsonOut are the members that WriteJSON leaves out; the partition has the user and
// the metadata.
var jsonOut = []string{"model", "user", "metadata", "labels", "stream"}

// EncodeJSON keeps the answer of any operation by its JSON.
func EncodeJSON(k *Kept, json []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	w := newWriter(kindOther, k)
	w.raw(json)
	return w.b, nil
}

// DecodeJSON returns the JSON of what [EncodeJSON] kept.
func DecodeJSON(body []byte) ([]byte, Kept, error) {
	var k Kept
	r, err := newReader(kindOther, body, &k)
	if err != nil {
		return nil, k, err
	}
	json := r.raw()
	return json, k, r.end()
}
