package sdks_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
	goopenai "github.com/sashabaranov/go-openai"
)

// weather is the schema of the tool's arguments.
var weather = map[string]any{
	"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"},
}

// cityOf reads the tool's arguments.
func cityOf(arguments string) string {
	var args struct{ City string }
	if err := json.Unmarshal([]byte(arguments), &args); err != nil {
		return err.Error()
	}
	return args.City
}

var openaiGo = sdk{
	name: "openai-go",
	chat: func(ctx context.Context, _ *testing.T, h *http.Client, model, prompt string) (string, error) {
		got, err := officialOpenAI(h).Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
		})
		if err != nil {
			return "", err
		}
		return got.Choices[0].Message.Content, nil
	},
	stream: func(ctx context.Context, _ *testing.T, h *http.Client, model, prompt string) (pieces []string, err error) {
		s := officialOpenAI(h).Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
			Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
		})
		for s.Next() {
			pieces = append(pieces, s.Current().Choices[0].Delta.Content)
		}
		return pieces, errors.Join(s.Err(), s.Close())
	},
	tool: func(ctx context.Context, _ *testing.T, h *http.Client, model, prompt string, run func(string) string) (string, error) {
		client := officialOpenAI(h)
		params := openai.ChatCompletionNewParams{
			Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
			Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
				Name: "get_weather", Description: openai.String("The weather in a city."), Parameters: weather,
			})},
		}
		for {
			got, err := client.Chat.Completions.New(ctx, params)
			if err != nil {
				return "", err
			}
			message := got.Choices[0].Message
			if len(message.ToolCalls) == 0 {
				return message.Content, nil
			}
			params.Messages = append(params.Messages, message.ToParam())
			for _, c := range message.ToolCalls {
				params.Messages = append(params.Messages, openai.ToolMessage(run(cityOf(c.Function.Arguments)), c.ID))
			}
		}
	},
}

func officialOpenAI(h *http.Client) *openai.Client {
	client := openai.NewClient(option.WithAPIKey("unused"), option.WithHTTPClient(h), option.WithMaxRetries(0))
	return &client
}

var goOpenAI = sdk{
	name: "go-openai",
	chat: func(ctx context.Context, _ *testing.T, h *http.Client, model, prompt string) (string, error) {
		got, err := communityOpenAI(h).CreateChatCompletion(ctx, goopenai.ChatCompletionRequest{
			Model: model, Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: prompt}},
		})
		if err != nil {
			return "", err
		}
		return got.Choices[0].Message.Content, nil
	},
	stream: func(ctx context.Context, _ *testing.T, h *http.Client, model, prompt string) (pieces []string, err error) {
		s, err := communityOpenAI(h).CreateChatCompletionStream(ctx, goopenai.ChatCompletionRequest{
			Model: model, Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: prompt}},
		})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		for {
			chunk, err := s.Recv()
			if errors.Is(err, io.EOF) {
				return pieces, nil
			}
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, chunk.Choices[0].Delta.Content)
		}
	},
	tool: func(ctx context.Context, _ *testing.T, h *http.Client, model, prompt string, run func(string) string) (string, error) {
		client := communityOpenAI(h)
		req := goopenai.ChatCompletionRequest{
			Model: model, Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: prompt}},
			Tools: []goopenai.Tool{{Type: "function", Function: &goopenai.FunctionDefinition{
				Name: "get_weather", Description: "The weather in a city.", Parameters: weather,
			}}},
		}
		for {
			got, err := client.CreateChatCompletion(ctx, req)
			if err != nil {
				return "", err
			}
			message := got.Choices[0].Message
			if len(message.ToolCalls) == 0 {
				return message.Content, nil
			}
			req.Messages = append(req.Messages, message)
			for _, c := range message.ToolCalls {
				req.Messages = append(req.Messages, goopenai.ChatCompletionMessage{
					Role: "tool", ToolCallID: c.ID, Content: run(cityOf(c.Function.Arguments)),
				})
			}
		}
	},
}

func communityOpenAI(h *http.Client) *goopenai.Client {
	cfg := goopenai.DefaultConfig("unused")
	cfg.HTTPClient = h
	return goopenai.NewClientWithConfig(cfg)
}
