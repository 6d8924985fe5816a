package snippets_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
	"github.com/b650d4bf/gateway/structured"
)

func ask() *gateway.ChatCompletionRequest {
	return &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage(question)}}
}

func TestGuideFirstCall(t *testing.T) {
	hello := func(ctx context.Context, client *gateway.Client) (string, error) {
		// snippet first/call
		answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model:    "gemini-2.5-flash",
			Messages: []gateway.Message{gateway.UserMessage("Say hello.")},
		})
		if err != nil {
			return "", err
		}
		for _, w := range answer.Meta.Warnings {
			log.Print(w.Param, ": ", w.Message) // what the model could not take
		}
		return answer.Text(), nil
		// end
	}
	client, _ := rig(t, vertextest.Text(reply))
	got, err := hello(t.Context(), client)
	expect(t, reply, got, err)

	wait := func(err error) (time.Duration, bool) {
		// snippet first/errors
		e, ok := errors.AsType[*gateway.Error](err)
		switch {
		case !ok:
			return 0, false
		case errors.Is(err, gateway.ErrInvalidRequest):
			return 0, false // ours to mend: e.Param is the member's path, e.Message has the remedy
		case errors.Is(err, gateway.ErrContentFilter):
			return 0, false // the platform refused the prompt or the answer
		}
		return e.RetryAfter, e.Retryable() && !e.Sent // Sent: it may have been billed
		// end
	}
	client, _ = rig(t, vertextest.RateLimited(time.Second))
	_, err = hello(t.Context(), client)
	if d, again := wait(err); d != time.Second || !again {
		t.Errorf("%v, %v of %v", d, again, err)
	}
}

