package gateway_test

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
)

// TestReplayClaude does for Claude models what TestReplay does for Gemini, and
// also sends each answer back: the next request must hold what the model needs
// to see again.
func TestReplayClaude(t *testing.T) {
	dir := os.Getenv("GATEWAY_RECORDED_DIR")
	if dir == "" {
		t.Skip("GATEWAY_RECORDED_DIR is not set")
	}
	exchanges, want := loadRecordings(t, dir, "anthropic")
	for _, framing := range []string{"whole", "event", "7"} {
		t.Run(framing, func(t *testing.T) {
			srv := newReplayServer(t)
			unary, streams := 0, 0
			for _, x := range exchanges {
				t.Run(x.ID, func(t *testing.T) {
					srv.answer(x, framing)
					replayClaude(t, srv.URL, x, want[x.ID])
				})
				if x.Stream {
					streams++
				} else {
					unary++
				}
			}
			if t.Logf("replayed %d answers and %d streams", unary, streams); unary == 0 || streams == 0 {
				t.Error("nothing was replayed")
			}
		})
	}
}

func replayClaude(t *testing.T, base string, x *exchange, want *expectation) {
	t.Helper()
	model := "claude-sonnet-5"
	if m := modelInURL.FindStringSubmatch(x.Request.URL); m != nil {
		model = m[1]
	}
	client, err := gateway.New(gateway.WithBaseURL(base), gateway.WithProjectID("p"), gateway.WithRegion("global"),
		gateway.WithAccessToken("token"), gateway.WithStrictCompliance(false))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	req := &gateway.ChatCompletionRequest{Model: "anthropic." + model, Messages: []gateway.Message{gateway.UserMessage("hi")}}
	answer, err := complete(client, req, x.Stream)
	if err != nil {
		compareError(t, want, err)
		return
	}
	if want.Outcome != "completion" {
		t.Fatalf("an answer, want %s", want.Outcome)
	}
	compareAnswer(t, want, answer)
	again := answer.Choices[0].Message
	req.Messages = append(req.Messages, again)
	for _, c := range again.ToolCalls {
		req.Messages = append(req.Messages, gateway.ToolMessage(c.ID, "ok"))
	}
	req.Messages = append(req.Messages, gateway.UserMessage("go on"))
	if _, err := complete(client, req, x.Stream); err != nil {
		t.Errorf("the answer can't be sent back: %v", err)
	}
}

func complete(client *gateway.Client, req *gateway.ChatCompletionRequest, stream bool) (*gateway.ChatCompletion, error) {
	if !stream {
		return client.Chat.Completions.Create(context.Background(), req)
	}
	s, err := client.Chat.Completions.CreateStream(context.Background(), req)
	if err != nil {
		return nil, err
	}
	return s.Collect()
}

// sortClaude adds a block that only Claude models give, and reports whether it
// is one.
func (s *seen) sortClaude(t *testing.T, b *gateway.ContentPart) bool {
	t.Helper()
	switch b.Type {
	case "server_tool_use", "mcp_tool_use":
		raw, _ := b.Extra.Get("name")
		var name string
		if err := json.Unmarshal(raw, &name); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		s.ServerTools = append(s.ServerTools, name)
		return true
	case "redacted_thinking", "compaction", "fallback", "container_upload":
		return true
	}
	return strings.HasSuffix(b.Type, "_tool_result")
}

// claudeCitations lists the sources that text blocks cite.
func claudeCitations(t *testing.T, blocks []gateway.ContentPart) []wantCitation {
	t.Helper()
	var list []wantCitation
	for i := range blocks {
		raw, ok := blocks[i].Extra.Get("citations")
		if !ok {
			continue
		}
		var cited []struct {
			URL, Source   string
			Title         string
			DocumentTitle string `json:"document_title"`
		}
		if err := json.Unmarshal(raw, &cited); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		for _, c := range cited {
			list = append(list, wantCitation{cmp.Or(c.URL, c.Source), cmp.Or(c.Title, c.DocumentTitle)})
		}
	}
	return list
}
