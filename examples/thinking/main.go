// Thinking asks for reasoning by effort and by budget on two generations of
// models, and streams the thoughts apart from the answer.
//
//	go -C examples run ./thinking
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default global).
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/examples/internal/demo"
)

// Models up to 2.5 think by a budget of tokens, later ones by a level. Either
// form of the request works with both.
const (
	byBudget = "gemini-2.5-flash"
	byLevel  = "gemini-3-flash-preview"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "thinking:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) error {
	// Thoughts are no part of OpenAI's schema, and shown only when compliance is
	// not strict.
	client, err := gateway.New(append(demo.Options(getenv), gateway.WithStrictCompliance(false))...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	page := demo.NewPage(out, getenv)

	for _, q := range []struct {
		title, model, effort string
		thinking             *gateway.Thinking
	}{
		{"1  By effort, where the model thinks by budget", byBudget, "low", nil},
		{"2  By effort, where the model thinks by level", byLevel, "low", nil},
		{"3  By budget, where the model thinks by budget", byBudget, "",
			&gateway.Thinking{Type: "enabled", BudgetTokens: new(2048)}},
		{"4  By budget, where the model thinks by level", byLevel, "",
			&gateway.Thinking{Type: "enabled", BudgetTokens: new(2048)}},
		{"5  Not at all", byBudget, "none", nil},
	} {
		page.Title(q.title + ": " + q.model)
		answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model:           q.model,
			Messages:        question(),
			ReasoningEffort: q.effort,
			Thinking:        q.thinking,
		})
		if err != nil {
			return err
		}
		for _, block := range answer.Choices[0].Message.ContentBlocks {
			switch block.Type {
			case gateway.PartThinking:
				page.Say("thinks", block.Thinking)
			case gateway.PartText:
				page.Say("assistant", block.Text)
			}
		}
		usage(page, answer.Usage)
		page.Warnings(answer.Meta)
	}

	page.Title("6  Streamed, the thoughts apart from the answer")
	stream, err := client.Chat.Completions.CreateStream(ctx, &gateway.ChatCompletionRequest{
		Model:         byLevel,
		Messages:      question(),
		Thinking:      &gateway.Thinking{Type: "enabled"},
		StreamOptions: &gateway.StreamOptions{IncludeUsage: true},
	})
	if err != nil {
		return err
	}
	for chunk, err := range stream.Chunks() {
		if err != nil {
			return err
		}
		for _, choice := range chunk.Choices {
			for _, block := range choice.Delta.ContentBlocks {
				if block.Delta.Thinking != "" {
					page.Say("thinks", block.Delta.Thinking)
				}
			}
			if choice.Delta.Content != "" {
				page.Say("assistant", choice.Delta.Content)
			}
		}
		usage(page, chunk.Usage) // the last chunk has it
	}
	page.Warnings(stream.Meta())
	return nil
}

func question() []gateway.Message {
	return []gateway.Message{gateway.UserMessage("Is 391 a prime number? One sentence.")}
}

// usage prints what was thought: thinking is billed as part of the answer.
func usage(page demo.Page, u *gateway.Usage) {
	if u == nil {
		return
	}
	page.Note("%d tokens of answer, %d of them thinking", u.CompletionTokens, u.CompletionTokensDetails.ReasoningTokens)
}
