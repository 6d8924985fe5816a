package gateway_test

import (
	"context"
	"fmt"

	"github.com/b650d4bf/gateway"
)

// A prompt becomes images. Imagen is in regions, not in global.
func ExampleImagesService_Generate() {
	client, _ := emulated(gateway.WithRegion("us-central1")) // in place of the platform
	defer client.Close()

	answer, err := client.Images.Generate(context.Background(), &gateway.ImageRequest{
		Model: "imagen-4.0-generate-001", Prompt: "A red kite above the sea", N: new(2), Size: "1536x1024",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, mimeType, err := answer.Data[0].Bytes()
	fmt.Println(len(answer.Data), "images,", mimeType, err)
	fmt.Println(answer.Meta.Warnings[0].Message)
	// Output:
	// 2 images, image/png <nil>
	// there is no 1536x1024: the nearest is asked for, aspect_ratio 4:3 and image_size 1K
}

// What is said of an image changes it.
func ExampleImagesService_Edit() {
	client, _ := emulated() // in place of the platform
	defer client.Close()

	answer, err := client.Images.Edit(context.Background(), &gateway.ImageRequest{
		Model: "gemini-2.5-flash-image", Prompt: "Make it night",
		Images: []gateway.ImageInput{{URL: "gs://my-bucket/kite.png"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(answer.Data), "image,", answer.OutputFormat, answer.Usage.TotalTokens > 0)
	// Output: 1 image, png true
}

// A text becomes a WAV file.
func ExampleSpeechService_Create() {
	client, _ := emulated() // in place of the platform
	defer client.Close()

	answer, err := client.Audio.Speech.Create(context.Background(), &gateway.SpeechRequest{
		Model: "gemini-2.5-flash-tts", Input: "Have a wonderful day!", Voice: "Kore", Instructions: "Say cheerfully", ResponseFormat: "wav",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.ContentType, string(answer.Data[:4]))
	// Output: audio/wav RIFF
}

// Documents come in the order of how well they answer the query.
func ExampleRerankService_Create() {
	client, _ := emulated() // in place of the platform
	defer client.Close()

	answer, err := client.Rerank.Create(context.Background(), &gateway.RerankRequest{
		Model: "semantic-ranker-default@latest", Query: "What is the capital of France?", TopN: new(2),
		Documents: gateway.RerankTexts("Berlin is in Germany.", "Paris is the capital of France.", "France has a capital."),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range answer.Results {
		fmt.Printf("%d %.2f %s\n", r.Index, r.RelevanceScore, r.Document.Text)
	}
	// Output:
	// 1 0.97 Paris is the capital of France.
	// 2 0.90 France has a capital.
}
