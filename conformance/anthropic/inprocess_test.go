package anthropic_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestInProcess gives the client the gateway as its transport.
func TestInProcess(t *testing.T) {
	platform := vertextest.New()
	t.Cleanup(platform.Close)
	inside, err := gateway.New(
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inside.Close() })
	s := &stage{Client: anthropic.NewClient(
		option.WithoutEnvironmentDefaults(), option.WithAPIKey("unused"), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: inside.RoundTripper()}),
	), platform: platform}

	for _, model := range []string{"anthropic.claude-sonnet-5", "gemini-2.5-flash", "gemini-3.8-flash"} {
		t.Run(model, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streamed bool) {
				params := askWeather(model, "What is the weather in Paris?")
				first, _ := s.answer(t, streamed, params)
				var results []anthropic.ContentBlockParamUnion
				for i := range first.Content {
					if c := &first.Content[i]; c.Type == "tool_use" {
						results = append(results, anthropic.NewToolResultBlock(c.ID, "clear skies", false))
					}
				}
				if len(results) != 1 {
					t.Fatalf("%d calls in %s", len(results), first.RawJSON())
				}
				params.Messages = append(params.Messages, first.ToParam(), anthropic.NewUserMessage(results...))
				if second, _ := s.answer(t, streamed, params); !strings.Contains(textOf(second), "clear skies") {
					t.Errorf("answer %s", second.RawJSON())
				}
			})
		})
	}
}
