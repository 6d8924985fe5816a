package batch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// FuzzInput translates any file: it is refused as a whole with an error of ours,
// or each of its lines is in the platform's file or counted as wrong.
func FuzzInput(f *testing.F) {
	f.Add([]byte(requestLine(1)))
	f.Add([]byte("\xef\xbb\xbf" + requestLine(1) + "\n\r\n{}\n[1]\n" + requestLine(2)[:50]))
	f.Add([]byte(`{"custom_id":"\ud800","method":"POST","url":"/v1/chat/completions","body":{"model":"gemini-3-pro","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"audio":{"format":"wav"}}}`))
	f.Add([]byte(`{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"anthropic.claude-sonnet-5","messages":[{"role":"user","content":"x"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, store, _ := service(t)
		b, err := s.CreateBatch(t.Context(), &providers.BatchRequest{InputFileID: put(t, s, string(data)), Endpoint: providers.BatchChat})
		if err != nil {
			if e := new(providers.Error); !errors.As(err, &e) || len(store.objects) != 1 {
				t.Errorf("%v, with %d objects left", err, len(store.objects))
			}
			return
		}
		sent := int64(0)
		for name, o := range store.objects {
			if !strings.Contains(name, "/input-") && !strings.HasSuffix(name, "errors.jsonl") {
				continue
			}
			for line := range bytes.Lines(o.data) {
				if !json.Valid(line) {
					t.Errorf("%s: not JSON: %q", name, line)
				}
				if strings.Contains(name, "/input-") {
					sent++
				}
			}
		}
		if c := b.RequestCounts; c.Total-c.Failed != sent || sent == 0 {
			t.Errorf("%+v, and %d lines were sent", c, sent)
		}
	})
}

// FuzzOutput reads any line that a platform might write: it is one result.
func FuzzOutput(f *testing.F) {
	f.Add([]byte(answerLine(1)), 0)
	f.Add([]byte(`{"status":"Bad: {\"error\":{\"code\":3}}","request":{"labels":{"gateway_id_0":"8tpc7dm3jtii09h08dnis"}},"response":[]}`), 0)
	f.Add([]byte(`{"custom_id":"b32-clkmsspff9rmaq8","response":{"content":[{"type":"text","text":"x"}]},"error":{"type":"error"}}`), 1)
	f.Add([]byte(`{"instance":{"content":"x","custom_id":"a"},"predictions":[{"embeddings":{"values":[1,2]}}],"status":""}`), 2)
	f.Fuzz(func(t *testing.T, line []byte, which int) {
		format := []providers.BatchFormat{{Endpoint: providers.BatchChat}, {Endpoint: providers.BatchChat}, {Endpoint: providers.BatchEmbeddings}}
		model := []string{"gemini-2.5-flash", "anthropic.claude-sonnet-5", "text-embedding-005"}
		which = max(0, which%3)
		_, _, run := service(t)
		lines, err := run.BatchLines(&providers.Target{Model: model[which], ProjectID: "p", Region: "us-central1"}, &format[which])
		if err != nil {
			t.Fatal(err)
		}
		var out providers.BatchResult
		if err := lines.Read(line, &out); err != nil {
			return
		}
		if out.CustomID == "" || (out.Err == nil) == (out.Chat == nil && out.Embeddings == nil) {
			t.Errorf("%q: %+v", line, out)
		}
		if text, err := out.AppendJSON(nil, "x"); err != nil || !json.Valid(text) {
			t.Errorf("%q: %s %v", line, text, err)
		}
	})
}
