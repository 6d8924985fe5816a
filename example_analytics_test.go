package gateway_test

import (
	"context"
	"fmt"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/analytics"
	"github.com/b650d4bf/gateway/logs"
)

// The same question is asked twice, and the second answer is judged; the log tells
// what came of it.
func ExampleClient_Analytics() {
	ctx := context.Background()
	log, err := logs.New(logs.Options{Store: logs.NewMemory(0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = log.Close(ctx) }()
	client, _ := emulated(gateway.WithLog(log), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}))
	defer client.Close()

	var answer *gateway.ChatCompletion
	for range 2 {
		answer, err = client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model:    "gemini-2.5-flash",
			Messages: []gateway.Message{gateway.UserMessage("How deep is the sea?")},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := client.Feedback(ctx, logs.Feedback{RecordID: answer.Meta.RequestID, Value: 8}); err != nil {
		fmt.Println(err)
		return
	}
	report, err := client.Analytics(ctx, analytics.Query{GroupBy: []string{"model"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range report.Groups {
		t := g.Totals
		fmt.Println(g.Key[0], t.Requests, "calls,", t.Cache.HitRate, "hit rate,", t.Feedback.Mean, "mean feedback")
	}
	// Output:
	// gemini-2.5-flash 2 calls, 0.5 hit rate, 8 mean feedback
}
