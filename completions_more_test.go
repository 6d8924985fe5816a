package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// Guards judge prompts and texts as they judge messages and answers.
func TestTextCompletionsUnderGuards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := platformClient(t, vertextest.New(), gateway.WithGuards(finds("words", "bad", gateway.GuardDeny)))
		for _, tt := range []struct {
			name   string
			prompt gateway.CompletionPrompt
			denied bool
		}{
			{"a fine prompt", gateway.PromptText("good"), false},
			{"a bad prompt", gateway.PromptText("bad"), true},
			{"a bad prompt among others", gateway.PromptTexts("good", "fine", "bad"), true},
		} {
			req := &gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: tt.prompt}
			_, err := client.Completions.Create(t.Context(), req)
			if denied := errors.Is(err, gateway.ErrGuardDenied); denied != tt.denied || !denied && err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			stream, err := client.Completions.CreateStream(t.Context(), req)
			if err == nil {
				_, err = stream.Collect()
			}
			if denied := errors.Is(err, gateway.ErrGuardDenied); denied != tt.denied || !denied && err != nil {
				t.Errorf("%s, streamed: %v", tt.name, err)
			}
		}
	})
}

// A stream of several prompts that is left behind leaves nothing behind; the
// bubble would find a goroutine.
func TestTextCompletionsThatAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := platformClient(t, vertextest.New(vertextest.WithChunkDelay(time.Second)))
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			stream, err := client.Completions.CreateStream(ctx, &gateway.CompletionRequest{
				Model: "gemini-2.5-flash", Prompt: gateway.PromptTexts(strings.Split("a b c d e f g h i j k l", " ")...),
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stream.Recv(); err != nil {
				t.Fatal(err)
			}
			cancel()
			if err := stream.Close(); err != nil {
				t.Error(err)
			}
			if _, err := stream.Recv(); !errors.Is(err, gateway.ErrCanceled) {
				t.Errorf("%v after the end", err)
			}
		}
		stream, err := client.Completions.CreateStream(t.Context(), &gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: gateway.PromptTexts("a", "b")})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range stream.Pieces() {
			if err != nil {
				t.Error(err)
			}
			break
		}
		if _, err := stream.Recv(); errors.Is(err, io.EOF) || err == nil {
			t.Errorf("%v after the loop was left", err)
		}
	})
}

// TestModelsOfDirectProviders lists for each entry what its service may have.
func TestModelsOfDirectProviders(t *testing.T) {
	client, _ := directly(t,
		catalog.Entry{Slug: "g", Provider: "google", APIKey: "AIza"}, catalog.Entry{Slug: "a", Provider: "anthropic", APIKey: "sk-ant"},
		catalog.Entry{Slug: "o", Provider: "openai", APIKey: "sk-1"},
		catalog.Entry{Slug: "own", Provider: "openai-compatible", APIKey: "gsk", BaseURL: "https://llm.example/v1"},
	)
	front := httptest.NewServer(client.Handler())
	defer front.Close()
	_, list := callFront(t, front, "GET", "/v1/models", "")
	there := map[string]bool{}
	for _, one := range list["data"].([]any) {
		m := one.(map[string]any)
		there[m["id"].(string)] = true
		if kind, _ := m["type"].(string); !slices.Contains([]string{"chat", "embedding", "image", "rerank"}, kind) || m["provider"] == nil {
			t.Errorf("%v", m)
		}
	}
	for id, want := range map[string]bool{
		"gemini-2.5-flash": true, "@g/gemini-2.5-flash": true, "@g/gemini-embedding-001": true, "@o/text-embedding-3-small": true,
		"@g/text-embedding-005": false, "@g/multimodalembedding": false, "@a/gemini-2.5-flash": false, "@o/gemini-2.5-flash": false,
		"@g/claude-sonnet-4-5": false, "text-embedding-3-small": false, "@own/text-embedding-3-small": false,
	} {
		if there[id] != want {
			t.Errorf("%s: %v, want %v", id, there[id], want)
		}
	}
	claudes := 0
	for id := range there {
		if strings.HasPrefix(id, "@a/") {
			claudes++
		}
		if strings.HasPrefix(id, "@own/") {
			t.Errorf("%s is made up", id)
		}
	}
	if claudes == 0 {
		t.Error("no models of anthropic")
	}
}

// TestEmbeddingsByDirectProviders asks OpenAI's API and a server like it.
func TestEmbeddingsByDirectProviders(t *testing.T) {
	client, srv := directly(t,
		catalog.Entry{Slug: "o", Provider: "openai", APIKey: "sk-1"},
		catalog.Entry{Slug: "own", Provider: "openai-compatible", APIKey: "gsk", BaseURL: "https://llm.example/v1"},
	)
	var progress []int
	for _, model := range []string{"@o/text-embedding-3-small", "@own/BAAI/bge-m3"} {
		out, err := client.Embeddings.Create(t.Context(), &gateway.EmbeddingRequest{
			Model: model, Input: gateway.EmbeddingTokens([]int64{1, 2}, []int64{3}), Dimensions: new(16), User: "u",
		}, gateway.WithEmbeddingProgress(func(done, _ int) { progress = append(progress, done) }))
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Data) != 2 || len(out.Data[1].Embedding) != 16 || out.Usage.PromptTokens != 3 || out.Meta.Slug == "" {
			t.Errorf("%+v", out)
		}
	}
	if d := cmp.Diff([]int{2, 2}, progress); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	var keys []string
	for _, r := range srv.Requests() {
		keys = append(keys, r.Header.Get("Authorization"))
	}
	if d := cmp.Diff([]string{"Bearer sk-1", "Bearer gsk"}, keys); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	_, err := client.Embeddings.Create(t.Context(), &gateway.EmbeddingRequest{Model: "@o/text-embedding-3-small", Input: gateway.EmbeddingText("a"), Dimensions: new(2000)})
	if e, ok := errors.AsType[*gateway.Error](err); !ok || e.Param != "dimensions" {
		t.Errorf("%v", err)
	}
}
