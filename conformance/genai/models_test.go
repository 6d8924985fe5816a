package genai_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestGenerate(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		got, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Say hello."), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Text() == "" || got.UsageMetadata == nil || got.UsageMetadata.TotalTokenCount == 0 || got.ResponseID == "" {
			t.Errorf("answer %+v", got)
		}
		if h := got.SDKHTTPResponse.Headers; h.Get("X-Gateway-Provider") != "vx" || h.Get("X-Gateway-Model") != flash25 {
			t.Errorf("header %v", h)
		}
		parts, text, err := collect(t.Context(), c, flash25, genai.Text("Say hello."), nil)
		if err != nil || text == "" || len(parts) < 2 {
			t.Errorf("stream of %d: %q, %v", len(parts), text, err)
		}
		if last := parts[len(parts)-1]; last.UsageMetadata == nil || last.Candidates[0].FinishReason != genai.FinishReasonStop || last.SDKHTTPResponse.Headers.Get("X-Gateway-Request-Id") == "" {
			t.Errorf("last part %+v", last)
		}
		for _, r := range s.platform.Requests() {
			if r.Project != "p" || r.Location != "global" || !strings.Contains(r.Path, "/v1beta1/") {
				t.Errorf("asked %s", r.Path)
			}
			if r.Header.Get("X-Goog-Api-Key") != "" || r.Header.Get("Authorization") != "Bearer "+platformToken {
				t.Error("wrong credentials")
			}
		}
	})
}

// All that the client can say of a request reaches the platform, member by member,
// and so does what it does not know.
func TestBodyGoesThrough(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		config := &genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText("Be brief.", genai.RoleUser),
			Temperature:       genai.Ptr[float32](0.5), TopP: genai.Ptr[float32](0.9), TopK: genai.Ptr[float32](20),
			MaxOutputTokens: 500, StopSequences: []string{"END"}, Seed: genai.Ptr[int32](7),
			SafetySettings:   []*genai.SafetySetting{{Category: genai.HarmCategoryHateSpeech, Threshold: genai.HarmBlockThresholdBlockOnlyHigh}},
			ThinkingConfig:   &genai.ThinkingConfig{IncludeThoughts: true, ThinkingBudget: genai.Ptr[int32](1024)},
			ResponseMIMEType: "application/json",
			ResponseJsonSchema: map[string]any{
				"type": "object", "properties": map[string]any{"b": map[string]any{"type": "string"}, "a": map[string]any{"type": "integer"}}, "required": []string{"a", "b"},
			},
		}
		got, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Give me a and b."), config)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			A *int
			B *string
		}
		if err := json.Unmarshal([]byte(got.Text()), &answer); err != nil || answer.A == nil || answer.B == nil {
			t.Errorf("answer %s, %v", got.Text(), err)
		}
		if !slices.ContainsFunc(got.Candidates[0].Content.Parts, func(p *genai.Part) bool { return p.Thought }) || got.UsageMetadata.ThoughtsTokenCount == 0 {
			t.Error("there is no thought")
		}
		want := `{"contents":[{"parts":[{"text":"Give me a and b."}],"role":"user"}],"generationConfig":{"maxOutputTokens":500,"responseJsonSchema":` +
			`{"properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a","b"],"type":"object"},"responseMimeType":"application/json",` +
			`"seed":7,"stopSequences":["END"],"temperature":0.5,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":1024},"topK":20,"topP":0.9},` +
			`"safetySettings":[{"category":"HARM_CATEGORY_HATE_SPEECH","threshold":"BLOCK_ONLY_HIGH"}],"systemInstruction":{"parts":[{"text":"Be brief."}],"role":"user"}}` + "\n"
		if diff := cmp.Diff(want, s.sent()); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		config = &genai.GenerateContentConfig{HTTPOptions: &genai.HTTPOptions{ExtraBody: map[string]any{"futureMember": map[string]any{"z": 1, "a": nil}}}}
		_, err = c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), config)
		wantError(t, err, 400, "INVALID_ARGUMENT", "futureMember") // the emulator is strict
		if !strings.Contains(s.sent(), `"futureMember":{"a":null,"z":1}`) {
			t.Errorf("sent %s", s.sent())
		}
	})
}

