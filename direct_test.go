package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// directly returns a client of the platform whose catalog leads to other
// services too, all of them played by one emulator.
func directly(t *testing.T, entries ...catalog.Entry) (*gateway.Client, *vertextest.Server) {
	t.Helper()
	srv := vertextest.New()
	t.Cleanup(srv.Close)
	list, err := catalog.New(entries...)
	if err != nil {
		t.Fatal(err)
	}
	client, err := gateway.New(
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("platform-token"),
		gateway.WithCatalog(list), gateway.WithHTTPClient(&http.Client{Transport: srv.Transport()}),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, srv
}

// TestDirectProvidersAnswer asks each service that a catalog entry can lead to,
// and sees to it that the platform's token stays at home.
func TestDirectProvidersAnswer(t *testing.T) {
	for _, tt := range []struct {
		entry       catalog.Entry
		model       string
		header, key string
	}{
		{catalog.Entry{Provider: "google", APIKey: "AIza"}, "gemini-2.5-flash", "X-Goog-Api-Key", "AIza"},
		{catalog.Entry{Provider: "anthropic", APIKey: "sk-ant"}, "claude-sonnet-4-6", "X-Api-Key", "sk-ant"},
		{catalog.Entry{Provider: "openai", APIKey: "sk-1"}, "gpt-5-mini", "Authorization", "Bearer sk-1"},
		{catalog.Entry{Provider: "openai-compatible", APIKey: "gsk", BaseURL: "https://llm.example/v1"}, "meta-llama/Llama-3.3-70B-Instruct", "Authorization", "Bearer gsk"},
	} {
		t.Run(tt.entry.Provider, func(t *testing.T) {
			tt.entry.Slug = "own"
			client, srv := directly(t, tt.entry)
			req := &gateway.ChatCompletionRequest{Model: "@own/" + tt.model, Messages: []gateway.Message{gateway.UserMessage("Hello")}}
			answer, err := client.Chat.Completions.Create(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Choices[0].Message.Content.Text() == "" || answer.Provider != tt.entry.Provider || answer.Meta.Slug != "own" {
				t.Errorf("%+v", answer)
			}
			stream, err := client.Chat.Completions.CreateStream(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := stream.Collect()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := whole.Choices[0].Message.Content.Text(), answer.Choices[0].Message.Content.Text(); got != want {
				t.Errorf("streamed %q, whole %q", got, want)
			}
			for _, r := range srv.Requests() {
				if r.Header.Get(tt.header) != tt.key {
					t.Errorf("%s: %q, want %q", tt.header, r.Header.Get(tt.header), tt.key)
				}
				for name, values := range r.Header {
					if strings.Contains(strings.Join(values, ","), "platform-token") {
						t.Errorf("the platform's token went along in %s", name)
					}
				}
			}
		})
	}
}

func TestADirectProviderWantsItsKey(t *testing.T) {
	client, srv := directly(t)
	_, err := client.Chat.Completions.Create(t.Context(), &gateway.ChatCompletionRequest{
		Model: "gpt-5", Messages: []gateway.Message{gateway.UserMessage("Hello")},
	}, gateway.WithProvider("openai"))
	var e *gateway.Error
	if !errors.As(err, &e) || e.Param != "api_key" {
		t.Errorf("%v, want one about api_key", err)
	}
	if n := len(srv.Requests()); n > 0 {
		t.Errorf("%d requests went out", n)
	}
	list, err := catalog.New(catalog.Entry{Slug: "o", Provider: "openai"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gateway.New(gateway.WithCatalog(list)); !errors.Is(err, gateway.ErrInvalidConfig) || !strings.Contains(err.Error(), "api_key") {
		t.Errorf("%v, want one about api_key", err)
	}
}

// TestGeminisThinkingIsTheSameEverywhere has the Anthropic schema tell Gemini's
// thinking alike on Vertex AI and on the Gemini API: with the conversation's own
// mark, since no signature of it is of use to who sends it back.
func TestGeminisThinkingIsTheSameEverywhere(t *testing.T) {
	client, srv := directly(t, catalog.Entry{Slug: "own", Provider: "google", APIKey: "AIza"})
	ask := func(model string) string {
		srv.ScriptFor("gemini-2.5-flash", vertextest.JSON(200, `{"candidates":[{"finishReason":"STOP","content":{"role":"model",`+
			`"parts":[{"text":"Hm.","thought":true,"thoughtSignature":"c2ln"},{"text":"Hi."}]}}]}`))
		answer, err := client.Messages.Create(t.Context(), []byte(`{"model":"`+model+`","max_tokens":4000,`+
			`"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"Hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		_, content, _ := strings.Cut(string(answer.Body), `"content":`)
		content, _, _ = strings.Cut(content, `,"stop_reason"`)
		return content
	}
	if own, platform := ask("@own/gemini-2.5-flash"), ask("gemini-2.5-flash"); own != platform || !strings.Contains(own, `"thinking":"Hm."`) {
		t.Errorf("%s\nwant\n%s", own, platform)
	}
}

// TestDirectStreamsLeftEarly closes streams, or ends their context, in their
// middle: the bubble fails when a goroutine is left behind.
func TestDirectStreamsLeftEarly(t *testing.T) {
	for model, entry := range map[string]catalog.Entry{
		"gemini-2.5-flash":  {Provider: "google", APIKey: "AIza"},
		"claude-sonnet-4-6": {Provider: "anthropic", APIKey: "sk-ant"},
		"gpt-5-mini":        {Provider: "openai", APIKey: "sk-1"},
		"llama":             {Provider: "openai-compatible", APIKey: "gsk", BaseURL: "https://llm.example/v1"},
	} {
		t.Run(entry.Provider, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := vertextest.New(vertextest.WithChunkDelay(time.Minute))
				defer srv.Close()
				entry.Slug = "own"
				list, err := catalog.New(entry)
				if err != nil {
					t.Fatal(err)
				}
				client, err := gateway.New(gateway.WithCatalog(list), gateway.WithHTTPClient(&http.Client{Transport: srv.Transport()}),
					gateway.WithTimeouts(gateway.Timeouts{FirstByte: -1, Idle: -1}))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = client.Close() }()
				req := &gateway.ChatCompletionRequest{Model: "@own/" + model, Messages: []gateway.Message{gateway.UserMessage("one two three four five six seven eight")}}
				for _, leave := range []func(context.CancelFunc, *gateway.ChatStream){
					func(_ context.CancelFunc, s *gateway.ChatStream) { _ = s.Close() },
					func(cancel context.CancelFunc, s *gateway.ChatStream) {
						cancel()
						_, _ = s.Recv() // which may have been on its way
					},
				} {
					ctx, cancel := context.WithCancel(t.Context())
					s, err := client.Chat.Completions.CreateStream(ctx, req)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := s.Recv(); err != nil {
						t.Error(err)
					}
					leave(cancel, s)
					if _, err := s.Recv(); !errors.Is(err, gateway.ErrCanceled) {
						t.Errorf("%v, want %v", err, gateway.ErrCanceled)
					}
					cancel()
				}
			})
		})
	}
}
