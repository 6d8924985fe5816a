package anthropic_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// failureOf asks and returns the error.
func (s *stage) failureOf(t *testing.T, streamed bool, params anthropic.MessageNewParams) error {
	t.Helper()
	if !streamed {
		_, err := s.Messages.New(t.Context(), params)
		return err
	}
	stream := s.Messages.NewStreaming(t.Context(), params)
	for stream.Next() {
		t.Errorf("event %s", stream.Current().RawJSON())
	}
	return stream.Err()
}

func TestClaudeErrors(t *testing.T) {
	twice := askWeather(haiku45, "Hello!")
	twice.Tools = append(twice.Tools, twice.Tools...)
	late := ask(opus46, "Hello!")
	late.Messages = append(late.Messages, anthropic.NewAssistantMessage(anthropic.NewTextBlock("Hi,")))
	unanswered := askWeather(haiku45, "What is the weather?")
	unanswered.Messages = append(unanswered.Messages, anthropic.NewAssistantMessage(anthropic.NewToolUseBlock("toolu_1", map[string]string{}, "get_weather")),
		anthropic.NewUserMessage(anthropic.NewTextBlock("Well?")))
	tests := []struct {
		name     string
		params   anthropic.MessageNewParams
		reply    vertextest.Reply
		status   int
		kind     anthropic.ErrorType
		fragment string
		after    string
	}{
		{"what the model refuses", twice, vertextest.Auto(), 400, "invalid_request_error", "Tool names must be unique", ""},
		{"a beginning that the model does not go on from", late, vertextest.Auto(), 400, "invalid_request_error", "messages[1]", ""},
		{"a call without its result", unanswered, vertextest.Auto(), 400, "invalid_request_error", "messages[1].content[0]", ""},
		{"a model that the platform does not have", ask("@vx/anthropic.claude-0", "Hello!"), vertextest.Auto(), 404, "not_found_error", "", ""},
		{"a quota", ask(haiku45, "Hello!"), vertextest.RateLimited(7 * time.Second), 429, "rate_limit_error", "Resource exhausted", "7"},
		{"a rate limit of the model's", ask(haiku45, "Hello!"), vertextest.Error(429, "rate_limit_error", "Slow down").WithHeader("Retry-After", "9"), 429, "rate_limit_error", "Slow down", "9"},
		{"no room", ask(haiku45, "Hello!"), vertextest.Overloaded(), 529, "overloaded_error", "Overloaded", ""},
		{"a fault of the model's", ask(haiku45, "Hello!"), vertextest.Error(500, "api_error", "Internal server error"), 500, "api_error", "Internal server error", ""},
		{"a fault of the platform's", ask(haiku45, "Hello!"), vertextest.Error(503, "UNAVAILABLE", "Later"), 503, "overloaded_error", "Later", ""},
		{"too much", ask(haiku45, "Hello!"), vertextest.Error(413, "request_too_large", "Request exceeds the maximum size"), 413, "request_too_large", "maximum size", ""},
		{"no permission", ask(haiku45, "Hello!"), vertextest.Error(403, "PERMISSION_DENIED", "No"), 403, "permission_error", "No", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streamed bool) {
				s := start(t)
				s.platform.Script(tt.reply)
				err := s.failureOf(t, streamed, tt.params)
				e, ok := errors.AsType[*anthropic.Error](err)
				if !ok {
					t.Fatalf("error %v, want an *anthropic.Error", err)
				}
				if e.StatusCode != tt.status || e.Type() != tt.kind || !strings.Contains(e.RawJSON(), tt.fragment) {
					t.Errorf("status %d, type %s, %s", e.StatusCode, e.Type(), e.RawJSON())
				}
				if after := e.Response.Header.Get("Retry-After"); after != tt.after {
					t.Errorf("retry after %q, want %q", after, tt.after)
				}
			})
		})
	}
}

// A stream that fails ends in an error event, and what came before stays.
func TestClaudeFailsMidStream(t *testing.T) {
	tests := []struct {
		name  string
		reply vertextest.Reply
		want  string
	}{
		{"by an error", vertextest.Text("one two three four five six").FailAfterEvents(4, 529, "overloaded_error", "Overloaded"), "overloaded_error"},
		{"by an error of the platform's", vertextest.Text("one two three four five six").FailAfterEvents(4, 503, "UNAVAILABLE", "Later"), "overloaded_error"},
		{"by its end", vertextest.Text("one two three four five six").CutAfterEvents(4), "api_error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			s.platform.Script(tt.reply)
			stream := s.Messages.NewStreaming(t.Context(), ask(haiku45, "Count!"))
			var got anthropic.Message
			for stream.Next() {
				if err := got.Accumulate(stream.Current()); err != nil {
					t.Fatal(err)
				}
				if stream.Current().Type == "message_stop" {
					t.Error("the message has an end")
				}
			}
			if err := stream.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			if text := textOf(&got); !strings.HasPrefix(text, "one") {
				t.Errorf("text %q", text)
			}
		})
	}
}

// An error before the first event is an answer with a status.
func TestClaudeFailsAtFirst(t *testing.T) {
	s := start(t)
	s.platform.Script(vertextest.Text("one").FailAfterEvents(0, 529, "overloaded_error", "Overloaded"))
	err := s.failureOf(t, true, ask(haiku45, "Count!"))
	if e, ok := errors.AsType[*anthropic.Error](err); !ok || e.StatusCode < http.StatusInternalServerError || e.Type() != "overloaded_error" {
		t.Errorf("error %v", err)
	}
}

// Who stops listening ends the call at the platform too.
func TestClaudeIsCancelled(t *testing.T) {
	s := start(t)
	s.platform.Script(vertextest.Text(strings.Repeat("word ", 1000)).Paced(20 * time.Millisecond))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := s.Messages.NewStreaming(ctx, ask(haiku45, "Count!"))
	for stream.Next() {
		if stream.Current().Type == "content_block_delta" {
			cancel()
		}
	}
	if err := stream.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	s.platform.Script(vertextest.Text("late").After(time.Minute))
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Messages.New(ctx, ask(haiku45, "Hello!")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
