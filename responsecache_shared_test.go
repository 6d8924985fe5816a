package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// each runs n callers at once, and returns when all are done.
func each(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

func TestResponseCacheCoalesces(t *testing.T) {
	const callers = 1000
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("1000 callers ask the model once, streamed %v", stream), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newCacheKit(t, semantic)
				k.srv.Script(vertextest.Text("the only answer, in pieces that take their time").InPieces(5).Paced(time.Second).After(time.Second))
				var shared, misses atomic.Int64
				each(callers, func(i int) {
					time.Sleep(time.Duration(i) * time.Millisecond)
					out, err := answerTo(t, k.client, says("[pets] How do I feed my cat?"), stream)
					if err != nil {
						t.Error(err)
						return
					}
					if out.Text() != "the only answer, in pieces that take their time" {
						t.Errorf("%q", out.Text())
					}
					switch m := out.Meta; {
					case m.Cache.Shared && m.CacheStatus == gateway.CacheMiss && len(m.Attempts) == 0:
						shared.Add(1)
					case m.CacheStatus == gateway.CacheMiss && len(m.Attempts) == 1:
						misses.Add(1)
					default:
						t.Errorf("%s, %+v", m.CacheStatus, m.Attempts)
					}
				})
				if k.asked(1); misses.Load() != 1 || shared.Load() != callers-1 || k.embeds.Load() != 1 {
					t.Errorf("%d misses, %d shared, %d embeddings", misses.Load(), shared.Load(), k.embeds.Load())
				}
				k.ask(gateway.CacheHit, says("[pets] How do I feed my cat?"))
			})
		})
		t.Run(fmt.Sprintf("the one who began it leaves, streamed %v", stream), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newCacheKit(t, simple)
				k.srv.Script(vertextest.Text("an answer in pieces that take their time").InPieces(5).Paced(time.Second).After(time.Second))
				var others sync.WaitGroup
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				for i := range 5 {
					others.Go(func() {
						time.Sleep(time.Duration(100+i) * time.Millisecond)
						out, err := answerTo(t, k.client, says("hello"), stream)
						if err != nil || out.Text() != "an answer in pieces that take their time" {
							t.Errorf("%v, %v", out, err)
						}
					})
				}
				var err error
				if stream {
					_, err = k.client.Chat.Completions.CreateStream(ctx, says("hello"))
				} else {
					_, err = k.client.Chat.Completions.Create(ctx, says("hello"))
				}
				if !errors.Is(err, gateway.ErrTimeout) {
					t.Errorf("%v", err)
				}
				others.Wait()
			})
		})
	}
	t.Run("a caller that leaves alone ends the request, and nothing is kept", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := newCacheKit(t, simple)
			k.srv.Script(vertextest.Text("late").After(time.Hour))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := k.client.Chat.Completions.Create(ctx, says("hello")); !errors.Is(err, gateway.ErrTimeout) {
				t.Error(err)
			}
			synctest.Wait()
			if s := k.client.ResponseCache.Stats(); s.Stored != 0 {
				t.Errorf("%+v", s)
			}
		})
	})
	t.Run("each waits for as long as it has time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := newCacheKit(t, simple)
			for _, stream := range []bool{false, true} {
				k.srv.Script(vertextest.Text("an answer in pieces that take their time").InPieces(5).Paced(time.Minute).After(time.Minute))
				each(2, func(i int) {
					if i == 0 {
						if _, err := answerTo(t, k.client, says("hello"), stream); err != nil {
							t.Error(err)
						}
						return
					}
					time.Sleep(time.Second)
					begin := time.Now()
					_, err := answerTo(t, k.client, says("hello"), stream, gateway.WithTimeouts(gateway.Timeouts{Total: 90 * time.Second}))
					if took := time.Since(begin); !stream && err == nil && took > 90*time.Second || stream && (!errors.Is(err, gateway.ErrTimeout) || took != 90*time.Second) {
						t.Errorf("streamed %v: %v after %v", stream, err, took)
					}
				})
				if _, err := k.client.ResponseCache.Clear(t.Context(), cache.Filter{}); err != nil {
					t.Error(err)
				}
			}
		})
	})
	t.Run("the time of the one who began it is not that of the others", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := newCacheKit(t, simple)
			k.srv.Script(vertextest.Text("late").After(time.Minute), vertextest.Text("in time").After(time.Minute))
			each(3, func(i int) {
				if i == 0 {
					_, err := k.client.Chat.Completions.Create(t.Context(), says("hello"), gateway.WithTimeouts(gateway.Timeouts{Total: 2 * time.Second}))
					if !errors.Is(err, gateway.ErrTimeout) {
						t.Error(err)
					}
					return
				}
				time.Sleep(time.Second)
				if out, err := k.client.Chat.Completions.Create(t.Context(), says("hello")); err != nil || out.Text() != "in time" {
					t.Errorf("%v, %v", out, err)
				}
			})
			k.asked(2)
		})
	})
	t.Run("an error goes to all, and is not kept", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := newCacheKit(t, simple)
			k.srv.Script(vertextest.Error(400, "INVALID_ARGUMENT", "no").After(time.Second), vertextest.Text("now"))
			each(10, func(int) {
				if _, err := k.client.Chat.Completions.Create(t.Context(), says("hello")); !errors.Is(err, gateway.ErrInvalidRequest) {
					t.Error(err)
				}
			})
			k.asked(1)
			k.ask(gateway.CacheMiss, says("hello"))
		})
	})
	t.Run("a stream that breaks breaks for all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := newCacheKit(t, simple)
			k.srv.Script(vertextest.Text("half an answer that is long").InPieces(6).Paced(time.Second).CutAfterEvents(3))
			each(10, func(i int) {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				if _, err := answerTo(t, k.client, says("hello"), true); !errors.Is(err, gateway.ErrStreamCut) {
					t.Error(err)
				}
			})
			k.asked(1)
			k.ask(gateway.CacheMiss, says("hello"))
		})
	})
	t.Run("each asks by itself where that is wanted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := newCacheKit(t, simple)
			for range 4 {
				k.srv.Script(vertextest.Text("hello").After(time.Second))
			}
			each(4, func(int) { k.ask(gateway.CacheMiss, says("hello"), gateway.WithCacheCoalescing(false)) })
			k.asked(4)
		})
	})
	t.Run("the limits and the trail of a config count one request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := newCacheKit(t, gateway.WithConfig(configOf(t, `{"cache":{"mode":"simple"},"retry":{"attempts":2},"targets":[{"limits":{"requests_per_minute":2,"concurrency":1}}]}`)))
			k.srv.Script(vertextest.Error(503, "UNAVAILABLE", "x"), vertextest.Text("hello").After(time.Second))
			var trail atomic.Int64
			each(50, func(int) {
				out := k.ask(gateway.CacheMiss, says("hello"))
				trail.Add(int64(len(out.Meta.Attempts)))
			})
			if k.asked(2); trail.Load() != 2 {
				t.Errorf("%d attempts", trail.Load())
			}
			for range 10 {
				k.ask(gateway.CacheHit, says("hello"))
			}
		})
	})
}

