package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// emulated returns a client of an emulated platform. A real one is made by
//
//	gateway.New(gateway.WithProjectID("my-project"), gateway.WithRegion("global"))
//
// with the application-default credentials.
func emulated(opts ...gateway.ClientOption) (*gateway.Client, *vertextest.Server) {
	platform := vertextest.New()
	client, err := gateway.New(append([]gateway.ClientOption{
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
		gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
	}, opts...)...)
	if err != nil {
		panic(err)
	}
	return client, platform
}

// weather is the tool of the examples.
func weather() gateway.Tool {
	return gateway.FunctionTool("get_weather", "Tells the weather of a city.",
		json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`))
}

func Example() {
	client, _ := emulated()
	defer client.Close()

	answer, err := client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash",
		Messages: []gateway.Message{
			gateway.SystemMessage("Be terse."),
			gateway.UserMessage("Hello!"),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text())
	fmt.Println(answer.Choices[0].FinishReason, answer.Usage.TotalTokens > 0)
	// Output:
	// Hello! How can I help you today?
	// stop true
}

func ExampleNew_mistakes() {
	_, err := gateway.New(
		gateway.WithRegion("us central1"),
		gateway.WithAccessToken("Bearer abc"),
		gateway.WithBaseURL("http://example.com"),
	)
	fmt.Println(err)
	// Output:
	// invalid_config: region: is made of lower-case letters, digits and '-', such as "europe-west4" or "global"
	// invalid_config: access_token: must be the bare token, without "Bearer"
	// invalid_config: base_url: plain http would send credentials in the clear: use https (http is for loopback hosts)
}

func ExampleChatStream_Chunks() {
	client, _ := emulated()
	defer client.Close()

	stream, err := client.Chat.Completions.CreateStream(context.Background(), &gateway.ChatCompletionRequest{
		Model:    "gemini-2.5-flash",
		Messages: []gateway.Message{gateway.UserMessage("Count the words of this sentence for me.")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for chunk, err := range stream.Chunks() {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, choice := range chunk.Choices {
			fmt.Printf("%q %q\n", choice.Delta.Content, choice.FinishReason)
		}
	}
	// Output:
	// "You" ""
	// " said: \"Count the" ""
	// " words of this" ""
	// " sentence for me.\"." ""
	// "" "stop"
}

func ExampleChatStream_Collect() {
	client, _ := emulated()
	defer client.Close()

	stream, err := client.Chat.Completions.CreateStream(context.Background(), &gateway.ChatCompletionRequest{
		Model:    "gemini-2.5-flash",
		Messages: []gateway.Message{gateway.UserMessage("Hello!")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := stream.Collect()
	fmt.Println(answer.Text(), err)
	// Output:
	// Hello! How can I help you today? <nil>
}

// Thinking comes in content_blocks, which are shown when compliance is not
// strict.
func ExampleWithStrictCompliance() {
	client, _ := emulated()
	defer client.Close()

	request := &gateway.ChatCompletionRequest{
		Model:    "gemini-3-flash-preview",
		Messages: []gateway.Message{gateway.UserMessage("Hello!")},
		Thinking: &gateway.Thinking{Type: "enabled", BudgetTokens: new(2048)},
	}
	answer, err := client.Chat.Completions.Create(context.Background(), request, gateway.WithStrictCompliance(false))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, block := range answer.Choices[0].Message.ContentBlocks {
		fmt.Println(block.Type, block.Signature != "")
	}
	for _, warning := range answer.Meta.Warnings {
		fmt.Println(warning.Param, warning.Message)
	}
	// Output:
	// thinking false
	// text true
	// thinking this model thinks by level: LOW stands in for the budget
}

// The assistant's message goes back as it came, and its thought signature with
// it.
func ExampleToolMessage() {
	client, _ := emulated(gateway.WithStrictCompliance(false))
	defer client.Close()

	request := &gateway.ChatCompletionRequest{
		Model:    "gemini-3-flash-preview",
		Messages: []gateway.Message{gateway.UserMessage("What is the weather in Paris and Rome?")},
		Tools:    []gateway.Tool{weather()},
	}
	for {
		answer, err := client.Chat.Completions.Create(context.Background(), request)
		if err != nil {
			fmt.Println(err)
			return
		}
		message := answer.Choices[0].Message
		request.Messages = append(request.Messages, message)
		if len(message.ToolCalls) == 0 {
			fmt.Println(answer.Text())
			return
		}
		for _, call := range message.ToolCalls {
			fmt.Println(call.Function.Name, call.Function.Arguments, call.Function.ThoughtSignature != "")
			request.Messages = append(request.Messages, gateway.ToolMessage(call.ID, `{"celsius":18}`))
		}
	}
	// Output:
	// get_weather {"city":"Paris"} true
	// get_weather {"city":"Rome"} false
	// get_weather answered: {"celsius":18}
	// get_weather answered: {"celsius":18}
}

func ExampleImagePart() {
	client, platform := emulated()
	defer client.Close()

	_, err := client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash",
		Messages: []gateway.Message{gateway.UserMessage([]gateway.ContentPart{
			gateway.TextPart("What do these show?"),
			gateway.ImagePart("gs://bucket/report.PDF?generation=7"),
			gateway.ImagePart("data:image/png;base64,iVBORw0KGgo="),
		})},
	})
	fmt.Println(err)
	fmt.Println(string(platform.Requests()[0].Body))
	// Output:
	// <nil>
	// {"contents":[{"role":"user","parts":[{"text":"What do these show?"},{"fileData":{"mimeType":"application/pdf","fileUri":"gs://bucket/report.PDF?generation=7"}},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}]}
}

func ExampleWithCatalog() {
	platform := vertextest.New(vertextest.WithToken("token-of-vx"))
	providers, err := catalog.Parse([]byte(`{"providers": {
		"vx": {"provider": "vertex-ai", "project_id": "my-project", "region": "global", "access_token": "token-of-vx"}
	}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := gateway.New(gateway.WithCatalog(providers), gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	request := &gateway.ChatCompletionRequest{Model: "@vx/gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("Hello!")}}
	answer, err := client.Chat.Completions.Create(context.Background(), request)
	fmt.Println(answer.Text(), answer.Meta.Slug, err)

	request.Model = "@vy/gemini-2.5-flash"
	_, err = client.Chat.Completions.Create(context.Background(), request)
	fmt.Println(err)
	// Output:
	// Hello! How can I help you today? vx <nil>
	// provider_not_found: model: catalog: provider "vy" not found (did you mean "vx"?)
}

func ExampleClient_With() {
	client, platform := emulated()
	defer client.Close()

	europe, err := client.With(gateway.WithRegion("eu"), gateway.WithMetadata(map[string]string{"team": "search"}))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = europe.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model: "gemini-3.8-flash", Messages: []gateway.Message{gateway.UserMessage("Hello!")},
	})
	fmt.Println(err, platform.Requests()[0].Location)
	// Output:
	// <nil> eu
}

func ExampleError() {
	client, platform := emulated()
	defer client.Close()
	platform.Script(vertextest.RateLimited(34 * time.Second))

	_, err := client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("Hello!")},
	})
	var e *gateway.Error
	if errors.Is(err, gateway.ErrRateLimited) && errors.As(err, &e) {
		fmt.Println(e.StatusCode, e.NativeStatus, e.RetryAfter, e.Sent)
	}
	// Output:
	// 429 RESOURCE_EXHAUSTED 34s false
}

