package openai_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// failure is what the client is told of an error.
type failure struct {
	Status            int
	Code, Type, Param string
	RetryAfter        string
}

func failureOf(t *testing.T, err error) failure {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want an *openai.Error", err)
	}
	if e.Message == "" {
		t.Errorf("no message in %s", e.RawJSON())
	}
	return failure{
		Status: e.StatusCode, Code: e.Code, Type: e.Type, Param: e.Param,
		RetryAfter: e.Response.Header.Get("Retry-After"),
	}
}

func TestErrors(t *testing.T) {
	badImage := ask(flash25, "Look!")
	badImage.Messages = append(badImage.Messages, openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
		openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64,###"}),
	}))
	tests := []struct {
		name   string
		params openai.ChatCompletionNewParams
		reply  vertextest.Reply
		opts   []option.RequestOption
		want   failure
	}{
		{
			name: "a wrong API key", params: ask(flash25, "Hello!"), opts: []option.RequestOption{option.WithAPIKey("wrong")},
			want: failure{Status: 401, Code: "authentication_failed", Type: "authentication_error"},
		},
		{
			name: "an unknown slug", params: ask("@vy/gemini-2.5-flash", "Hello!"),
			want: failure{Status: 404, Code: "provider_not_found", Type: "invalid_request_error", Param: "model"},
		},
		{
			name: "a model that the platform does not have", params: ask("@vx/gemini-0", "Hello!"),
			want: failure{Status: 404, Code: "model_not_found", Type: "invalid_request_error"},
		},
		{
			name: "a bad request", params: badImage,
			want: failure{Status: 400, Code: "invalid_request", Type: "invalid_request_error", Param: "messages[1].content[0].image_url.url"},
		},
		{
			name: "a full platform", params: ask(flash25, "Hello!"), reply: vertextest.RateLimited(34 * time.Second),
			want: failure{Status: 429, Code: "rate_limit_exceeded", Type: "rate_limit_error", RetryAfter: "34"},
		},
		{
			name: "a blocked prompt", params: ask(flash25, "Hello!"), reply: vertextest.Blocked("SAFETY"),
			want: failure{Status: 400, Code: "content_filter", Type: "invalid_request_error"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			s.platform.Script(tt.reply, tt.reply)
			_, err := s.Chat.Completions.New(t.Context(), tt.params, tt.opts...)
			if diff := cmp.Diff(tt.want, failureOf(t, err)); diff != "" {
				t.Errorf("whole answer (-want +got):\n%s", diff)
			}
			_, _, err = accumulate(s.Chat.Completions.NewStreaming(t.Context(), tt.params, tt.opts...))
			if diff := cmp.Diff(tt.want, failureOf(t, err)); diff != "" {
				t.Errorf("stream (-want +got):\n%s", diff)
			}
		})
	}
}
