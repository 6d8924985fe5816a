package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/b650d4bf/gateway"
)

// A file of requests is answered as one job, and the answers are told apart by
// their custom_id.
func ExampleBatchesService_Create() {
	client, _ := emulated()
	defer client.Close()
	client, err := client.With(gateway.WithBucket("gs://bucket/team"))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()

	const lines = `{"custom_id":"one","method":"POST","url":"/v1/chat/completions","body":{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Tell me."}]}}
{"custom_id":"two","method":"POST","url":"/v1/chat/completions","body":{"model":"gemini-2.5-flash","messages":[]}}`
	file, err := client.Files.Create(ctx, &gateway.FileRequest{File: strings.NewReader(lines), Purpose: gateway.PurposeBatch})
	if err != nil {
		fmt.Println(err)
		return
	}
	batch, err := client.Batches.Create(ctx, &gateway.BatchRequest{InputFileID: file.ID, Endpoint: gateway.BatchChat})
	if err != nil {
		fmt.Println(err)
		return
	}
	if batch, err = client.Batches.Wait(ctx, batch.ID, gateway.BatchWait{Interval: time.Millisecond}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(batch.Status, batch.RequestCounts)
	for result, err := range client.Batches.Results(ctx, batch.ID) {
		switch {
		case err != nil:
			fmt.Println(err)
		case result.Err != nil:
			fmt.Println(result.CustomID, result.Err)
		default:
			fmt.Println(result.CustomID, result.Chat.Choices[0].Message.Content.Text())
		}
	}
	// Output:
	// completed {2 1 1}
	// two invalid_request: body.messages: at least one message is required
	// one You said: "Tell me.".
}