// TestResponseCacheServesForATargetThatIsDown has hits while a target cools down.
func TestResponseCacheServesForATargetThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCacheKit(t, gateway.WithConfig(configOf(t, `{"cache":{"mode":"simple"},"targets":[{"cb_config":{"failure_threshold":1,"cooldown_interval":600000}}]}`)))
		k.ask(gateway.CacheMiss, says("hello"))
		k.srv.Script(vertextest.Error(503, "UNAVAILABLE", "x"))
		if _, err := k.client.Chat.Completions.Create(t.Context(), says("other")); err == nil {
			t.Fatal("no error")
		}
		k.ask(gateway.CacheHit, says("hello"))
	})
}

// panicky is a provider that panics.
type panicky struct{ midstream bool }

func (panicky) Name() string { return "panicky" }

func (panicky) ChatCompletion(context.Context, *providers.Target, *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	panic("the prompt")
}

func (p panicky) ChatCompletionStream(context.Context, *providers.Target, *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	if !p.midstream {
		panic("the prompt")
	}
	return &panickyReader{}, nil
}

type panickyReader struct{ n int }

func (r *panickyReader) Recv() (*providers.ChatCompletionChunk, error) {
	if r.n++; r.n > 2 {
		panic("the prompt")
	}
	return &providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Delta: providers.Delta{Content: "a"}}}}, nil
}

func (*panickyReader) Close() error { return nil }

func TestResponseCachePanicsHangNobody(t *testing.T) {
	for _, midstream := range []bool{false, true} {
		client, err := gateway.New(gateway.WithCustomProvider(panicky{midstream}), gateway.WithProvider("panicky"), gateway.WithoutAuth(), simple)
		if err != nil {
			t.Fatal(err)
		}
		each(20, func(i int) {
			if _, err := answerTo(t, client, says("hello"), i%2 == 0); err == nil || strings.Contains(err.Error(), "prompt") {
				t.Errorf("%v", err)
			}
		})
		_ = client.Close()
	}
}

