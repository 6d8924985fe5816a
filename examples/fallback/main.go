// Fallback sends calls to Gemini, and to Claude while Gemini has no room. The trail
// of each answer says who was asked.
//
//	go -C examples run ./fallback
//
// The platform is an emulator in the same process, which plays the troubles. With
// GOOGLE_CLOUD_PROJECT set, the calls go to the real one (GOOGLE_CLOUD_LOCATION,
// default global).
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/examples/internal/demo"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// The pause before a retry is short here, so that nobody waits for the page.
const config = `{
	"strategy": {"mode": "fallback"},
	"targets": [
		{"name": "gemini", "override_params": {"model": "gemini-2.5-flash"}, "request_timeout": 20000,
			"retry": {"attempts": 1, "backoff": {"base": 10, "max": 10}}},
		{"name": "claude", "override_params": {"model": "anthropic.claude-sonnet-4-5@20250929"}}
	]
}`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "fallback:", err)
		stop()
		os.Exit(1)
	}
}

// troubles are what the emulator answers, request by request.
func troubles() []vertextest.Reply {
	busy := vertextest.Overloaded()
	return []vertextest.Reply{
		vertextest.Text("Hello from Gemini."),
		busy, vertextest.Text("Hello from Gemini, at the second try."),
		busy, busy, vertextest.Text("Hello from Claude."),
		busy, vertextest.Text("Lost before a word was out.").CutAfter(10), vertextest.Text("Hello from Claude, streamed."),
		vertextest.Text("Hello from Gemini, and th…").CutAfterEvents(2),
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) error {
	where, err := gateway.ParseConfig([]byte(config))
	if err != nil {
		return err
	}
	client, err := gateway.New(append(demo.Options(getenv, troubles()...), gateway.WithConfig(where))...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	page := demo.NewPage(out, getenv)

	for _, title := range []string{"1  All is well", "2  Gemini is busy for a moment", "3  Gemini stays busy"} {
		page.Title(title)
		answer, err := client.Chat.Completions.Create(ctx, question())
		if err != nil {
			return err
		}
		page.Say("assistant", answer.Text())
		trail(page, answer.Meta)
	}

	page.Title("4  A stream that breaks before its first word: nothing is said twice")
	stream, err := client.Chat.Completions.CreateStream(ctx, question())
	if err != nil {
		return err
	}
	whole, err := stream.Collect()
	if err != nil {
		return err
	}
	page.Say("assistant", whole.Text())
	trail(page, whole.Meta)

	page.Title("5  A stream that breaks later: an error with what had come")
	if stream, err = client.Chat.Completions.CreateStream(ctx, question()); err != nil {
		return err
	}
	whole, err = stream.Collect()
	var broken *gateway.Error
	switch {
	case err == nil:
		page.Say("assistant", whole.Text())
	case errors.As(err, &broken) && broken.Partial != nil:
		page.Say("had come", broken.Partial.Text())
		page.Say("error", string(broken.Code))
	default:
		return err
	}
	trail(page, stream.Meta())
	return nil
}

func question() *gateway.ChatCompletionRequest {
	return &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("Say hello.")},
	}
}

// trail prints who was asked.
func trail(page demo.Page, meta gateway.Meta) {
	for _, a := range meta.Attempts {
		page.Note("%s %s: %s", a.Target, a.Model, cmp.Or(string(a.Code), "ok"))
	}
	page.Note("retry %s, fallback %s", meta.Retry, meta.Fallback)
}
