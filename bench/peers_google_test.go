package bench_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/gemini"
	"github.com/cloudwego/eino/schema"
	anyllm "github.com/mozilla-ai/any-llm-go"
	anygemini "github.com/mozilla-ai/any-llm-go/providers/gemini"
	"google.golang.org/genai"
)

// newGenAI is Google's client at Vertex AI, with a client of its user's, which
// would add the token.
func newGenAI(tb testing.TB, p place) *genai.Client {
	tb.Helper()
	c, err := genai.NewClient(tb.Context(), &genai.ClientConfig{
		Backend: genai.BackendVertexAI, Project: "p", Location: "us-central1", HTTPClient: p.client(),
		HTTPOptions: genai.HTTPOptions{BaseURL: p.url},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// contents is the workload as requests of genai have it.
func contents(w *work) ([]*genai.Content, *genai.GenerateContentConfig) {
	var list []*genai.Content
	for i, text := range w.texts {
		role := genai.RoleUser
		if i%2 == 1 {
			role = genai.RoleModel
		}
		parts := []*genai.Part{genai.NewPartFromText(text)}
		if w.image != nil {
			parts = append(parts, genai.NewPartFromBytes(w.image, "image/png"))
		}
		list = append(list, genai.NewContentFromParts(parts, genai.Role(role)))
	}
	if w.tools == 0 {
		return list, nil
	}
	var declared []*genai.FunctionDeclaration
	for i := range w.tools {
		declared = append(declared, &genai.FunctionDeclaration{
			Name: tool(i), Description: toolText,
			Parameters: &genai.Schema{Type: genai.TypeObject, Required: []string{"city"}, Properties: map[string]*genai.Schema{
				"city": {Type: genai.TypeString, Description: "a city"},
				"days": {Type: genai.TypeInteger},
				"unit": {Type: genai.TypeString, Enum: []string{"c", "f"}},
			}},
		})
	}
	return list, &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: declared}}}
}

func openGenAI(tb testing.TB, w *work, p place) call {
	c := newGenAI(tb, p)
	list, config := contents(w)
	switch {
	case len(w.vector) > 0:
		return func(ctx context.Context, a *got) error {
			out, err := c.Models.EmbedContent(ctx, vectorModel, list, nil)
			if err == nil && len(out.Embeddings) > 0 {
				numbers(a, out.Embeddings[0].Values)
			}
			return err
		}
	case w.streams():
		return func(ctx context.Context, a *got) error {
			for chunk, err := range c.Models.GenerateContentStream(ctx, geminiModel, list, config) {
				if err != nil {
					return err
				}
				a.add(chunk.Text())
			}
			return nil
		}
	}
	return func(ctx context.Context, a *got) error {
		out, err := c.Models.GenerateContent(ctx, geminiModel, list, config)
		if err == nil {
			a.add(out.Text())
		}
		return err
	}
}

// openAnyLLM is any-llm with its provider for the Gemini API: it has none for
// Vertex AI. Of a chat, the answers of the two are the same.
func openAnyLLM(tb testing.TB, w *work, p place) call {
	if p.url != "" {
		tb.Fatal("its provider for Gemini has one address")
	}
	c, err := anygemini.New(anyllm.WithAPIKey("key"), anyllm.WithHTTPClient(p.client()))
	if err != nil {
		tb.Fatal(err)
	}
	if len(w.vector) > 0 {
		params := anyllm.EmbeddingParams{Model: vectorModel, Input: w.texts}
		return func(ctx context.Context, a *got) error {
			out, err := c.Embedding(ctx, params)
			if err == nil && len(out.Data) > 0 {
				numbers(a, out.Data[0].Embedding)
			}
			return err
		}
	}
	params := anyParams(w)
	if w.streams() {
		return func(ctx context.Context, a *got) error {
			chunks, errs := c.CompletionStream(ctx, params)
			for chunk := range chunks {
				for i := range chunk.Choices {
					a.add(chunk.Choices[i].Delta.Content)
				}
			}
			return <-errs
		}
	}
	return func(ctx context.Context, a *got) error {
		out, err := c.Completion(ctx, params)
		if err == nil && len(out.Choices) > 0 {
			a.add(out.Choices[0].Message.ContentString())
		}
		return err
	}
}

// anyParams is the workload as any-llm's request.
func anyParams(w *work) anyllm.CompletionParams {
	params := anyllm.CompletionParams{Model: geminiModel}
	for i, text := range w.texts {
		m := anyllm.Message{Role: anyllm.RoleUser, Content: text}
		if i%2 == 1 {
			m.Role = anyllm.RoleAssistant
		}
		if w.image != nil {
			m.Content = []anyllm.ContentPart{{Type: "text", Text: text}, {Type: "image_url", ImageURL: &anyllm.ImageURL{URL: w.dataURI()}}}
		}
		params.Messages = append(params.Messages, m)
	}
	for i := range w.tools {
		params.Tools = append(params.Tools, anyllm.Tool{
			Type: "function", Function: anyllm.Function{Name: tool(i), Description: toolText, Parameters: schemaMap()},
		})
	}
	return params
}

func openEino(tb testing.TB, w *work, p place) call {
	model, err := gemini.NewChatModel(tb.Context(), &gemini.Config{Client: newGenAI(tb, p), Model: geminiModel})
	if err != nil {
		tb.Fatal(err)
	}
	var tools []*schema.ToolInfo
	for i := range w.tools {
		tools = append(tools, &schema.ToolInfo{Name: tool(i), Desc: toolText, ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"city": {Type: schema.String, Desc: "a city", Required: true},
			"days": {Type: schema.Integer},
			"unit": {Type: schema.String, Enum: []string{"c", "f"}},
		})})
	}
	if tools != nil {
		if err := model.BindTools(tools); err != nil {
			tb.Fatal(err)
		}
	}
	var list []*schema.Message
	for i, text := range w.texts {
		if i%2 == 0 {
			list = append(list, schema.UserMessage(text))
		} else {
			list = append(list, schema.AssistantMessage(text, nil))
		}
	}
	if !w.streams() {
		return func(ctx context.Context, a *got) error {
			out, err := model.Generate(ctx, list)
			if err == nil {
				a.add(out.Content)
			}
			return err
		}
	}
	return func(ctx context.Context, a *got) error {
		s, err := model.Stream(ctx, list)
		if err != nil {
			return err
		}
		defer s.Close()
		for {
			chunk, err := s.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			a.add(chunk.Content)
		}
	}
}
