package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/messages"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
)

// recording is an exchange with the service, recorded elsewhere.
type recording struct {
	ID, Kind string
	Stream   bool
	Request  struct {
		URL  string
		Body json.RawMessage
	}
	Response struct {
		Status int
		SSE    string
		Body   json.RawMessage
	}
}

// recordings reads those of the service. GATEWAY_RECORDED_DIR names them; without
// it the test is skipped.
func recordings(t *testing.T) []*recording {
	t.Helper()
	dir := os.Getenv("GATEWAY_RECORDED_DIR")
	if dir == "" {
		t.Skip("GATEWAY_RECORDED_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []*recording
	for _, file := range files {
		data, err := os.ReadFile(file) // the directory is the caller's
		if err != nil {
			t.Fatal(err)
		}
		x := new(recording)
		if err := json.Unmarshal(data, x); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if x.Kind == "anthropic" && strings.HasPrefix(x.Request.URL, "https://api.anthropic.com/v1/messages") {
			list = append(list, x)
		}
	}
	if t.Logf("replayed %d exchanges with the service", len(list)); len(list) == 0 {
		t.Errorf("no exchange with the service in %s", dir)
	}
	return list
}

// TestRecordedAnswers reads real answers, whole and in pieces, and sends each
// one back.
func TestRecordedAnswers(t *testing.T) {
	for _, x := range recordings(t) {
		t.Run(x.ID, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { x.replay(t) })
		})
	}
}

func (x *recording) replay(t *testing.T) {
	t.Helper()
	req := hello(t, "claude-sonnet-5")
	if !x.Stream {
		rt := plays(x.Response.Body)
		rt.status = x.Response.Status
		answer, err := newProvider(t, rt).ChatCompletion(t.Context(), target("claude-sonnet-5"), req)
		if good := x.Response.Status == http.StatusOK; good != (err == nil) {
			t.Fatalf("status %d: %v", x.Response.Status, err)
		}
		if err == nil {
			goesBack(t, answer)
		}
		return
	}
	outcome := func(rt *player) (string, *providers.ChatCompletion) {
		rt.status = x.Response.Status
		r, err := newProvider(t, rt).ChatCompletionStream(t.Context(), target("claude-sonnet-5"), req)
		if err != nil {
			return outcome.Describe(err), nil
		}
		chunks, whole, err := outcome.Read(r)
		if err != nil {
			return outcome.Stable(t, chunks) + outcome.Describe(err), nil
		}
		return outcome.Stable(t, chunks) + outcome.Stable(t, whole), whole
	}
	text := []byte(x.Response.SSE)
	want, whole := outcome(plays(text))
	if (whole != nil) != (x.Response.Status == http.StatusOK && !strings.Contains(x.Response.SSE, "event: error")) {
		t.Errorf("status %d: %s", x.Response.Status, want)
	}
	rt := &player{body: func() io.Reader { return iotest.OneByteReader(bytes.NewReader(text)) }}
	if got, _ := outcome(rt); got != want {
		t.Errorf("in pieces (-whole +cut)\n%s", cmp.Diff(want, got))
	}
	if whole != nil {
		goesBack(t, whole)
	}
}

// goesBack sends an answer back, with results for its calls, and checks the body.
func goesBack(t *testing.T, answer *providers.ChatCompletion) {
	t.Helper()
	req := hello(t, "claude-sonnet-5")
	again := answer.Choices[0].Message
	req.Messages = append(req.Messages, again)
	for _, c := range again.ToolCalls {
		req.Messages = append(req.Messages, providers.ToolMessage(c.ID, "ok"))
	}
	req.Messages = append(req.Messages, providers.UserMessage("go on"))
	rt := plays([]byte(okMessage))
	if _, err := newProvider(t, rt).ChatCompletion(t.Context(), target("claude-sonnet-5"), req); err != nil {
		t.Fatalf("the answer can't be sent back: %v", err)
	}
	if err := testkit.CheckOwnClaudeBody(rt.sent); err != nil {
		t.Errorf("%v in %s", err, rt.sent)
	}
	for _, b := range again.ContentBlocks {
		if b.Signature != "" && !strings.Contains(string(rt.sent), b.Signature) {
			t.Errorf("a signature is lost: %s", rt.sent)
		}
	}
}

// TestRecordedRequests decodes real requests as a client of the Anthropic schema
// sends them, and compares what goes out with what the service took.
func TestRecordedRequests(t *testing.T) {
	compared := 0
	for _, x := range recordings(t) {
		if len(x.Request.Body) == 0 || string(x.Request.Body) == "null" || x.Response.Status != http.StatusOK {
			continue
		}
		t.Run(x.ID, func(t *testing.T) {
			q, err := messages.Decode(x.Request.Body)
			if bytes.Contains(x.Request.Body, []byte(`"tool_addition"`)) { // a beta that the schema of the gateway has no place for
				if !errors.Is(err, providers.ErrInvalidRequest) {
					t.Errorf("%v, want a refusal", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			rt := plays([]byte(okMessage))
			answer, err := newProvider(t, rt).ChatCompletion(t.Context(), target(q.Chat.Model), &q.Chat)
			if err != nil {
				t.Fatal(err)
			}
			want, got := plainBody(t, x.Request.Body), plainBody(t, rt.sent)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-recorded +sent) with %v\n%s", answer.Meta.Warnings, diff)
			}
		})
		compared++
	}
	t.Logf("replayed %d requests to the service", compared)
}

// plainBody decodes a body and takes the choices out in which two that mean the
// same may differ.
func plainBody(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	delete(body, "stream")
	dropFalse(object(body["tool_choice"]), "disable_parallel_tool_use")
	if c := object(body["tool_choice"]); len(c) == 1 && c["type"] == "auto" {
		delete(body, "tool_choice")
	}
	for _, tool := range list(body["tools"]) {
		if tool := object(tool); tool["description"] == "" {
			delete(tool, "description")
		}
	}
	if system, ok := body["system"]; ok {
		body["system"] = blocksOf(system)
	}
	var turns []any
	for _, v := range list(body["messages"]) {
		m := object(v)
		blocks := blocksOf(m["content"])
		if n := len(turns); n > 0 && object(turns[n-1])["role"] == m["role"] {
			last := object(turns[n-1])
			last["content"] = append(list(last["content"]), blocks...)
			continue
		}
		m["content"] = blocks
		turns = append(turns, m)
	}
	body["messages"] = turns
	return body
}

// blocksOf returns content as blocks that say something, those of results too.
func blocksOf(content any) []any {
	if text, ok := content.(string); ok {
		content = []any{map[string]any{"type": "text", "text": text}}
	}
	blocks := slices.DeleteFunc(list(content), func(v any) bool {
		text, ok := object(v)["text"].(string)
		return ok && strings.TrimSpace(text) == ""
	})
	for _, v := range blocks {
		b := object(v)
		if b["type"] != "tool_result" {
			continue
		}
		if content, ok := b["content"]; ok {
			b["content"] = blocksOf(content)
		}
		dropFalse(b, "is_error")
	}
	return blocks
}

// dropFalse takes out a member that says no more than its absence.
func dropFalse(o map[string]any, name string) {
	if is, ok := o[name].(bool); ok && !is {
		delete(o, name)
	}
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}
