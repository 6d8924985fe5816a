package structured

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func ask(model, text string) *gateway.ChatCompletionRequest {
	return &gateway.ChatCompletionRequest{Model: model, Messages: []gateway.Message{gateway.UserMessage(text)}}
}

// created asks for a T, which must come and bring no warning.
func created[T any](t *testing.T, model string) {
	t.Helper()
	client, platform := emulated(t)
	req := ask(model, "Fill this in.")
	got, answer, err := Create[T](t.Context(), client, req)
	if err != nil {
		t.Fatalf("%T: %v", got, err)
	}
	if len(answer.Meta.Warnings) > 0 {
		t.Errorf("warnings: %v", answer.Meta.Warnings)
	}
	if diff := cmp.Diff(ask(model, "Fill this in."), req, cmp.Comparer(func(a, b gateway.Content) bool { return a.Text() == b.Text() })); diff != "" {
		t.Errorf("the request was changed (-want +got):\n%s", diff)
	}
	schema, err := Schema[T]()
	// The client adds the order of the members, and changes nothing else.
	sent := ordering.ReplaceAllString(string(platform.Requests()[0].Body), "")
	if !strings.Contains(sent, `"responseJsonSchema":`+text(t, schema, err)) {
		t.Errorf("%T: the schema was not sent as it is: %s", got, sent)
	}
}

func TestCreate(t *testing.T) {
	for _, model := range []string{"gemini-2.5-flash", "gemini-3-flash-preview"} {
		t.Run(model, func(t *testing.T) {
			created[scalars](t, model)
			created[described](t, model)
			created[optional](t, model)
			created[nullable](t, model)
			created[lists](t, model)
			created[embeds](t, model)
			created[page[base]](t, model)
			created[deep](t, model)
			created[struct{}](t, model)
			created[[]base](t, model)
			created[*recipe](t, model)
		})
	}
}

func TestToolRoundTrip(t *testing.T) {
	type place struct {
		City string `json:"city" jsonschema:"the name of a city"`
		Unit unit   `json:"unit"`
	}
	tool, err := Tool[place]("get_weather", "Tells the weather of a city.")
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"gemini-2.5-flash", "gemini-3-flash-preview"} {
		t.Run(model, func(t *testing.T) {
			client, _ := emulated(t)
			req := ask(model, "What is the weather in Paris?")
			req.Tools = []gateway.Tool{tool}
			answer, err := client.Chat.Completions.Create(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Arguments[place](answer.Choices[0].Message.ToolCalls[0])
			if want := (place{"Paris", "celsius"}); err != nil || got != want || len(answer.Meta.Warnings) > 0 {
				t.Errorf("%v, %v, %v, want %v", got, err, answer.Meta.Warnings, want)
			}
		})
	}
}

func TestCreateOfAnswersThatDoNotFit(t *testing.T) {
	tests := []struct {
		name  string
		reply vertextest.Reply
		code  gateway.Code
	}{
		{"prose", vertextest.Text("I would rather not."), gateway.ErrBadResponse},
		{"another shape", vertextest.Text(`{"id":1}`), gateway.ErrBadResponse},
		{"a cut answer", vertextest.Finish("MAX_TOKENS", `{"id":"1","name":"n"}`), gateway.ErrBadResponse},
		{"a filtered answer", vertextest.Finish("SAFETY", `{"id":"1"`), gateway.ErrContentFilter},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client, platform := emulated(t)
			platform.Script(tt.reply)
			got, answer, err := Create[base](t.Context(), client, ask("gemini-2.5-flash", "Hello!"))
			if !errors.Is(err, tt.code) || answer == nil || got != (base{}) {
				t.Errorf("%v, %v, %v", got, answer, err)
			}
		})
	}
}

func TestCreateRefuses(t *testing.T) {
	client, platform := emulated(t)
	taken := ask("gemini-2.5-flash", "Hello!")
	taken.ResponseFormat = &gateway.ResponseFormat{Type: "text"}
	stream := ask("gemini-2.5-flash", "Hello!")
	stream.Stream = true
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		client *gateway.Client
		req    *gateway.ChatCompletionRequest
		code   gateway.Code
	}{
		{"no client", t.Context(), nil, ask("gemini-2.5-flash", ""), gateway.ErrInvalidConfig},
		{"no request", t.Context(), client, nil, gateway.ErrInvalidRequest},
		{"a format of its own", t.Context(), client, taken, gateway.ErrInvalidRequest},
		{"a stream", t.Context(), client, stream, gateway.ErrInvalidRequest},
		{"a canceled context", canceled, client, ask("gemini-2.5-flash", "Hello!"), gateway.ErrCanceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, answer, err := Create[base](tt.ctx, tt.client, tt.req)
			if !errors.Is(err, tt.code) || answer != nil {
				t.Errorf("%v, %v", answer, err)
			}
		})
	}
	if _, _, err := Create[chan int](t.Context(), client, ask("gemini-2.5-flash", "")); !errors.Is(err, gateway.ErrInvalidRequest) {
		t.Errorf("a type that is refused: %v", err)
	}
	if n := len(platform.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// ordering is the member that says in which order the others come.
var ordering = regexp.MustCompile(`"propertyOrdering":\[[^\]]*\],`)
