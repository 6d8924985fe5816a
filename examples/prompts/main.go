// Prompts shows a library of stored prompts: what a prompt file makes of the
// variables, an answer to it, whole and streamed, and what a mistake says.
//
//	go -C examples run ./prompts
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default global).
package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/examples/internal/demo"
	"github.com/b650d4bf/gateway/prompts"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

//go:embed library
var library embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "prompts:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) error {
	store, err := prompts.FromFS(library, "library/*.json")
	if err != nil {
		return err
	}
	client, err := gateway.New(append(
		demo.Options(getenv, vertextest.Text("It is on its way."), vertextest.Text("I am sorry: the kettle is late.")),
		gateway.WithPrompts(prompts.New(store)))...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	page := demo.NewPage(out, getenv)
	variables := map[string]any{
		"company": "Kettles & Co", "question": "Where is my kettle?",
		"orders":  []map[string]any{{"name": "kettle", "late": true}, {"name": "lid"}},
		"history": []gateway.Message{gateway.UserMessage("Hello!"), gateway.AssistantMessage("Hello! How can I help?")},
	}

	page.Title("A prompt with its variables filled in")
	rendered, err := client.Prompts.Render(ctx, &gateway.PromptCompletionRequest{ID: "support@staging", Variables: variables})
	if err != nil {
		return err
	}
	page.Say("prompt", rendered.ID+", version "+rendered.Version)
	for _, m := range rendered.Request.Messages {
		page.Say(m.Role, m.Content.Text())
	}

	page.Title("An answer to the version in production")
	delete(variables, "orders") // only version 2 knows them
	answer, err := client.Prompts.Completions.Create(ctx, &gateway.PromptCompletionRequest{
		ID: "support@production", Variables: variables, Overrides: gateway.ChatCompletionRequest{MaxTokens: new(200)},
	})
	if err != nil {
		return err
	}
	page.Say("model", answer.Text())
	page.Note("%s, version %s", answer.Meta.Prompt, answer.Meta.PromptVersion)

	page.Title("A streamed answer, with a variable that is misspelled")
	variables["ordres"] = nil
	stream, err := client.Prompts.Completions.CreateStream(ctx, &gateway.PromptCompletionRequest{ID: "support@2", Variables: variables})
	if err != nil {
		return err
	}
	whole, err := stream.Collect()
	if err != nil {
		return err
	}
	page.Say("model", whole.Text())
	page.Warnings(stream.Meta())

	page.Title("What is missing, and what is not there")
	for _, id := range []string{"support", "supp@latest"} {
		_, err = client.Prompts.Render(ctx, &gateway.PromptCompletionRequest{ID: id})
		page.Say("error", fmt.Sprint(err))
	}
	return nil
}
