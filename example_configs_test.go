package gateway_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// A config is given to the client, and the trail tells who was asked.
func ExampleWithConfig() {
	platform := vertextest.New()
	defer platform.Close()
	platform.Script(vertextest.Overloaded(), vertextest.Text("Hello from Claude."))

	config, err := gateway.ParseConfig([]byte(`{
		"strategy": {"mode": "fallback"},
		"targets": [
			{"name": "main", "override_params": {"model": "gemini-2.5-flash"}},
			{"name": "spare", "override_params": {"model": "anthropic.claude-sonnet-4-5@20250929"}}
		]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := gateway.New(
		gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}), gateway.WithConfig(config),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = client.Close() }()

	answer, err := client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("Say hello.")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text())
	for _, a := range answer.Meta.Attempts {
		fmt.Println(a.Target, a.StatusCode)
	}
	fmt.Println("Fallback:", answer.Meta.Fallback)
	// Output:
	// Hello from Claude.
	// main 503
	// spare 200
	// Fallback: Active
}
