package batch_test

import (
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/batch"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers"
)

// masked are what differs between two runs.
var masked = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`batch_req_[0-9a-v]{22}_`), "batch_req_KEY_"},
	{regexp.MustCompile(`"created":\d+`), `"created":0`},
	{regexp.MustCompile(`call_[0-9A-Za-z]{24}`), "call_ID"},
	{regexp.MustCompile(`chatcmpl-[0-9A-Za-z]{24}`), "chatcmpl-ID"},
}

// TestLines plays the archives: lines of the OpenAI schema into those of the
// platform, and the platform's output into those of the OpenAI schema.
func TestLines(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) < 3 {
		t.Fatalf("%d archives: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a := testkit.ReadArchive(t, path)
			got := play(t, a)
			for name, data := range got {
				for _, m := range masked {
					data = m.what.ReplaceAll(data, []byte(m.with))
				}
				got[name] = data
			}
			testkit.Golden(t, path, a, []string{"platform.jsonl", "settings.json", "warnings.txt", "errors.jsonl", "answers.jsonl"}, got)
		})
	}
}

// play makes a batch of an archive's lines, and reads the output of it.
func play(t *testing.T, a *testkit.Archive) map[string][]byte {
	t.Helper()
	s, store, run := service(t)
	endpoint := strings.TrimSpace(string(a.Get("endpoint.txt")))
	b, err := s.CreateBatch(t.Context(), &providers.BatchRequest{InputFileID: put(t, s, string(a.Get("input.jsonl"))), Endpoint: endpoint})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]byte{"settings.json": run.asked[0].Format.Settings}
	for _, w := range b.Meta.Warnings {
		got["warnings.txt"] = append(got["warnings.txt"], w.Code+" "+w.Param+": "+w.Message+"\n"...)
	}
	for name, o := range store.objects {
		if strings.Contains(name, "/input-") {
			got["platform.jsonl"] = o.data
		}
	}
	at := providers.ObjectName{Bucket: "bucket", Name: strings.TrimPrefix(run.job.Output, "gs://bucket/") + "/predictions.jsonl"}
	if _, err := store.PutObject(t.Context(), nil, at, strings.NewReader(string(a.Get("output.jsonl"))), nil); err != nil {
		t.Fatal(err)
	}
	n := int64(strings.Count(string(a.Get("output.jsonl")), "\n"))
	run.job.Counted, run.job.Succeeded, run.job.Failed = true, n, 0
	if b, err = s.GetBatch(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	got["answers.jsonl"] = read(t, s, b.OutputFileID)
	run.job.Succeeded, run.job.Failed = 0, n
	if b, err = s.GetBatch(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	got["errors.jsonl"] = read(t, s, b.ErrorFileID)
	return got
}

func read(t *testing.T, s *batch.Service, id string) []byte {
	t.Helper()
	r, _, err := s.FileContent(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
