package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const greeting = `{"model":"gemini-2.5-flash","max_tokens":64,"messages":[{"role":"user","content":"Hello!"}]}`

func ExampleMessagesService() {
	client, _ := emulated()
	defer client.Close()

	body := []byte(`{"model": "gemini-2.5-flash", "max_tokens": 64, "messages": [{"role": "user", "content": "Hello!"}]}`)
	stream, err := client.Messages.CreateStream(context.Background(), body)
	if err != nil {
		fmt.Println(err)
		return
	}
	for event, err := range stream.Events() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if event.Type == "content_block_delta" {
			fmt.Println(string(event.Data))
		}
	}
	// Output:
	// {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello!"}}
	// {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" How can I"}}
	// {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" help you today?"}}
}

func TestMessagesCreate(t *testing.T) {
	client, platform := emulated()
	defer client.Close()
	platform.Script(vertextest.JSON(200, `{"responseId":"r","modelVersion":"gemini-2.5-flash","candidates":[{"finishReason":"STOP",
		"content":{"role":"model","parts":[{"text":"Hi."}]}}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5}}`))
	body := []byte(`{"model":"gemini-2.5-flash","max_tokens":64,"container":{"id":"c"},"messages":[{"role":"user","content":"Hello!"}]}`)
	got, err := client.Messages.Create(t.Context(), body, gateway.WithRequestID("r-1"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":"r","type":"message","role":"assistant","model":"gemini-2.5-flash","content":[{"type":"text","text":"Hi."}],` +
		`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":0,` +
		`"cache_read_input_tokens":0,"output_tokens":2}}`
	if diff := cmp.Diff(want, string(got.Body)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if m := got.Meta; m.RequestID != "r-1" || len(m.Warnings) != 1 || m.Warnings[0].Param != "container" {
		t.Errorf("meta %+v", m)
	}
}

func TestMessagesCountForClaude(t *testing.T) {
	client, platform := emulated()
	defer client.Close()
	body := []byte(`{"model":"anthropic.claude-sonnet-4-5@20250929","system":"Be brief.","messages":[{"role":"user","content":"Hello!"}]}`)
	got, err := client.Messages.CountTokens(t.Context(), body)
	if err != nil || got.TotalTokens == 0 || len(got.Meta.Warnings) != 0 {
		t.Fatalf("%+v %v", got, err)
	}
	sent := platform.Requests()
	if len(sent) != 1 || sent[0].Model != "count-tokens" || sent[0].Verb != "rawPredict" {
		t.Errorf("sent %+v", sent)
	}
}

func TestMessagesRefuse(t *testing.T) {
	client, platform := emulated()
	defer client.Close()
	var none gateway.MessagesService
	unanswered := `{"model":"gemini-2.5-flash","max_tokens":64,"system":"x","messages":[{"role":"user","content":"a"},
		{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":"c"}]}`
	tests := []struct {
		name, body, param string
		call              func(body []byte) error
	}{
		{"a stream, from Create", strings.Replace(greeting, "{", `{"stream":true,`, 1), "stream", func(b []byte) error {
			_, err := client.Messages.Create(t.Context(), b)
			return err
		}},
		{"what can't be read", `{"model":7}`, "model", func(b []byte) error {
			_, err := client.Messages.CreateStream(t.Context(), b)
			return err
		}},
		{"a call without its result", unanswered, "messages[1].content[1]", func(b []byte) error {
			_, err := client.Messages.Create(t.Context(), b)
			return err
		}},
		{"the same, in a stream", unanswered, "messages[1].content[1]", func(b []byte) error {
			_, err := client.Messages.CreateStream(t.Context(), b)
			return err
		}},
		{"the same, counted", unanswered, "messages[1].content[1]", func(b []byte) error {
			_, err := client.Messages.CountTokens(t.Context(), b)
			return err
		}},
		{"a service of no client", greeting, "client", func(b []byte) error {
			_, err := none.Create(t.Context(), b)
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e *gateway.Error
			if err := tt.call([]byte(tt.body)); !errors.As(err, &e) || e.Param != tt.param {
				t.Errorf("error %v, want one about %s", err, tt.param)
			}
		})
	}
	if n := len(platform.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestMessagesStream(t *testing.T) {
	t.Run("whole", func(t *testing.T) {
		client, _ := emulated()
		defer client.Close()
		stream, err := client.Messages.CreateStream(t.Context(), []byte(greeting))
		if err != nil {
			t.Fatal(err)
		}
		var last string
		for event, err := range stream.Events() {
			if err != nil {
				t.Fatal(err)
			}
			last = event.Type
		}
		if _, err := stream.Recv(); last != "message_stop" || !errors.Is(err, io.EOF) || len(stream.Meta().Attempts) != 1 {
			t.Errorf("last event %s, then %v, meta %+v", last, err, stream.Meta())
		}
	})
	t.Run("cut", func(t *testing.T) {
		client, platform := emulated()
		defer client.Close()
		platform.Script(vertextest.Text("one two three four five six seven eight").CutAfterEvents(1))
		stream, err := client.Messages.CreateStream(t.Context(), []byte(greeting))
		if err != nil {
			t.Fatal(err)
		}
		var failed error
		for event, err := range stream.Events() {
			if failed = err; event.Type == "message_stop" {
				t.Error("a cut stream looks whole")
			}
		}
		if !errors.Is(failed, gateway.ErrStreamCut) {
			t.Errorf("error %v", failed)
		}
	})
	t.Run("left", func(t *testing.T) {
		client, _ := emulated()
		defer client.Close()
		stream, err := client.Messages.CreateStream(t.Context(), []byte(greeting))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range stream.Events() {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		for err == nil {
			_, err = stream.Recv()
		}
		if !errors.Is(err, gateway.ErrCanceled) {
			t.Errorf("error %v", err)
		}
	})
}

// A custom provider's thinking goes out with its signature, and so comes back.
func TestMessagesOfACustomProvider(t *testing.T) {
	client, _ := emulated(gateway.WithCustomProvider(thinker{}), gateway.WithProvider("thinker"))
	defer client.Close()
	got, err := client.Messages.Create(t.Context(), []byte(greeting))
	if err != nil {
		t.Fatal(err)
	}
	if want := `"content":[{"type":"thinking","thinking":"hm","signature":"EqQB"},{"type":"text","text":"Hi."}]`; !strings.Contains(string(got.Body), want) {
		t.Errorf("%s, want %s", got.Body, want)
	}
}

// thinker is a provider that answers with signed thinking.
type thinker struct{}

func (thinker) Name() string { return "thinker" }

func (thinker) ChatCompletion(context.Context, *providers.Target, *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	m := providers.AssistantMessage("Hi.")
	m.ContentBlocks = []providers.ContentPart{providers.ThinkingPart("hm", "EqQB"), providers.TextPart("Hi.")}
	return &providers.ChatCompletion{ID: "a", Choices: []providers.Choice{{Message: m, FinishReason: providers.FinishStop}}}, nil
}

func (thinker) ChatCompletionStream(context.Context, *providers.Target, *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	return nil, errors.ErrUnsupported
}

// A stream begins with what the platform has counted by then, in the schema that
// has a place for it.
func TestTheBeginningOfAStreamCountsThePrompt(t *testing.T) {
	client, _ := emulated()
	defer client.Close()
	for _, model := range []string{gemini3, opus46} {
		stream, err := client.Messages.CreateStream(t.Context(), []byte(strings.Replace(greeting, "gemini-2.5-flash", model, 1)))
		if err != nil {
			t.Fatal(err)
		}
		first, err := stream.Recv()
		if err != nil || first.Type != "message_start" || strings.Contains(string(first.Data), `"input_tokens":0,`) {
			t.Errorf("%s: %v, first event %s", model, err, first.Data)
		}
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
		for _, strict := range []bool{true, false} {
			chunks, err := client.Chat.Completions.CreateStream(t.Context(),
				&gateway.ChatCompletionRequest{Model: model, Messages: []gateway.Message{gateway.UserMessage("Hello!")}}, gateway.WithStrictCompliance(strict))
			if err != nil {
				t.Fatal(err)
			}
			chunk, err := chunks.Recv()
			if err != nil || chunk.Usage != nil || (chunk.PromptUsage == nil) != strict {
				t.Errorf("%s: %v, usage of the first chunk %+v, strict %t", model, err, chunk.PromptUsage, strict)
			}
			if err := chunks.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
