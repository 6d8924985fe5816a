// Image has a model draw a picture and saves it, and then has it changed, which
// needs no more than the earlier answer in the conversation.
//
//	go -C examples run ./image -dir .
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default global;
// GATEWAY_MODEL, default gemini-2.5-flash-image).
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/examples/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "image:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string, args []string) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	dir := flags.String("dir", "", "`directory` for the pictures, default a new one for temporary files")
	err := flags.Parse(args)
	if err == nil && *dir == "" {
		*dir, err = os.MkdirTemp("", "pictures")
	}
	if err != nil {
		return err
	}
	// Pictures come in content_blocks, which are shown only when compliance is not
	// strict.
	client, err := gateway.New(append(demo.Options(getenv), gateway.WithStrictCompliance(false))...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	s := studio{demo.NewPage(out, getenv), *dir}

	s.page.Title("1  A picture")
	req := &gateway.ChatCompletionRequest{
		Model:      cmp.Or(getenv("GATEWAY_MODEL"), "gemini-2.5-flash-image"),
		Messages:   []gateway.Message{gateway.UserMessage("Draw a lighthouse at dusk.")},
		Modalities: []string{"text", "image"},
		Extra:      gateway.Extra(`{"image_config":{"aspect_ratio":"16:9"}}`),
	}
	s.page.Say("user", "Draw a lighthouse at dusk.")
	answer, err := client.Chat.Completions.Create(ctx, req)
	if err != nil {
		return err
	}
	if err := s.keep(answer, "lighthouse"); err != nil {
		return err
	}

	s.page.Title("2  The same picture, changed; the answer is streamed")
	req.Messages = append(req.Messages, answer.Choices[0].Message,
		gateway.UserMessage("Make it night, and light the lamp."))
	s.page.Say("user", "Make it night, and light the lamp.")
	stream, err := client.Chat.Completions.CreateStream(ctx, req)
	if err != nil {
		return err
	}
	if answer, err = stream.Collect(); err != nil {
		return err
	}
	return s.keep(answer, "night")
}

// studio keeps pictures.
type studio struct {
	page demo.Page
	dir  string
}

// keep saves the pictures of an answer and prints its text, in their order.
func (s studio) keep(answer *gateway.ChatCompletion, name string) error {
	s.page.Warnings(answer.Meta)
	pictures := 0
	for _, block := range answer.Choices[0].Message.ContentBlocks {
		if block.Text != "" {
			s.page.Say("assistant", block.Text)
		}
		if block.ImageURL == nil {
			continue
		}
		data, mimeType, err := block.ImageURL.Bytes()
		if err != nil {
			return err
		}
		pictures++
		path := filepath.Join(s.dir, fmt.Sprintf("%s-%d%s", name, pictures, extension(mimeType)))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
		s.page.Say("saved", path)
		s.page.Note("%s, %d bytes", mimeType, len(data))
	}
	if pictures == 0 {
		return errors.New("the answer has no picture")
	}
	if u := answer.Usage; u != nil {
		s.page.Note("%d tokens in, %d out", u.PromptTokens, u.CompletionTokens)
	}
	return nil
}

// extension is that of a file of the type.
func extension(mimeType string) string {
	if mimeType == "image/jpeg" {
		return ".jpg"
	}
	return ".png"
}
