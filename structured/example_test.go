package structured_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
	"github.com/b650d4bf/gateway/structured"
)

// Scale is an enum: the model can answer with nothing else.
type Scale string

// Enum lists the values.
func (Scale) Enum() []string { return []string{"celsius", "fahrenheit"} }

// Weather is what the examples ask for.
type Weather struct {
	City   string   `json:"city" jsonschema:"the name alone, without the country"`
	Scale  Scale    `json:"scale"`
	Degree float64  `json:"degree"`
	Wind   *string  `json:"wind" jsonschema:"null when there is none"`
	Alerts []string `json:"alerts,omitempty"`
}

// emulated returns a client of an emulated platform that gives the answers, one
// after the other, and then its own.
func emulated(answers ...string) *gateway.Client {
	platform := vertextest.New()
	for _, text := range answers {
		platform.Script(vertextest.Text(text))
	}
	client, err := gateway.New(gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
		gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithAccessToken("token"))
	if err != nil {
		panic(err)
	}
	return client
}

func ExampleCreate() {
	client := emulated(`{"city":"Paris","scale":"celsius","degree":18.5,"wind":null}`)
	defer client.Close()

	weather, answer, err := structured.Create[Weather](context.Background(), client, &gateway.ChatCompletionRequest{
		Model:    "gemini-2.5-flash",
		Messages: []gateway.Message{gateway.UserMessage("What is the weather in Paris?")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(weather.City, weather.Degree, weather.Scale, weather.Wind == nil)
	fmt.Println(answer.Choices[0].FinishReason)
	// Output:
	// Paris 18.5 celsius true
	// stop
}

// The error says what does not fit and where, and quotes nothing.
func ExampleMismatchError() {
	client := emulated(`{"city":"Paris","scale":"kelvin","degree":291.6,"wind":null}`)
	defer client.Close()

	_, _, err := structured.Create[Weather](context.Background(), client, &gateway.ChatCompletionRequest{
		Model:    "gemini-2.5-flash",
		Messages: []gateway.Message{gateway.UserMessage("What is the weather in Paris?")},
	})
	fmt.Println(errors.Is(err, gateway.ErrBadResponse))
	if mismatch, ok := errors.AsType[*structured.MismatchError](err); ok {
		fmt.Println(mismatch.Path)
		fmt.Println(mismatch.Problem)
	}
	// Output:
	// true
	// scale
	// is none of ["celsius" "fahrenheit"]
}

func ExampleTool() {
	type place struct {
		City string `json:"city"`
		Unit Scale  `json:"unit,omitempty"`
	}
	tool, err := structured.Tool[place]("get_weather", "Tells the weather of a city.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(tool.Function.Parameters))

	client := emulated()
	defer client.Close()
	answer, err := client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model:    "gemini-2.5-flash",
		Messages: []gateway.Message{gateway.UserMessage("What is the weather in Paris?")},
		Tools:    []gateway.Tool{tool},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, call := range answer.Choices[0].Message.ToolCalls {
		where, err := structured.Arguments[place](call)
		fmt.Println(call.Function.Name, where.City, err)
	}
	// Output:
	// {"type":"object","properties":{"city":{"type":"string"},"unit":{"type":"string","enum":["celsius","fahrenheit"]}},"required":["city"],"additionalProperties":false}
	// get_weather Paris <nil>
}

// A type that is not fit shows when the program starts.
func ExampleOf() {
	type comment struct {
		Text    string
		Replies []any
		Done    chan bool
	}
	_, err := structured.Of[comment]()
	fmt.Println(err)
	// Output:
	// invalid_request: comment.Done: JSON has no value for chan bool
}
