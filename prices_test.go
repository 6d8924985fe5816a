package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/prices"
)

// lastRecord keeps the record of the last call.
type lastRecord struct{ record gateway.Record }

func (l *lastRecord) CallStart(ctx context.Context, _ gateway.Call) context.Context { return ctx }
func (l *lastRecord) CallEnd(_ context.Context, r gateway.Record)                   { l.record = r }

// TestCallsAreReckoned checks that all that is paid for gets from the platform's
// answer into the cost.
func TestCallsAreReckoned(t *testing.T) {
	last := &lastRecord{}
	client, _ := newClient(t, gateway.WithObserver(last), gateway.WithStrictCompliance(true))
	chat := func(model string, tools ...gateway.Tool) func() error {
		return func() error {
			_, err := client.Chat.Completions.Create(t.Context(), &gateway.ChatCompletionRequest{
				Model: model, Messages: []gateway.Message{gateway.UserMessage("Who won the cup in 2024?")}, Tools: tools,
			})
			return err
		}
	}
	streamed := func(model string, tools ...gateway.Tool) func() error {
		return func() error {
			s, err := client.Chat.Completions.CreateStream(t.Context(), &gateway.ChatCompletionRequest{
				Model: model, Messages: []gateway.Message{gateway.UserMessage("Who won the cup in 2024?")}, Tools: tools,
			})
			if err != nil {
				return err
			}
			_, err = s.Collect()
			return err
		}
	}
	draw := func(model string) func() error {
		return func() error {
			n := 2
			if !strings.HasPrefix(model, "imagen") {
				n = 1
			}
			_, err := client.Images.Generate(t.Context(), &gateway.ImageRequest{Model: model, Prompt: "A cat", N: &n}, gateway.WithRegion("us-central1"))
			return err
		}
	}
	embed := func(model string) func() error {
		return func() error {
			_, err := client.Embeddings.Create(t.Context(), &gateway.EmbeddingRequest{Model: model, Input: gateway.EmbeddingTexts("one", "two")})
			return err
		}
	}
	search := gateway.PlatformTool("web_search", nil)
	for name, tt := range map[string]struct {
		call func() error
		want []prices.Kind
	}{
		"a chat":             {chat("gemini-2.5-flash-lite"), []prices.Kind{prices.Input, prices.Output}},
		"a stream":           {streamed("gemini-2.5-pro"), []prices.Kind{prices.Input, prices.Output}},
		"Claude":             {chat("anthropic.claude-sonnet-4-5@20250929"), []prices.Kind{prices.Input, prices.Output}},
		"Claude, streamed":   {streamed("anthropic.claude-opus-4-6"), []prices.Kind{prices.Input, prices.Output}},
		"an open model":      {chat("openai/gpt-oss-120b-maas"), []prices.Kind{prices.Input, prices.Output}},
		"searches":           {chat("gemini-2.5-flash-lite", search), []prices.Kind{prices.Input, prices.Output, prices.Grounding}},
		"searches, streamed": {streamed("gemini-3-flash-preview", search), []prices.Kind{prices.Input, prices.Output, prices.Search}},
		"searches of Claude": {chat("anthropic.claude-sonnet-4-5@20250929", search), []prices.Kind{prices.Input, prices.Output, prices.Search}},
		"Imagen":             {draw("imagen-4.0-generate-001"), []prices.Kind{prices.Image}},
		"Gemini draws":       {draw("gemini-2.5-flash-image"), []prices.Kind{prices.Input, prices.Output, prices.ImageOutput}},
		"characters":         {embed("text-embedding-005"), []prices.Kind{prices.Character}},
		"tokens":             {embed("gemini-embedding-001"), []prices.Kind{prices.Input}},
		"documents": {func() error {
			_, err := client.Rerank.Create(t.Context(), &gateway.RerankRequest{Model: "semantic-ranker-default-004", Query: "q", Documents: []gateway.RerankDocument{{Text: "a"}, {Text: "b"}}})
			return err
		}, []prices.Kind{prices.Rerank}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tt.call(); err != nil {
				t.Fatal(err)
			}
			c := prices.Default().Cost(&last.record)
			var got []prices.Kind
			for _, p := range c.Parts {
				got = append(got, p.Kind)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || !c.Known || c.Total <= 0 {
				t.Errorf("%+v, billed %+v, usage %+v\n%s", c, last.record.Billed, last.record.Usage, diff)
			}
		})
	}
}

