package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// logged is a client with a log in memory, before the emulator.
func logged(t *testing.T, o logs.Options, opts ...gateway.ClientOption) (*gateway.Client, *vertextest.Server) {
	t.Helper()
	srv := vertextest.New()
	t.Cleanup(srv.Close)
	o.Store = logs.NewMemory(0)
	l, err := logs.New(o)
	if err != nil {
		t.Fatal(err)
	}
	client, err := gateway.New(append([]gateway.ClientOption{
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"),
		gateway.WithHTTPClient(&http.Client{Transport: srv.Transport()}), gateway.WithLog(l), gateway.WithLog(l),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = l.Close(context.Background())
	})
	return client, srv
}

// recorded returns all records, the oldest first, with their content.
func recorded(t *testing.T, client *gateway.Client) (out []*logs.Record) {
	t.Helper()
	l := client.Logs()
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := l.Store().Query(t.Context(), logs.Query{Limit: logs.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	for i := len(page.Records) - 1; i >= 0; i-- {
		r, err := l.Store().Get(t.Context(), page.Records[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func TestClientsHaveTheLogTheyWereGiven(t *testing.T) {
	client, _ := logged(t, logs.Options{})
	view, err := client.With(gateway.WithRegion("europe-west4"))
	if err != nil || view.Logs() == nil || view.Logs() != client.Logs() {
		t.Errorf("%v, %v", view.Logs(), err)
	}
	without, err := gateway.New()
	if err != nil || without.Logs() != nil {
		t.Errorf("%v, %v", without.Logs(), err)
	}
	_ = without.Close()
	if _, err := gateway.New(gateway.WithLog(nil)); err == nil {
		t.Error("no log is taken")
	}
}

func TestEachCallHasOneRecord(t *testing.T) {
	client, _ := logged(t, logs.Options{})
	req := &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", User: "u-1", Messages: []gateway.Message{gateway.UserMessage("Hello")}}
	answer, err := client.Chat.Completions.Create(t.Context(), req, gateway.WithMetadata(map[string]string{"team": "a"}))
	if err != nil {
		t.Fatal(err)
	}
	list := recorded(t, client)
	if len(list) != 1 {
		t.Fatalf("%d records", len(list))
	}
	r := list[0]
	if r.Duration <= 0 || len(r.Attempts) != 1 || r.Attempts[0].Start.Before(r.Time) || r.Attempts[0].Duration <= 0 {
		t.Errorf("the times are %+v", r)
	}
	r.Time, r.Duration, r.Attempts = logs.Record{}.Time, 0, nil
	want := &logs.Record{
		ID: answer.Meta.RequestID, Surface: "go", Operation: "chat", RequestedModel: "gemini-2.5-flash", Provider: "vertex-ai", Model: "gemini-2.5-flash",
		ResponseModel: answer.Model, ResponseID: answer.ID, User: "u-1", Metadata: map[string]string{"team": "a"},
		CacheStatus: "Cache Disabled", RetryStatus: "Not Triggered", FallbackStatus: "Disabled", LoadBalanceStatus: "Disabled",
		Tokens:       &logs.Tokens{Prompt: answer.Usage.PromptTokens, Completion: answer.Usage.CompletionTokens, Total: answer.Usage.TotalTokens, Reasoning: answer.Usage.CompletionTokensDetails.ReasoningTokens},
		FinishReason: "stop",
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRecordsSayWhereTheCallCameIn(t *testing.T) {
	list, err := catalog.Parse([]byte(`{"providers":{"v":{"provider":"vertex-ai"}},"configs":{"main":{"retry":{"attempts":1}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	client, _ := logged(t, logs.Options{}, gateway.WithCatalog(list))
	body := `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Hello"}]}`
	q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-Gateway-Config", "main")
	q.Header.Set("Authorization", "Bearer my-key")
	w := httptest.NewRecorder()
	client.Handler(gateway.WithAPIKeys("my-key")).ServeHTTP(w, q.Clone(t.Context()))
	if w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	q.Body = io.NopCloser(strings.NewReader(body))
	q.Header.Del("X-Gateway-Config")
	res, err := client.RoundTripper().RoundTrip(q)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	_ = res.Body.Close()
	var got [][3]string
	for _, r := range recorded(t, client) {
		got = append(got, [3]string{r.Surface, r.ConfigID, fmt.Sprint(r.KeyID != "" && r.KeyID != "my-key")})
	}
	if diff := cmp.Diff([][3]string{{"http", "main", "true"}, {"transport", "", "false"}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// operation is a call of an operation with a prompt, and whether its record has the
// prompt and an answer.
type operation struct {
	name            string
	ask             func(context.Context, *gateway.Client, ...gateway.RequestOption) error
	prompt, answers bool
}

func operations() []operation {
	chat := func() *gateway.ChatCompletionRequest {
		return &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("my prompt")}}
	}
	return []operation{
		{"chat", func(ctx context.Context, c *gateway.Client, opts ...gateway.RequestOption) error {
			_, err := c.Chat.Completions.Create(ctx, chat(), opts...)
			return err
		}, true, true},
		{"chat stream", func(ctx context.Context, c *gateway.Client, opts ...gateway.RequestOption) error {
			s, err := c.Chat.Completions.CreateStream(ctx, chat(), opts...)
			if err != nil {
				return err
			}
			for _, err = range s.Chunks() {
				if err != nil {
					return err
				}
			}
			return nil
		}, true, true},
		{"count_tokens", func(ctx context.Context, c *gateway.Client, opts ...gateway.RequestOption) error {
			_, err := c.Chat.Completions.CountTokens(ctx, chat(), opts...)
			return err
		}, true, false},
		{"completion", func(ctx context.Context, c *gateway.Client, opts ...gateway.RequestOption) error {
			_, err := c.Completions.Create(ctx, &gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: gateway.PromptText("my prompt")}, opts...)
			return err
		}, true, true},
		{"message", func(ctx context.Context, c *gateway.Client, opts ...gateway.RequestOption) error {
			_, err := c.Messages.Create(ctx, []byte(`{"model":"gemini-2.5-flash","max_tokens":9000,"messages":[{"role":"user","content":"my prompt"}]}`), opts...)
			return err
		}, true, true},
		{"prompt", func(ctx context.Context, c *gateway.Client, opts ...gateway.RequestOption) error {
			_, err := c.Prompts.Completions.Create(ctx, &gateway.PromptCompletionRequest{ID: "x", Variables: map[string]any{"name": "my prompt"}}, opts...)
			return err
		}, true, true},
		{"embeddings", func(ctx context.Context, c *gateway.Client, opts ...gateway.RequestOption) error {
			_, err := c.Embeddings.Create(ctx, &gateway.EmbeddingRequest{Model: "text-embedding-005", Input: gateway.EmbeddingTexts("my prompt")}, opts...)
			return err
		}, true, false},
		{"images", func(ctx context.Context, c *gateway.Client, opts ...gateway.RequestOption) error {
			_, err := c.Images.Generate(ctx, &gateway.ImageRequest{Model: "imagen-4.0-generate-001", Prompt: "my prompt"}, append(opts, gateway.WithRegion("us-central1"))...)
			return err
		}, true, true},
		{"speech", func(ctx context.Context, c *gateway.Client, opts ...gateway.RequestOption) error {
			_, err := c.Audio.Speech.Create(ctx, &gateway.SpeechRequest{Model: "gemini-2.5-flash-preview-tts", Input: "my prompt", Voice: "Kore"}, opts...)
			return err
		}, true, false},
		{"rerank", func(ctx context.Context, c *gateway.Client, opts ...gateway.RequestOption) error {
			_, err := c.Rerank.Create(ctx, &gateway.RerankRequest{Model: "semantic-ranker-default-004", Query: "my prompt", Documents: []gateway.RerankDocument{{Text: "a"}}}, opts...)
			return err
		}, true, true},
		{"cached content", func(ctx context.Context, c *gateway.Client, opts ...gateway.RequestOption) error {
			for _, err := range c.Caches.List(ctx, opts...) {
				return err
			}
			return nil
		}, false, false},
	}
}

func TestOperationsThatHaveContent(t *testing.T) {
	library := &shelf{request: &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash"}}
	for _, op := range operations() {
		for _, debug := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, debug %v", op.name, debug), func(t *testing.T) {
				client, _ := logged(t, logs.Options{Content: true, MaxContent: 1 << 20}, gateway.WithPrompts(library))
				if err := op.ask(t.Context(), client, gateway.WithDebug(debug)); err != nil {
					t.Fatal(err)
				}
				list := recorded(t, client)
				if len(list) != 1 {
					t.Fatalf("%d records", len(list))
				}
				var c logs.Content
				if list[0].Content != nil {
					c = *list[0].Content
				}
				if has := strings.Contains(string(c.Request), "my prompt"); has != (debug && op.prompt) {
					t.Errorf("the request is %s", c.Request)
				}
				if has := len(c.Response) > 0; has != (debug && op.answers) || has && !json.Valid(c.Response) || strings.Contains(string(c.Response), `"b64_json":"`) {
					t.Errorf("the answer is %s", c.Response)
				}
			})
		}
	}
}

func TestHitsHaveTheContentOfTheAnswer(t *testing.T) {
	client, srv := logged(t, logs.Options{Content: true}, gateway.WithCache(gateway.Cache{Mode: "simple"}))
	srv.Script(vertextest.Text("the one answer"))
	for _, op := range []int{0, 0, 1} {
		if err := operations()[op].ask(t.Context(), client); err != nil {
			t.Fatal(err)
		}
	}
	list := recorded(t, client)
	for i, want := range []string{"Cache Miss", "Cache Hit", "Cache Hit"} {
		r := list[i]
		if r.CacheStatus != want || r.Content == nil || !strings.Contains(string(r.Content.Response), "the one answer") || r.Tokens == nil {
			t.Errorf("%d: %+v", i, r)
		}
		if hit := i > 0; hit != (r.Cost != nil && *r.Cost == 0) || hit != (len(r.Attempts) == 0) {
			t.Errorf("%d: cost %v, attempts %v", i, r.Cost, r.Attempts)
		}
	}
}
