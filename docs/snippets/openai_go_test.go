package snippets_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
	"github.com/b650d4bf/gateway/structured"
)

func keepSDK() (openai.Client, *gateway.Client, error) {
	// snippet openai-go/transport
	client, err := gateway.New(gateway.WithProjectID("my-project"), gateway.WithRegion("global"),
		gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple, MaxAge: time.Hour}))
	if err != nil {
		return openai.Client{}, nil, err
	}
	sdk := openai.NewClient(
		option.WithHTTPClient(&http.Client{Transport: client.RoundTripper()}), // the one line
		option.WithMaxRetries(0), // a config retries, if it should
	)
	// end
	return sdk, client, nil
}

func TestKeepingTheSDKMakesAClient(t *testing.T) {
	_, client, err := keepSDK()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenAIGoChat(t *testing.T) {
	before := func(ctx context.Context, sdk openai.Client) (string, error) {
		// snippet openai-go/chat.before
		answer, err := sdk.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model: openai.ChatModelGPT5_6Luna,
			Messages: []openai.ChatCompletionMessageParamUnion{
				openai.SystemMessage("You are terse."),
				openai.UserMessage("Say hello."),
			},
			Temperature: openai.Float(0.2),
		})
		if err != nil {
			return "", err
		}
		return answer.Choices[0].Message.Content, nil
		// end
	}
	after := func(ctx context.Context, client *gateway.Client) (string, error) {
		// snippet openai-go/chat.after
		answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model: "gemini-2.5-flash",
			Messages: []gateway.Message{
				gateway.SystemMessage("You are terse."),
				gateway.UserMessage("Say hello."),
			},
			Temperature: new(0.2),
		})
		if err != nil {
			return "", err
		}
		return answer.Text(), nil
		// end
	}
	got, err := before(t.Context(), elsewhere(t, vertextest.Text(reply)))
	expect(t, reply, got, err)
	client, _ := rig(t, vertextest.Text(reply))
	got, err = after(t.Context(), client)
	expect(t, reply, got, err)
}

func TestOpenAIGoStream(t *testing.T) {
	before := func(ctx context.Context, sdk openai.Client, params openai.ChatCompletionNewParams, show func(string)) error {
		// snippet openai-go/stream.before
		stream := sdk.Chat.Completions.NewStreaming(ctx, params)
		for stream.Next() {
			chunk := stream.Current()
			if len(chunk.Choices) > 0 {
				show(chunk.Choices[0].Delta.Content)
			}
		}
		return stream.Err()
		// end
	}
	after := func(ctx context.Context, client *gateway.Client, request *gateway.ChatCompletionRequest, show func(string)) error {
		// snippet openai-go/stream.after
		stream, err := client.Chat.Completions.CreateStream(ctx, request)
		if err != nil {
			return err // refused: nothing has been shown
		}
		for chunk, err := range stream.Chunks() {
			if err != nil {
				return err // cut off
			}
			if len(chunk.Choices) > 0 {
				show(chunk.Choices[0].Delta.Content)
			}
		}
		return nil
		// end
	}
	var b strings.Builder
	show := func(s string) { b.WriteString(s) }
	err := before(t.Context(), elsewhere(t, vertextest.Text(reply)), openai.ChatCompletionNewParams{
		Model: openai.ChatModelGPT5_6Luna, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
	}, show)
	expect(t, reply, b.String(), err)
	b.Reset()
	client, _ := rig(t, vertextest.Text(reply))
	err = after(t.Context(), client, &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage(question)},
	}, show)
	expect(t, reply, b.String(), err)
}

func TestOpenAIGoTools(t *testing.T) {
	schema := map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"}}
	weather := func(arguments string) string {
		var in struct{ City string }
		if err := json.Unmarshal([]byte(arguments), &in); err != nil {
			return err.Error()
		}
		return "sunny in " + in.City
	}
	before := func(ctx context.Context, sdk openai.Client, params openai.ChatCompletionNewParams) (string, error) {
		// snippet openai-go/tools.before
		params.Tools = []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
				Name: "get_weather", Parameters: schema,
			}),
		}
		for {
			answer, err := sdk.Chat.Completions.New(ctx, params)
			if err != nil {
				return "", err
			}
			message := answer.Choices[0].Message
			if len(message.ToolCalls) == 0 {
				return message.Content, nil
			}
			params.Messages = append(params.Messages, message.ToParam())
			for _, call := range message.ToolCalls {
				params.Messages = append(params.Messages,
					openai.ToolMessage(weather(call.Function.Arguments), call.ID))
			}
		}
		// end
	}
	after := func(ctx context.Context, client *gateway.Client, request *gateway.ChatCompletionRequest) (string, error) {
		parameters, err := json.Marshal(schema)
		if err != nil {
			return "", err
		}
		// snippet openai-go/tools.after
		request.Tools = []gateway.Tool{
			gateway.FunctionTool("get_weather", "", parameters),
		}
		for {
			answer, err := client.Chat.Completions.Create(ctx, request)
			if err != nil {
				return "", err
			}
			message := answer.Choices[0].Message
			if len(message.ToolCalls) == 0 {
				return answer.Text(), nil
			}
			request.Messages = append(request.Messages, message) // its signatures too
			for _, call := range message.ToolCalls {
				request.Messages = append(request.Messages,
					gateway.ToolMessage(call.ID, weather(call.Function.Arguments)))
			}
		}
		// end
	}
	script := []vertextest.Reply{vertextest.Call("get_weather", map[string]any{"city": "Paris"}), vertextest.Text(reply)}
	got, err := before(t.Context(), elsewhere(t, script...), openai.ChatCompletionNewParams{
		Model: openai.ChatModelGPT5_6Luna, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("The weather in Paris?")},
	})
	expect(t, reply, got, err)
	client, platform := rig(t, script...)
	got, err = after(t.Context(), client, &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("The weather in Paris?")},
	})
	expect(t, reply, got, err)
	if sent := string(platform.Requests()[1].Body); !strings.Contains(sent, "sunny in Paris") {
		t.Errorf("the second request does not have the tool's result: %s", sent)
	}
}

