// Structured shows an answer that is a Go value, a tool whose arguments are one,
// and the error for an answer that does not fit.
//
//	go -C examples run ./structured
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default global;
// GATEWAY_MODEL, default gemini-3-flash-preview).
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
	"github.com/b650d4bf/gateway/structured"
)

// Recipe is what the model answers with. It fills the fields in their order.
type Recipe struct {
	Name  string  `json:"name" jsonschema:"short, in title case"`
	Level Level   `json:"level"`
	Steps []Step  `json:"steps"`
	Wine  *string `json:"wine" jsonschema:"null when none goes well"`
}

// Step is one step of a recipe.
type Step struct {
	Do      string `json:"do"`
	Minutes int    `json:"minutes"`
}

// Level is one of a few words.
type Level string

// Enum lists the words.
func (Level) Enum() []string { return []string{"easy", "medium", "hard"} }

// Place is what the tool takes.
type Place struct {
	City string `json:"city" jsonschema:"the name of the city"`
}

// omelette is what a model might answer; the emulator knows no recipes.
const omelette = `{"name":"Omelette","level":"easy","steps":[{"do":"Whisk three eggs.","minutes":2},{"do":"Fry in butter.","minutes":4}],"wine":null}`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "structured:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) error {
	opts := []gateway.ClientOption{gateway.WithRegion(cmp.Or(getenv("GOOGLE_CLOUD_LOCATION"), "global"))}
	if project := getenv("GOOGLE_CLOUD_PROJECT"); project != "" {
		opts = append(opts, gateway.WithProjectID(project))
	} else {
		fmt.Fprintln(out, "The platform is an emulator in this process; set GOOGLE_CLOUD_PROJECT for the real one.")
		platform := vertextest.New()
		platform.Script(vertextest.Text(omelette)) // the rest it makes up
		opts = append(opts, gateway.WithProjectID("demo"), gateway.WithAccessToken("emulated"),
			gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}))
	}
	client, err := gateway.New(opts...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	ask := func(text string) *gateway.ChatCompletionRequest {
		return &gateway.ChatCompletionRequest{
			Model:    cmp.Or(getenv("GATEWAY_MODEL"), "gemini-3-flash-preview"),
			Messages: []gateway.Message{gateway.UserMessage(text)},
		}
	}

	fmt.Fprintln(out, "\n1  An answer that is a Go value")
	recipe, answer, err := structured.Create[Recipe](ctx, client, ask("How do I make an omelette?"))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "   as it came  %s\n   decoded     %s, %s, %d steps\n", answer.Text(), recipe.Name, recipe.Level, len(recipe.Steps))
	for _, step := range recipe.Steps {
		fmt.Fprintf(out, "               %d min  %s\n", step.Minutes, step.Do)
	}

	fmt.Fprintln(out, "\n2  A tool whose arguments are a Go value")
	tool, err := structured.Tool[Place]("get_weather", "Tells the weather of a city.")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "   its schema  %s\n", tool.Function.Parameters)
	req := ask("What is the weather in Paris?")
	req.Tools = []gateway.Tool{tool}
	if answer, err = client.Chat.Completions.Create(ctx, req); err != nil {
		return err
	}
	for _, call := range answer.Choices[0].Message.ToolCalls {
		place, err := structured.Arguments[Place](call)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "   decoded     %+v\n", place)
	}

	fmt.Fprintln(out, "\n3  An answer that does not fit")
	_, err = structured.DecodeText[Recipe](`{"name":"Omelette","level":"easy","steps":[{"do":"Whisk.","minutes":"two"}],"wine":null}`)
	fmt.Fprintf(out, "   error       %v\n", err)
	return nil
}
