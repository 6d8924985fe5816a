package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// batchClient is a client with a bucket, and the emulator that has both.
func batchClient(t *testing.T, opts ...vertextest.Option) (*gateway.Client, *vertextest.Server) {
	t.Helper()
	platform := vertextest.New(opts...)
	t.Cleanup(platform.Close)
	return batchClientOf(t, platform), platform
}

func batchClientOf(t *testing.T, platform *vertextest.Server) *gateway.Client {
	t.Helper()
	client, err := gateway.New(
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"), gateway.WithBucket("gs://bucket/team"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// chatLine is one line of a batch.
func chatLine(id, text string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":"gemini-2.5-flash","messages":[{"role":"user","content":%q}]}}`+"\n", id, text)
}

// upload keeps the lines and returns the file's id.
func upload(t *testing.T, client *gateway.Client, lines string) string {
	t.Helper()
	f, err := client.Files.Create(t.Context(), &gateway.FileRequest{File: strings.NewReader(lines), Filename: "in.jsonl", Purpose: gateway.PurposeBatch})
	if err != nil {
		t.Fatal(err)
	}
	return f.ID
}

func contentOf(t *testing.T, client *gateway.Client, id string) string {
	t.Helper()
	r, err := client.Files.Content(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// runBatch makes a batch and waits for its end.
func runBatch(t *testing.T, client *gateway.Client, req *gateway.BatchRequest) *gateway.Batch {
	t.Helper()
	b, err := client.Batches.Create(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = client.Batches.Wait(t.Context(), b.ID, gateway.BatchWait{Interval: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	return b
}

// anonymous is an answer's JSON without what is new in each.
func anonymous(t *testing.T, v json.Marshaler) any {
	t.Helper()
	data, err := v.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(regexp.MustCompile(`"(call|toolu)_[0-9A-Za-z_]+"`).ReplaceAll(data, []byte(`"call"`)), &out); err != nil {
		t.Fatal(err)
	}
	delete(out, "id")
	delete(out, "created")
	return out
}

// TestALineIsAnsweredAsARequestOfItsOwn asks each request alone, and in a batch.
func TestALineIsAnsweredAsARequestOfItsOwn(t *testing.T) {
	const tools = `"tools":[{"type":"function","function":{"name":"weather","description":"Weather of a place","parameters":{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}}}]`
	for model, bodies := range map[string][]string{
		"gemini-2.5-flash": {
			`"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hello"}]`,
			`"messages":[{"role":"user","content":"What is the weather in Paris and Rome?"}],` + tools,
			`"messages":[{"role":"user","content":"Give me JSON"}],"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}}}`,
			`"messages":[{"role":"user","content":"Think"}],"thinking":{"type":"enabled","budget_tokens":1024},"n":2,"labels":{"team":"a"}`,
			`"messages":[{"role":"user","content":"Cut me off, please, for I talk too much"}],"max_tokens":3,"thinking":{"type":"disabled"}`,
		},
		"anthropic.claude-sonnet-5": {
			`"messages":[{"role":"user","content":"Hello"}],"max_tokens":100`,
			`"messages":[{"role":"user","content":"What is the weather in Paris?"}],"max_tokens":200,` + tools,
		},
	} {
		t.Run(model, func(t *testing.T) {
			client, _ := batchClient(t)
			want, got := map[string]any{}, map[string]any{}
			var lines strings.Builder
			for i, body := range bodies {
				body = `{"model":"` + model + `",` + body + `}`
				id := fmt.Sprintf("Line %d", i)
				fmt.Fprintf(&lines, `{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":%s}`+"\n", id, body)
				req := new(gateway.ChatCompletionRequest)
				if err := json.Unmarshal([]byte(body), req); err != nil {
					t.Fatal(err)
				}
				answer, err := client.Chat.Completions.Create(t.Context(), req, gateway.WithStrictCompliance(false))
				if err != nil {
					t.Fatal(err)
				}
				want[id] = anonymous(t, answer)
			}
			b := runBatch(t, client, &gateway.BatchRequest{InputFileID: upload(t, client, lines.String()), Endpoint: gateway.BatchChat})
			if b.Status != gateway.BatchCompleted || b.RequestCounts.Completed != int64(len(bodies)) {
				t.Errorf("%s %+v", b.Status, b.RequestCounts)
			}
			for r, err := range client.Batches.Results(t.Context(), b.ID, gateway.WithStrictCompliance(false)) {
				if err != nil || r.Err != nil {
					t.Fatal(err, r.Err)
				}
				got[r.CustomID] = anonymous(t, r.Chat)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-alone +batch)\n%s", diff)
			}
		})
	}
}

func TestVectorsOfABatchAreThoseOfRequests(t *testing.T) {
	client, platform := batchClient(t, vertextest.WithBatchShards(2))
	client, err := client.With(gateway.WithRegion("us-central1"))
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	want, got := map[string]any{}, map[string]any{}
	for _, text := range []string{"a cat", "a dog", "three mice", "four", "five"} {
		body := fmt.Sprintf(`{"model":"text-embedding-005","input":%q,"dimensions":16,"task_type":"CLUSTERING","encoding_format":"base64"}`, text)
		fmt.Fprintf(&lines, `{"custom_id":%q,"method":"POST","url":"/v1/embeddings","body":%s}`+"\n", text, body)
		req := new(gateway.EmbeddingRequest)
		if err := json.Unmarshal([]byte(body), req); err != nil {
			t.Fatal(err)
		}
		answer, err := client.Embeddings.Create(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		want[text] = anonymous(t, answer)
	}
	b := runBatch(t, client, &gateway.BatchRequest{InputFileID: upload(t, client, lines.String()), Endpoint: gateway.BatchEmbeddings})
	for r, err := range client.Batches.Results(t.Context(), b.ID) {
		if err != nil || r.Err != nil {
			t.Fatal(err, r.Err)
		}
		got[r.CustomID] = anonymous(t, r.Embeddings)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-alone +batch)\n%s", diff)
	}
	shards := slices.DeleteFunc(platform.Objects("bucket"), func(name string) bool { return !strings.Contains(name, "/prediction-model-") })
	if len(shards) != 3 {
		t.Errorf("shards %v", shards)
	}
}

// TestABatchInTime follows one from its start to its end, and from another
// process.
func TestABatchInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		platform := vertextest.New(vertextest.WithBatchDuration(time.Hour))
		defer platform.Close()
		client := batchClientOf(t, platform)
		id := upload(t, client, chatLine("a", "Hello")+chatLine("b", "Tell me")+"x\n")
		b, err := client.Batches.Create(t.Context(), &gateway.BatchRequest{InputFileID: id, Endpoint: gateway.BatchChat, Metadata: map[string]string{"k": "v"}})
		if err != nil {
			t.Fatal(err)
		}
		again, err := client.Batches.Create(t.Context(), &gateway.BatchRequest{InputFileID: id, Endpoint: gateway.BatchChat})
		if err != nil || again.ID != b.ID || again.Metadata["k"] != "v" {
			t.Errorf("again: %v %v", again, err)
		}
		var seen []string
		other := batchClientOf(t, platform)
		done, err := other.Batches.Wait(t.Context(), b.ID, gateway.BatchWait{Interval: 10 * time.Minute, Progress: func(b *gateway.Batch) {
			seen = append(seen, fmt.Sprint(b.Status, b.RequestCounts, b.OutputFileID != "", b.ErrorFileID != ""))
		}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{
			"validating{3 0 1} false false", "validating{3 0 1} false false", "in_progress{3 0 1} false false", "in_progress{3 1 1} false false",
			"in_progress{3 1 1} false false", "in_progress{3 1 1} false false", "completed{3 2 1} true true",
		}, seen); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if n := verbs(platform, "createBatchPredictionJob"); n != 1 {
			t.Errorf("%d jobs", n)
		}
		if took := done.CompletedAt - done.InProgressAt; took != 45*60 {
			t.Errorf("it ran %d s", took)
		}
		fresh, err := client.Batches.Create(t.Context(), &gateway.BatchRequest{InputFileID: id, Endpoint: gateway.BatchChat, IdempotencyKey: "2"})
		if err != nil || fresh.ID == b.ID {
			t.Errorf("with a key of its own: %v %v", fresh, err)
		}
		gone, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := client.Batches.Wait(gone, fresh.ID, gateway.BatchWait{}); !errors.Is(err, gateway.ErrTimeout) {
			t.Errorf("a context that ends: %v", err)
		}
		time.Sleep(30 * time.Minute)
		if fresh, err = client.Batches.Cancel(t.Context(), fresh.ID); err != nil || fresh.Status != gateway.BatchCancelling {
			t.Errorf("%v %v", fresh, err)
		}
		time.Sleep(time.Hour)
		if fresh, err = client.Batches.Cancel(t.Context(), fresh.ID); err != nil || fresh.Status != gateway.BatchCancelled || fresh.OutputFileID == "" {
			t.Errorf("%v %v", fresh, err)
		}
		if _, err := client.Batches.Cancel(t.Context(), b.ID); !errors.Is(err, gateway.ErrInvalidRequest) {
			t.Errorf("one that has ended: %v", err)
		}
	})
}

// verbs is how many requests there were for a verb.
func verbs(platform *vertextest.Server, verb string) int {
	n := 0
	for _, r := range platform.Requests() {
		if r.Verb == verb {
			n++
		}
	}
	return n
}

// TestABatchIsStartedOnce breaks off where the job is asked for.
func TestABatchIsStartedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name  string
			fault vertextest.Reply
			jobs  int
			tries int
		}{
			{"the platform is down", vertextest.Error(503, "UNAVAILABLE", "down"), 1, 3},
			{"the answer is lost", vertextest.Auto().CutAfterEvents(0), 1, 2},
			{"the job is refused", vertextest.Error(403, "PERMISSION_DENIED", "no"), 1, 2},
		} {
			platform := vertextest.New()
			client := batchClientOf(t, platform)
			req := &gateway.BatchRequest{InputFileID: upload(t, client, chatLine("a", "Hello")), Endpoint: gateway.BatchChat}
			platform.ScriptVerb("createBatchPredictionJob", tt.fault)
			if b, err := client.Batches.Create(t.Context(), req); err == nil {
				t.Errorf("%s: %v", tt.name, b)
			}
			b, tries := (*gateway.Batch)(nil), 1
			for ; tries < 5 && (b == nil || b.Job == ""); tries++ {
				var err error
				if b, err = client.Batches.Create(t.Context(), req); err != nil {
					t.Fatal(tt.name, err)
				}
				time.Sleep(3 * time.Minute)
			}
			jobs, err := client.Batches.Page(t.Context(), gateway.ListQuery{})
			if err != nil || len(jobs.Data) != tt.jobs || tries != tt.tries {
				t.Errorf("%s: %d jobs after %d tries: %v", tt.name, len(jobs.Data), tries, err)
			}
			if b, err = client.Batches.Wait(t.Context(), b.ID, gateway.BatchWait{}); err != nil || b.Status != gateway.BatchCompleted {
				t.Errorf("%s: %v %v", tt.name, b, err)
			}
			platform.Close()
		}
	})
}

