// Package batch keeps files in a bucket and runs batches of them: it names them,
// translates their lines both ways as they are read, and starts jobs. All of its
// state is in the bucket and with the platform, so that any process that knows
// the bucket can go on where another one stopped.
//
// Below the place that is configured there are
//
//	files/KEY                    what was uploaded
//	batches/KEY.json             the record of a batch
//	batch-data/KEY/input-*.jsonl the lines as the platform reads them
//	batch-data/KEY/errors.jsonl  the lines that were not sent
//	batch-data/KEY/output/       what the platform wrote
package batch

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Place is a bucket and what all names in it begin with, "" or with a slash at
// its end.
type Place struct{ Bucket, Prefix string }

// ParsePlace reads gs://bucket/prefix.
//
// Source: https://cloud.google.com/storage/docs/buckets#naming
func ParsePlace(uri string) (Place, error) {
	rest, ok := strings.CutPrefix(uri, "gs://")
	if !ok {
		return Place{}, badPlace(`must be "gs://BUCKET" or "gs://BUCKET/PREFIX"`)
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	if len(bucket) < 3 || len(bucket) > 222 || strings.ContainsFunc(bucket, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.'
	}) {
		return Place{}, badPlace("a bucket's name has 3 to 222 lower-case letters, digits and - _ .")
	}
	prefix = strings.TrimSuffix(prefix, "/")
	if prefix == "" {
		return Place{Bucket: bucket}, nil
	}
	for segment := range strings.SplitSeq(prefix, "/") {
		if segment == "" || segment == "." || segment == ".." || strings.ContainsFunc(segment, notInPrefix) {
			return Place{}, badPlace("a prefix has letters, digits and - _ . = in its segments")
		}
	}
	if len(prefix) > 512 {
		return Place{}, badPlace("a prefix has at most 512 bytes")
	}
	return Place{bucket, prefix + "/"}, nil
}

func notInPrefix(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' && c != '='
}

func badPlace(message string) error {
	return &providers.Error{Code: providers.ErrInvalidConfig, Param: "bucket", Message: message}
}

func (p Place) object(name string) providers.ObjectName {
	return providers.ObjectName{Bucket: p.Bucket, Name: p.Prefix + name}
}

// The kinds of ids, each with what it begins with. The longer ones come first.
const (
	kindOutput = "file-out-"
	kindErrors = "file-err-"
	kindFile   = "file-"
	kindBatch  = "batch_"
)

// The lengths of a key and of what guards it. A key begins with its time, the
// newest first in the order of names.
const (
	timeLength  = 9
	keyLength   = 22
	checkLength = 8
)

// small is base 32 with an order that is that of its bytes.
func small() *base32.Encoding {
	return base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)
}

// timeKey is the beginning of the keys of a moment.
func timeKey(at time.Time) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(1<<45-1-at.UnixMilli())<<19) // until the year 3084
	return small().EncodeToString(b[:])[:timeLength]
}

// newKey returns a key that no other file has.
func newKey(at time.Time) string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails
	return timeKey(at) + small().EncodeToString(b[:])[:keyLength-timeLength]
}

// derivedKey is the key of a batch: the same for the same parts, beside the other
// batches of its file.
func derivedKey(file string, parts ...string) string {
	h := sha256.New()
	for _, part := range append([]string{file}, parts...) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return file[:timeLength] + small().EncodeToString(h.Sum(nil))[:keyLength-timeLength]
}

// id makes the public name of a key. It holds for this place alone.
func (p Place) id(kind, key string) string { return kind + key + p.check(kind, key) }

func (p Place) check(kind, key string) string {
	sum := sha256.Sum256([]byte("gateway\x00" + kind + "\x00" + p.Bucket + "\x00" + p.Prefix + "\x00" + key))
	return small().EncodeToString(sum[:])[:checkLength]
}

// parse reads an id of one of the kinds. What else it holds than letters and
// digits of ours never reaches a path.
func (p Place) parse(id string, kinds ...string) (kind, key string, ok bool) {
	for _, kind := range kinds {
		rest, has := strings.CutPrefix(id, kind)
		if !has || len(rest) != keyLength+checkLength || strings.ContainsFunc(rest, func(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'v') }) {
			continue
		}
		key := rest[:keyLength]
		if rest[keyLength:] == p.check(kind, key) {
			return kind, key, true
		}
	}
	return "", "", false
}
