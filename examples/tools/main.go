// Tools lets a model call functions over three turns: two calls at once, then one
// that builds on their results, then the answer. Its arguments are streamed, and
// a client that loses the thought signatures of calls is shown to do no harm.
//
//	go -C examples run ./tools
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default global;
// GATEWAY_MODEL, default gemini-3-flash-preview).
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/examples/internal/demo"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "tools:", err)
		stop()
		os.Exit(1)
	}
}

// tools are the functions that the model may call.
var tools = []gateway.Tool{
	gateway.FunctionTool("get_weather", "Tells the weather of a city.", []byte(
		`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)),
	gateway.FunctionTool("book_train", "Books a seat on the next train to a city.", []byte(
		`{"type":"object","properties":{"city":{"type":"string"},"seat":{"enum":["window","aisle"]}},"required":["city","seat"]}`)),
}

// call runs a function. The arguments come from a model: trust them as much as
// any other input. A mistake is a result too, which the model can react to.
func call(f gateway.FunctionCall) string {
	var args struct{ City, Seat string }
	if err := json.Unmarshal([]byte(f.Arguments), &args); err != nil {
		return `{"error":"the arguments do not fit the schema"}`
	}
	switch {
	case f.Name == "get_weather" && args.City == "Paris":
		return `{"sky":"rain","celsius":11}`
	case f.Name == "get_weather":
		return `{"sky":"sunny","celsius":24}`
	case f.Name == "book_train":
		return `{"booked":true,"departs":"09:40"}`
	}
	return `{"error":"there is no such function"}`
}

// script is what the emulator's model does; a real one decides by itself.
var script = []vertextest.Reply{
	vertextest.Calls(
		vertextest.FunctionCall{Name: "get_weather", Args: map[string]string{"city": "Paris"}},
		vertextest.FunctionCall{Name: "get_weather", Args: map[string]string{"city": "Rome"}}),
	vertextest.Call("book_train", map[string]string{"city": "Rome", "seat": "window"}),
	vertextest.Text("Rome is sunny, so I booked you a window seat there: the train leaves at 09:40."),
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) error {
	client, err := gateway.New(append(demo.Options(getenv, append(script, script...)...),
		gateway.WithStrictCompliance(false))...) // shows signatures
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	t := talk{demo.NewPage(out, getenv), client, cmp.Or(getenv("GATEWAY_MODEL"), "gemini-3-flash-preview")}

	t.page.Title("1  A loop of calls, the messages sent back as they came")
	if err := t.loop(ctx, false); err != nil {
		return err
	}
	t.page.Title("2  The same by a client that loses signatures")
	if err := t.loop(ctx, true); err != nil {
		return err
	}
	stats := client.SignatureStats()
	t.page.Note("%d signatures were restored from the client's memory, %d could not be", stats.Restored, stats.Missed)
	return nil
}

type talk struct {
	page   demo.Page
	client *gateway.Client
	model  string
}

// loop asks until the model calls no more functions.
func (t talk) loop(ctx context.Context, forgetful bool) error {
	const question = "Is the weather nicer in Paris or in Rome? Then book me a train to the nicer one."
	req := &gateway.ChatCompletionRequest{
		Model:    t.model,
		Messages: []gateway.Message{gateway.UserMessage(question)},
		Tools:    tools,
		// Arguments then come in pieces, as they are written.
		Extra: gateway.Extra(`{"stream_function_call_arguments":true}`),
	}
	t.page.Say("user", question)
	for range 8 { // a model may go on for long; a loop has an end
		message, err := t.turn(ctx, req)
		if err != nil {
			return err
		}
		if len(message.ToolCalls) == 0 {
			t.page.Say("assistant", message.Content.Text())
			return nil
		}
		results := make([]gateway.Message, 0, len(message.ToolCalls))
		for i := range message.ToolCalls {
			c := &message.ToolCalls[i]
			result := call(c.Function)
			t.page.Say("tool", result)
			results = append(results, gateway.ToolMessage(c.ID, result))
			if forgetful { // as clients are that drop members they do not know
				c.Function.ThoughtSignature, message.ContentBlocks = "", nil
			}
		}
		req.Messages = append(append(req.Messages, message), results...)
	}
	return errors.New("the model calls functions without end")
}

// turn streams one answer, and returns the message that its chunks add up to. It
// shows each call with a ¦ where one piece of its arguments ended.
func (t talk) turn(ctx context.Context, req *gateway.ChatCompletionRequest) (gateway.Message, error) {
	stream, err := t.client.Chat.Completions.CreateStream(ctx, req)
	if err != nil {
		return gateway.Message{}, err
	}
	var whole gateway.Accumulator
	pieces := map[int][]string{}
	for chunk, err := range stream.Chunks() {
		if err == nil {
			err = whole.Add(chunk)
		}
		if err != nil {
			return gateway.Message{}, err
		}
		for _, choice := range chunk.Choices {
			for _, c := range choice.Delta.ToolCalls {
				if c.Function.Arguments != "" {
					pieces[c.Index] = append(pieces[c.Index], c.Function.Arguments)
				}
			}
		}
	}
	t.page.Warnings(stream.Meta())
	message := whole.Completion().Choices[0].Message
	for i, c := range message.ToolCalls {
		t.page.Say("calls", c.Function.Name+"("+strings.Join(pieces[i], "¦")+")")
	}
	return message, nil
}
