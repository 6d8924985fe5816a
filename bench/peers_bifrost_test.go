package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	bifrost "github.com/maximhq/bifrost/core"
	"github.com/maximhq/bifrost/core/schemas"
)

// account is Bifrost's way to be told of providers.
type account struct{ url string }

func (account) GetConfiguredProviders() ([]schemas.ModelProvider, error) {
	return []schemas.ModelProvider{schemas.OpenAI}, nil
}

func (account) GetKeysForProvider(context.Context, schemas.ModelProvider) ([]schemas.Key, error) {
	return []schemas.Key{{ID: "k", Name: "k", Value: *schemas.NewSecretVar("key"), Models: schemas.WhiteList{"*"}, Weight: 1}}, nil
}

func (a account) GetConfigForProvider(schemas.ModelProvider) (*schemas.ProviderConfig, error) {
	c := &schemas.ProviderConfig{NetworkConfig: schemas.NetworkConfig{BaseURL: a.url, AllowPrivateNetwork: true}}
	c.CheckAndSetDefaults()
	return c, nil
}

// openBifrost is Bifrost's library at OpenAI's schema. It makes its fasthttp client
// itself, so that it is compared over loopback only.
func openBifrost(tb testing.TB, w *work, p place) call {
	tb.Helper()
	if p.url == "" {
		tb.Fatal("it needs a server")
	}
	c, err := bifrost.Init(tb.Context(), schemas.BifrostConfig{Account: account{p.url}, Logger: bifrost.NewDefaultLogger(schemas.LogLevelError)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Shutdown)
	// A request is made anew each time, since it may be changed on its way.
	input, params := bifrostChat(tb, w)
	if w.streams() {
		return func(ctx context.Context, a *got) error { return bifrostStream(ctx, c, input, params, a) }
	}
	return func(ctx context.Context, a *got) error {
		bc := schemas.NewBifrostContext(ctx, schemas.NoDeadline)
		out, fault := c.ChatCompletionRequest(bc, &schemas.BifrostChatRequest{Provider: schemas.OpenAI, Model: openaiModel, Input: input, Params: params})
		if fault != nil {
			return bifrostError(fault)
		}
		if len(out.Choices) > 0 && out.Choices[0].ChatNonStreamResponseChoice != nil {
			if content := out.Choices[0].Message.Content; content != nil && content.ContentStr != nil {
				a.add(*content.ContentStr)
			}
		}
		return nil
	}
}

func bifrostStream(ctx context.Context, c *bifrost.Bifrost, input []schemas.ChatMessage, params *schemas.ChatParameters, a *got) error {
	bc := schemas.NewBifrostContext(ctx, schemas.NoDeadline)
	chunks, fault := c.ChatCompletionStreamRequest(bc, &schemas.BifrostChatRequest{Provider: schemas.OpenAI, Model: openaiModel, Input: input, Params: params})
	if fault != nil {
		return bifrostError(fault)
	}
	for chunk := range chunks {
		if chunk.BifrostError != nil {
			return bifrostError(chunk.BifrostError)
		}
		if chunk.BifrostChatResponse == nil {
			continue
		}
		for _, choice := range chunk.BifrostChatResponse.Choices {
			if s := choice.ChatStreamResponseChoice; s != nil && s.Delta != nil && s.Delta.Content != nil {
				a.add(*s.Delta.Content)
			}
		}
	}
	return nil
}

func bifrostError(fault *schemas.BifrostError) error {
	if fault.Error == nil {
		return errors.New("an error without a message")
	}
	return errors.New(fault.Error.Message)
}

// bifrostChat is the workload as Bifrost's request.
func bifrostChat(tb testing.TB, w *work) ([]schemas.ChatMessage, *schemas.ChatParameters) {
	tb.Helper()
	var input []schemas.ChatMessage
	for i, text := range w.texts {
		m := schemas.ChatMessage{Role: schemas.ChatMessageRoleUser, Content: &schemas.ChatMessageContent{ContentStr: &text}}
		if i%2 == 1 {
			m.Role = schemas.ChatMessageRoleAssistant
		}
		input = append(input, m)
	}
	if w.tools == 0 {
		return input, nil
	}
	params := &schemas.ChatParameters{}
	for i := range w.tools {
		description := toolText
		f := &schemas.ChatToolFunction{Name: tool(i), Description: &description, Parameters: &schemas.ToolFunctionParameters{}}
		if err := json.Unmarshal([]byte(toolSchema), f.Parameters); err != nil {
			tb.Fatal(err)
		}
		params.Tools = append(params.Tools, schemas.ChatTool{Type: schemas.ChatToolTypeFunction, Function: f})
	}
	return input, params
}