func TestABatchThatFailsSaysWhy(t *testing.T) {
	client, _ := batchClient(t, vertextest.WithBatchFault("The bucket can't be read."))
	b := runBatch(t, client, &gateway.BatchRequest{InputFileID: upload(t, client, chatLine("a", "Hello")), Endpoint: gateway.BatchChat})
	want := []gateway.BatchError{{Code: "invalid_request", Message: "The bucket can't be read."}}
	if diff := cmp.Diff(want, b.Errors); diff != "" || b.Status != gateway.BatchFailed || b.FailedAt == 0 || b.OutputFileID != "" {
		t.Errorf("%+v\n%s", b, diff)
	}
}

// TestLinesThatFailAreInTheErrorFile has a line that the platform refuses.
func TestLinesThatFailAreInTheErrorFile(t *testing.T) {
	client, platform := batchClient(t)
	platform.Script(vertextest.Auto(), vertextest.Error(429, "RESOURCE_EXHAUSTED", "busy"))
	lines := chatLine("a", "Hello") + chatLine("b", "Hello")
	b := runBatch(t, client, &gateway.BatchRequest{InputFileID: upload(t, client, lines), Endpoint: gateway.BatchChat})
	if b.Status != gateway.BatchCompleted || b.RequestCounts != (gateway.BatchCounts{Total: 2, Completed: 1, Failed: 1}) {
		t.Errorf("%s %+v", b.Status, b.RequestCounts)
	}
	if text := contentOf(t, client, b.OutputFileID); strings.Count(text, "\n") != 1 || !strings.Contains(text, `"custom_id":"a"`) {
		t.Errorf("output %s", text)
	}
	if text := contentOf(t, client, b.ErrorFileID); strings.Count(text, "\n") != 1 || !strings.Contains(text, `"custom_id":"b","response":{"status_code":429`) {
		t.Errorf("errors %s", text)
	}
	if err := client.Files.Delete(t.Context(), b.OutputFileID); err != nil {
		t.Error(err)
	}
	if _, err := client.Files.Content(t.Context(), b.OutputFileID); err == nil {
		t.Error("the output is still there")
	}
}

