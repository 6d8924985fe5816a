package testkit

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// FuzzDecode reads any bytes, from the seeds on. What is read to its end is one JSON
// value, and reads the same with other white space around it.
func FuzzDecode[T any](f *testing.F, decode func(*T, *jsonx.Reader), seeds ...string) {
	f.Helper()
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, again T
		r := jsonx.NewReader(data)
		decode(&first, &r)
		if r.End() != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is no JSON", data)
		}
		r = jsonx.NewReader(append(append([]byte(" \n"), data...), '\t'))
		decode(&again, &r)
		if diff := cmp.Diff(first, again); diff != "" || r.End() != nil {
			t.Errorf("%v %s", r.End(), diff)
		}
	})
}
