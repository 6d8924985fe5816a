package vertextest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// call sends one request to the server in memory.
func (s *Server) call(t *testing.T, method, url, body string, header ...string) (status int, text string, head http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer t")
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := s.Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data), res.Header
}

const (
	jobsURL   = "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/batchPredictionJobs"
	storeURL  = "https://storage.googleapis.com/storage/v1/b/bucket/o"
	uploadURL = "https://storage.googleapis.com/upload/storage/v1/b/bucket/o"
)

// jobOf is the body of a job, with one piece of it replaced.
func jobOf(old, with string) string {
	const body = `{"displayName":"d","model":"publishers/google/models/gemini-2.5-flash","inputConfig":{"instancesFormat":"jsonl","gcsSource":{"uris":["gs://bucket/in.jsonl"]}},"outputConfig":{"predictionsFormat":"jsonl","gcsDestination":{"outputUriPrefix":"gs://bucket/out/"}},"labels":{"a":"b"}}`
	return strings.Replace(body, old, with, 1)
}

func TestJobsThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name, old, with, says string
		status                int
	}{
		{"none", "", "", `"state": "JOB_STATE_`, 200},
		{"an unknown member", `"displayName"`, `"display_name":"x","displayName"`, "Cannot find field", 400},
		{"an unknown member within", `"uris"`, `"uri":"x","uris"`, "Cannot find field", 400},
		{"no display name", `"displayName":"d",`, "", "display_name", 400},
		{"a model without publisher", "publishers/google/models/", "", "Invalid model name", 400},
		{"a model that is not there", "gemini-2.5-flash", "gemini-0", "was not found", 404},
		{"a Claude that is not there", "google/models/gemini-2.5-flash", "anthropic/models/claude-0", "was not found", 404},
		{"another format", `"instancesFormat":"jsonl"`, `"instancesFormat":"csv"`, "must be jsonl", 400},
		{"two sources", `"gs://bucket/in.jsonl"`, `"gs://bucket/in.jsonl","gs://bucket/b"`, "Exactly one", 400},
		{"a source elsewhere", "gs://bucket/in.jsonl", "https://x", "Exactly one", 400},
		{"an output elsewhere", "gs://bucket/out/", "out/", "gs:// URI", 400},
		{"a label in upper case", `"a":"b"`, `"A":"b"`, "Invalid label", 400},
		{"no JSON", "{", "", "Invalid JSON", 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New()
			defer s.Close()
			status, text, _ := s.call(t, "POST", jobsURL, jobOf(tt.old, tt.with))
			if status != tt.status || !strings.Contains(text, tt.says) {
				t.Errorf("%d %s", status, text)
			}
		})
	}
}

// TestAJobRunsItsLines through the handlers of single requests.
func TestAJobRunsItsLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(WithBatchDuration(time.Hour))
		defer s.Close()
		s.PutObject("bucket", "in.jsonl", []byte(`{"request":{"contents":[{"role":"user","parts":[{"text":"Hello"}]}],"labels":{"id":"1"}}}
{"request":{"contents":[{"role":"robot","parts":[{"text":"Hello"}]}]}}
nothing`))
		_, text, _ := s.call(t, "POST", jobsURL, jobOf("", ""))
		var job struct {
			Name, State     string
			CompletionStats map[string]string
			OutputInfo      struct{ GCSOutputDirectory string }
		}
		if err := json.Unmarshal([]byte(text), &job); err != nil {
			t.Fatal(err)
		}
		var states []string
		for range 3 {
			_, text, _ = s.call(t, "GET", "https://h/v1/"+job.Name, "")
			if err := json.Unmarshal([]byte(text), &job); err != nil {
				t.Fatal(err)
			}
			states = append(states, job.State)
			time.Sleep(30 * time.Minute)
		}
		if diff := cmp.Diff([]string{"JOB_STATE_PENDING", "JOB_STATE_RUNNING", "JOB_STATE_PARTIALLY_SUCCEEDED"}, states); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(map[string]string{"successfulCount": "1", "failedCount": "2", "incompleteCount": "0"}, job.CompletionStats); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		data, ok := s.Object("bucket", strings.TrimPrefix(job.OutputInfo.GCSOutputDirectory, "gs://bucket/")+"/predictions.jsonl")
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		if !ok || len(lines) != 3 || !strings.Contains(lines[1], "Please use a valid role") || !strings.Contains(lines[2], `"labels":{"id":"1"}`) ||
			!strings.Contains(lines[2], "How can I help") {
			t.Errorf("%s", data)
		}
	})
}

func TestUploadsThatAreRefused(t *testing.T) {
	s := New()
	defer s.Close()
	begin := func() string {
		status, text, head := s.call(t, "POST", uploadURL+"?uploadType=resumable", `{"name":"big"}`)
		if status != 200 || head.Get("Location") == "" {
			t.Fatalf("%d %s", status, text)
		}
		return head.Get("Location")
	}
	for _, tt := range []struct {
		name, method, url, body, spread string
		status                          int
		says                            string
	}{
		{"an unknown kind", "POST", uploadURL + "?uploadType=x&name=a", "x", "", 400, "uploadType"},
		{"no name", "POST", uploadURL + "?uploadType=media", "x", "", 400, "object name"},
		{"an unknown member", "POST", uploadURL + "?uploadType=resumable", `{"name":"a","colour":1}`, "", 400, "colour"},
		{"a multipart that is none", "POST", uploadURL + "?uploadType=multipart", "x", "", 400, "multipart/related"},
		{"an object where there must be none", "POST", uploadURL + "?uploadType=media&name=old&ifGenerationMatch=0", "x", "", 412, "pre-conditions"},
		{"a session that is none", "PUT", uploadURL + "?upload_id=x", "x", "bytes 0-0/1", 404, "session"},
		{"no range", "PUT", begin(), "x", "", 400, "Content-Range"},
		{"a range of another length", "PUT", begin(), "x", "bytes 0-1/2", 400, "does not fit"},
		{"an odd chunk before the last", "PUT", begin(), "x", "bytes 0-0/*", 400, "262144"},
		{"a gap", "PUT", begin(), "x", "bytes 5-5/6", 503, "missing"},
		{"a question", "PUT", begin(), "", "bytes */*", 308, ""},
		{"a last chunk", "PUT", begin(), "x", "bytes 0-0/1", 200, `"size": "1"`},
		{"a range behind the end", "GET", storeURL + "/old?alt=media", "", "", 200, "data"},
		{"an object that is not there", "GET", storeURL + "/none", "", "", 404, "No such object"},
		{"an unknown parameter of a list", "GET", storeURL + "?colour=red", "", "", 400, "colour"},
	} {
		s.PutObject("bucket", "old", []byte("data"))
		header := []string{}
		if tt.spread != "" {
			header = append(header, "Content-Range", tt.spread)
		}
		status, text, _ := s.call(t, tt.method, tt.url, tt.body, header...)
		if status != tt.status || !strings.Contains(text, tt.says) {
			t.Errorf("%s: %d %s", tt.name, status, text)
		}
	}
}
