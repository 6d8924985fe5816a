package batch

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
	`{"batchPredictionJobs":[{"name":"n","state":"JOB_STATE_FAILED","error":{"code":3},"completionStats":{"successfulCount":"7"},"labels":{"a":"b"}}],"nextPageToken":"t"}`,
	`{"outputInfo":{"gcsOutputDirectory":"gs://b/o"},"completionStats":{"failedCount":1e3}}`, `{"batchPredictionJobs":[null]}`, `{"error":`, `{"labels":{"a":1}}`,
}