// A conversation with a tool, by the client's own chat: the signatures that it was
// given go back as they are.
func TestChatWithTools(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		for _, streamed := range []bool{false, true} {
			chat, err := c.Chats.Create(t.Context(), flash38, &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
				Name: "get_weather", Description: "Tells the weather of a city.",
				ParametersJsonSchema: map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"}},
			}}}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			send := func(p genai.Part) *genai.Content {
				t.Helper()
				if !streamed {
					got, err := chat.SendMessage(t.Context(), p)
					if err != nil {
						t.Fatal(err)
					}
					return got.Candidates[0].Content
				}
				all := new(genai.Content)
				for got, err := range chat.SendMessageStream(t.Context(), p) {
					if err != nil {
						t.Fatal(err)
					}
					if len(got.Candidates) > 0 && got.Candidates[0].Content != nil {
						all.Parts = append(all.Parts, got.Candidates[0].Content.Parts...)
					}
				}
				return all
			}
			first := send(genai.Part{Text: "What is the weather in Paris?"})
			at := slices.IndexFunc(first.Parts, func(p *genai.Part) bool { return p.FunctionCall != nil })
			if at < 0 || len(first.Parts[at].ThoughtSignature) == 0 {
				t.Fatalf("no signed call in %+v", first)
			}
			call := first.Parts[at].FunctionCall
			second := send(genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: map[string]any{"output": "clear skies"}}})
			text := ""
			for _, p := range second.Parts {
				text += p.Text
			}
			if !strings.Contains(text, "clear skies") {
				t.Errorf("streamed=%v: %q", streamed, text)
			}
		}
		if n := s.platform.SentinelUses(); n != 0 {
			t.Errorf("%d signatures were stood in for", n)
		}
	})
}

func TestImages(t *testing.T) {
	pixel := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")
	everyWay(t, func(t *testing.T, _ *stage, c *genai.Client) {
		parts := []*genai.Part{genai.NewPartFromText("What is this?"), genai.NewPartFromBytes(pixel, "image/png")}
		got, err := c.Models.GenerateContent(t.Context(), flash25, []*genai.Content{genai.NewContentFromParts(parts, genai.RoleUser)}, nil)
		if err != nil || got.Text() == "" {
			t.Errorf("answer %v, %v", got, err)
		}
		drawn, err := c.Models.GenerateContent(t.Context(), drawer, genai.Text("Draw a cat."), &genai.GenerateContentConfig{ResponseModalities: []string{"TEXT", "IMAGE"}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(drawn.Candidates[0].Content.Parts, func(p *genai.Part) bool {
			return p.InlineData != nil && strings.HasPrefix(p.InlineData.MIMEType, "image/") && len(p.InlineData.Data) > 0
		}) {
			t.Errorf("no image in %+v", drawn.Candidates[0].Content.Parts)
		}
	})
}

func TestCountTokens(t *testing.T) {
	everyWay(t, func(t *testing.T, _ *stage, c *genai.Client) {
		got, err := c.Models.CountTokens(t.Context(), flash25, genai.Text("How long is this?"), nil)
		if err != nil || got.TotalTokens == 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// Imagen is asked by predictions, which Vertex AI alone has in the client.
func TestPredictions(t *testing.T) {
	everyWay(t, func(t *testing.T, _ *stage, c *genai.Client) {
		if c.ClientConfig().Backend != genai.BackendVertexAI {
			return
		}
		got, err := c.Models.EmbedContent(t.Context(), "gemini-embedding-001", genai.Text("Embed this."), nil)
		if err != nil || len(got.Embeddings) != 1 || len(got.Embeddings[0].Values) == 0 {
			t.Errorf("%+v, %v", got, err)
		}
		drawn, err := c.Models.GenerateImages(t.Context(), "imagen-4.0-generate-001", "A cat.", &genai.GenerateImagesConfig{
			NumberOfImages: 1, HTTPOptions: with("x-gateway-vertex-region", "us-central1").HTTPOptions,
		})
		if err != nil || len(drawn.GeneratedImages) != 1 || len(drawn.GeneratedImages[0].Image.ImageBytes) == 0 {
			t.Errorf("%+v, %v", drawn, err)
		}
	})
}

func TestEmbed(t *testing.T) {
	everyWay(t, func(t *testing.T, _ *stage, c *genai.Client) {
		model := embedder
		if c.ClientConfig().Backend == genai.BackendGeminiAPI { // whose members for vectors are its own
			model = "@gm/" + model
		}
		got, err := c.Models.EmbedContent(t.Context(), model, genai.Text("Embed this."), &genai.EmbedContentConfig{OutputDimensionality: genai.Ptr[int32](768)})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Embeddings) != 1 || len(got.Embeddings[0].Values) != 768 {
			t.Errorf("%d vectors", len(got.Embeddings))
		}
	})
}

// The Gemini API is behind a slug of its own, whichever backend the client speaks.
func TestTargetOfTheGeminiAPI(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		model := "@gm/" + flash25
		got, err := c.Models.GenerateContent(t.Context(), model, genai.Text("Hi"), nil)
		if err != nil || got.Text() == "" {
			t.Fatalf("%v, %v", got, err)
		}
		if _, text, err := collect(t.Context(), c, model, genai.Text("Hi"), nil); err != nil || text == "" {
			t.Errorf("%q, %v", text, err)
		}
		if vectors, err := c.Models.EmbedContent(t.Context(), "@gm/"+embedder, genai.Text("Hi"), nil); err != nil || len(vectors.Embeddings) != 1 {
			t.Errorf("%v, %v", vectors, err)
		}
		for _, r := range s.platform.Requests() {
			if !strings.HasPrefix(r.Path, "/v1beta/models/") || r.Header.Get("X-Goog-Api-Key") != platformToken {
				t.Errorf("asked %s", r.Path)
			}
			if strings.Contains(string(r.Body), "@gm") {
				t.Errorf("sent %s", r.Body)
			}
		}
	})
}

// A tuned model is asked at its endpoint, wherever that is.
func TestTunedModel(t *testing.T) {
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		got, err := c.Models.GenerateContent(t.Context(), "projects/p/locations/us-central1/endpoints/123", genai.Text("Hi"), nil)
		if err != nil || got.Text() == "" {
			t.Fatalf("%v, %v", got, err)
		}
		if r := s.platform.Requests()[0]; !strings.HasSuffix(r.Path, "/projects/p/locations/us-central1/endpoints/123:generateContent") {
			t.Errorf("asked %s", r.Path)
		}
	})
}

