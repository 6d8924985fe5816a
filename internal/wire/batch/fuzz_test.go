package batch_test

import (
	"testing"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/internal/wire/batch"
)

func FuzzList(f *testing.F) {
	testkit.FuzzDecode(f, (*batch.List).Decode,
		`{"batchPredictionJobs":[{"name":"n","state":"JOB_STATE_FAILED","error":{"code":3},"completionStats":{"successfulCount":"7"},"labels":{"a":"b"}}],"nextPageToken":"t"}`,
		`{"outputInfo":{"gcsOutputDirectory":"gs://b/o"},"completionStats":{"failedCount":1e3}}`, `{"batchPredictionJobs":[null]}`, `{"error":`, `{"labels":{"a":1}}`)
}