// An OpenAI client of any language reaches the same models over HTTP.
func ExampleClient_Handler() {
	client, _ := emulated()
	defer client.Close()
	server := httptest.NewServer(client.Handler(gateway.WithAPIKeys("secret")))
	defer server.Close()

	request, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL+"/v1/chat/completions",
		strings.NewReader(`{"model":"gemini-2.5-flash","stream":true,"messages":[{"role":"user","content":"Hello!"}]}`))
	request.Header.Set("Authorization", "Bearer secret")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	fmt.Println(response.Status, response.Header.Get("x-gateway-model"))
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var chunk gateway.ChatCompletionChunk
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case !ok:
		case json.Unmarshal([]byte(data), &chunk) == nil:
			fmt.Printf("%q\n", chunk.Choices[0].Delta.Content)
		default:
			fmt.Println(data)
		}
	}
	// Output:
	// 200 OK gemini-2.5-flash
	// "Hello!"
	// " How can I"
	// " help you today?"
	// ""
	// [DONE]
}

// tokens counts what calls cost.
type tokens struct{ total int64 }

func (t *tokens) CallStart(ctx context.Context, _ gateway.Call) context.Context { return ctx }

func (t *tokens) CallEnd(_ context.Context, r gateway.Record) {
	if r.Usage != nil {
		t.total += r.Usage.TotalTokens
	}
	fmt.Println(r.Operation, r.Meta.Model, r.Metadata["team"], r.FinishReason, r.Err)
}

func ExampleWithObserver() {
	count := &tokens{}
	client, _ := emulated(gateway.WithObserver(count))
	defer client.Close()

	_, err := client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("Hello!")},
	}, gateway.WithMetadata(map[string]string{"team": "search"}))
	fmt.Println(count.total > 0, err)
	// Output:
	// chat gemini-2.5-flash search stop <nil>
	// true <nil>
}