// TestABudgetEndsCalls checks that a budget counts calls of every kind, and refuses
// them before anything is sent.
func TestABudgetEndsCalls(t *testing.T) {
	var crossed []int
	b, err := prices.NewBudget(prices.BudgetOptions{
		Limits:  []prices.Limit{{Name: "teams", By: prices.ByMetadata("team"), Window: prices.Monthly, Amount: 1, Refuse: true}},
		Shares:  []int{100},
		OnShare: func(c prices.Crossing) { crossed = append(crossed, c.Share) },
	})
	if err != nil {
		t.Fatal(err)
	}
	client, platform := newClient(t, gateway.WithObserver(b), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}))
	ctx, team := t.Context(), gateway.WithMetadata(map[string]string{"team": "a"})
	stream := func() error {
		s, err := client.Chat.Completions.CreateStream(ctx, hello("gemini-2.5-pro"), team)
		if err != nil {
			return err
		}
		_, err = s.Collect()
		return err
	}
	if err := stream(); err != nil {
		t.Fatal(err)
	}
	first, _ := b.Spent("teams", "a")
	if first.Spent <= 1 || len(crossed) != 1 {
		t.Fatalf("%+v, crossed %v", first, crossed)
	}
	before := len(platform.Requests())
	view, err := client.With(team)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := gateway.ParseConfig([]byte(`{"retry":{"attempts":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"a stream": stream,
		"a chat":   func() error { _, err := view.Chat.Completions.Create(ctx, hello("gemini-2.5-pro")); return err },
		"embeddings": func() error {
			_, err := view.Embeddings.Create(ctx, &gateway.EmbeddingRequest{Model: "gemini-embedding-001", Input: gateway.EmbeddingTexts("a")})
			return err
		},
		"images": func() error {
			_, err := view.Images.Generate(ctx, &gateway.ImageRequest{Model: "imagen-4.0-generate-001", Prompt: "A cat"})
			return err
		},
		"a configured chat": func() error {
			_, err := view.Chat.Completions.Create(ctx, hello("gemini-2.5-pro"), gateway.WithConfig(plan))
			return err
		},
	} {
		err := call()
		if e, ok := errors.AsType[*gateway.Error](err); !ok || e.Code != gateway.ErrQuotaExceeded || e.Sent || !errors.Is(err, gateway.ErrRateLimited) || e.RequestID == "" {
			t.Errorf("%s: %+v", name, err)
		}
	}
	res := httptest.NewRecorder()
	view.Handler().ServeHTTP(res, httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions",
		strings.NewReader(`{"model":"gemini-2.5-pro","messages":[{"role":"user","content":"Hello!"}]}`)))
	body, _ := io.ReadAll(res.Body)
	if res.Code != http.StatusTooManyRequests || !strings.Contains(string(body), `"insufficient_quota"`) || res.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v %s", res.Code, res.Header(), body)
	}
	if n := len(platform.Requests()); n != before {
		t.Errorf("%d requests were sent", n-before)
	}
	if after, _ := b.Spent("teams", "a"); after.Spent != first.Spent {
		t.Errorf("what was refused cost %v", after.Spent-first.Spent)
	}
	if _, err := client.Chat.Completions.Create(ctx, hello("gemini-2.5-pro"), gateway.WithMetadata(map[string]string{"team": "b"})); err != nil {
		t.Errorf("another team: %v", err)
	}
}

func TestHitsSpendNothing(t *testing.T) {
	last := &lastRecord{}
	b, err := prices.NewBudget(prices.BudgetOptions{Limits: []prices.Limit{{Name: "all", By: prices.ByAll, Window: prices.Monthly, Amount: prices.Dollar}}})
	if err != nil {
		t.Fatal(err)
	}
	client, _ := newClient(t, gateway.WithObserver(b), gateway.WithObserver(last), gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}))
	ask := func() prices.Amount {
		if _, err := client.Chat.Completions.Create(t.Context(), hello("gemini-2.5-pro")); err != nil {
			t.Fatal(err)
		}
		s, _ := b.Spent("all", "")
		return s.Spent
	}
	first := ask()
	cost, _ := prices.Default().Record(&last.record)
	if second := ask(); first <= 0 || second != first {
		t.Errorf("%v, and with a hit %v", first, second)
	}
	if none, saved := prices.Default().Record(&last.record); *none != 0 || saved == nil || *saved != *cost || *saved != first {
		t.Errorf("a hit cost %v and saved %v of %v", none, saved, first)
	}
}
