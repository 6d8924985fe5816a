package anthropic_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestErrors(t *testing.T) {
	badImage := ask(flash25, "Look!")
	badImage.Messages[0].Content = append(badImage.Messages[0].Content, anthropic.NewImageBlockBase64("image/png", "###"))
	orphan := ask(flash25, "Hello!")
	orphan.Messages = append(orphan.Messages, anthropic.NewAssistantMessage(anthropic.NewTextBlock("Hi.")),
		anthropic.NewUserMessage(anthropic.NewToolResultBlock("toolu_1", "x", false)))
	unlimited := ask(flash25, "Hello!")
	unlimited.MaxTokens = 0
	tests := []struct {
		name     string
		params   anthropic.MessageNewParams
		reply    vertextest.Reply
		opts     []option.RequestOption
		status   int
		kind     anthropic.ErrorType
		fragment string
	}{
		{"a wrong API key", ask(flash25, "Hello!"), vertextest.Auto(), []option.RequestOption{option.WithAPIKey("wrong")}, 401, "authentication_error", "x-api-key"},
		{"an unknown slug", ask("@vy/gemini-2.5-flash", "Hello!"), vertextest.Auto(), nil, 404, "not_found_error", "model: "},
		{"a model that the platform does not have", ask("@vx/gemini-0", "Hello!"), vertextest.Auto(), nil, 404, "not_found_error", ""},
		{"no limit", unlimited, vertextest.Auto(), nil, 400, "invalid_request_error", "max_tokens"},
		{"bad media", badImage, vertextest.Auto(), nil, 400, "invalid_request_error", "messages[0].content[1].source: "},
		{"a result without its call", orphan, vertextest.Auto(), nil, 400, "invalid_request_error", "messages[2].content[0].tool_use_id: "},
		{"a rate limit", ask(flash25, "Hello!"), vertextest.RateLimited(2 * time.Second), nil, 429, "rate_limit_error", ""},
		{"a blocked prompt", ask(flash25, "Hello!"), vertextest.Blocked("SAFETY"), nil, 400, "invalid_request_error", ""},
		{"a platform that is down", ask(flash25, "Hello!"), vertextest.Error(503, "UNAVAILABLE", "overloaded"), nil, 503, "overloaded_error", "overloaded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streamed bool) {
				s := start(t)
				s.platform.Script(tt.reply)
				var err error
				if streamed {
					stream := s.Messages.NewStreaming(t.Context(), tt.params, tt.opts...)
					for stream.Next() {
						t.Errorf("event %s", stream.Current().RawJSON())
					}
					err = stream.Err()
				} else {
					_, err = s.Messages.New(t.Context(), tt.params, tt.opts...)
				}
				var e *anthropic.Error
				if !errors.As(err, &e) {
					t.Fatalf("error %v, want an *anthropic.Error", err)
				}
				if e.StatusCode != tt.status || e.Type() != tt.kind || e.RequestID == "" || !strings.Contains(e.RawJSON(), tt.fragment) {
					t.Errorf("status %d, type %s, id %q, %s", e.StatusCode, e.Type(), e.RequestID, e.RawJSON())
				}
			})
		})
	}
}

// What was cut off is an error, not an answer.
func TestCutStream(t *testing.T) {
	s := start(t)
	s.platform.Script(vertextest.Text("one two three four five six seven eight nine ten").CutAfterEvents(1))
	stream := s.Messages.NewStreaming(t.Context(), ask(flash25, "Count!"))
	var last string
	for stream.Next() {
		last = stream.Current().Type
	}
	if err := stream.Err(); err == nil || !strings.Contains(err.Error(), "api_error") || last == "message_stop" {
		t.Errorf("last event %s, error %v", last, err)
	}
}
