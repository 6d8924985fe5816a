package snippets_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// genaiClient is a client of Google's own SDK at an emulator of the platform.
func genaiClient(t *testing.T, replies ...vertextest.Reply) *genai.Client {
	t.Helper()
	platform := vertextest.New()
	t.Cleanup(platform.Close)
	platform.Script(replies...)
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		Backend: genai.BackendVertexAI, Project: "my-project", Location: "global",
		HTTPClient: &http.Client{Transport: bearer{platform.Transport()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// bearer adds a token, as the SDK's own transport does.
type bearer struct{ next http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer token")
	return b.next.RoundTrip(r)
}

func TestGoGenAIClient(t *testing.T) {
	after := func() (*gateway.Client, error) {
		// snippet go-genai/client.after
		client, err := gateway.New(
			gateway.WithProjectID("my-project"),
			gateway.WithRegion("global"),
		)
		if err != nil {
			return nil, err
		}
		return client, nil // Close it at the end
		// end
	}
	_ = func(ctx context.Context) (*genai.Client, error) {
		// snippet go-genai/client.before
		client, err := genai.NewClient(ctx, &genai.ClientConfig{
			Backend:  genai.BackendVertexAI,
			Project:  "my-project",
			Location: "global",
		})
		if err != nil {
			return nil, err
		}
		return client, nil
		// end
	}
	client, err := after()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestGoGenAIChat(t *testing.T) {
	before := func(ctx context.Context, client *genai.Client) (string, error) {
		// snippet go-genai/chat.before
		answer, err := client.Models.GenerateContent(ctx, "gemini-2.5-flash",
			genai.Text("Say hello."),
			&genai.GenerateContentConfig{
				SystemInstruction: genai.NewContentFromText("You are terse.", genai.RoleUser),
				Temperature:       genai.Ptr[float32](0.2),
				MaxOutputTokens:   200,
				Labels:            map[string]string{"team": "search"},
			})
		if err != nil {
			return "", err
		}
		return answer.Text(), nil
		// end
	}
	after := func(ctx context.Context, client *gateway.Client) (string, error) {
		// snippet go-genai/chat.after
		answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model: "gemini-2.5-flash",
			Messages: []gateway.Message{
				gateway.SystemMessage("You are terse."),
				gateway.UserMessage("Say hello."),
			},
			Temperature: new(0.2),
			MaxTokens:   new(200),
			Labels:      map[string]string{"team": "search"},
		})
		if err != nil {
			return "", err
		}
		return answer.Text(), nil
		// end
	}
	got, err := before(t.Context(), genaiClient(t, vertextest.Text(reply)))
	expect(t, reply, got, err)
	client, _ := rig(t, vertextest.Text(reply))
	got, err = after(t.Context(), client)
	expect(t, reply, got, err)
}

func TestGoGenAIStream(t *testing.T) {
	before := func(ctx context.Context, client *genai.Client, show func(string)) error {
		// snippet go-genai/stream.before
		for chunk, err := range client.Models.GenerateContentStream(ctx,
			"gemini-2.5-flash", genai.Text("Say hello."), nil) {
			if err != nil {
				return err
			}
			show(chunk.Text())
		}
		return nil
		// end
	}
	after := func(ctx context.Context, client *gateway.Client, show func(string)) error {
		// snippet go-genai/stream.after
		stream, err := client.Chat.Completions.CreateStream(ctx, &gateway.ChatCompletionRequest{
			Model:    "gemini-2.5-flash",
			Messages: []gateway.Message{gateway.UserMessage("Say hello.")},
		})
		if err != nil {
			return err
		}
		for chunk, err := range stream.Chunks() {
			if err != nil {
				return err
			}
			for _, choice := range chunk.Choices {
				show(choice.Delta.Content)
			}
		}
		return nil
		// end
	}
	var b strings.Builder
	show := func(s string) { b.WriteString(s) }
	err := before(t.Context(), genaiClient(t, vertextest.Text(reply)), show)
	expect(t, reply, b.String(), err)
	b.Reset()
	client, _ := rig(t, vertextest.Text(reply))
	err = after(t.Context(), client, show)
	expect(t, reply, b.String(), err)
}

func TestGoGenAIThinking(t *testing.T) {
	before := func(ctx context.Context, client *genai.Client) (thoughts string, err error) {
		// snippet go-genai/thinking.before
		answer, err := client.Models.GenerateContent(ctx, "gemini-2.5-flash", genai.Text("Why?"),
			&genai.GenerateContentConfig{ThinkingConfig: &genai.ThinkingConfig{
				IncludeThoughts: true, ThinkingBudget: genai.Ptr[int32](2048),
			}})
		if err != nil {
			return "", err
		}
		for _, part := range answer.Candidates[0].Content.Parts {
			if part.Thought {
				thoughts += part.Text
			}
		}
		return thoughts, nil
		// end
	}
	after := func(ctx context.Context, client *gateway.Client) (thoughts string, err error) {
		// snippet go-genai/thinking.after
		answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model:    "gemini-2.5-flash",
			Messages: []gateway.Message{gateway.UserMessage("Why?")},
			Thinking: &gateway.Thinking{Type: "enabled", BudgetTokens: new(2048)},
		}, gateway.WithStrictCompliance(false))
		if err != nil {
			return "", err
		}
		for _, block := range answer.Choices[0].Message.ContentBlocks {
			thoughts += block.Thinking
		}
		return thoughts, nil
		// end
	}
	want, err := before(t.Context(), genaiClient(t))
	if err != nil || want == "" {
		t.Fatalf("before: %q, %v", want, err)
	}
	client, _ := rig(t)
	got, err := after(t.Context(), client)
	expect(t, want, got, err)
}

func TestGoGenAIMedia(t *testing.T) {
	before := func(ctx context.Context, client *genai.Client) (string, error) {
		// snippet go-genai/media.before
		answer, err := client.Models.GenerateContent(ctx, "gemini-2.5-flash",
			[]*genai.Content{genai.NewContentFromParts([]*genai.Part{
				genai.NewPartFromText("What does it say?"),
				genai.NewPartFromURI("gs://my-bucket/report.pdf", "application/pdf"),
			}, genai.RoleUser)}, nil)
		if err != nil {
			return "", err
		}
		return answer.Text(), nil
		// end
	}
	after := func(ctx context.Context, client *gateway.Client) (string, error) {
		// snippet go-genai/media.after
		answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model: "gemini-2.5-flash",
			Messages: []gateway.Message{gateway.UserMessage([]gateway.ContentPart{
				gateway.TextPart("What does it say?"),
				gateway.FilePart("gs://my-bucket/report.pdf"), // its type is told by its name
			})},
		})
		if err != nil {
			return "", err
		}
		return answer.Text(), nil
		// end
	}
	got, err := before(t.Context(), genaiClient(t, vertextest.Text(reply)))
	expect(t, reply, got, err)
	client, platform := rig(t, vertextest.Text(reply))
	got, err = after(t.Context(), client)
	expect(t, reply, got, err)
	if sent := string(platform.Requests()[0].Body); !strings.Contains(sent, "application/pdf") {
		t.Errorf("the request does not say the type: %s", sent)
	}
}