func TestOpenAIGoStructured(t *testing.T) {
	type Event struct {
		Name string `json:"name"`
		Day  string `json:"day"`
	}
	before := func(ctx context.Context, sdk openai.Client, params openai.ChatCompletionNewParams, schema any) (Event, error) {
		// snippet openai-go/structured.before
		params.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{
			OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
				JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
					Name: "event", Schema: schema, Strict: openai.Bool(true),
				},
			},
		}
		answer, err := sdk.Chat.Completions.New(ctx, params)
		if err != nil {
			return Event{}, err
		}
		var event Event
		err = json.Unmarshal([]byte(answer.Choices[0].Message.Content), &event)
		return event, err
		// end
	}
	after := func(ctx context.Context, client *gateway.Client, request *gateway.ChatCompletionRequest) (Event, error) {
		// snippet openai-go/structured.after
		event, _, err := structured.Create[Event](ctx, client, request)
		return event, err
		// end
	}
	script := vertextest.Text(`{"name":"Fair","day":"Friday"}`)
	want := Event{Name: "Fair", Day: "Friday"}
	got, err := before(t.Context(), elsewhere(t, script), openai.ChatCompletionNewParams{
		Model: openai.ChatModelGPT5_6Luna, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("When is the fair?")},
	}, json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"day":{"type":"string"}},"required":["name","day"]}`))
	if err != nil || got != want {
		t.Errorf("before: %v, %v", got, err)
	}
	client, _ := rig(t, script)
	got, err = after(t.Context(), client, &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("When is the fair?")},
	})
	if err != nil || got != want {
		t.Errorf("after: %v, %v", got, err)
	}
}

func TestOpenAIGoErrors(t *testing.T) {
	before := func(err error) time.Duration {
		// snippet openai-go/errors.before
		var e *openai.Error
		if errors.As(err, &e) && e.StatusCode == http.StatusTooManyRequests {
			wait, _ := time.ParseDuration(e.Response.Header.Get("Retry-After") + "s")
			return wait
		}
		return 0
		// end
	}
	after := func(err error) time.Duration {
		// snippet openai-go/errors.after
		if e, ok := errors.AsType[*gateway.Error](err); ok && errors.Is(err, gateway.ErrRateLimited) {
			return e.RetryAfter // and e.Sent: whether it may be billed
		}
		return 0
		// end
	}
	sdk := elsewhere(t, vertextest.RateLimited(3*time.Second))
	_, err := sdk.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
		Model: openai.ChatModelGPT5_6Luna, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
	}, option.WithMaxRetries(0))
	if got := before(err); got != 3*time.Second {
		t.Errorf("before: %v of %v", got, err)
	}
	client, _ := rig(t, vertextest.RateLimited(3*time.Second))
	_, err = client.Chat.Completions.Create(t.Context(), &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage(question)},
	})
	if got := after(err); got != 3*time.Second {
		t.Errorf("after: %v of %v", got, err)
	}
}

func TestOpenAIGoEmbeddings(t *testing.T) {
	before := func(ctx context.Context, sdk openai.Client) (int, error) {
		// snippet openai-go/embeddings.before
		answer, err := sdk.Embeddings.New(ctx, openai.EmbeddingNewParams{
			Model: openai.EmbeddingModelTextEmbedding3Small,
			Input: openai.EmbeddingNewParamsInputUnion{
				OfArrayOfStrings: []string{"one text", "another"},
			},
		})
		if err != nil {
			return 0, err
		}
		return len(answer.Data), nil
		// end
	}
	after := func(ctx context.Context, client *gateway.Client) (int, error) {
		// snippet openai-go/embeddings.after
		answer, err := client.Embeddings.Create(ctx, &gateway.EmbeddingRequest{
			Model:    "gemini-embedding-001",
			Input:    gateway.EmbeddingTexts("one text", "another"),
			TaskType: "RETRIEVAL_DOCUMENT",
		})
		if err != nil {
			return 0, err
		}
		return len(answer.Data), nil
		// end
	}
	client, _ := rig(t)
	config, err := gateway.ParseConfig([]byte(`{"override_params": {"model": "gemini-embedding-001"}}`))
	if err != nil {
		t.Fatal(err)
	}
	view, err := client.With(gateway.WithConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	sdk := openai.NewClient(option.WithAPIKey("sk-test"), option.WithHTTPClient(&http.Client{Transport: view.RoundTripper()}))
	if n, err := before(t.Context(), sdk); n != 2 || err != nil {
		t.Errorf("before: %d vectors, %v", n, err)
	}
	if n, err := after(t.Context(), client); n != 2 || err != nil {
		t.Errorf("after: %d vectors, %v", n, err)
	}
}
