package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
	goopenai "github.com/sashabaranov/go-openai"
	"github.com/tmc/langchaingo/llms"
	langopenai "github.com/tmc/langchaingo/llms/openai"
)

func openOpenAI(tb testing.TB, w *work, p place) call {
	tb.Helper()
	opts := []option.RequestOption{option.WithAPIKey("key"), option.WithHTTPClient(p.client())}
	if p.url != "" {
		opts = append(opts, option.WithBaseURL(p.url+"/v1"))
	}
	c := openai.NewClient(opts...)
	if len(w.vector) > 0 {
		params := openai.EmbeddingNewParams{Model: openaiEmbed, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: w.texts}}
		return func(ctx context.Context, a *got) error {
			out, err := c.Embeddings.New(ctx, params)
			if err == nil && len(out.Data) > 0 {
				numbers(a, out.Data[0].Embedding)
			}
			return err
		}
	}
	params := openaiParams(w)
	if w.streams() {
		return func(ctx context.Context, a *got) error {
			s := c.Chat.Completions.NewStreaming(ctx, params)
			for s.Next() {
				for _, choice := range s.Current().Choices {
					a.add(choice.Delta.Content)
				}
			}
			return errors.Join(s.Err(), s.Close())
		}
	}
	return func(ctx context.Context, a *got) error {
		out, err := c.Chat.Completions.New(ctx, params)
		if err == nil && len(out.Choices) > 0 {
			a.add(out.Choices[0].Message.Content)
		}
		return err
	}
}

// openaiParams is the workload as openai-go's request.
func openaiParams(w *work) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{Model: openaiModel}
	for i, text := range w.texts {
		switch {
		case w.image != nil:
			params.Messages = append(params.Messages, openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
				openai.TextContentPart(text),
				openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: w.dataURI()}),
			}))
		case i%2 == 0:
			params.Messages = append(params.Messages, openai.UserMessage(text))
		default:
			params.Messages = append(params.Messages, openai.AssistantMessage(text))
		}
	}
	for i := range w.tools {
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: tool(i), Description: openai.String(toolText), Parameters: schemaMap(),
		}))
	}
	return params
}

func openGoOpenAI(tb testing.TB, w *work, p place) call {
	tb.Helper()
	config := goopenai.DefaultConfig("key")
	config.HTTPClient = p.client()
	if p.url != "" {
		config.BaseURL = p.url + "/v1"
	}
	c := goopenai.NewClientWithConfig(config)
	if len(w.vector) > 0 {
		req := goopenai.EmbeddingRequest{Model: openaiEmbed, Input: w.texts}
		return func(ctx context.Context, a *got) error {
			out, err := c.CreateEmbeddings(ctx, req)
			if err == nil && len(out.Data) > 0 {
				numbers(a, out.Data[0].Embedding)
			}
			return err
		}
	}
	req := goopenai.ChatCompletionRequest{Model: openaiModel, Stream: w.streams()}
	for i, text := range w.texts {
		m := goopenai.ChatCompletionMessage{Role: goopenai.ChatMessageRoleUser, Content: text}
		if i%2 == 1 {
			m.Role = goopenai.ChatMessageRoleAssistant
		}
		if w.image != nil {
			m.Content = ""
			m.MultiContent = []goopenai.ChatMessagePart{
				{Type: goopenai.ChatMessagePartTypeText, Text: text},
				{Type: goopenai.ChatMessagePartTypeImageURL, ImageURL: &goopenai.ChatMessageImageURL{URL: w.dataURI()}},
			}
		}
		req.Messages = append(req.Messages, m)
	}
	for i := range w.tools {
		req.Tools = append(req.Tools, goopenai.Tool{Type: goopenai.ToolTypeFunction, Function: &goopenai.FunctionDefinition{
			Name: tool(i), Description: toolText, Parameters: json.RawMessage(toolSchema),
		}})
	}
	if w.streams() {
		return func(ctx context.Context, a *got) error { return goOpenAIStream(ctx, c, req, a) }
	}
	return func(ctx context.Context, a *got) error {
		out, err := c.CreateChatCompletion(ctx, req)
		if err == nil && len(out.Choices) > 0 {
			a.add(out.Choices[0].Message.Content)
		}
		return err
	}
}

func goOpenAIStream(ctx context.Context, c *goopenai.Client, req goopenai.ChatCompletionRequest, a *got) error {
	s, err := c.CreateChatCompletionStream(ctx, req)
	if err != nil {
		return err
	}
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return s.Close()
		}
		if err != nil {
			return errors.Join(err, s.Close())
		}
		for i := range chunk.Choices {
			a.add(chunk.Choices[i].Delta.Content)
		}
	}
}

// newLangChain is langchaingo with its client for OpenAI: that for Vertex AI has no
// way to be given an HTTP client.
func newLangChain(tb testing.TB, p place) *langopenai.LLM {
	tb.Helper()
	opts := []langopenai.Option{
		langopenai.WithToken("key"), langopenai.WithModel(openaiModel), langopenai.WithEmbeddingModel(openaiEmbed), langopenai.WithHTTPClient(p.client()),
	}
	if p.url != "" {
		opts = append(opts, langopenai.WithBaseURL(p.url+"/v1"))
	}
	c, err := langopenai.New(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func openLangChain(tb testing.TB, w *work, p place) call {
	c := newLangChain(tb, p)
	if len(w.vector) > 0 {
		return func(ctx context.Context, a *got) error {
			out, err := c.CreateEmbedding(ctx, w.texts)
			if err == nil && len(out) > 0 {
				numbers(a, out[0])
			}
			return err
		}
	}
	list, opts := langChainChat(w)
	return func(ctx context.Context, a *got) error {
		opts := opts
		if w.streams() {
			opts = append(slices.Clip(opts), llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
				a.add(string(chunk))
				return nil
			}))
		}
		out, err := c.GenerateContent(ctx, list, opts...)
		if err == nil && !w.streams() && len(out.Choices) > 0 {
			a.add(out.Choices[0].Content)
		}
		return err
	}
}

// langChainChat is the workload as langchaingo's request.
func langChainChat(w *work) ([]llms.MessageContent, []llms.CallOption) {
	var list []llms.MessageContent
	for i, text := range w.texts {
		m := llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextPart(text)}}
		if i%2 == 1 {
			m.Role = llms.ChatMessageTypeAI
		}
		if w.image != nil {
			m.Parts = append(m.Parts, llms.ImageURLPart(w.dataURI()))
		}
		list = append(list, m)
	}
	var tools []llms.Tool
	for i := range w.tools {
		tools = append(tools, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: tool(i), Description: toolText, Parameters: schemaMap()}})
	}
	if tools == nil {
		return list, nil
	}
	return list, []llms.CallOption{llms.WithTools(tools)}
}
