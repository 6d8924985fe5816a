// Hello is the smallest program with a gateway: what it links is what a service
// pays for the library.
//
//	go -C examples run ./hello
//
// It asks the platform when GOOGLE_CLOUD_PROJECT is set, with credentials as gcloud
// leaves them, and says so when it is not.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/b650d4bf/gateway"
)

func main() {
	if err := run(context.Background(), os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, getenv func(string) string, opts ...gateway.ClientOption) error {
	project := getenv("GOOGLE_CLOUD_PROJECT")
	if project == "" {
		return errors.New("set GOOGLE_CLOUD_PROJECT; the example quickstart needs no platform")
	}
	client, err := gateway.New(append(opts, gateway.WithProjectID(project), gateway.WithRegion("global"))...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
		Model:    "gemini-2.5-flash",
		Messages: []gateway.Message{gateway.UserMessage("Say hello.")},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, answer.Text())
	return err
}
