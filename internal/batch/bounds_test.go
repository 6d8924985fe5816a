package batch_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// endless makes up lines as they are read, and watches the heap meanwhile.
type endless struct {
	n, most int
	line    func(int) string
	rest    []byte
	peak    uint64
}

func (e *endless) Read(p []byte) (int, error) {
	for len(e.rest) == 0 {
		if e.n == e.most {
			return 0, io.EOF
		}
		if e.n%500 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			e.peak = max(e.peak, m.HeapAlloc)
		}
		e.rest = []byte(e.line(e.n))
		e.n++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// requestLine is a line with about a kilobyte of text.
func requestLine(i int) string {
	return fmt.Sprintf(`{"custom_id":"request-%d","method":"POST","url":"/v1/chat/completions","body":{"model":"gemini-2.5-flash","messages":[{"role":"system","content":"Be short."},{"role":"user","content":%q}],"temperature":0.2,"max_tokens":100}}`+"\n",
		i, strings.Repeat("What is the answer to this? ", 36))
}

// answerLine is what the platform writes for it.
func answerLine(i int) string {
	return fmt.Sprintf(`{"status":"","processed_time":"2026-11-01T18:13:16Z","request":{"contents":[{"role":"user","parts":[{"text":%q}]}],"labels":{"gateway_id":"request-%d"}},"response":{"candidates":[{"content":{"parts":[{"text":"The answer."}],"role":"model"},"finishReason":"STOP"}],"modelVersion":"gemini-2.5-flash","responseId":"r","usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2,"totalTokenCount":6}}}`+"\n",
		strings.Repeat("What is the answer to this? ", 36), i)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryDoesNotGrowWithTheFile translates 100,000 lines there and back.
func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	const most = 64 << 20
	lines := 100_000
	if raceEnabled {
		lines = 5_000 // the detector makes it slow, and no smaller
	}
	s, store, run := service(t)
	id := put(t, s, "x\n")
	in, out := &endless{most: lines, line: requestLine}, &endless{most: lines, line: answerLine}
	store.made = func(name string) io.Reader {
		switch {
		case strings.Contains(name, "/files/"):
			return in
		case strings.HasSuffix(name, "/predictions.jsonl"):
			return out
		}
		return nil
	}
	store.drop = func(name string) bool { return strings.Contains(name, "/input-") }
	before := heap()
	b, err := s.CreateBatch(t.Context(), &providers.BatchRequest{InputFileID: id, Endpoint: providers.BatchChat})
	if err != nil {
		t.Fatal(err)
	}
	if b.RequestCounts.Total != int64(lines) || store.dropped < int64(lines)*1000 {
		t.Fatalf("%+v, %d bytes", b.RequestCounts, store.dropped)
	}
	grown := int64(in.peak) - int64(before)
	t.Logf("there: %d MiB of heap for %d MiB", grown>>20, store.dropped>>20)
	if grown > most {
		t.Errorf("the heap has grown by %d MiB", grown>>20)
	}
	at := providers.ObjectName{Bucket: "bucket", Name: strings.TrimPrefix(run.job.Output, "gs://bucket/") + "/predictions.jsonl"}
	if _, err := store.PutObject(t.Context(), nil, at, strings.NewReader(""), nil); err != nil {
		t.Fatal(err)
	}
	run.job.Counted, run.job.Succeeded = true, int64(lines)
	if b, err = s.GetBatch(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	before = heap()
	r, _, err := s.FileContent(t.Context(), b.OutputFileID)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, struct{ io.Reader }{r})
	if err != nil || n < int64(lines)*200 || r.Close() != nil {
		t.Fatalf("%d bytes: %v", n, err)
	}
	grown = int64(out.peak) - int64(before)
	t.Logf("back: %d MiB of heap for %d MiB", grown>>20, n>>20)
	if grown > most {
		t.Errorf("the heap has grown by %d MiB", grown>>20)
	}
}

// TestFilesThatAreWrongAsAWhole are refused before a job is asked for, and leave
// nothing behind but the file.
func TestFilesThatAreWrongAsAWhole(t *testing.T) {
	line := func(id, model string) string {
		return `{"custom_id":"` + id + `","method":"POST","url":"/v1/chat/completions","body":{"model":"` + model + `","messages":[{"role":"user","content":"x"}]}}` + "\n"
	}
	good := line("a", "gemini-2.5-flash")
	for _, tt := range []struct{ name, lines, param, says string }{
		{"no lines", "", "input_file_id", "the file has no lines"},
		{"blank lines", "\n \n\r\n", "input_file_id", "the file has no lines"},
		{"no line that can be sent", "{}\n[]\n", "input_file_id", "none of the 2 lines can be sent; the first one: custom_id: each line needs an id of its own"},
		{"two models", good + line("b", "gemini-2.5-pro"), "body.model", "line 2 asks another model than line 1"},
		{"the same model by another name", good + line("b", "google.gemini-2.5-flash"), "body.model", "line 2 asks another model than line 1"},
		{"an id twice", good + line("b", "gemini-2.5-flash") + good, "custom_id", "line 3 has the custom_id of an earlier line"},
		{"an id twice, the second in a line that is wrong", good + `{"custom_id":"a","method":"POST","url":"/x","body":{}}` + "\n", "custom_id", "line 2 has"},
		{"a model that runs no batches", line("a", "meta.llama-4-maverick-17b-128e-instruct-maas"), "model", "batches are for models of Gemini and Claude"},
		{"an endpoint in place of a tuned model", line("a", "projects/p/locations/us-central1/endpoints/1"), "model", "wants its model"},
		{"a tuned model of another place", line("a", "projects/p/locations/europe-west1/models/1"), "region", "europe-west1"},
		{"no model", line("a", ""), "input_file_id", "body.model: a model is required"},
		{"too many lines that are wrong", good + strings.Repeat("x\n", 10_001), "input_file_id", "10001 of 10002 lines are wrong"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, store, run := service(t)
			_, err := s.CreateBatch(t.Context(), &providers.BatchRequest{InputFileID: put(t, s, tt.lines), Endpoint: providers.BatchChat})
			var e *providers.Error
			if !errors.As(err, &e) || e.Param != tt.param || !strings.Contains(e.Message, tt.says) || e.Sent {
				t.Errorf("%v", err)
			}
			if len(store.objects) != 1 || len(run.asked) != 0 {
				t.Errorf("%d objects and %d jobs are left", len(store.objects), len(run.asked))
			}
		})
	}
}

