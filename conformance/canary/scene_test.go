package canary_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/prompts"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// scene is a client with a canary in every place for a secret, before a platform.
type scene struct {
	*flock
	platform *platform
	emulator *vertextest.Server
	client   *gateway.Client
	handler  http.Handler
	page     http.Handler
}

func newScene(t *testing.T, opts ...gateway.ClientOption) *scene {
	t.Helper()
	return sceneOf(t, newFlock(t, rand.Text()), opts...)
}

func sceneOf(t *testing.T, f *flock, opts ...gateway.ClientOption) *scene {
	t.Helper()
	s := &scene{flock: f}
	s.platform, s.emulator = newPlatform(t, f)
	cat, err := catalog.Parse([]byte(s.catalog(t)))
	if err != nil {
		t.Fatal(err)
	}
	stored := new(prompts.Memory)
	p, err := prompts.Parse("stored", []byte(s.stored()), prompts.Partials{"tone": "Be brief."})
	if err == nil {
		err = stored.Add(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.client, err = gateway.New(append([]gateway.ClientOption{
		gateway.WithCatalog(cat), gateway.WithHTTPClient(&http.Client{Transport: s.platform}), gateway.WithPrompts(prompts.New(stored)),
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithLogger(zap.NewNop()),
		gateway.WithAccessToken(f.secret("access token")), gateway.WithHeader("X-Own", f.secret("header of the client")),
		gateway.WithHeader("X-Signed", hardToRead(f.secret("header with signs"))),
		gateway.WithMetadata(map[string]string{"team": f.open("metadata")}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.client.Close() })
	s.handler = s.client.Handler(gateway.WithAPIKeys(f.secret("API key of the front")), gateway.WithAdminKeys(f.secret("admin key")))
	s.page = s.client.Dashboard(gateway.WithAPIKeys(f.secret("API key of the front")), gateway.WithAdminKeys(f.secret("admin key")))
	return s
}

// hardToRead is a secret that JSON encoders write in several ways.
func hardToRead(secret string) string { return `a/b+c=&"` + secret + `"/\d` }

// entries are the models that are asked, with their slugs.
var entries = map[string]string{
	"bare": "gemini-2.5-flash", "token": "@token/gemini-2.5-flash", "claude": "@token/anthropic.claude-sonnet-4-5",
	"google": "@google/gemini-2.5-pro", "anthropic": "@anthropic/claude-sonnet-4-6", "openai": "@openai/gpt-5-mini", "server": "@server/llama",
}

func (s *scene) catalog(t *testing.T) string {
	t.Helper()
	key := func(slug string) string { return s.secret("key of @" + slug) }
	header := func(slug string) string { return s.secret("header of @" + slug) }
	doc, err := json.Marshal(map[string]any{
		"providers": map[string]any{
			"token":     map[string]any{"provider": "vertex-ai", "project_id": "p", "region": "global", "access_token": key("token"), "headers": map[string]any{"X-Team": header("token")}},
			"google":    map[string]any{"provider": "google", "api_key": key("google"), "headers": map[string]any{"X-Team": header("google")}},
			"anthropic": map[string]any{"provider": "anthropic", "api_key": key("anthropic"), "headers": map[string]any{"X-Team": header("anthropic")}},
			"openai":    map[string]any{"provider": "openai", "api_key": key("openai"), "headers": map[string]any{"X-Team": header("openai")}},
			"server":    map[string]any{"provider": "openai-compatible", "base_url": "https://llm.example/v1", "api_key": key("server"), "headers": map[string]any{"X-Team": hardToRead(header("server"))}},
		},
		"configs": map[string]any{"main": map[string]any{"provider": "@token", "forward_headers": []string{"x-forwarded-own"}, "override_params": map[string]any{"stop": s.text("stop of the config")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func (s *scene) stored() string {
	return `{"versions":{"1":{"request":{"model":"@token/gemini-2.5-flash","messages":[{"role":"system","content":"` + s.text("stored system text") + ` {{> tone}}"},{"role":"user","content":"{{question}}"}]}}}}`
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// chatBody is a request with a canary in every member that holds one.
func (s *scene) chatBody(model string) string {
	doc := `{"model":"` + model + `","max_tokens":64,"user":"` + s.open("user") + `","metadata":{"order":"` + s.open("metadata of the request") + `"},"stop":["` + s.text("stop sequence") + `"],
	"tools":[{"type":"function","function":{"name":"look","description":"` + s.text("tool description") + `","parameters":{"type":"object","properties":{"` + s.text("tool property") + `":{"type":"string","description":"` + s.text("property description") + `"}}}}}],
	"messages":[
		{"role":"system","content":"` + s.text("system text") + `"},
		{"role":"user","content":[{"type":"text","text":"` + s.text("prompt") + `"},
			{"type":"image_url","image_url":{"url":"data:image/png;base64,` + encoded("\x89PNG\r\n\x1a\n"+s.text("image")) + `"}},
			{"type":"file","file":{"file_data":"data:application/pdf;base64,` + encoded("%PDF-1.4 "+s.text("file")) + `","filename":"a.pdf"}}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"at\":\"` + s.text("tool argument") + `\"}"}}]},
		{"role":"tool","tool_call_id":"call_1","content":"{\"found\":\"` + s.text("tool result") + `\"}"},
		{"role":"user","content":"Go on."}]}`
	return doc
}

// call is a request to the front.
type call struct {
	name, path, body string
	header           map[string]string
}

// calls are requests on every path that asks a model, each with its canaries.
func (s *scene) calls() []call {
	plain := `"` + s.text("plain prompt") + `"`
	var out []call
	for name, model := range entries {
		if name == "bare" {
			continue // as @token, but for the credentials
		}
		out = append(out, call{"chat " + name, "/v1/chat/completions", s.chatBody(model), nil},
			call{"stream " + name, "/v1/chat/completions", strings.Replace(s.chatBody(model), `{`, `{"stream":true,`, 1), nil})
	}
	const gemini = `"model":"@token/gemini-2.5-flash",`
	claude := `{"model":"@token/anthropic.claude-sonnet-4-5","max_tokens":64,"system":"` + s.text("Anthropic system text") + `","metadata":{"user_id":"` + s.open("Anthropic user") + `"},"messages":[{"role":"user","content":"` + s.text("Anthropic prompt") + `"}]}`
	return append(out,
		call{"text completion", "/v1/completions", `{` + gemini + `"prompt":` + plain + `,"suffix":null}`, nil},
		call{"embedding", "/v1/embeddings", `{"model":"@token/gemini-embedding-001","input":"` + s.text("embedding input") + `"}`, nil},
		call{"messages", "/v1/messages", claude, nil},
		call{"messages stream", "/v1/messages", strings.Replace(claude, `{`, `{"stream":true,`, 1), nil},
		call{"count", "/v1/chat/completions/count_tokens", s.chatBody("@token/gemini-2.5-flash"), nil},
		call{"image", "/v1/images/generations", `{"model":"@token/gemini-2.5-flash-image","prompt":"` + s.text("image prompt") + `"}`, nil},
		call{"speech", "/v1/audio/speech", `{"model":"@token/gemini-2.5-flash-preview-tts","voice":"Kore","input":"` + s.text("speech input") + `","response_format":"wav"}`, nil},
		call{"rerank", "/v1/rerank", `{"model":"@token/semantic-ranker-default-004","query":"` + s.text("rerank query") + `","documents":["` + s.text("rerank document") + `","b"]}`, nil},
		call{"stored prompt", "/v1/prompts/stored/completions", `{"variables":{"question":"` + s.text("prompt variable") + `"}}`, nil},
		call{"stored prompt rendered", "/v1/prompts/stored/render", `{"variables":{"question":"` + s.text("prompt variable") + `"}}`, nil},
		call{"native", "/v1beta/models/gemini-2.5-flash:generateContent", `{"contents":[{"role":"user","parts":[{"text":"` + s.text("native prompt") + `"}]}]}`, nil},
		call{"with a config", "/v1/chat/completions", `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":` + plain + `}]}`, map[string]string{"X-Gateway-Config": "main"}},
		call{"with a config of its own", "/v1/chat/completions", `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":` + plain + `}]}`,
			map[string]string{"X-Gateway-Config": `{"provider":"@token","forward_headers":["x-forwarded-own"],"override_params":{"stop":"` + s.text("stop of a header's config") + `"}}`}},
	)
}

// send makes a request of the front, with everything in the headers that a client
// could put there.
func (s *scene) send(ctx context.Context, h http.Handler, c call, key string) *httptest.ResponseRecorder {
	method, body := http.MethodPost, io.Reader(strings.NewReader(c.body))
	if c.body == "" {
		method, body = http.MethodGet, http.NoBody
	}
	q := httptest.NewRequestWithContext(ctx, method, c.path, body)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-Gateway-Api-Key": key, "Authorization": "Bearer " + s.secret("Authorization header"),
		"Cookie": "a=" + s.secret("cookie"), "X-Api-Key": s.secret("x-api-key header"), "X-Goog-Api-Key": s.secret("x-goog-api-key header"),
		"Proxy-Authorization": "Basic " + encoded("u:"+s.secret("Proxy-Authorization header")), "X-Forwarded-Own": s.secret("forwarded header"),
		"X-Other": s.secret("header that is not forwarded"), "X-Gateway-Trace-Id": s.open("request id"), "X-Gateway-Metadata": `{"caller":"` + s.open("metadata of a header") + `"}`,
	} {
		q.Header.Set(name, value)
	}
	for name, value := range c.header {
		q.Header.Set(name, value)
	}
	var came strings.Builder
	_ = q.Header.WriteSubset(&came, map[string]bool{"X-Gateway-Api-Key": true})
	s.witness(frontPlace, q.URL.String()+"\n"+came.String())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, q)
	if w.Code == http.StatusUnauthorized && strings.Contains(w.Body.String(), "a valid API key is required") {
		s.witness(refused, key)
	} else {
		s.witness(frontPlace, key)
	}
	return w
}

// shownByFront is all that a client of the front sees.
func shownByFront(w *httptest.ResponseRecorder) string {
	var b strings.Builder
	_ = w.Header().Write(&b)
	_ = w.Result().Trailer.Write(&b)
	return b.String() + w.Body.String()
}

// sendAll makes all requests of the front.
func (s *scene) sendAll(t *testing.T) map[string]*httptest.ResponseRecorder {
	t.Helper()
	out := map[string]*httptest.ResponseRecorder{}
	for _, c := range s.calls() {
		out[c.name] = s.send(t.Context(), s.handler, c, s.secret("API key of the front"))
	}
	return out
}

// ask makes the calls in Go, and returns their errors by name.
func (s *scene) ask(ctx context.Context, t *testing.T) (map[string]any, map[string]error) {
	t.Helper()
	answers, errs := map[string]any{}, map[string]error{}
	for name, model := range entries {
		var req gateway.ChatCompletionRequest
		if err := json.Unmarshal([]byte(s.chatBody(model)), &req); err != nil {
			t.Error(err)
		}
		answers["chat "+name], errs["chat "+name] = s.client.Chat.Completions.Create(ctx, &req)
		stream, err := s.client.Chat.Completions.CreateStream(ctx, &req)
		if err == nil {
			answers["stream "+name], err = stream.Collect()
		}
		errs["stream "+name] = err
	}
	embedding := &gateway.EmbeddingRequest{Model: "@token/gemini-embedding-001", Input: gateway.EmbeddingTexts(s.text("embedding input"))}
	answers["embedding"], errs["embedding"] = s.client.Embeddings.Create(ctx, embedding)
	message := []byte(`{"model":"@token/anthropic.claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"` + s.text("Anthropic prompt") + `"}]}`)
	answers["message"], errs["message"] = s.client.Messages.Create(ctx, message)
	answers["prompt"], errs["prompt"] = s.client.Prompts.Completions.Create(ctx, &gateway.PromptCompletionRequest{
		ID: "stored", Variables: map[string]any{"question": s.text("prompt variable")}})
	return answers, errs
}

// script has the emulator answer with a canary in each part of an answer.
func (s *scene) script() {
	part := `{"thought":true,"text":"` + s.text("thought") + `"},{"text":"` + s.text("answer") + `","thoughtSignature":"` + encoded(s.text("thought signature")) + `"},
		{"functionCall":{"name":"look","args":{"at":"` + s.text("argument in the answer") + `"}}}`
	s.platform.mode = func(q *http.Request, _ string) (*http.Response, error) {
		if strings.Contains(q.URL.Host, "aiplatform") && strings.Contains(q.URL.Path, "enerateContent") {
			body := `{"candidates":[{"content":{"role":"model","parts":[` + strings.ReplaceAll(part, "\n", "") + `]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4,"totalTokenCount":7},"modelVersion":"gemini-2.5-flash","responseId":"r"}`
			s.witness(answersPlace, body)
			if strings.Contains(q.URL.RawQuery, "alt=sse") {
				return reply(q, 200, "data: "+body+"\n\n", "Content-Type", "text/event-stream"), nil
			}
			return reply(q, 200, body), nil
		}
		if strings.Contains(q.URL.Path, "anthropic/models/") {
			q = q.Clone(q.Context())
			q.URL.Path = strings.ReplaceAll(q.URL.Path, "claude-sonnet-4-5", "claude-sonnet-4-6")
		}
		return s.platform.next.RoundTrip(q)
	}
}

// failed returns the errors that are there.
func failed(errs map[string]error) error {
	var out []error
	for _, err := range errs {
		out = append(out, err)
	}
	return errors.Join(out...)
}