// TestResponseCacheLeaksNothing has 50 tenants ask the same at once, whole and
// streamed, in both modes: each sees its own answers alone.
func TestResponseCacheLeaksNothing(t *testing.T) {
	const tenants, rounds = 50, 20
	for name, part := range map[string]func(i int) gateway.RequestOption{
		"namespaces": func(i int) gateway.RequestOption { return gateway.WithCacheNamespace(fmt.Sprint("tenant ", i)) },
		"metadata": func(i int) gateway.RequestOption {
			return gateway.WithMetadata(map[string]string{"tenant": fmt.Sprint(i)})
		},
		"tokens": func(i int) gateway.RequestOption { return gateway.WithAccessToken(fmt.Sprint("token", i)) },
	} {
		t.Run(name, func(t *testing.T) {
			client, err := gateway.New(gateway.WithCustomProvider(&echo{}), gateway.WithProvider("echo"), gateway.WithoutAuth(), semantic,
				gateway.WithCacheEmbedding(gateway.CacheEmbedding{Model: "t", Func: func(_ context.Context, text string) ([]float32, error) { return topic(text), nil }}))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			var seen sync.Map // which tenant got which answer
			each(tenants, func(i int) {
				for n := range rounds {
					question := "[pets] How do I feed my cat?"
					if n%2 == 1 {
						question = "[pets] How can I feed my cat?"
					}
					out, err := answerTo(t, client, says(question), n%3 == 0, part(i))
					if err != nil {
						t.Error(err)
						return
					}
					if owner, _ := seen.LoadOrStore(out.Text(), i); owner != i {
						t.Errorf("tenant %d got the answer of %v", i, owner)
					}
				}
			})
		})
	}
}

// echo is a provider each of whose answers is another one.
type echo struct{ n atomic.Int64 }

func (*echo) Name() string { return "echo" }

func (e *echo) answer() string { return fmt.Sprint("answer ", e.n.Add(1)) }

func (e *echo) ChatCompletion(context.Context, *providers.Target, *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	return &providers.ChatCompletion{Choices: []providers.Choice{{Message: providers.AssistantMessage(e.answer()), FinishReason: "stop"}}}, nil
}

func (e *echo) ChatCompletionStream(context.Context, *providers.Target, *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	return &echoReader{chunks: []*providers.ChatCompletionChunk{
		{Choices: []providers.ChunkChoice{{Delta: providers.Delta{Role: "assistant", Content: e.answer()}}}},
		{Choices: []providers.ChunkChoice{{FinishReason: "stop"}}},
	}}, nil
}

type echoReader struct {
	chunks []*providers.ChatCompletionChunk
}

func (r *echoReader) Recv() (*providers.ChatCompletionChunk, error) {
	if len(r.chunks) == 0 {
		return nil, io.EOF
	}
	c := r.chunks[0]
	r.chunks = r.chunks[1:]
	return c, nil
}

func (*echoReader) Close() error { return nil }

// lockingStore is what two processes share.
type lockingStore struct {
	*cache.Memory
	mu   sync.Mutex
	held map[cache.Key]bool
}

func (s *lockingStore) Lock(_ context.Context, key cache.Key, _ time.Duration) (func(), bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] {
		return nil, false, nil
	}
	s.held[key] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.held, key)
	}, true, nil
}

func TestResponseCacheCoalescesAcrossProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, err := cache.NewMemory(cache.MemoryConfig{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = memory.Close() })
		store := &lockingStore{Memory: memory, held: map[cache.Key]bool{}}
		one, two := newCacheKit(t, simple, gateway.WithCacheStore(store)), newCacheKit(t, simple, gateway.WithCacheStore(store))
		one.srv.Script(vertextest.Text("from one").After(3 * time.Second))
		each(2, func(i int) {
			if i == 0 {
				one.ask(gateway.CacheMiss, says("hello"))
				return
			}
			time.Sleep(time.Second)
			if got := two.ask(gateway.CacheHit, says("hello")).Text(); got != "from one" {
				t.Errorf("%q", got)
			}
		})
		two.asked(0)
		{ // who waits too long asks by itself
			one.srv.Script(vertextest.Text("slow").After(time.Minute))
			each(2, func(i int) {
				if i == 0 {
					one.ask(gateway.CacheMiss, says("other"))
					return
				}
				time.Sleep(time.Second)
				begin := time.Now()
				if two.ask(gateway.CacheMiss, says("other")); time.Since(begin) > 11*time.Second {
					t.Errorf("it took %v", time.Since(begin))
				}
			})
		}
		if len(store.held) != 0 {
			t.Errorf("%d locks are held", len(store.held))
		}
	})
}
