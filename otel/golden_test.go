package gatewayotel_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	gatewayotel "github.com/b650d4bf/gateway/otel"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden holds text against a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", file, diff)
	}
}

const threeTargets = `{
	"strategy": {"mode": "fallback"},
	"targets": [
		{"name": "main", "override_params": {"model": "gemini-2.5-pro"}, "retry": {"attempts": 1}},
		{"name": "spare", "override_params": {"model": "anthropic.claude-sonnet-4-5@20250929"}}
	]
}`

func withConfig(t *testing.T, text string) gateway.ClientOption {
	t.Helper()
	config, err := gateway.ParseConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return gateway.WithConfig(config)
}

// scenarios are calls whose spans and metrics are in files.
var scenarios = []struct {
	name   string
	opts   gatewayotel.Options
	client func(*testing.T) []gateway.ClientOption
	run    func(*testing.T, *setup)
}{
	{name: "unary", run: func(t *testing.T, s *setup) {
		s.platform.Script(vertextest.Text("Hello.").After(2 * time.Second))
		req := ask("Hi.")
		limit, heat, mass, k, seed := 100, 0.0, 0.9, 40, int64(7)
		req.MaxTokens, req.Temperature, req.TopP, req.TopK, req.Seed = &limit, &heat, &mass, &k, &seed
		req.Stop, req.ReasoningEffort = gateway.Stop{"END"}, "low"
		req.ResponseFormat = &gateway.ResponseFormat{Type: "json_object"}
		s.chat(t, req, gateway.WithMetadata(map[string]string{"chat": "c-1", "team": "a"}))
	}, opts: gatewayotel.Options{ConversationKey: "chat", MetadataKeys: []string{"team", "absent"}}},
	{name: "stream", run: func(t *testing.T, s *setup) {
		s.platform.Script(vertextest.Text("Hello to all of you.").After(time.Second).Paced(time.Second))
		stream, err := s.client.Chat.Completions.CreateStream(t.Context(), ask("Hi."))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Collect(); err != nil {
			t.Fatal(err)
		}
	}},
	{name: "canceled_stream", run: func(t *testing.T, s *setup) {
		s.platform.Script(vertextest.Text("Hello to all of you.").Paced(time.Second))
		stream, err := s.client.Chat.Completions.CreateStream(t.Context(), ask("Hi."))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if err := stream.Close(); err != nil {
			t.Fatal(err)
		}
	}},
	{name: "embeddings", run: func(t *testing.T, s *setup) {
		size := 8
		_, err := s.client.Embeddings.Create(t.Context(), &gateway.EmbeddingRequest{
			Model: "gemini-embedding-001", Input: gateway.EmbeddingText("a cat"), Dimensions: &size, EncodingFormat: "base64",
		})
		if err != nil {
			t.Fatal(err)
		}
	}},
	{name: "text_completion", run: func(t *testing.T, s *setup) {
		_, err := s.client.Completions.Create(t.Context(), &gateway.CompletionRequest{Model: "gemini-2.5-flash", Prompt: gateway.PromptText("Once")})
		if err != nil {
			t.Fatal(err)
		}
	}},
	{name: "error", run: func(t *testing.T, s *setup) {
		s.platform.Script(vertextest.Error(403, "PERMISSION_DENIED", "the account secret-canary may not"))
		if _, err := s.client.Chat.Completions.Create(t.Context(), ask("Hi.")); !errors.Is(err, gateway.ErrPermission) {
			t.Fatal(err)
		}
	}},
	{name: "refused", run: func(t *testing.T, s *setup) {
		if _, err := s.client.Chat.Completions.Create(t.Context(), &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash"}); !errors.Is(err, gateway.ErrInvalidRequest) {
			t.Fatal(err)
		}
	}},
	{name: "fallback", client: func(t *testing.T) []gateway.ClientOption {
		return []gateway.ClientOption{withConfig(t, threeTargets)}
	}, run: func(t *testing.T, s *setup) {
		s.platform.Script(vertextest.RateLimited(2*time.Second).After(time.Second), vertextest.Overloaded(), vertextest.Text("Hello from Claude.").After(time.Second))
		s.chat(t, ask("Hi."))
	}},
	{name: "skipped", client: func(t *testing.T) []gateway.ClientOption {
		return []gateway.ClientOption{withConfig(t, `{
			"strategy": {"mode": "fallback"},
			"targets": [
				{"name": "main", "override_params": {"model": "gemini-2.5-pro"}, "cb_config": {"failure_threshold": 1, "cooldown_interval": 60000}},
				{"name": "spare"}
			]
		}`)}
	}, run: func(t *testing.T, s *setup) {
		s.platform.Script(vertextest.Overloaded(), vertextest.Text("one"), vertextest.Text("two"))
		s.chat(t, ask("Hi."))
		time.Sleep(time.Second)
		s.chat(t, ask("Hi."))
	}},
	{name: "cache_hit", client: func(*testing.T) []gateway.ClientOption {
		return []gateway.ClientOption{gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple})}
	}, run: func(t *testing.T, s *setup) {
		s.platform.Script(vertextest.Text("kept").After(time.Second))
		s.chat(t, ask("Hi."))
		time.Sleep(time.Minute)
		s.chat(t, ask("Hi."))
	}},
	{name: "former", opts: gatewayotel.Options{Conventions: gatewayotel.ConventionsV141}, run: func(t *testing.T, s *setup) {
		s.platform.Script(vertextest.Text("Hello to all of you.").After(time.Second).Paced(time.Second))
		stream, err := s.client.Chat.Completions.CreateStream(t.Context(), ask("Hi."))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Collect(); err != nil {
			t.Fatal(err)
		}
		s.platform.Script(vertextest.Error(403, "PERMISSION_DENIED", "no"))
		_, err = s.client.Chat.Completions.Create(t.Context(), ask("Hi."))
		if !errors.Is(err, gateway.ErrPermission) {
			t.Fatal(err)
		}
	}},
}

func TestSpansAndMetrics(t *testing.T) {
	for _, tt := range scenarios {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var more []gateway.ClientOption
				if tt.client != nil {
					more = tt.client(t)
				}
				s := newSetup(t, tt.opts, more...)
				tt.run(t, s)
				golden(t, tt.name+".txt", s.tree()+"\n"+s.sums(t))
				known(t, s)
			})
		})
	}
}

// TestTheCallersSpanIsTheParent shows that calls are part of the trace of who makes
// them, and that what is below the client is part of the call.
func TestTheCallersSpanIsTheParent(t *testing.T) {
	s := newSetup(t, gatewayotel.Options{})
	ctx, parent := s.tracers.Tracer("test").Start(t.Context(), "parent")
	if _, err := s.client.Chat.Completions.Create(ctx, ask("Hi.")); err != nil {
		t.Fatal(err)
	}
	parent.End()
	var got []string
	for _, span := range s.sorted() {
		if span.SpanContext.TraceID() != parent.SpanContext().TraceID() {
			t.Errorf("%s is in another trace", span.Name)
		}
		if span.Parent.SpanID() == parent.SpanContext().SpanID() {
			got = append(got, span.Name)
		}
	}
	if diff := cmp.Diff([]string{"chat gemini-2.5-flash"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestContextEndsBeforeTheCall shows that a call whose context has ended is counted.
func TestContextEndsBeforeTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, gatewayotel.Options{})
		s.platform.Script(vertextest.Text("late").After(time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.client.Chat.Completions.Create(ctx, ask("Hi.")); !errors.Is(err, gateway.ErrTimeout) {
			t.Fatal(err)
		}
		golden(t, "timeout.txt", s.tree()+"\n"+s.sums(t))
	})
}
