package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/b650d4bf/gateway"
)

// A long document is kept once, and then named by each request about it.
func ExampleCacheService_Create() {
	client, _ := emulated()
	defer client.Close()
	ctx := context.Background()

	cached, err := client.Caches.Create(ctx, &gateway.CachedContentRequest{
		Model:       "gemini-2.5-flash",
		DisplayName: "handbook",
		Messages: []gateway.Message{
			gateway.SystemMessage("Answer from the handbook."),
			gateway.UserMessage(strings.Repeat("All there is to know about it. ", 1000)),
		},
		TTL: time.Hour,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cached.Usage.TotalTokens, "tokens for", cached.ExpireTime.Sub(cached.CreateTime).Round(time.Second))

	cached, err = client.Caches.Extend(ctx, cached.Name, gateway.CachedContentExpiry{TTL: 2 * time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("now for", cached.ExpireTime.Sub(cached.UpdateTime).Round(time.Second))

	fmt.Println(client.Caches.Delete(ctx, cached.Name))
	_, err = client.Caches.Get(ctx, cached.Name)
	fmt.Println(errors.Is(err, gateway.ErrCacheNotFound))
	// Output:
	// 7756 tokens for 1h0m0s
	// now for 2h0m0s
	// <nil>
	// true
}

func ExampleCacheService_List() {
	client, _ := emulated()
	defer client.Close()
	ctx := context.Background()
	for _, title := range []string{"handbook", "contract", "novel"} {
		_, err := client.Caches.Create(ctx, &gateway.CachedContentRequest{
			Model: "gemini-2.5-flash", DisplayName: title,
			Messages: []gateway.Message{gateway.UserMessage(strings.Repeat("A long book. ", 1000))},
		})
		if err != nil {
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
	client, _ := emulated()
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
	// 8 map[text:8]
}
