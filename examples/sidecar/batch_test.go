package main

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestFilesAndBatches keeps a file and runs a batch of it, in the bucket that the
// catalog names, at the address that it gives.
func TestFilesAndBatches(t *testing.T) {
	s := start(t, "key-one")
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "in.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	const line = `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"@vx/gemini-2.5-flash","messages":[{"role":"user","content":"Hello"}]}}`
	if _, err := part.Write([]byte(line)); err != nil {
		t.Fatal(err)
	}
	if w.WriteField("purpose", "batch") != nil || w.Close() != nil {
		t.Fatal("the form can't be written")
	}
	if status, text := send(t, http.MethodPost, s.url+"/v1/files", "", form.String(), "Content-Type", w.FormDataContentType()); status != 401 {
		t.Errorf("without a key: %d %s", status, text)
	}
	if status, text := send(t, http.MethodPost, s.url+"/v1/files", "key-one", form.String(), "Content-Type", w.FormDataContentType()); status != 400 || !strings.Contains(text, "x-gateway-provider") {
		t.Errorf("without a provider: %d %s", status, text)
	}
	ask := func(method, path, body, kind string) map[string]any {
		t.Helper()
		status, text := send(t, method, s.url+path, "key-one", body, "Content-Type", kind, "x-gateway-provider", "@vx")
		var out map[string]any
		if err := json.Unmarshal([]byte(text), &out); err != nil || status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, status, text)
		}
		return out
	}
	file := ask(http.MethodPost, "/v1/files", form.String(), w.FormDataContentType())
	batch := ask(http.MethodPost, "/v1/batches", `{"input_file_id":"`+file["id"].(string)+`","endpoint":"/v1/chat/completions","completion_window":"24h"}`, "application/json")
	for end := time.Now().Add(limit); batch["status"] != "completed" && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		batch = ask(http.MethodGet, "/v1/batches/"+batch["id"].(string), "", "")
	}
	output, _ := batch["output_file_id"].(string)
	if answer := ask(http.MethodGet, "/v1/files/"+output+"/content", "", ""); answer["custom_id"] != "a" {
		t.Errorf("%v", answer)
	}
}
