// Batch has a file of requests answered as one job: it keeps the file, starts
// the batch, waits for it and reads the answers, and the lines that failed.
//
//	go -C examples run ./batch
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default global;
// GATEWAY_BUCKET, such as gs://my-bucket/demo; GATEWAY_MODEL, default
// gemini-2.5-flash), where a batch takes minutes to hours. GATEWAY_BATCH is the id
// of a batch to go on with, in place of a new one.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/examples/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "batch:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) error {
	bucket := gateway.WithBucket(cmp.Or(getenv("GATEWAY_BUCKET"), "gs://demo-bucket/demo"))
	client, err := gateway.New(append(demo.Options(getenv), bucket)...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	page := demo.NewPage(out, getenv)

	id := getenv("GATEWAY_BATCH")
	if id == "" {
		if id, err = start(ctx, page, client, cmp.Or(getenv("GATEWAY_MODEL"), "gemini-2.5-flash")); err != nil {
			return err
		}
	}
	wait := gateway.BatchWait{Interval: 10 * time.Second, Progress: func(b *gateway.Batch) {
		page.Say(b.Status, fmt.Sprintf("%d of %d lines answered, %d failed", b.RequestCounts.Completed, b.RequestCounts.Total, b.RequestCounts.Failed))
	}}
	if getenv("GOOGLE_CLOUD_PROJECT") == "" {
		wait.Interval = 10 * time.Millisecond
	}
	batch, err := client.Batches.Wait(ctx, id, wait)
	if err != nil {
		return err
	}

	page.Title("The answers, by custom_id")
	for result, err := range client.Batches.Results(ctx, batch.ID) {
		switch {
		case err != nil:
			return err
		case result.Err != nil:
			page.Say(result.CustomID, result.Err.Error())
		default:
			page.Say(result.CustomID, result.Chat.Choices[0].Message.Content.Text())
		}
	}
	return nil
}

// start keeps the lines and starts a batch of them.
func start(ctx context.Context, page demo.Page, client *gateway.Client, model string) (string, error) {
	var lines strings.Builder
	for city, question := range map[string]string{"bern": "What is Bern known for?", "oslo": "What is Oslo known for?", "mute": ""} {
		body := gateway.ChatCompletionRequest{Model: model, Messages: []gateway.Message{gateway.UserMessage(question)}}
		if question == "" {
			body.Messages = nil // a line that is wrong stops no other
		}
		line, err := json.Marshal(map[string]any{"custom_id": city, "method": "POST", "url": gateway.BatchChat, "body": body})
		if err != nil {
			return "", err
		}
		lines.Write(append(line, '\n'))
	}
	page.Title("A file of requests, and a batch of it")
	file, err := client.Files.Create(ctx, &gateway.FileRequest{File: strings.NewReader(lines.String()), Filename: "cities.jsonl", Purpose: gateway.PurposeBatch})
	if err != nil {
		return "", err
	}
	page.Say("file", fmt.Sprintf("%s, %d bytes", file.ID, file.Bytes))
	batch, err := client.Batches.Create(ctx, &gateway.BatchRequest{InputFileID: file.ID, Endpoint: gateway.BatchChat})
	if err != nil {
		return "", err
	}
	page.Say("batch", batch.ID)
	page.Note("GATEWAY_BATCH=%s goes on with it in another process", batch.ID)
	page.Warnings(batch.Meta)
	return batch.ID, nil
}
