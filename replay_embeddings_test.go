package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
)

// wantVectors is what a client must see of an answer with vectors.
type wantVectors struct {
	Count        int         `json:"count"`
	Dims         []int       `json:"dims"`
	First3       [][]float64 `json:"first3"`
	PromptTokens *int64      `json:"prompt_tokens"`
}

// sentTexts are what a recorded request asks of either method.
type sentTexts struct {
	Instances []struct {
		Content  string `json:"content"`
		TaskType string `json:"task_type"`
	} `json:"instances"`
	Requests []struct {
		Content struct {
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"content"`
	} `json:"requests"`
}

// TestReplayEmbeddings answers with recorded vectors, as TestReplay does with
// completions. Requests that were recorded from the platform itself must also be
// what is sent.
func TestReplayEmbeddings(t *testing.T) {
	dir := os.Getenv("GATEWAY_RECORDED_DIR")
	if dir == "" {
		t.Skip("GATEWAY_RECORDED_DIR is not set")
	}
	exchanges, want := loadRecordings(t, dir, "embedding")
	ran := 0
	for _, x := range exchanges {
		for _, framing := range []string{"whole", "7"} {
			t.Run(x.ID+"/"+framing, func(t *testing.T) {
				replayVectors(t, x, framing, want[x.ID])
				ran++
			})
		}
	}
	if t.Logf("replayed %d embeddings", ran); ran == 0 {
		t.Error("no exchange was replayed")
	}
}

func replayVectors(t *testing.T, x *exchange, framing string, want *expectation) {
	t.Helper()
	replies := replayServer{x: x, framing: framing}
	var sent []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		replies.ServeHTTP(w, r)
	}))
	defer srv.Close()
	client, err := gateway.New(gateway.WithBaseURL(srv.URL), gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("token"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	got, err := client.Embeddings.Create(context.Background(), vectorRequest(t, x))
	if err != nil || want.Outcome != "embedding" {
		t.Fatalf("%v, want %s", err, want.Outcome)
	}
	if slices.Contains(x.Tags, "vertex") {
		var a, b bytes.Buffer
		if err := json.Compact(&a, x.Request.Body); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&b, sent); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a.String(), b.String()); diff != "" {
			t.Errorf("what is sent (-recorded +ours)\n%s", diff)
		}
	}
	compareVectors(t, want.Embeddings, got)
}

// vectorRequest is the request that the exchange was recorded of.
func vectorRequest(t *testing.T, x *exchange) *gateway.EmbeddingRequest {
	t.Helper()
	var body sentTexts
	if err := json.Unmarshal(x.Request.Body, &body); err != nil {
		t.Fatal(err)
	}
	q := &gateway.EmbeddingRequest{Model: modelInURL.FindStringSubmatch(x.Request.URL)[1]}
	var texts []string
	for _, i := range body.Instances {
		texts, q.TaskType = append(texts, i.Content), i.TaskType
	}
	for _, r := range body.Requests {
		texts = append(texts, r.Content.Parts[0].Text)
	}
	q.Input = gateway.EmbeddingTexts(texts...)
	return q
}

func compareVectors(t *testing.T, want *wantVectors, got *gateway.EmbeddingResponse) {
	t.Helper()
	vectors := wantVectors{Count: len(got.Data)}
	for _, d := range got.Data {
		vectors.Dims = append(vectors.Dims, len(d.Embedding))
		vectors.First3 = append(vectors.First3, d.Embedding[:3])
	}
	if got.Usage != nil {
		vectors.PromptTokens = &got.Usage.PromptTokens
	}
	if diff := cmp.Diff(*want, vectors); diff != "" { // the very floats
		t.Errorf("(-want +got)\n%s", diff)
	}
}
