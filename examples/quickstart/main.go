// Quickstart shows a chat, a stream with thoughts and a tool call over two
// turns, then what went over the wire, and the response cache.
//
//	go -C examples run ./quickstart
//
// It needs no credentials and no network: the platform is an emulator in the
// same process. With GOOGLE_CLOUD_PROJECT set, and credentials as gcloud leaves
// them, the same calls go to the real platform (GOOGLE_CLOUD_LOCATION, default
// global; GATEWAY_MODEL, default gemini-3-flash-preview).
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) error {
	d := &demo{out: out, model: cmp.Or(getenv("GATEWAY_MODEL"), "gemini-3-flash-preview")}
	wire := &recorder{next: http.DefaultTransport}
	opts := []gateway.ClientOption{
		gateway.WithHTTPClient(&http.Client{Transport: wire}),
		gateway.WithRegion(cmp.Or(getenv("GOOGLE_CLOUD_LOCATION"), "global")),
		// Thoughts and signatures are shown only when compliance is not strict.
		gateway.WithStrictCompliance(false),
	}
	if project := getenv("GOOGLE_CLOUD_PROJECT"); project != "" {
		d.note("The platform is Vertex AI, project %s.", project)
		opts = append(opts, gateway.WithProjectID(project))
	} else {
		d.note("The platform is an emulator in this process; set GOOGLE_CLOUD_PROJECT for the real one.")
		wire.next = vertextest.New(vertextest.WithToken("emulated")).Transport()
		opts = append(opts, gateway.WithProjectID("demo"), gateway.WithAccessToken("emulated"))
	}
	client, err := gateway.New(opts...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	d.client = client
	for _, step := range []func(context.Context) error{d.chat, d.stream, d.tools} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.wire(wire)
	return d.cache(ctx)
}

// demo prints one conversation after the other.
type demo struct {
	client *gateway.Client
	model  string
	out    io.Writer
}

func (d *demo) title(s string) {
	fmt.Fprintf(d.out, "\n%s\n%s\n", s, strings.Repeat("─", len([]rune(s))))
}

func (d *demo) note(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

func (d *demo) say(who, text string) {
	fmt.Fprintf(d.out, "%9s  %s\n", who, strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n           "))
}

// chat asks once and prints the answer.
func (d *demo) chat(ctx context.Context) error {
	d.title("1  A chat")
	req := &gateway.ChatCompletionRequest{
		Model: d.model,
		Messages: []gateway.Message{
			gateway.SystemMessage("You are terse."),
			gateway.UserMessage("Hello! What is a gateway?"),
		},
	}
	d.say("user", req.Messages[1].Content.Text())
	answer, err := d.client.Chat.Completions.Create(ctx, req)
	if err != nil {
		return err
	}
	d.say("assistant", answer.Text())
	if u := answer.Usage; u != nil {
		d.say("", fmt.Sprintf("· %s · %d tokens in, %d out, %d of them thinking", answer.Model,
			u.PromptTokens, u.CompletionTokens, u.CompletionTokensDetails.ReasoningTokens))
	}
	return nil
}

// stream prints thoughts and text as they come.
func (d *demo) stream(ctx context.Context) error {
	d.title("2  A stream with thoughts")
	req := &gateway.ChatCompletionRequest{
		Model:    d.model,
		Messages: []gateway.Message{gateway.UserMessage("Why is the sky blue? One sentence.")},
		Thinking: &gateway.Thinking{Type: "enabled"},
	}
	d.say("user", req.Messages[0].Content.Text())
	stream, err := d.client.Chat.Completions.CreateStream(ctx, req)
	if err != nil {
		return err
	}
	var thoughts, pieces []string
	for chunk, err := range stream.Chunks() {
		if err != nil {
			return err
		}
		for _, c := range chunk.Choices {
			for _, b := range c.Delta.ContentBlocks {
				if b.Delta.Thinking != "" {
					thoughts = append(thoughts, b.Delta.Thinking)
				}
			}
			if c.Delta.Content != "" {
				pieces = append(pieces, c.Delta.Content)
			}
		}
	}
	d.say("thinks", strings.Join(thoughts, ""))
	d.say("assistant", strings.Join(pieces, "¦"))
	d.say("", fmt.Sprintf("· as it came: %d of thinking, %d of text", len(thoughts), len(pieces)))
	return nil
}

// tools lets the model call a function and answers it. The assistant's message
// goes back as it came, and with it the thought signature of the call: models
// of Gemini 3 and later refuse the second turn without it.
func (d *demo) tools(ctx context.Context) error {
	d.title("3  A tool call over two turns")
	req := &gateway.ChatCompletionRequest{
		Model:    d.model,
		Messages: []gateway.Message{gateway.UserMessage("What is the weather in Paris?")},
		Tools: []gateway.Tool{gateway.FunctionTool("get_weather", "Tells the weather of a city.",
			json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`))},
		ReasoningEffort: "low",
	}
	d.say("user", req.Messages[0].Content.Text())
	for range 2 {
		answer, err := d.client.Chat.Completions.Create(ctx, req)
		if err != nil {
			return err
		}
		message := answer.Choices[0].Message
		req.Messages = append(req.Messages, message)
		if len(message.ToolCalls) == 0 {
			d.say("assistant", message.Content.Text())
			break
		}
		for _, call := range message.ToolCalls {
			d.say("calls", fmt.Sprintf("%s(%s)", call.Function.Name, call.Function.Arguments))
			d.say("", fmt.Sprintf("· signed %.24s…", call.Function.ThoughtSignature))
			result := `{"sky":"sunny","celsius":18}`
			d.say("tool", result)
			req.Messages = append(req.Messages, gateway.ToolMessage(call.ID, result))
		}
	}
	return nil
}

// cache asks the same in several ways, and prints what part the response cache had.
func (d *demo) cache(ctx context.Context) error {
	d.title("5  The response cache")
	// The default threshold is 0.95; the vectors of the emulator know letters alone.
	cached, err := d.client.With(gateway.WithCache(gateway.Cache{Mode: gateway.CacheSemantic, Threshold: 0.8}))
	if err != nil {
		return err
	}
	for _, step := range []struct {
		question string
		opts     []gateway.RequestOption
	}{
		{"How do I feed my cat?", nil},
		{"How do I feed my cat?", nil},
		{"How can I feed my cat?", nil},
		{"How do I feed my cat?", []gateway.RequestOption{gateway.WithCacheForceRefresh()}},
		{"How do I feed my cat?", []gateway.RequestOption{gateway.WithDebug(false)}},
	} {
		answer, err := cached.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model:    d.model,
			Messages: []gateway.Message{gateway.SystemMessage("You are terse."), gateway.UserMessage(step.question)},
		}, step.opts...)
		if err != nil {
			return err
		}
		d.note("%-24s %-18s %d requests", step.question, answer.Meta.CacheStatus, len(answer.Meta.Attempts))
	}
	return nil
}

// wire prints the last request as it was sent.
func (d *demo) wire(r *recorder) {
	d.title("4  The last request on the wire")
	d.note("%s %s", r.method, r.url)
	var body bytes.Buffer
	if err := json.Indent(&body, r.body, "", "  "); err != nil {
		d.note("%s", r.body)
		return
	}
	d.note("%s", body.String())
}

// recorder keeps what was sent last.
type recorder struct {
	next        http.RoundTripper
	method, url string
	body        []byte
}

// RoundTrip keeps the request and passes it on.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.method, r.url, r.body = req.Method, req.URL.String(), nil
	if req.GetBody != nil {
		copied, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		if r.body, err = io.ReadAll(copied); err != nil {
			return nil, err
		}
		if err := copied.Close(); err != nil {
			return nil, err
		}
	}
	return r.next.RoundTrip(req)
}
