package pipeline

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/providers"
)

// tardy is a provider that takes its time for each request, and keeps within the
// total time it is given. It notes that.
type tardy struct {
	fake

	takes  time.Duration
	err    error // nil answers
	totals []time.Duration
}

func (y *tardy) wait(ctx context.Context, t *providers.Target) error {
	y.mu.Lock()
	y.totals = append(y.totals, t.Timeouts.Total)
	y.mu.Unlock()
	if total := t.Timeouts.Total; total > 0 {
		own, cancel := context.WithTimeout(ctx, total)
		defer cancel()
		ctx = own
	}
	select {
	case <-time.After(y.takes):
		return y.err
	case <-ctx.Done():
		return &providers.Error{Code: codeOf(ctx.Err()), Provider: "tardy", Sent: true}
	}
}

func (y *tardy) Name() string { return "tardy" }

func (y *tardy) ChatCompletion(ctx context.Context, t *providers.Target, _ *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	if err := y.wait(ctx, t); err != nil {
		return nil, err
	}
	return new(rich()), nil
}

func (y *tardy) ChatCompletionStream(ctx context.Context, t *providers.Target, _ *providers.ChatCompletionRequest) (providers.ChunkReader, error) {
	if err := y.wait(ctx, t); err != nil {
		return nil, err
	}
	return &script{err: io.EOF, chunks: []providers.ChatCompletionChunk{{Choices: []providers.ChunkChoice{{Delta: providers.Delta{Content: "a"}, FinishReason: "stop"}}}}}, nil
}

func (y *tardy) NativeStream(ctx context.Context, t *providers.Target, _ *providers.NativeRequest) (providers.NativeEvents, error) {
	return nil, y.wait(ctx, t)
}

func (y *tardy) Native(ctx context.Context, t *providers.Target, _ *providers.NativeRequest) (*providers.NativeAnswer, error) {
	return nil, y.wait(ctx, t)
}

// engineOf is an engine with the provider alone, which is closed in the end.
func engineOf(t *testing.T, y *tardy) *Engine {
	t.Helper()
	e := New(y)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// lockedStore is a store another process has all locks of.
type lockedStore struct{ *cache.Memory }

func (lockedStore) Lock(context.Context, cache.Key, time.Duration) (func(), bool, error) {
	return nil, false, nil
}

// timed is a client with a cache and a limit on the whole call.
func timed(total time.Duration) *Settings {
	s := here()
	s.Cache, s.Timeouts.Total = &config.Cache{Mode: config.CacheSimple}, total
	return s
}

func planOf(t *testing.T, text string) *Plan {
	t.Helper()
	c, err := config.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// took wants the time that a call took.
func took(t *testing.T, want time.Duration, do func() error) error {
	t.Helper()
	begin := time.Now()
	err := do()
	if got := time.Since(begin); got != want {
		t.Errorf("it took %v, want %v", got, want)
	}
	return err
}

func TestTheTimeThatACacheTakesIsTheCallsOwn(t *testing.T) {
	memory := func(t *testing.T) *cache.Memory {
		m, err := cache.NewMemory(cache.MemoryConfig{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		return m
	}
	t.Run("a lock that another process keeps", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			y := &tardy{takes: time.Minute}
			e := engineOf(t, y)
			e.SetCache(Cache{Store: lockedStore{memory(t)}})
			err := took(t, time.Second, func() error {
				_, err := e.Chat(t.Context(), timed(time.Second), new(Settings), ask("m"))
				return err
			})
			if !errors.Is(err, providers.ErrTimeout) || len(y.totals) > 0 {
				t.Errorf("%v, %v", err, y.totals)
			}
			err = took(t, 15*time.Second, func() error {
				_, err := e.Chat(t.Context(), timed(15*time.Second), new(Settings), ask("m"))
				return err
			})
			if !errors.Is(err, providers.ErrTimeout) || len(y.totals) != 1 || y.totals[0] > 5*time.Second {
				t.Errorf("%v, %v", err, y.totals)
			}
		})
	})
	for _, stream := range []bool{false, true} {
		name := map[bool]string{false: "an embedding before an answer", true: "an embedding before a stream"}[stream]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := &tardy{takes: time.Minute}
				e := engineOf(t, y)
				e.SetCache(Cache{Store: memory(t), Embedding: Embedding{Model: "m", Func: func(context.Context, string) ([]float32, error) {
					time.Sleep(700 * time.Millisecond)
					return []float32{1, 0}, nil
				}}})
				s := timed(time.Second)
				s.Cache.Mode = config.CacheSemantic
				err := took(t, time.Second, func() error { return e.either(t.Context(), s, stream) })
				if !errors.Is(err, providers.ErrTimeout) {
					t.Error(err)
				}
				wantEqual(t, []time.Duration{300 * time.Millisecond}, y.totals)
			})
		})
	}
}

