package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// everywhere is a log with every sink there is.
type everywhere struct {
	log    *logs.Log
	memory *logs.Memory
	file   *logs.File
	path   string
	zap    *observer.ObservedLogs
	slog   bytes.Buffer
}

func logEverywhere(t *testing.T, o logs.Options) *everywhere {
	t.Helper()
	e := &everywhere{memory: logs.NewMemory(0), path: filepath.Join(t.TempDir(), "calls.jsonl")}
	core, seen := observer.New(zap.DebugLevel)
	e.zap = seen
	var err error
	if e.file, err = logs.OpenFile(e.path, logs.FileOptions{}); err != nil {
		t.Fatal(err)
	}
	o.Store = e.memory
	o.Sinks = []logs.Sink{e.file, logs.ZapSink(zap.New(core)), logs.SlogSink(slog.New(slog.NewJSONHandler(&e.slog, nil)))}
	if e.log, err = logs.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.file.Close() })
	return e
}

// texts are all that the sinks have, by their names.
func (e *everywhere) texts(t *testing.T) map[string]string {
	t.Helper()
	if err := e.log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var csv, jsonl bytes.Buffer
	for format, w := range map[logs.Format]*bytes.Buffer{logs.FormatCSV: &csv, logs.FormatJSONL: &jsonl} {
		if err := logs.Export(t.Context(), e.memory, logs.Query{}, format, w); err != nil {
			t.Fatal(err)
		}
	}
	page, err := e.memory.Query(t.Context(), logs.Query{Limit: logs.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	var whole strings.Builder
	for i := range page.Records {
		r, err := e.memory.Get(t.Context(), page.Records[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		whole.Write(b)
	}
	data, err := os.ReadFile(e.path)
	if err != nil {
		t.Fatal(err)
	}
	var entries strings.Builder
	for _, entry := range e.zap.All() {
		fmt.Fprintln(&entries, entry.Message, entry.ContextMap())
	}
	return map[string]string{
		"the csv": csv.String(), "the jsonl": jsonl.String(), "the memory": whole.String(), "the file": string(data),
		"zap": entries.String(), "slog": e.slog.String(), "the stats": fmt.Sprintf("%+v", e.log.Stats()),
	}
}

// TestLogsHoldNoSecret asks everything of every provider, in every way that it may
// fail. No sink has a credential, whatever is kept, and by default none has a prompt or
// an answer.
func TestLogsHoldNoSecret(t *testing.T) {
	for _, mode := range []string{"", "redirect", "broken", "garbage", "echo", "echo text", "echo stream"} {
		for _, content := range []bool{false, true} {
			t.Run(fmt.Sprintf("mode %s, content %v", mode, content), func(t *testing.T) {
				srv := vertextest.New()
				defer srv.Close()
				e := logEverywhere(t, logs.Options{Content: content, MaxContent: 1 << 20})
				client := secretClient(t, &spy{t: t, next: srv.Transport(), mode: mode, hosts: map[string]bool{}}, zap.NewNop(), e.log)
				askInGo(t, client, mode)
				askOverHTTP(t, client, mode)
				texts := e.texts(t)
				if n := e.log.Stats(); n.Written < 400 || n.Failed+n.Dropped+n.Panics > 0 {
					t.Errorf("%+v", n)
				}
				for where, text := range texts {
					clean(t, where, mode, text)
					has := strings.Contains(text, "canary-prompt")
					if wanted := content && (where == "the memory" || where == "the file"); has != wanted {
						t.Errorf("the prompt in %s: %v", where, has)
					}
				}
			})
		}
	}
}

// TestLogsHoldNoAnswer asks for one whole and streamed.
func TestLogsHoldNoAnswer(t *testing.T) {
	for _, content := range []bool{false, true} {
		srv := vertextest.New()
		defer srv.Close()
		e := logEverywhere(t, logs.Options{Content: content})
		client := secretClient(t, srv.Transport(), zap.NewNop(), e.log)
		for range 2 {
			srv.Script(vertextest.Text("canary-answer"))
		}
		req := &gateway.ChatCompletionRequest{Model: "@v/gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("hello")}}
		if _, err := client.Chat.Completions.Create(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		stream, err := client.Chat.Completions.CreateStream(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Collect(); err != nil {
			t.Fatal(err)
		}
		for where, text := range e.texts(t) {
			want := 0 // of each answer it is in the content and in the blocks
			if content && (where == "the memory" || where == "the file") {
				want = 4
			}
			if n := strings.Count(text, "canary-answer"); n != want {
				t.Errorf("the answer is in %s %d times, want %d", where, n, want)
			}
		}
	}
}
