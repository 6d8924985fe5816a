package cachetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

// keyOf returns the key of a name.
func keyOf(parts ...any) cache.Key { return sha256.Sum256(fmt.Append(nil, parts...)) }

// entry returns one that lives for that long.
func entry(name string, life time.Duration) *cache.Entry {
	now := time.Now().Truncate(time.Millisecond)
	return &cache.Entry{
		Key: keyOf(name), Body: []byte("the answer to " + name), Created: now, Expires: now.Add(life),
		Operation: "chat", Model: "model-1",
	}
}

// full returns an entry with all of its members.
func full(name string, vector []float32) *cache.Entry {
	e := entry(name, time.Hour)
	e.Namespace, e.Text = "tenant/ü 1", "what was asked:\x00\n"+name
	e.Parts = []cache.Part{{Name: "model", Sum: 1}, {Name: "messages", Sum: math.MaxUint64}}
	e.Group, e.Vector = keyOf("group"), vector
	return e
}

// inGroup returns an entry that a search in the group finds.
func inGroup(name string, group cache.Key, vector []float32) *cache.Entry {
	e := full(name, vector)
	e.Group = group
	return e
}

// marked returns an entry whose body says whose it is and which of its versions.
func marked(key cache.Key, version uint64, size int, life time.Duration) *cache.Entry {
	e := entry("", life)
	e.Key = key
	e.Body = binary.BigEndian.AppendUint64(bytes.Clone(key[:]), version)
	e.Body = append(e.Body, make([]byte, size)...)
	return e
}

// versionOf returns the version of a marked body, and whether the mark is that of
// the key.
func versionOf(e *cache.Entry, key cache.Key) (uint64, bool) {
	mark, ok := bytes.CutPrefix(e.Body, key[:])
	if !ok || e.Key != key || len(mark) < 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(mark), true
}

// direction returns a vector of length 1 and two numbers, at an angle in degrees:
// the similarity of two is the cosine of the angle between them.
func direction(degrees float64) []float32 {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return []float32{float32(cos), float32(sin)}
}

// random returns a vector of length 1.
func random(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	var sum float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// cosine is the similarity of two vectors of length 1.
func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// difference says in what an entry is not the one that was wanted.
func difference(want, got *cache.Entry) string {
	for _, m := range []struct {
		name string
		same bool
	}{
		{"Key", want.Key == got.Key},
		{"Body", bytes.Equal(want.Body, got.Body)},
		{"Created", want.Created.Equal(got.Created)},
		{"Expires", want.Expires.Equal(got.Expires)},
		{"Namespace", want.Namespace == got.Namespace},
		{"Operation", want.Operation == got.Operation},
		{"Model", want.Model == got.Model},
		{"Parts", slices.Equal(want.Parts, got.Parts)},
		{"Group", want.Group == got.Group},
		{"Vector", slices.Equal(want.Vector, got.Vector)},
		{"Text", want.Text == got.Text},
	} {
		if !m.same {
			return m.name + " is another"
		}
	}
	return ""
}

func numbered(name string, i int) string { return name + " " + strconv.Itoa(i) }
