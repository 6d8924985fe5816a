package openai_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// startWithBucket is a stage whose gateway keeps files.
func startWithBucket(t *testing.T, opts ...vertextest.Option) *stage {
	t.Helper()
	platform := vertextest.New(append(opts, vertextest.WithToken(platformToken))...)
	t.Cleanup(platform.Close)
	entries, err := catalog.Parse(catalogOf("https://platform.example"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := gateway.New(gateway.WithCatalog(entries), gateway.WithProvider("vx"), gateway.WithBucket("gs://bucket/files"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	server := httptest.NewServer(client.Handler(gateway.WithAPIKeys(apiKey)))
	t.Cleanup(server.Close)
	return &stage{clientOf(server.URL), platform}
}

func (s *stage) content(t *testing.T, id string) string {
	t.Helper()
	res, err := s.Files.Content(t.Context(), id)
	if err != nil {
		t.Fatal(explain(err))
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFiles(t *testing.T) {
	s := startWithBucket(t)
	var ids []string
	for i := range 3 {
		f, err := s.Files.New(t.Context(), openai.FileNewParams{
			File: openai.File(strings.NewReader(fmt.Sprint("text ", i)), fmt.Sprintf("%d.txt", i), "text/plain"), Purpose: openai.FilePurposeUserData,
			ExpiresAfter: openai.FileNewParamsExpiresAfter{Seconds: 3600},
		})
		if err != nil {
			t.Fatal(explain(err))
		}
		if f.Bytes != 6 || f.Filename != fmt.Sprintf("%d.txt", i) || string(f.Purpose) != "user_data" || f.ExpiresAt-f.CreatedAt < 3599 || f.ID == "" {
			t.Errorf("%s", f.RawJSON())
		}
		ids = append([]string{f.ID}, ids...)
		time.Sleep(2 * time.Millisecond)
	}
	var listed []string
	pages := s.Files.ListAutoPaging(t.Context(), openai.FileListParams{Limit: openai.Int(2)})
	for pages.Next() {
		listed = append(listed, pages.Current().ID)
	}
	if diff := cmp.Diff(ids, listed); diff != "" || pages.Err() != nil {
		t.Errorf("%v (-want +got)\n%s", pages.Err(), diff)
	}
	if text := s.content(t, ids[0]); text != "text 2" {
		t.Errorf("%q", text)
	}
	gone, err := s.Files.Delete(t.Context(), ids[0])
	if err != nil || !gone.Deleted || gone.ID != ids[0] {
		t.Errorf("%v %v", gone, err)
	}
	_, err = s.Files.Get(t.Context(), ids[0])
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != http.StatusNotFound || e.Code != "file_not_found" {
		t.Errorf("%v", err)
	}
}

// line is one line of a batch's output.
type line struct {
	CustomID string `json:"custom_id"`
	Response *struct {
		StatusCode int                   `json:"status_code"`
		Body       openai.ChatCompletion `json:"body"`
	} `json:"response"`
	Error *struct{ Code, Message string } `json:"error"`
}

func TestBatch(t *testing.T) {
	s := startWithBucket(t, vertextest.WithBatchShards(2))
	var lines strings.Builder
	for i := range 5 {
		body := ask(flash25, fmt.Sprint("question ", i))
		raw, err := json.Marshal(map[string]any{"custom_id": fmt.Sprint("Line ", i), "method": "POST", "url": "/v1/chat/completions", "body": body})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(raw, '\n'))
	}
	lines.WriteString(`{"custom_id":"bad","method":"POST","url":"/v1/chat/completions","body":{"model":"` + flash25 + `","messages":[]}}`)
	f, err := s.Files.New(t.Context(), openai.FileNewParams{File: openai.File(strings.NewReader(lines.String()), "in.jsonl", "application/jsonl"), Purpose: openai.FilePurposeBatch})
	if err != nil {
		t.Fatal(explain(err))
	}
	b, err := s.Batches.New(t.Context(), openai.BatchNewParams{
		InputFileID: f.ID, Endpoint: openai.BatchNewParamsEndpointV1ChatCompletions, CompletionWindow: openai.BatchNewParamsCompletionWindow24h,
		Metadata: map[string]string{"team": "search"},
	})
	if err != nil {
		t.Fatal(explain(err))
	}
	for deadline := time.Now().Add(limit); b.Status != openai.BatchStatusCompleted; {
		if time.Now().After(deadline) {
			t.Fatalf("still %s", b.RawJSON())
		}
		if b, err = s.Batches.Get(t.Context(), b.ID); err != nil {
			t.Fatal(explain(err))
		}
	}
	if c := b.RequestCounts; c.Total != 6 || c.Completed != 5 || c.Failed != 1 || b.Metadata["team"] != "search" || b.CompletedAt == 0 || b.InputFileID != f.ID {
		t.Errorf("%s", b.RawJSON())
	}
	got := map[string]string{}
	for _, id := range []string{b.OutputFileID, b.ErrorFileID} {
		scan := bufio.NewScanner(strings.NewReader(s.content(t, id)))
		for scan.Scan() {
			var l line
			if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			if l.Error != nil {
				got[l.CustomID] = l.Error.Code
				continue
			}
			got[l.CustomID] = fmt.Sprint(l.Response.StatusCode, " ", l.Response.Body.Choices[0].Message.Content)
		}
	}
	want := map[string]string{"bad": "invalid_request"}
	for i := range 5 {
		want[fmt.Sprint("Line ", i)] = fmt.Sprintf(`200 You said: "question %d".`, i)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	output, err := s.Files.Get(t.Context(), b.OutputFileID)
	if err != nil || string(output.Purpose) != "batch_output" || output.Bytes == 0 {
		t.Errorf("%v %v", output, err)
	}
	page, err := s.Batches.List(t.Context(), openai.BatchListParams{})
	if err != nil || len(page.Data) != 1 || page.Data[0].ID != b.ID || page.HasMore {
		t.Errorf("%v %v", page, err)
	}
}

func TestBatchIsCancelled(t *testing.T) {
	s := startWithBucket(t, vertextest.WithBatchDuration(time.Hour))
	text := `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"` + flash25 + `","messages":[{"role":"user","content":"x"}]}}`
	f, err := s.Files.New(t.Context(), openai.FileNewParams{File: strings.NewReader(text), Purpose: openai.FilePurposeBatch})
	if err != nil {
		t.Fatal(explain(err))
	}
	b, err := s.Batches.New(t.Context(), openai.BatchNewParams{InputFileID: f.ID, Endpoint: openai.BatchNewParamsEndpointV1ChatCompletions, CompletionWindow: openai.BatchNewParamsCompletionWindow24h})
	if err != nil || b.Status != openai.BatchStatusValidating {
		t.Fatal(b, err)
	}
	if b, err = s.Batches.Cancel(t.Context(), b.ID); err != nil || b.Status != openai.BatchStatusCancelling {
		t.Errorf("%v %v", b, err)
	}
}
