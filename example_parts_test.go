package gateway_test

import (
	"context"
	"fmt"
	"time"

	"github.com/b650d4bf/gateway"
)

// Two seconds of a video are looked at frame by frame, and a note is spoken.
func ExampleVideoPart() {
	client, platform := emulated()
	defer client.Close()

	_, err := client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model: "gemini-3-flash-preview",
		Messages: []gateway.Message{gateway.UserMessage([]gateway.ContentPart{
			gateway.VideoPart("gs://bucket/match.mp4", gateway.VideoClip{Start: 90 * time.Second, End: 92 * time.Second, FPS: 24}),
			gateway.FilePart("gs://bucket/rules.pdf"),
			gateway.AudioPart("wav", []byte("RIFF")),
		})},
	})
	fmt.Println(err)
	fmt.Println(string(platform.Requests()[0].Body))
	// Output:
	// <nil>
	// {"contents":[{"role":"user","parts":[{"fileData":{"mimeType":"video/mp4","fileUri":"gs://bucket/match.mp4"},"videoMetadata":{"startOffset":"90s","endOffset":"92s","fps":24}},{"fileData":{"mimeType":"application/pdf","fileUri":"gs://bucket/rules.pdf"}},{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}]}]}
}

// A picture of the caller's is sent along, and one of the model's comes back.
func ExampleMediaPart() {
	client, _ := emulated()
	defer client.Close()

	sketch := []byte("\x89PNG\r\n\x1a\n…")
	answer, err := client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash-image",
		Messages: []gateway.Message{gateway.UserMessage([]gateway.ContentPart{
			gateway.MediaPart("image/png", sketch), gateway.TextPart("Make a painting of it."),
		})},
		Modalities: []string{"text", "image"},
	}, gateway.WithStrictCompliance(false))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, block := range answer.Choices[0].Message.ContentBlocks {
		if block.ImageURL == nil {
			continue
		}
		data, mimeType, err := block.ImageURL.Bytes()
		fmt.Printf("%s %q %v\n", mimeType, data[1:4], err)
	}
	// Output:
	// image/png "PNG" <nil>
}

func ExamplePlatformTool() {
	client, _ := emulated()
	defer client.Close()

	answer, err := client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model:    "gemini-2.5-flash",
		Messages: []gateway.Message{gateway.UserMessage("Who won?")},
		Tools:    []gateway.Tool{gateway.PlatformTool("web_search", []byte(`{"exclude_domains":["example.org"]}`))},
	}, gateway.WithStrictCompliance(false))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range answer.Choices[0].Message.Annotations {
		fmt.Println(a.URLCitation.Title, a.URLCitation.StartIndex, a.URLCitation.EndIndex)
	}
	// Output:
	// example.com 0 21
	// example.com 22 44
}

func ExampleAccumulator() {
	client, _ := emulated()
	defer client.Close()

	stream, err := client.Chat.Completions.CreateStream(context.Background(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("Hello!")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var whole gateway.Accumulator
	for chunk, err := range stream.Chunks() {
		if err == nil {
			err = whole.Add(chunk)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(whole.Completion().Text())
	// Output:
	// Hello! How can I help you today?
}

// Members that the schema does not name are in Extra, as JSON.
func ExampleExtra() {
	client, platform := emulated()
	defer client.Close()

	req := &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("Hello!")},
	}
	req.Extra = gateway.Extra(`{"safety_settings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_ONLY_HIGH"}]}`)
	req.Extra.SetString("cached_content", "projects/my-project/locations/global/cachedContents/42")
	_, err := client.Chat.Completions.Create(context.Background(), req)
	fmt.Println(err)
	fmt.Println(string(platform.Requests()[0].Body))
	// Output:
	// <nil>
	// {"contents":[{"role":"user","parts":[{"text":"Hello!"}]}],"cachedContent":"projects/my-project/locations/global/cachedContents/42","safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_ONLY_HIGH"}]}
}