func TestGuideCredentials(t *testing.T) {
	for name, opts := range map[string][]gateway.ClientOption{
		// snippet first/credentials
		"as gcloud, GKE and Cloud Run have them": {},
		"a token that you renew yourself":        {gateway.WithAccessToken("ya29…")},
		"a service account's key":                {gateway.WithServiceAccountFile("files/key.json")},
		"none, behind a proxy that adds them":    {gateway.WithoutAuth(), gateway.WithBaseURL("https://proxy.example.com")},
		// end
	} {
		if name == "a token that you renew yourself" {
			opts = []gateway.ClientOption{gateway.WithAccessToken("ya29")}
		}
		client, err := gateway.New(append(opts, gateway.WithProjectID("my-project"), gateway.WithRegion("global"))...)
		if err != nil {
			if strings.Contains(name, "key") { // there is none here, and the error says so
				continue
			}
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = client.Close()
	}
}

func TestGuideTesting(t *testing.T) {
	// snippet testing/emulator
	platform := vertextest.New()
	defer platform.Close()
	platform.Script(
		vertextest.RateLimited(time.Second),                       // the first request
		vertextest.Text("Hello there.").Paced(time.Millisecond),   // the second
		vertextest.Text("This one breaks off.").CutAfterEvents(1), // the third
	)
	client, err := gateway.New(
		gateway.WithProjectID("test"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	// end
	if _, err := client.Chat.Completions.Create(t.Context(), ask()); !errors.Is(err, gateway.ErrRateLimited) {
		t.Errorf("first: %v", err)
	}
	answer, err := client.Chat.Completions.Create(t.Context(), ask())
	if err != nil || answer.Text() != "Hello there." {
		t.Errorf("second: %v", err)
	}
	stream, err := client.Chat.Completions.CreateStream(t.Context(), ask())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Collect(); err == nil {
		t.Error("third: a broken stream was taken for whole")
	}
	// snippet testing/requests
	for _, r := range platform.Requests() {
		var body struct {
			Contents []struct{ Parts []struct{ Text string } }
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		if got := body.Contents[0].Parts[0].Text; got != "Say hello." {
			t.Errorf("the model was asked %q", got)
		}
	}
	// end
	if n := len(platform.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestGuideTools(t *testing.T) {
	run := func(ctx context.Context, client *gateway.Client, call func(name, arguments string) string) (string, error) {
		// snippet tools/loop
		request := &gateway.ChatCompletionRequest{
			Model:    "gemini-3-flash-preview",
			Messages: []gateway.Message{gateway.UserMessage("What is the weather in Paris and Rome?")},
			Tools: []gateway.Tool{gateway.FunctionTool("get_weather", "The weather in a city.",
				json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`))},
		}
		for range 10 { // a bound of your own
			answer, err := client.Chat.Completions.Create(ctx, request)
			if err != nil {
				return "", err
			}
			message := answer.Choices[0].Message
			request.Messages = append(request.Messages, message) // as it came
			if len(message.ToolCalls) == 0 {
				return answer.Text(), nil
			}
			for _, c := range message.ToolCalls {
				request.Messages = append(request.Messages, gateway.ToolMessage(c.ID, call(c.Function.Name, c.Function.Arguments)))
			}
		}
		return "", errors.New("the model calls tools without end")
		// end
	}
	client, _ := rig(t)
	var calls []string
	got, err := run(t.Context(), client, func(name, arguments string) string {
		calls = append(calls, name+arguments)
		return `{"celsius":18}`
	})
	if err != nil || len(calls) != 2 || !strings.Contains(got, "celsius") {
		t.Errorf("%q after %v, %v", got, calls, err)
	}
}

func TestGuideStructured(t *testing.T) {
	// snippet structured/type
	type Event struct {
		Name     string   `json:"name" jsonschema:"as on the poster"`
		Day      string   `json:"day"`
		Speakers []string `json:"speakers,omitempty"`
	}
	// end
	read := func(ctx context.Context, client *gateway.Client) (string, error) {
		// snippet structured/create
		event, answer, err := structured.Create[Event](ctx, client, &gateway.ChatCompletionRequest{
			Model:    "gemini-2.5-flash",
			Messages: []gateway.Message{gateway.UserMessage("Who speaks at the fair on Friday?")},
		})
		if err != nil {
			return "", err // a *structured.MismatchError says what does not fit, and where
		}
		return fmt.Sprint(event.Name, " ", event.Speakers, " for ", answer.Usage.TotalTokens > 0), nil
		// end
	}
	client, _ := rig(t, vertextest.Text(`{"name":"Fair","day":"Friday","speakers":["Ada"]}`))
	got, err := read(t.Context(), client)
	expect(t, "Fair [Ada] for true", got, err)
}

func TestGuideThinking(t *testing.T) {
	think := func(ctx context.Context, client *gateway.Client) (thoughts, text string, err error) {
		// snippet thinking/blocks
		answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model:    "gemini-2.5-flash",
			Messages: []gateway.Message{gateway.UserMessage("Why is the sky blue?")},
			Thinking: &gateway.Thinking{Type: "enabled", BudgetTokens: new(1024)},
		}, gateway.WithStrictCompliance(false))
		if err != nil {
			return "", "", err
		}
		for _, block := range answer.Choices[0].Message.ContentBlocks {
			if block.Type == "thinking" {
				thoughts += block.Thinking
			}
		}
		return thoughts, answer.Text(), nil
		// end
	}
	client, _ := rig(t)
	thoughts, text, err := think(t.Context(), client)
	if err != nil || thoughts == "" || text == "" {
		t.Errorf("%q, %q, %v", thoughts, text, err)
	}
}

func TestGuideMedia(t *testing.T) {
	client, platform := rig(t, vertextest.Text(reply))
	look := func(ctx context.Context, photo []byte) (string, error) {
		// snippet media/parts
		answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
			Model: "gemini-2.5-flash",
			Messages: []gateway.Message{gateway.UserMessage([]gateway.ContentPart{
				gateway.TextPart("What do these have in common?"),
				gateway.MediaPart("image/png", photo),
				gateway.FilePart("gs://my-bucket/report.pdf"),
				gateway.VideoPart("gs://my-bucket/match.mp4", gateway.VideoClip{Start: 90 * time.Second, End: 95 * time.Second}),
			})},
		})
		if err != nil {
			return "", err
		}
		return answer.Text(), nil
		// end
	}
	got, err := look(t.Context(), []byte("\x89PNG\r\n\x1a\n"))
	expect(t, reply, got, err)
	for _, want := range []string{"image/png", "application/pdf", `"startOffset":"90s"`} {
		if sent := string(platform.Requests()[0].Body); !strings.Contains(sent, want) {
			t.Errorf("the request lacks %s: %s", want, sent)
		}
	}
}

func TestGuideFallback(t *testing.T) {
	_, platform := rig(t)
	build := func(transport http.RoundTripper) (*gateway.Client, error) {
		// snippet fallback/client
		config, err := gateway.ParseConfig([]byte(`{
			"strategy": {"mode": "fallback", "on_status_codes": [408, 429, 500, 503]},
			"retry": {"attempts": 1},
			"targets": [
				{"name": "main", "override_params": {"model": "gemini-2.5-flash"}, "request_timeout": 20000},
				{"name": "spare", "override_params": {"model": "anthropic.claude-sonnet-4-5@20250929"}}
			]
		}`))
		if err != nil {
			return nil, err // every mistake, with its path
		}
		client, err := gateway.New(
			gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithConfig(config),
			// end
			gateway.WithAccessToken("token"), gateway.WithHTTPClient(&http.Client{Transport: transport}),
		)
		return client, err
	}
	client, err := build(platform.Transport())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	platform.Script(vertextest.Overloaded(), vertextest.Overloaded(), vertextest.Text(reply))
	answer, err := client.Chat.Completions.Create(t.Context(), ask())
	if err != nil {
		t.Fatal(err)
	}
	var trail []string
	// snippet fallback/trail
	for _, a := range answer.Meta.Attempts {
		trail = append(trail, fmt.Sprintf("%s: %d %s", a.Target, a.StatusCode, a.Code))
	}
	// end
	if len(trail) != 3 || !strings.HasPrefix(trail[2], "spare: 200") {
		t.Errorf("trail %q", trail)
	}
}

func TestGuideCache(t *testing.T) {
	client, platform := rig(t, vertextest.Text(reply))
	view := func() (*gateway.Client, error) {
		// snippet cache/client
		cached, err := client.With(gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple, MaxAge: time.Hour}))
		if err != nil {
			return nil, err
		}
		return cached, nil
		// end
	}
	cached, err := view()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []gateway.CacheStatus{gateway.CacheMiss, gateway.CacheHit} {
		answer, err := cached.Chat.Completions.Create(t.Context(), ask(), gateway.WithCacheNamespace("tenant-7"))
		if err != nil || answer.Meta.CacheStatus != want {
			t.Errorf("%v, %v; want %v", answer.Meta.CacheStatus, err, want)
		}
	}
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	refresh := func(ctx context.Context, request *gateway.ChatCompletionRequest) error {
		// snippet cache/call
		answer, err := cached.Chat.Completions.Create(ctx, request,
			gateway.WithCacheNamespace("tenant-7"), gateway.WithCacheForceRefresh())
		if err != nil {
			return err
		}
		log.Print(answer.Meta.CacheStatus) // Cache Refreshed
		return nil
		// end
	}
	if err := refresh(t.Context(), ask()); err != nil || len(platform.Requests()) != 2 {
		t.Errorf("%d requests, %v", len(platform.Requests()), err)
	}
}

func TestGuideFront(t *testing.T) {
	client, _ := rig(t, vertextest.Text(reply))
	serve := func(key string, l net.Listener) (*http.Server, func() error) {
		// snippet front/mount
		mux := http.NewServeMux()
		mux.Handle("/v1/", client.Handler(gateway.WithAPIKeys(key)))
		server := &http.Server{
			Handler:           mux,
			ReadHeaderTimeout: 10 * time.Second, // and no WriteTimeout: it would cut streams
		}
		// end
		return server, func() error { return server.Serve(l) }
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, run := serve("secret", l)
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	sdk := openai.NewClient(option.WithBaseURL("http://"+l.Addr().String()+"/v1"), option.WithAPIKey("secret"))
	answer, err := sdk.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
		Model: "gemini-2.5-flash", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
	})
	if err != nil || answer.Choices[0].Message.Content != reply {
		t.Errorf("%+v, %v", answer, err)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

func TestGuideEmbeddings(t *testing.T) {
	client, _ := rig(t)
	embed := func(ctx context.Context, documents []string) ([][]float64, error) {
		// snippet embeddings/create
		answer, err := client.Embeddings.Create(ctx, &gateway.EmbeddingRequest{
			Model:      "gemini-embedding-001",
			Input:      gateway.EmbeddingTexts(documents...), // any number
			TaskType:   "RETRIEVAL_DOCUMENT",
			Dimensions: new(768),
		})
		if err != nil {
			return nil, err
		}
		vectors := make([][]float64, len(answer.Data))
		for i, d := range answer.Data {
			vectors[i] = d.Embedding // of length 1, in the order of the inputs
		}
		return vectors, nil
		// end
	}
	got, err := embed(t.Context(), []string{"one", "two", "three"})
	if err != nil || len(got) != 3 || len(got[0]) != 768 {
		t.Errorf("%d vectors, %v", len(got), err)
	}
}