// TestAnOutputThatIsNotWholeIsAnError spoils the output in several ways.
func TestAnOutputThatIsNotWholeIsAnError(t *testing.T) {
	for _, tt := range []struct {
		name    string
		spoil   func(*vertextest.Server, string)
		results int
		code    error
	}{
		{"a shard is missing", func(s *vertextest.Server, name string) { s.RemoveObject("bucket", name) }, 2, gateway.ErrStreamCut},
		{"a shard is cut", func(s *vertextest.Server, name string) {
			data, _ := s.Object("bucket", name)
			s.PutObject("bucket", name, data[:len(data)/2])
		}, 3, gateway.ErrStreamCut},
		{"a line is garbage", func(s *vertextest.Server, name string) {
			data, _ := s.Object("bucket", name)
			s.PutObject("bucket", name, append([]byte("garbage"), data...))
		}, 4, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, platform := batchClient(t, vertextest.WithBatchShards(2))
			var lines string
			for i := range 4 {
				lines += chatLine(fmt.Sprint(i), "Hello")
			}
			b := runBatch(t, client, &gateway.BatchRequest{InputFileID: upload(t, client, lines), Endpoint: gateway.BatchChat})
			for _, name := range platform.Objects("bucket") {
				if strings.HasSuffix(name, "predictions_00001.jsonl") {
					tt.spoil(platform, name)
				}
			}
			var results int
			var last error
			for r, err := range client.Batches.Results(t.Context(), b.ID) {
				if last = err; r != nil {
					results++
				}
			}
			if results != tt.results || tt.code == nil && last != nil || tt.code != nil && !errors.Is(last, tt.code) {
				t.Errorf("%d results, then %v", results, last)
			}
		})
	}
}
