// Speech has a model speak, and saves it as a WAV file.
//
//	go -C examples run ./speech -file hello.wav
//
// The platform is an emulator in the same process, whose speech is a beep per
// word. With GOOGLE_CLOUD_PROJECT set, the calls go to the real one
// (GOOGLE_CLOUD_LOCATION, default global; GATEWAY_MODEL, default
// gemini-2.5-flash-tts).
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
		fmt.Fprintln(os.Stderr, "speech:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string, args []string) error {
	flags := flag.NewFlagSet("speech", flag.ContinueOnError)
	path := flags.String("file", filepath.Join(os.TempDir(), "speech.wav"), "`file` for what is spoken")
	if err := flags.Parse(args); err != nil {
		return err
	}
	client, err := gateway.New(demo.Options(getenv)...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	page := demo.NewPage(out, getenv)

	page.Title("A spoken answer")
	const text = "Say cheerfully: have a wonderful day!"
	page.Say("user", text)
	answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
		Model:      cmp.Or(getenv("GATEWAY_MODEL"), "gemini-2.5-flash-tts"),
		Messages:   []gateway.Message{gateway.UserMessage(text)},
		Modalities: []string{"audio"},
		Extra:      gateway.Extra(`{"audio":{"voice":"Kore","format":"wav"}}`),
	})
	if err != nil {
		return err
	}
	page.Warnings(answer.Meta)
	audio := answer.Choices[0].Message.Audio
	if audio == nil {
		return errors.New("the answer has no audio")
	}
	data, err := audio.Bytes()
	if err != nil {
		return err
	}
	if err := os.WriteFile(*path, data, 0o600); err != nil {
		return err
	}
	page.Say("saved", *path)
	// The header of a WAV file has 44 bytes; the samples are 24,000 a second, of
	// two bytes each.
	page.Note("%d bytes, %.1f seconds", len(data), float64(len(data)-44)/(2*24_000))
	return nil
}
