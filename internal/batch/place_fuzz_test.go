package batch

import (
	"strings"
	"testing"
)

// FuzzPlace reads places and ids of files. What is read names objects below the place
// alone, and an id is the one that its key makes, in this place and in no other.
func FuzzPlace(f *testing.F) {
	p := Place{"bucket", "team/"}
	key := strings.Repeat("0", keyLength)
	f.Add("gs://bucket/team", p.id(kindFile, key))
	f.Add("gs://bucket/../x", "file-../../a")
	f.Add("gs://buc%2fket/a//b", "batch_\x00")
	f.Add("gs://bucket/．．/a", p.id(kindBatch, key)+"/..")
	f.Fuzz(func(t *testing.T, uri, id string) {
		place, err := ParsePlace(uri)
		if err != nil {
			return
		}
		if place.Prefix != "" && !strings.HasSuffix(place.Prefix, "/") || strings.ContainsAny(place.Bucket+place.Prefix, "\\%?# \r\n\x00") {
			t.Errorf("%q is %+v", uri, place)
		}
		for segment := range strings.SplitSeq(strings.TrimSuffix(place.Prefix, "/"), "/") {
			if segment == ".." || segment == "." {
				t.Errorf("%q leads elsewhere", uri)
			}
		}
		if again, err := ParsePlace("gs://" + place.Bucket + "/" + place.Prefix); err != nil || again != place {
			t.Errorf("%+v is read as %+v, %v", place, again, err)
		}
		kind, key, ok := place.parse(id, kindOutput, kindErrors, kindFile, kindBatch)
		if !ok {
			return
		}
		if place.id(kind, key) != id || strings.ContainsAny(key, "./\\%") {
			t.Errorf("%q is %s %q", id, kind, key)
		}
		elsewhere := Place{place.Bucket, place.Prefix + "x/"}
		if _, _, ok := elsewhere.parse(id, kind); ok {
			t.Errorf("%q is good elsewhere", id)
		}
	})
}
