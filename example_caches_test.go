package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/b650d4bf/gateway"
)

// A long document is kept once, and then named by each request about it.
func ExampleCacheService_Create() {
	client, _ := shelved() // in place of the platform
	defer client.Close()
	ctx := context.Background()

	cached, err := client.Caches.Create(ctx, &gateway.CachedContentRequest{
		Model:       "gemini-2.5-flash",
		DisplayName: "handbook",
		Messages: []gateway.Message{
			gateway.SystemMessage("Answer from the handbook."),
			gateway.UserMessage([]gateway.ContentPart{gateway.ImagePart("gs://my-bucket/handbook.pdf")}),
		},
		TTL: time.Hour,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cached.Name)
	fmt.Println(cached.Usage.TotalTokens, "tokens until", cached.ExpireTime.Format(time.DateTime))

	cached, err = client.Caches.Extend(ctx, cached.Name, gateway.CachedContentExpiry{TTL: 2 * time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("now until", cached.ExpireTime.Format(time.DateTime))

	fmt.Println(client.Caches.Delete(ctx, cached.Name))
	_, err = client.Caches.Get(ctx, cached.Name)
	fmt.Println(errors.Is(err, gateway.ErrCacheNotFound))
	// Output:
	// projects/my-project/locations/global/cachedContents/0
	// 5000 tokens until 2026-11-21 16:00:00
	// now until 2026-11-21 17:00:00
	// <nil>
	// true
}

func ExampleCacheService_List() {
	client, _ := shelved() // in place of the platform
	defer client.Close()
	ctx := context.Background()
	for _, title := range []string{"handbook", "contract", "novel"} {
		if _, err := client.Caches.Create(ctx, book(title)); err != nil {
			fmt.Println(err)
			return
		}
	}

	for cached, err := range client.Caches.List(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(cached.DisplayName)
	}
	// Output:
	// handbook
	// contract
	// novel
}

func ExampleCompletionsService_CountTokens() {
	client, _ := shelved() // in place of the platform
	defer client.Close()

	count, err := client.Chat.Completions.CountTokens(context.Background(), &gateway.ChatCompletionRequest{
		Model:    "gemini-2.5-flash",
		Messages: []gateway.Message{gateway.UserMessage("How many tokens are these words?")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(count.TotalTokens, count.ByModality)
	// Output:
	// 21 map[text:21]
}