// TestALineThatIsTooLongIsPassedOver has a line of more than 16 MiB between others.
func TestALineThatIsTooLongIsPassedOver(t *testing.T) {
	s, _, _ := service(t)
	lines := requestLine(1) + `{"custom_id":"` + strings.Repeat("x", 17<<20) + "\"}\n" + requestLine(2)
	b, err := s.CreateBatch(t.Context(), &providers.BatchRequest{InputFileID: put(t, s, lines), Endpoint: providers.BatchChat})
	if err != nil {
		t.Fatal(err)
	}
	if b.RequestCounts != (providers.BatchCounts{Total: 3, Completed: 2, Failed: 1}) {
		t.Errorf("%+v", b.RequestCounts)
	}
}

const benchLines = 2_000

// BenchmarkTranslation makes the platform's lines of a file. What it costs more
// than BenchmarkValidation of the same bytes is the translation.
func BenchmarkTranslation(b *testing.B) {
	var text strings.Builder
	for i := range benchLines {
		text.WriteString(requestLine(i))
	}
	s, store, _ := service(b)
	store.drop = func(name string) bool { return strings.Contains(name, "/input-") }
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		id := put(b, s, text.String())
		b.StartTimer()
		if _, err := s.CreateBatch(b.Context(), &providers.BatchRequest{InputFileID: id, Endpoint: providers.BatchChat}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidation(b *testing.B) {
	var text strings.Builder
	for i := range benchLines {
		text.WriteString(requestLine(i))
	}
	for name, valid := range map[string]func([]byte) bool{"encoding/json": json.Valid, "jsonx": jsonx.Valid} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				lines := bufio.NewScanner(strings.NewReader(text.String()))
				for lines.Scan() {
					if !valid(bytes.TrimSpace(lines.Bytes())) {
						b.Fatal("not valid")
					}
				}
			}
		})
	}
}

// BenchmarkResults reads the platform's lines into those of the OpenAI schema.
func BenchmarkResults(b *testing.B) {
	var text strings.Builder
	for i := range benchLines {
		text.WriteString(answerLine(i))
	}
	s, store, run := service(b)
	made, err := s.CreateBatch(b.Context(), &providers.BatchRequest{InputFileID: put(b, s, requestLine(0)), Endpoint: providers.BatchChat})
	if err != nil {
		b.Fatal(err)
	}
	at := providers.ObjectName{Bucket: "bucket", Name: strings.TrimPrefix(run.job.Output, "gs://bucket/") + "/predictions.jsonl"}
	if _, err := store.PutObject(b.Context(), nil, at, strings.NewReader(text.String()), nil); err != nil {
		b.Fatal(err)
	}
	run.job.Counted, run.job.Succeeded = true, benchLines
	if made, err = s.GetBatch(b.Context(), made.ID); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, _, err := s.FileContent(b.Context(), made.OutputFileID)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, struct{ io.Reader }{r}); err != nil {
			b.Fatal(err)
		}
	}
}
