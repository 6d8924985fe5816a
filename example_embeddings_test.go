package gateway_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// Texts become vectors: what is about the same is close.
func ExampleEmbeddingsService_Create() {
	client, closing := embedding() // in place of the platform
	defer closing()

	answer, err := client.Embeddings.Create(context.Background(), &gateway.EmbeddingRequest{
		Model: "text-embedding-005",
		Input: gateway.EmbeddingTexts(
			"How do I reset my password?",
			"I forgot my password, how can I reset it?",
			"Our office is closed on Sundays.",
		),
		TaskType: "SEMANTIC_SIMILARITY",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	first, second, third := answer.Data[0].Embedding, answer.Data[1].Embedding, answer.Data[2].Embedding
	fmt.Println(len(first), "dimensions,", answer.Usage.PromptTokens, "tokens")
	fmt.Println("the same question is closer:", dot(first, second) > dot(first, third))
	// Output:
	// 768 dimensions, 24 tokens
	// the same question is closer: true
}

// Inputs beyond what one request takes are shared among several.
func ExampleWithEmbeddingProgress() {
	client, closing := embedding() // in place of the platform
	defer closing()
	texts := make([]string, 600)
	for i := range texts {
		texts[i] = fmt.Sprint("paragraph ", i)
	}

	requests := 0
	answer, err := client.Embeddings.Create(context.Background(), &gateway.EmbeddingRequest{
		Model:      "text-embedding-005",
		Input:      gateway.EmbeddingTexts(texts...),
		TaskType:   "RETRIEVAL_DOCUMENT",
		Title:      "The handbook",
		Dimensions: new(256),
	}, gateway.WithEmbeddingProgress(func(_, total int) {
		requests++
		if requests == 1 {
			fmt.Println("of", total)
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(answer.Data), "vectors of", len(answer.Data[599].Embedding), "in", requests, "requests")
	// Output:
	// of 600
	// 600 vectors of 256 in 3 requests
}

// Models for media embed a text and an image together.
func ExampleEmbeddingItems() {
	client, closing := embedding() // in place of the platform
	defer closing()

	answer, err := client.Embeddings.Create(context.Background(), &gateway.EmbeddingRequest{
		Model: "gemini-embedding-2",
		Input: gateway.EmbeddingItems(gateway.EmbeddingItem{
			Text:  "A cat on a mat",
			Image: &gateway.EmbeddingMedia{URL: "gs://my-bucket/cat.jpg"},
		}),
		Dimensions: new(768),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(answer.Data), "vector of", len(answer.Data[0].Embedding))
	// Output:
	// 1 vector of 768
}

// embedding returns a client of an emulated platform.
func embedding() (*gateway.Client, func()) {
	platform := vertextest.New()
	client, err := gateway.New(gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}))
	if err != nil {
		fmt.Println(err)
	}
	return client, func() {
		_ = client.Close()
		platform.Close()
	}
}

// dot is the likeness of two vectors of unit length.
func dot(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
