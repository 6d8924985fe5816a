// Grounding lets a model search the web and read a page, and prints its answers
// with the sources as footnotes, at their places in the text.
//
//	go -C examples run ./grounding
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default global;
// GATEWAY_MODEL, default gemini-3-flash-preview).
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/examples/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "grounding:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) error {
	// Sources are given only when compliance is not strict.
	client, err := gateway.New(append(demo.Options(getenv), gateway.WithStrictCompliance(false))...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	page := demo.NewPage(out, getenv)

	for _, q := range []struct {
		title, text string
		tool        gateway.Tool
	}{
		{"1  A search of the web", "Which river is the longest in Europe?",
			gateway.PlatformTool("web_search", []byte(`{"exclude_domains":["example.net"]}`))},
		{"2  A page of the web", "What does https://go.dev/doc/effective_go say about names?",
			gateway.PlatformTool("url_context", nil)},
	} {
		page.Title(q.title)
		page.Say("user", q.text)
		answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model:    cmp.Or(getenv("GATEWAY_MODEL"), "gemini-3-flash-preview"),
			Messages: []gateway.Message{gateway.UserMessage(q.text)},
			Tools:    []gateway.Tool{q.tool},
		})
		if err != nil {
			return err
		}
		page.Warnings(answer.Meta)
		text, notes := footnotes(answer.Choices[0].Message)
		page.Say("assistant", text)
		for i, source := range notes {
			page.Say(fmt.Sprintf("[%d]", i+1), source.Title+"\n"+source.URL)
		}
		if err := metadata(page, answer.Choices[0]); err != nil {
			return err
		}
	}
	return nil
}

// footnotes puts a mark behind each stretch of the text that has a source, and
// returns the sources in the order of their marks.
func footnotes(m gateway.Message) (string, []*gateway.URLCitation) {
	text := []rune(m.Content.Text()) // places are characters, not bytes
	var notes []*gateway.URLCitation
	marks := map[int]string{} // by the place behind which they stand
	for _, a := range m.Annotations {
		source := a.URLCitation
		if source == nil {
			continue
		}
		n := slices.IndexFunc(notes, func(s *gateway.URLCitation) bool { return s.URL == source.URL })
		if n < 0 {
			n = len(notes)
			notes = append(notes, source)
		}
		if source.EndIndex > 0 { // else the source is not tied to a place
			marks[source.EndIndex] += fmt.Sprintf("[%d]", n+1)
		}
	}
	var b strings.Builder
	for i, char := range text {
		b.WriteString(marks[i])
		b.WriteRune(char)
	}
	b.WriteString(marks[len(text)])
	return b.String(), notes
}

// metadata prints what the platform tells beyond OpenAI's schema. It is in the
// choice as it came.
func metadata(page demo.Page, c gateway.Choice) error {
	var grounding struct {
		WebSearchQueries []string
		SearchEntryPoint struct{ RenderedContent string }
	}
	var pages struct {
		URLMetadata []struct{ RetrievedURL, URLRetrievalStatus string }
	}
	for name, into := range map[string]any{"groundingMetadata": &grounding, "urlContextMetadata": &pages} {
		if raw, ok := c.Extra.Get(name); ok {
			if err := json.Unmarshal(raw, into); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	for _, query := range grounding.WebSearchQueries {
		page.Note("searched for: %s", query)
	}
	if html := grounding.SearchEntryPoint.RenderedContent; html != "" {
		page.Note("to be shown beside the answer, as the terms of service want: %d bytes of HTML", len(html))
	}
	for _, p := range pages.URLMetadata {
		page.Note("read %s: %s", p.RetrievedURL, p.URLRetrievalStatus)
	}
	return nil
}
