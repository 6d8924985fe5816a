// Package openai_test holds the official OpenAI client for Go against the
// gateway's HTTP front. The client is used as its users use it; behind the
// gateway stands the emulator of the platform.
package openai_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	apiKey        = "gateway-key"
	platformToken = "platform-token"

	flash25 = "@vx/gemini-2.5-flash"       // knows no signatures
	flash3  = "@vx/gemini-3-flash-preview" // wants a call's signature back

	limit = 30 * time.Second // of whatever a test waits for
)

// stage is a client of a gateway of an emulated platform.
type stage struct {
	openai.Client
	platform *vertextest.Server
}

func start(t *testing.T) *stage {
	t.Helper()
	platform := vertextest.New(vertextest.WithToken(platformToken))
	t.Cleanup(platform.Close)
	return &stage{connect(t, "https://platform.example", platform.Transport()), platform}
}

// connect serves a gateway of the platform at baseURL and returns a client of
// it, which does not retry.
func connect(t *testing.T, baseURL string, transport http.RoundTripper) openai.Client {
	t.Helper()
	providers, err := catalog.Parse(catalogOf(baseURL))
	if err != nil {
		t.Fatal(err)
	}
	client, err := gateway.New(gateway.WithCatalog(providers), gateway.WithHTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	server := httptest.NewServer(client.Handler(gateway.WithAPIKeys(apiKey)))
	t.Cleanup(server.Close)
	return clientOf(server.URL)
}

func clientOf(gatewayURL string) openai.Client {
	return openai.NewClient(
		option.WithBaseURL(gatewayURL+"/v1"), option.WithAPIKey(apiKey), option.WithMaxRetries(0))
}

// catalogOf has the one entry "vx".
func catalogOf(baseURL string) []byte {
	return fmt.Appendf(nil, `{"providers":{"vx":{"provider":"vertex-ai","project_id":"p","region":"global",
		"access_token":%q,"base_url":%q}}}`, platformToken, baseURL)
}

// relaxed asks for what the OpenAI schema does not have.
func relaxed() option.RequestOption {
	return option.WithHeader("x-gateway-strict-compliance", "false")
}

func ask(model, text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
	}
}

// askWeather asks with a tool that tells the weather.
func askWeather(model, text string) openai.ChatCompletionNewParams {
	params := ask(model, text)
	params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name:        "get_weather",
		Description: openai.String("Tells the weather of a city."),
		Parameters: shared.FunctionParameters{
			"type": "object", "required": []string{"city"},
			"properties": map[string]any{"city": map[string]string{"type": "string"}},
		},
	})}
	return params
}

// complete returns the whole answer.
func (s *stage) complete(t *testing.T, params openai.ChatCompletionNewParams, opts ...option.RequestOption) *openai.ChatCompletion {
	t.Helper()
	got, err := s.Chat.Completions.New(t.Context(), params, opts...)
	if err != nil {
		t.Fatal(explain(err))
	}
	if len(got.Choices) != 1 {
		t.Fatalf("%d choices in %s", len(got.Choices), got.RawJSON())
	}
	return got
}

// stream returns the whole of a streamed answer, and its chunks.
func (s *stage) stream(t *testing.T, params openai.ChatCompletionNewParams, opts ...option.RequestOption) (*openai.ChatCompletion, []openai.ChatCompletionChunk) {
	t.Helper()
	acc, chunks, err := accumulate(s.Chat.Completions.NewStreaming(t.Context(), params, opts...))
	if err != nil {
		t.Fatal(explain(err))
	}
	if len(acc.Choices) != 1 {
		t.Fatalf("%d choices after %d chunks", len(acc.Choices), len(chunks))
	}
	return acc, chunks
}

// accumulate reads the stream with the client's own accumulator.
func accumulate(stream *ssestream.Stream[openai.ChatCompletionChunk]) (*openai.ChatCompletion, []openai.ChatCompletionChunk, error) {
	var (
		acc    openai.ChatCompletionAccumulator
		chunks []openai.ChatCompletionChunk
	)
	for stream.Next() {
		chunks = append(chunks, stream.Current())
		if !acc.AddChunk(stream.Current()) {
			return nil, nil, fmt.Errorf("the accumulator refuses %s", stream.Current().RawJSON())
		}
	}
	return &acc.ChatCompletion, chunks, stream.Err()
}