func TestListModels(t *testing.T) {
	everyWay(t, func(t *testing.T, _ *stage, c *genai.Client) {
		var names []string
		for m, err := range c.Models.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, m.Name)
		}
		at := slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, "@vx") && strings.HasSuffix(n, flash25) })
		if at < 0 {
			t.Fatalf("%d models: %v", len(names), names)
		}
		one, err := c.Models.Get(t.Context(), names[at], nil)
		if err != nil || one.Name != names[at] {
			t.Errorf("%+v, %v", one, err)
		}
		if got, err := c.Models.GenerateContent(t.Context(), names[at], genai.Text("Hi"), nil); err != nil || got.Text() == "" {
			t.Errorf("%v, %v", got, err)
		}
		page, err := c.Models.List(t.Context(), &genai.ListModelsConfig{PageSize: 2})
		if err != nil || len(page.Items) != 2 {
			t.Fatalf("%+v, %v", page, err)
		}
		if page, err = page.Next(t.Context()); err != nil || page.Items[0].Name != names[2] {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

// Bytes that the platform sends are the bytes that the client gets.
func TestAnswerComesAsItIs(t *testing.T) {
	const body = "{\n  \"candidates\": [{\"content\": {\"role\": \"model\", \"parts\": [{\"text\": \"héllo \\u00e9\", \"thoughtSignature\": \"c2ln\"}]}, \"finishReason\": \"STOP\", \"future\": 1.50}],\n  \"modelVersion\": \"m\"\n}\n"
	everyWay(t, func(t *testing.T, s *stage, c *genai.Client) {
		s.platform.Script(vertextest.JSON(200, body))
		got, err := c.Models.GenerateContent(t.Context(), flash25, genai.Text("Hi"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p := got.Candidates[0].Content.Parts[0]
		if p.Text != "héllo é" || string(p.ThoughtSignature) != "sig" || got.SDKHTTPResponse.Headers.Get("Content-Length") != strconv.Itoa(len(body)) {
			t.Errorf("%+v %v", p, got.SDKHTTPResponse.Headers)
		}
	})
}
