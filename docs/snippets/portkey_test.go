package snippets_test

import (
	"context"
	"net/http"
	"os"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func portkeyBefore(key, config string) openai.Client {
	// snippet portkey/client.before
	sdk := openai.NewClient(
		option.WithBaseURL("https://api.portkey.ai/v1"),
		option.WithHeader("x-portkey-api-key", key),
		option.WithHeader("x-portkey-config", config), // "pc-…"
	)
	return sdk
	// end
}

func portkeyAfter(file string) (openai.Client, error) {
	// snippet portkey/client.after
	entries, err := catalog.Open(file)
	if err != nil {
		return openai.Client{}, err
	}
	client, err := gateway.New(gateway.WithCatalog(entries), gateway.WithConfigID("chat"))
	if err != nil {
		return openai.Client{}, err
	}
	sdk := openai.NewClient(
		option.WithHTTPClient(&http.Client{Transport: client.RoundTripper()}),
	)
	return sdk, nil
	// end
}

func TestPortkeyClients(t *testing.T) {
	_ = portkeyBefore("pk", "pc-1")
	if _, err := portkeyAfter("files/portkey-catalog.after.json"); err != nil {
		t.Error(err)
	}
}

func TestPortkeyPerCall(t *testing.T) {
	before := func(ctx context.Context, sdk openai.Client, params openai.ChatCompletionNewParams) (string, error) {
		// snippet portkey/call.before
		answer, err := sdk.Chat.Completions.New(ctx, params,
			option.WithHeader("x-portkey-metadata", `{"team":"search"}`),
			option.WithHeader("x-portkey-cache-namespace", "tenant-7"),
			option.WithHeader("x-portkey-strict-open-ai-compliance", "false"),
		)
		if err != nil {
			return "", err
		}
		return answer.Choices[0].Message.Content, nil
		// end
	}
	after := func(ctx context.Context, client *gateway.Client, request *gateway.ChatCompletionRequest) (string, error) {
		// snippet portkey/call.after
		answer, err := client.Chat.Completions.Create(ctx, request,
			gateway.WithMetadata(map[string]string{"team": "search"}),
			gateway.WithCacheNamespace("tenant-7"),
			gateway.WithStrictCompliance(false),
		)
		if err != nil {
			return "", err
		}
		return answer.Text(), nil
		// end
	}
	got, err := before(t.Context(), elsewhere(t, vertextest.Text(reply)), openai.ChatCompletionNewParams{
		Model: "@vertex/gemini-2.5-flash", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
	})
	expect(t, reply, got, err)
	client, _ := rig(t, vertextest.Text(reply))
	got, err = after(t.Context(), client, &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage(question)},
	})
	expect(t, reply, got, err)
}

func TestLiteLLMClients(t *testing.T) {
	_ = func() openai.Client {
		// snippet litellm/client.before
		sdk := openai.NewClient(
			option.WithBaseURL("http://litellm:4000"),
			option.WithAPIKey(os.Getenv("LITELLM_KEY")),
		)
		return sdk
		// end
	}
	after := func(file string) (*gateway.Client, error) {
		// snippet litellm/client.after
		entries, err := catalog.Open(file)
		if err != nil {
			return nil, err
		}
		client, err := gateway.New(gateway.WithCatalog(entries), gateway.WithConfigID("chat"))
		if err != nil {
			return nil, err
		}
		return client, nil // or its RoundTripper below the SDK
		// end
	}
	client, err := after("files/litellm-catalog.after.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}
