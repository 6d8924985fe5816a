package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/cachetest"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// sameAnswer compares two answers in all but what the gateway says of them.
func sameAnswer(t *testing.T, want, got *gateway.ChatCompletion) {
	t.Helper()
	if d := gocmp.Diff(want, got, cmpopts.IgnoreFields(gateway.ChatCompletion{}, "Meta"), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("the answers differ (-want +got)\n%s", d)
	}
}

func TestResponseCacheSharesWholeAndStreamed(t *testing.T) {
	for name, reply := range map[string]vertextest.Reply{
		"a text":   vertextest.Text(strings.Repeat("some words that are long enough ", 40)),
		"thinking": vertextest.Thought("let me see", "here it is"),
		"a call":   vertextest.Call("weather", map[string]any{"city": "Paris"}),
	} {
		for _, strict := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				req := says("hello")
				req.Thinking = &gateway.Thinking{Type: "enabled", BudgetTokens: new(1024)}
				if name == "a call" {
					req.Tools = []gateway.Tool{gateway.FunctionTool("weather", "", []byte(`{"type":"object","properties":{"city":{"type":"string"}}}`))}
				}
				opts := []gateway.ClientOption{simple, gateway.WithStrictCompliance(strict)}
				t.Run("asked whole", func(t *testing.T) {
					k := newCacheKit(t, opts...)
					k.srv.Script(reply)
					want := k.ask(gateway.CacheMiss, req)
					sameAnswer(t, want, k.ask(gateway.CacheHit, req))
					sameAnswer(t, want, k.stream(gateway.CacheHit, req))
					k.asked(1)
				})
				t.Run("asked as a stream", func(t *testing.T) {
					k := newCacheKit(t, opts...)
					k.srv.Script(reply)
					want := k.stream(gateway.CacheMiss, req)
					sameAnswer(t, want, k.stream(gateway.CacheHit, req))
					sameAnswer(t, want, k.ask(gateway.CacheHit, req))
					k.asked(1)
				})
			})
		}
	}
}

