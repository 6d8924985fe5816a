package sdks_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	einoopenai "github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/schema"
	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai"
	genkitopenai "github.com/openai/openai-go/option"
	"github.com/tmc/langchaingo/llms"
	langchainopenai "github.com/tmc/langchaingo/llms/openai"
)

var langchain = sdk{
	name: "langchaingo",
	chat: func(ctx context.Context, t *testing.T, h *http.Client, model, prompt string) (string, error) {
		return llms.GenerateFromSinglePrompt(ctx, langchainModel(t, h, model), prompt)
	},
	stream: func(ctx context.Context, t *testing.T, h *http.Client, model, prompt string) (pieces []string, err error) {
		_, err = llms.GenerateFromSinglePrompt(ctx, langchainModel(t, h, model), prompt, llms.WithStreamingFunc(
			func(_ context.Context, piece []byte) error {
				pieces = append(pieces, string(piece))
				return nil
			}))
		return pieces, err
	},
	tool: func(ctx context.Context, t *testing.T, h *http.Client, model, prompt string, run func(string) string) (string, error) {
		m := langchainModel(t, h, model)
		messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, prompt)}
		tools := llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
			Name: "get_weather", Description: "The weather in a city.", Parameters: weather,
		}}})
		for {
			got, err := m.GenerateContent(ctx, messages, tools)
			if err != nil {
				return "", err
			}
			if len(got.Choices[0].ToolCalls) == 0 {
				return got.Choices[0].Content, nil
			}
			turn := llms.MessageContent{Role: llms.ChatMessageTypeAI}
			results := llms.MessageContent{Role: llms.ChatMessageTypeTool}
			for _, c := range got.Choices[0].ToolCalls {
				turn.Parts = append(turn.Parts, c)
				results.Parts = append(results.Parts, llms.ToolCallResponse{
					ToolCallID: c.ID, Name: c.FunctionCall.Name, Content: run(cityOf(c.FunctionCall.Arguments)),
				})
			}
			messages = append(messages, turn, results)
		}
	},
}

func langchainModel(t *testing.T, h *http.Client, model string) llms.Model {
	t.Helper()
	m, err := langchainopenai.New(langchainopenai.WithToken("unused"), langchainopenai.WithModel(model), langchainopenai.WithHTTPClient(h))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var einoOpenAI = sdk{
	name: "eino",
	chat: func(ctx context.Context, t *testing.T, h *http.Client, model, prompt string) (string, error) {
		got, err := einoModel(ctx, t, h, model).Generate(ctx, []*schema.Message{schema.UserMessage(prompt)})
		if err != nil {
			return "", err
		}
		return got.Content, nil
	},
	stream: func(ctx context.Context, t *testing.T, h *http.Client, model, prompt string) (pieces []string, err error) {
		s, err := einoModel(ctx, t, h, model).Stream(ctx, []*schema.Message{schema.UserMessage(prompt)})
		if err != nil {
			return nil, err
		}
		defer s.Close()
		for {
			piece, err := s.Recv()
			if errors.Is(err, io.EOF) {
				return pieces, nil
			}
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, piece.Content)
		}
	},
	tool: func(ctx context.Context, t *testing.T, h *http.Client, model, prompt string, run func(string) string) (string, error) {
		m, err := einoModel(ctx, t, h, model).WithTools([]*schema.ToolInfo{{
			Name: "get_weather", Desc: "The weather in a city.",
			ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"city": {Type: schema.String, Required: true}}),
		}})
		if err != nil {
			return "", err
		}
		messages := []*schema.Message{schema.UserMessage(prompt)}
		for {
			got, err := m.Generate(ctx, messages)
			if err != nil {
				return "", err
			}
			if len(got.ToolCalls) == 0 {
				return got.Content, nil
			}
			messages = append(messages, got)
			for _, c := range got.ToolCalls {
				messages = append(messages, schema.ToolMessage(run(cityOf(c.Function.Arguments)), c.ID))
			}
		}
	},
}

func einoModel(ctx context.Context, t *testing.T, h *http.Client, model string) *einoopenai.ChatModel {
	t.Helper()
	m, err := einoopenai.NewChatModel(ctx, &einoopenai.ChatModelConfig{APIKey: "unused", Model: model, HTTPClient: h})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var genkitOpenAI = sdk{
	name: "genkit",
	chat: func(ctx context.Context, _ *testing.T, h *http.Client, model, prompt string) (string, error) {
		g, m := genkitModel(ctx, h, model)
		return genkit.GenerateText(ctx, g, ai.WithModel(m), ai.WithPrompt(prompt))
	},
	stream: func(ctx context.Context, _ *testing.T, h *http.Client, model, prompt string) (pieces []string, err error) {
		g, m := genkitModel(ctx, h, model)
		_, err = genkit.Generate(ctx, g, ai.WithModel(m), ai.WithPrompt(prompt), ai.WithStreaming(
			func(_ context.Context, piece *ai.ModelResponseChunk) error {
				pieces = append(pieces, piece.Text())
				return nil
			}))
		return pieces, err
	},
	tool: func(ctx context.Context, _ *testing.T, h *http.Client, model, prompt string, run func(string) string) (string, error) {
		g, m := genkitModel(ctx, h, model)
		type input struct {
			City string `json:"city"`
		}
		tool := genkit.DefineTool(g, "get_weather", "The weather in a city.", func(_ *ai.ToolContext, in input) (string, error) {
			return run(in.City), nil
		})
		return genkit.GenerateText(ctx, g, ai.WithModel(m), ai.WithPrompt(prompt), ai.WithTools(tool))
	},
}

func genkitModel(ctx context.Context, h *http.Client, model string) (*genkit.Genkit, ai.Model) {
	plugin := &compat_oai.OpenAICompatible{
		Provider: "gateway", APIKey: "unused", Opts: []genkitopenai.RequestOption{genkitopenai.WithHTTPClient(h), genkitopenai.WithMaxRetries(0)},
	}
	g := genkit.Init(ctx, genkit.WithPlugins(plugin))
	return g, plugin.DefineModel("gateway", model, ai.ModelOptions{Supports: &compat_oai.Multimodal})
}
