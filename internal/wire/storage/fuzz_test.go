package storage

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// FuzzList reads any page. What is read is one JSON value, reads the same again with
// other white space.
func FuzzList(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := jsonx.NewReader(data)
		var page List
		page.Decode(&r)
		if r.End() != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is no JSON", data)
		}
		spaced := append(append([]byte(" \n"), data...), '\t')
		var again List
		r = jsonx.NewReader(spaced)
		again.Decode(&r)
		if diff := cmp.Diff(page, again); diff != "" || r.End() != nil {
			t.Errorf("%v %s", r.End(), diff)
		}
	})
}

var seeds = []string{
	`{"items":[{"bucket":"b","name":"a/../b","size":"12","generation":1,"metadata":{"a":"b","a":"c"}}],"nextPageToken":"t"}`,
	`{"items":null,"nextPageToken":null}`, `{"name":"a","size":"9223372036854775808"}`, `{"items":[[]]}`, `{"name":"\ud800","metadata":{"":"\u0000"}}`, `[]`, "{\"name\":\"\xff\"}",
}