// TestResponseCacheReplaysAsAStream looks at the chunks of a hit.
func TestResponseCacheReplaysAsAStream(t *testing.T) {
	k := newCacheKit(t, simple)
	k.srv.Script(vertextest.Text(strings.Repeat("a few words more ", 30)))
	k.ask(gateway.CacheMiss, says("hello"))
	for _, usage := range []bool{false, true} {
		req := says("hello")
		if usage {
			req.StreamOptions = &gateway.StreamOptions{IncludeUsage: true}
		}
		s, err := k.client.Chat.Completions.CreateStream(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		texts, usages, ends := 0, 0, 0
		for c, err := range s.Chunks() {
			if err != nil {
				t.Fatal(err)
			}
			if c.Usage != nil {
				usages++
			}
			for i := range c.Choices {
				if c.Choices[i].Delta.Content != "" {
					texts++
				}
				if c.Choices[i].FinishReason != "" {
					ends++
				}
			}
		}
		if want := map[bool]int{false: 0, true: 1}[usage]; texts < 5 || ends != 1 || usages != want {
			t.Errorf("%d texts, %d ends, %d usages, asked for %v", texts, ends, usages, usage)
		}
	}
	t.Run("over HTTP", func(t *testing.T) {
		req := says("hello")
		req.Stream = true
		status, body := postJSON(t, k.client.Handler(), req)
		if status != "hit" && status != "miss" || !strings.HasSuffix(body, "data: [DONE]\n\n") || strings.Count(body, "data: ") < 6 {
			t.Errorf("%s: %s", status, body)
		}
	})
}

// TestResponseCacheKeepsWholeAnswersAlone asks twice for each answer that must not
// be kept.
func TestResponseCacheKeepsWholeAnswersAlone(t *testing.T) {
	for name, reply := range map[string]vertextest.Reply{
		"cut by the length":        vertextest.Finish("MAX_TOKENS", "half an"),
		"cut for safety":           vertextest.Finish("SAFETY", "half an"),
		"a cut stream":             vertextest.Text("half an answer that is long").InPieces(6).CutAfterEvents(2),
		"an error":                 vertextest.Error(500, "INTERNAL", "x"),
		"ended for another reason": vertextest.Finish("OTHER", "half an"),
		"a refused prompt":         vertextest.Blocked("SAFETY"),
		"an error in the stream":   vertextest.Text("half an answer that is long").InPieces(6).FailAfterEvents(2, 500, "INTERNAL", "x"),
		"grounded":                 vertextest.JSON(200, `{"candidates":[{"content":{"role":"model","parts":[{"text":"news"}]},"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["news"]}}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			k := newCacheKit(t, simple)
			for _, stream := range []bool{false, true} {
				if strings.Contains(name, "stream") && !stream || name == "grounded" && stream {
					continue
				}
				k.srv.Script(reply, vertextest.Text("whole"))
				_, _ = answerTo(t, k.client, says("hello"), stream)
				if got := k.ask(gateway.CacheMiss, says("hello"), gateway.WithCacheNamespace("n")).Text(); got != "whole" {
					t.Errorf("streamed %v: %q", stream, got)
				}
				k.ask(gateway.CacheMiss, says("hello"))
				if _, err := k.client.ResponseCache.Clear(t.Context(), cache.Filter{}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	t.Run("a stream that its caller closes", func(t *testing.T) {
		k := newCacheKit(t, simple)
		k.srv.Script(vertextest.Text("one two three four").InPieces(4), vertextest.Text("whole"))
		s, err := k.client.Chat.Completions.CreateStream(t.Context(), says("hello"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recv(); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		k.ask(gateway.CacheMiss, says("hello"))
	})
	t.Run("one cut by the length, where the rules want it", func(t *testing.T) {
		k := newCacheKit(t, simple, gateway.WithCacheRules(gateway.CacheRules{Truncated: true}))
		k.srv.Script(vertextest.Finish("MAX_TOKENS", "half an"))
		k.ask(gateway.CacheMiss, says("hello"))
		k.ask(gateway.CacheHit, says("hello"))
	})
	t.Run("no request with a tool of the platform", func(t *testing.T) {
		k := newCacheKit(t, simple)
		req := says("news?")
		req.Tools = []gateway.Tool{gateway.PlatformTool("web_search", nil)}
		out := k.ask(gateway.CacheDisabled, req)
		if !strings.Contains(out.Meta.Cache.Reason, "tools[0]") {
			t.Errorf("%+v", out.Meta.Cache)
		}
		k.stream(gateway.CacheDisabled, req)
	})
}

func TestResponseCacheAndGuards(t *testing.T) {
	t.Run("an answer that a guard denied is not kept", func(t *testing.T) {
		deny := true
		guard := gateway.WithGuards(gateway.Guard{Name: "g", Answer: func(context.Context, *gateway.ChatCompletionRequest, *gateway.ChatCompletion) (*gateway.ChatCompletion, error) {
			if deny {
				return nil, errors.New("no")
			}
			return nil, nil //nolint:nilnil // it lets the answer go on
		}})
		for _, stream := range []bool{false, true} {
			k := newCacheKit(t, simple, guard)
			deny = true
			if _, err := answerTo(t, k.client, says("hello"), stream); !errors.Is(err, gateway.ErrGuardDenied) {
				t.Fatal(err)
			}
			deny = false
			k.ask(gateway.CacheMiss, says("hello"))
			k.ask(gateway.CacheHit, says("hello"))
			t.Run("and a hit is judged too", func(t *testing.T) {
				deny = true
				if _, err := answerTo(t, k.client, says("hello"), stream); !errors.Is(err, gateway.ErrGuardDenied) {
					t.Errorf("%v", err)
				}
			})
			k.asked(2)
		}
	})
	t.Run("the guards of a target judge hits", func(t *testing.T) {
		deny := false
		k := newCacheKit(t, gateway.WithNamedGuards(gateway.Guard{Name: "g", Answer: func(_ context.Context, _ *gateway.ChatCompletionRequest, a *gateway.ChatCompletion) (*gateway.ChatCompletion, error) {
			if deny {
				return nil, errors.New("no")
			}
			own := *a
			own.Choices = append([]gateway.Choice(nil), a.Choices...)
			own.Choices[0].Message = gateway.AssistantMessage("[" + a.Text() + "]")
			return &own, nil
		}}), gateway.WithConfig(configOf(t, `{"cache":{"mode":"simple"},"guards":[{"name":"g"}]}`)))
		k.srv.Script(vertextest.Text("one"))
		for _, want := range []gateway.CacheStatus{gateway.CacheMiss, gateway.CacheHit, gateway.CacheHit} {
			if got := k.ask(want, says("hello")).Text(); got != "[one]" {
				t.Errorf("%s: %q", want, got) // judged once, from what the model said
			}
		}
		if got := k.stream(gateway.CacheHit, says("hello")).Text(); got != "[one]" {
			t.Errorf("streamed: %q", got)
		}
		deny = true
		_, err := k.client.Chat.Completions.Create(t.Context(), says("hello"))
		if !errors.Is(err, gateway.ErrGuardDenied) {
			t.Errorf("%v", err)
		}
		k.asked(1)
	})
}

// TestResponseCacheLivesWithFaults puts each fault of a store under many calls: none
// fails, and none gets another's answer.
func TestResponseCacheLivesWithFaults(t *testing.T) {
	for name, faults := range map[string]cachetest.Faults{
		"errors": {Errors: 1}, "some errors": {Errors: 0.3}, "lost writes": {LostWrites: 0.5}, "other entries": {WrongKeys: 0.5},
		"corrupt entries": {Corrupt: 0.5}, "stale entries": {Stale: 0.5}, "delays": {Delays: 0.2, Delay: time.Hour},
		"everything": {Errors: 0.2, LostWrites: 0.2, WrongKeys: 0.2, Corrupt: 0.2, Stale: 0.2, Delays: 0.1, Delay: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory, err := cache.NewMemory(cache.MemoryConfig{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = memory.Close() })
				k := newCacheKit(t, semantic, gateway.WithCacheStore(cachetest.NewFaulty(memory, 1, faults)))
				for i := range 200 {
					word := "w" + strings.Repeat("x", i%7)
					out, err := answerTo(t, k.client, says("["+word+"] what is it"), i%3 == 0)
					if err != nil {
						t.Fatal(err)
					}
					if !strings.Contains(out.Text(), "["+word+"]") {
						t.Fatalf("%s got %q", word, out.Text())
					}
				}
				if s := k.client.ResponseCache.Stats(); faults.Errors > 0 && s.Faults == 0 {
					t.Errorf("no faults were counted: %+v", s)
				}
			})
		})
	}
	t.Run("a store that is down is left alone after a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory, err := cache.NewMemory(cache.MemoryConfig{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = memory.Close() })
			store := cachetest.NewFaulty(memory, 1, cachetest.Faults{Delays: 1, Delay: time.Hour})
			k := newCacheKit(t, simple, gateway.WithCacheStore(store))
			begin := time.Now()
			for range 100 {
				out := k.ask(gateway.CacheMiss, says("hello"))
				if out.Meta.Cache.Err == nil {
					t.Error("the fault is not told")
				}
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("100 calls took %v", took)
			}
		})
	})
}

func TestResponseCacheSemanticFaults(t *testing.T) {
	t.Run("an embedder that fails is a miss, and the answer is kept by its key", func(t *testing.T) {
		k := newCacheKit(t, semantic)
		k.broken.Store(true)
		out := k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
		if out.Meta.Cache.Semantic == "" || out.Meta.Cache.Err == nil {
			t.Errorf("%+v", out.Meta.Cache)
		}
		k.ask(gateway.CacheHit, says("[pets] How do I feed my cat?"))
		k.broken.Store(false)
		k.ask(gateway.CacheMiss, says("[pets] How can I feed my cat?"))
		t.Run("and is left alone after a while", func(t *testing.T) {
			k.broken.Store(true)
			before := k.embeds.Load()
			for i := range 20 {
				k.ask(gateway.CacheMiss, says("[pets] number "+strings.Repeat("I", i)))
			}
			if n := k.embeds.Load() - before; n > 6 {
				t.Errorf("it was asked %d times", n)
			}
		})
	})
	t.Run("one that hangs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := newCacheKit(t, semantic, gateway.WithCacheEmbedding(gateway.CacheEmbedding{Model: "slow", Func: func(ctx context.Context, _ string) ([]float32, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}}))
			begin := time.Now()
			k.ask(gateway.CacheMiss, says("[pets] How do I feed my cat?"))
			if took := time.Since(begin); took > 2100*time.Millisecond {
				t.Errorf("the call took %v", took)
			}
		})
	})
	t.Run("one embedding for a call, by the client's own", func(t *testing.T) {
		k := newCacheKit(t, semantic, gateway.WithCacheEmbedding(gateway.CacheEmbedding{}))
		k.ask(gateway.CacheMiss, says("How do I feed my cat?"))
		var embedded []string
		for _, r := range k.srv.Requests() {
			if strings.Contains(r.Model, "embedding") {
				embedded = append(embedded, string(r.Body))
			}
		}
		if len(embedded) != 1 || !strings.Contains(embedded[0], "SEMANTIC_SIMILARITY") || !strings.Contains(embedded[0], "How do I feed my cat?") || strings.Contains(embedded[0], "brief") {
			t.Errorf("embedded %q", embedded)
		}
		if len(k.srv.Requests()) != 2 {
			t.Errorf("%d requests", len(k.srv.Requests()))
		}
	})
	t.Run("answers with tool calls are found by their key alone", func(t *testing.T) {
		k := newCacheKit(t, semantic)
		k.srv.Script(vertextest.Call("weather", map[string]any{"city": "Paris"}))
		ask := func(q string) *gateway.ChatCompletionRequest {
			req := says(q)
			req.Tools = []gateway.Tool{gateway.FunctionTool("weather", "", []byte(`{"type":"object","properties":{"city":{"type":"string"}}}`))}
			return req
		}
		k.ask(gateway.CacheMiss, ask("[w] How do I feed my cat?"))
		k.ask(gateway.CacheHit, ask("[w] How do I feed my cat?"))
		k.ask(gateway.CacheMiss, ask("[w] How can I feed my cat?"))
	})
}
