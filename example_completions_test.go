package gateway_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// Several prompts are completed in one call, each for itself.
func ExampleTextCompletionsService_Create() {
	platform := vertextest.New()
	defer platform.Close()
	client, err := gateway.New(
		gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = client.Close() }()

	answer, err := client.Completions.Create(context.Background(), &gateway.CompletionRequest{
		Model: "gemini-2.5-flash", Prompt: gateway.PromptTexts("Once upon a time", "The end"), MaxTokens: new(100),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, choice := range answer.Choices {
		fmt.Println(choice.Index, choice.Text, choice.FinishReason)
	}
	// Output:
	// 0 You said: "Once upon a time". stop
	// 1 You said: "The end". stop
}

// A streamed text completion comes in pieces.
func ExampleTextCompletionsService_CreateStream() {
	platform := vertextest.New()
	defer platform.Close()
	platform.Script(vertextest.Text("there was a gateway."))
	client, err := gateway.New(
		gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = client.Close() }()

	stream, err := client.Completions.CreateStream(context.Background(), &gateway.CompletionRequest{
		Model: "gemini-2.5-flash", Prompt: gateway.PromptText("Once upon a time "), Echo: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for piece, err := range stream.Pieces() {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, choice := range piece.Choices {
			fmt.Print(choice.Text)
		}
	}
	// Output: Once upon a time there was a gateway.
}
