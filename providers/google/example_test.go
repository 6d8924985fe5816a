package google_test

import (
	"context"
	"fmt"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/google"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func Example() {
	srv := vertextest.New(vertextest.WithToken("key")) // stands for the service
	defer srv.Close()
	p := google.New(google.Config{Transport: srv.Transport()})
	defer func() { _ = p.Close() }()

	to := &providers.Target{Provider: p.Name(), Model: "gemini-3.5-flash", Token: apiKey("key")}
	out, err := p.ChatCompletion(context.Background(), to, &providers.ChatCompletionRequest{
		Model:    to.Model,
		Messages: []providers.Message{providers.UserMessage("Is anybody there?")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Choices[0].Message.Content.Text())
	fmt.Println(srv.Requests()[0].Path)

	to.Token = apiKey("another")
	_, err = p.ChatCompletion(context.Background(), to, &providers.ChatCompletionRequest{
		Model: to.Model, Messages: []providers.Message{providers.UserMessage("And now?")},
	})
	fmt.Println(err)
	// Output:
	// You said: "Is anybody there?".
	// /v1beta/models/gemini-3.5-flash:generateContent
	// authentication_failed: google answered 400: API key not valid. Please pass a valid API key. (check the catalog entry's api_key)
}