// either asks for an answer or a stream, and reads that to its end.
func (e *Engine) either(ctx context.Context, client *Settings, stream bool) error {
	req := ask("m")
	req.Messages = append([]providers.Message{providers.SystemMessage("be brief")}, req.Messages...)
	if !stream {
		_, err := e.Chat(ctx, client, new(Settings), req)
		return err
	}
	s, err := e.ChatStream(ctx, client, new(Settings), req)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // should a guard panic
	_, err = s.Collect()
	return err
}

func TestAPlanWithACacheKeepsTheTimeOfTheCall(t *testing.T) {
	native := &providers.NativeRequest{Model: "m", Method: providers.NativeStream, Body: []byte(`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`)}
	calls := map[string]func(context.Context, *Engine, *Settings) error{
		"answer": func(ctx context.Context, e *Engine, s *Settings) error { return e.either(ctx, s, false) },
		"stream": func(ctx context.Context, e *Engine, s *Settings) error { return e.either(ctx, s, true) },
		"native stream": func(ctx context.Context, e *Engine, s *Settings) error {
			_, err := e.NativeStream(ctx, s, new(Settings), native)
			return err
		},
	}
	down := &providers.Error{Code: providers.ErrUnavailable, StatusCode: 503, Provider: "tardy"}
	for name, call := range calls {
		t.Run(name+" with retries", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := &tardy{takes: 700 * time.Millisecond, err: down}
				s := timed(time.Second)
				s.Plan = planOf(t, `{"retry":{"attempts":5,"backoff":{"base":1,"max":1}}}`)
				begin := time.Now()
				err := call(t.Context(), engineOf(t, y), s)
				if took := time.Since(begin); !errors.Is(err, providers.ErrTimeout) || took != time.Second {
					t.Errorf("%v after %v", err, took)
				}
				if len(y.totals) != 2 || y.totals[0] != time.Second || y.totals[1] > 300*time.Millisecond {
					t.Errorf("%v", y.totals)
				}
			})
		})
		t.Run(name+" in a queue", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := &tardy{takes: time.Hour}
				e, s := engineOf(t, y), timed(0)
				s.Plan = planOf(t, `{"targets":[{"limits":{"concurrency":1,"queue_timeout":60000}}]}`)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() {
					other := *s
					other.Cache = nil
					_ = e.either(ctx, &other, false)
				}()
				synctest.Wait()
				s.Timeouts.Total = time.Second
				if err := took(t, time.Second, func() error { return call(t.Context(), e, s) }); err == nil {
					t.Error("no error")
				}
				if len(y.totals) != 1 {
					t.Errorf("%v", y.totals)
				}
			})
		})
	}
}

// TestOneWhoLeavesInAPlanEndsNothing has the others wait for what one began whose
// context ends.
func TestOneWhoLeavesInAPlanEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := &tardy{takes: 10 * time.Second}
		e, s := engineOf(t, y), timed(time.Minute)
		s.Plan = planOf(t, `{"retry":{"attempts":1}}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, stream := range []bool{false, true} {
			done := make(chan error, 1)
			go func() { done <- e.either(ctx, s, stream) }()
			synctest.Wait()
			if err := took(t, 10*time.Second, func() error { return e.either(t.Context(), s, stream) }); err != nil {
				t.Error(err)
			}
			if err := <-done; err == nil {
				t.Error("no error")
			}
			ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			e = engineOf(t, y)
		}
	})
}
