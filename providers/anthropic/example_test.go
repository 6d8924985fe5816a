package anthropic_test

import (
	"context"
	"fmt"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/anthropic"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func Example() {
	srv := vertextest.New() // stands for https://api.anthropic.com
	defer srv.Close()
	p := anthropic.New(anthropic.Config{Transport: srv.Transport()})
	defer func() { _ = p.Close() }()

	answer, err := p.ChatCompletion(context.Background(), &providers.Target{
		Model: "claude-sonnet-4-5-20250929", Token: key("the-api-key"),
	}, &providers.ChatCompletionRequest{
		Messages: []providers.Message{providers.UserMessage("What is up?")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Model, "says:", answer.Choices[0].Message.Content.Text())
	// Output: claude-sonnet-4-5-20250929 says: You said: "What is up?".
}
