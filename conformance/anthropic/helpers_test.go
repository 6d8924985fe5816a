// Package anthropic_test holds the official Anthropic client for Go against the
// gateway's HTTP front. The client is used as its users use it; behind the
// gateway stands the emulator of the platform.
package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	apiKey        = "gateway-key"
	platformToken = "platform-token"

	flash25 = "@vx/gemini-2.5-flash"       // knows no signatures
	flash3  = "@vx/gemini-3-flash-preview" // wants a call's signature back
	flash38 = "@vx/gemini-3.8-flash"       // refuses a signature that was changed
)

// stage is a client of a gateway of an emulated platform.
type stage struct {
	anthropic.Client
	platform *vertextest.Server
	url      string // of the gateway
}

func start(t *testing.T, opts ...gateway.ClientOption) *stage {
	t.Helper()
	platform := vertextest.New(vertextest.WithToken(platformToken))
	t.Cleanup(platform.Close)
	entries, err := catalog.Parse(fmt.Appendf(nil, `{"providers":{"vx":{"provider":"vertex-ai","project_id":"p","region":"global",
		"access_token":%q,"base_url":"https://platform.example"}}}`, platformToken))
	if err != nil {
		t.Fatal(err)
	}
	opts = append(opts, gateway.WithCatalog(entries), gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}))
	client, err := gateway.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	server := httptest.NewServer(client.Handler(gateway.WithAPIKeys(apiKey)))
	t.Cleanup(server.Close)
	return &stage{clientOf(server.URL, option.WithAPIKey(apiKey)), platform, server.URL}
}

// clientOf returns a client that takes nothing from the environment and does not
// retry.
func clientOf(gatewayURL string, opts ...option.RequestOption) anthropic.Client {
	opts = append([]option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithBaseURL(gatewayURL), option.WithMaxRetries(0),
	}, opts...)
	return anthropic.NewClient(opts...)
}

func ask(model, text string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: model, MaxTokens: 4096,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))},
	}
}

// askWeather asks with a tool that tells the weather.
func askWeather(model, text string) anthropic.MessageNewParams {
	params := ask(model, text)
	tool := anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{
		Properties: map[string]any{"city": map[string]string{"type": "string"}}, Required: []string{"city"},
	}, "get_weather")
	tool.OfTool.Description = anthropic.String("Tells the weather of a city.")
	params.Tools = []anthropic.ToolUnionParam{tool}
	return params
}

// answer returns an answer, streamed or whole, and the warnings.
func (s *stage) answer(t *testing.T, streamed bool, params anthropic.MessageNewParams) (*anthropic.Message, string) {
	t.Helper()
	var response *http.Response
	into := option.WithResponseInto(&response)
	if !streamed {
		got, err := s.Messages.New(t.Context(), params, into)
		if err != nil {
			t.Fatal(err)
		}
		return got, response.Header.Get("X-Gateway-Warnings")
	}
	stream := s.Messages.NewStreaming(t.Context(), params, into)
	var got anthropic.Message
	for stream.Next() {
		if err := got.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	return &got, response.Header.Get("X-Gateway-Warnings")
}

// bothWays runs a test with whole answers and with streams.
func bothWays(t *testing.T, test func(t *testing.T, streamed bool)) {
	t.Helper()
	for _, streamed := range []bool{false, true} {
		t.Run(fmt.Sprintf("streamed=%v", streamed), func(t *testing.T) { test(t, streamed) })
	}
}

// textOf joins the text of an answer.
func textOf(m *anthropic.Message) string {
	var b strings.Builder
	for i := range m.Content {
		b.WriteString(m.Content[i].Text)
	}
	return b.String()
}

// sent decodes the body that the platform was sent last.
func (s *stage) sent(t *testing.T, into any) {
	t.Helper()
	requests := s.platform.Requests()
	if err := json.Unmarshal(requests[len(requests)-1].Body, into); err != nil {
		t.Fatal(err)
	}
}

// fill puts a word into a body.
func fill(body, word string) string { return strings.Replace(body, "%s", word, 1) }
