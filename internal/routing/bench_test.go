package routing_test

import (
	"context"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// bench is a tree, with what a call through it may allocate at most.
type bench struct {
	name   string
	root   *routing.Node
	allocs float64
}

func benches() []bench {
	full := func(key string) *routing.Node {
		return &routing.Node{
			Key: key, Retry: routing.Policy{Attempts: 2}, Cooldown: routing.Cooldown{Failures: 3},
			Limits: routing.Limits{Requests: 1 << 40, Tokens: 1 << 60, Concurrent: 100},
		}
	}
	three := func(leaf func(string) *routing.Node) *routing.Node {
		inner := sticky(group(routing.LoadBalance, leaf("a"), leaf("b"), leaf("c")))
		outer := group(routing.Conditional, group(routing.Fallback, inner, leaf("d")), leaf("e"))
		outer.Cases = []routing.Case{{When: func(any) bool { return false }, Then: 1}, {When: func(any) bool { return true }, Then: 0}}
		return outer
	}
	return []bench{
		{"leaf", leaf("a"), 1},
		{"three levels", three(leaf), 1},
		{"three levels with everything", three(full), 2},
	}
}

func aCall() *routing.Call { return &routing.Call{View: "user-1", Tokens: 100} }

// through runs one successful call.
func through(ctx context.Context, r *routing.Router, tree *routing.Tree, call *routing.Call, trail *[]providers.Attempt) error {
	*trail = (*trail)[:0]
	_, err := routing.Run(ctx, r, tree, call, trail, answer)
	return err
}

func answer(context.Context, *routing.Try) (string, error) { return "ok", nil }

func TestWhatACallAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, b := range benches() {
		r, tree := routing.New(routing.Config{}), compile(t, b.root)
		trail, call := make([]providers.Attempt, 0, 1), aCall()
		got := testing.AllocsPerRun(1000, func() {
			if err := through(t.Context(), r, tree, call, &trail); err != nil {
				t.Fatal(err)
			}
		})
		if got > b.allocs {
			t.Errorf("%s: %v allocations, want %v at most", b.name, got, b.allocs)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for _, bb := range benches() {
		b.Run(bb.name, func(b *testing.B) {
			r, tree := routing.New(routing.Config{}), compile(b, bb.root)
			trail, call := make([]providers.Attempt, 0, 1), aCall()
			b.ReportAllocs()
			for b.Loop() {
				if err := through(b.Context(), r, tree, call, &trail); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRunParallel(b *testing.B) {
	for _, bb := range benches() {
		b.Run(bb.name, func(b *testing.B) {
			r, tree := routing.New(routing.Config{}), compile(b, bb.root)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				trail, call := make([]providers.Attempt, 0, 1), aCall()
				for pb.Next() {
					if err := through(b.Context(), r, tree, call, &trail); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func BenchmarkFallback(b *testing.B) {
	down := status(503)
	tree := compile(b, group(routing.Fallback, leaf("a"), leaf("b")))
	r := routing.New(routing.Config{})
	b.ReportAllocs()
	for b.Loop() {
		_, _ = routing.Run(b.Context(), r, tree, &routing.Call{}, nil, func(_ context.Context, x *routing.Try) (int, error) {
			if x.Leaf.Key == "a" {
				return 0, down
			}
			return 0, nil
		})
	}
}

func BenchmarkCommit(b *testing.B) {
	for name, o := range map[string]routing.CommitOptions{"partial": {}, "bare": {NoPartial: true}} {
		b.Run(name, func(b *testing.B) {
			chunk := &providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Delta: providers.Delta{Content: "a few words "}}}}
			s := &endless{chunk: chunk}
			r, err := routing.Commit(s, o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Recv(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// endless is a stream of one chunk, over and over.
type endless struct {
	chunk *providers.ChatCompletionChunk
}

func (e *endless) Recv() (*providers.ChatCompletionChunk, error) { return e.chunk, nil }
func (e *endless) Close() error                                  { return nil }

func BenchmarkLimiterInLine(b *testing.B) {
	tree := compile(b, &routing.Node{Key: "a", Limits: routing.Limits{Concurrent: 4, QueueTimeout: time.Hour}})
	r := routing.New(routing.Config{})
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		trail, call := make([]providers.Attempt, 0, 1), aCall()
		for pb.Next() {
			_ = through(b.Context(), r, tree, call, &trail)
		}
	})
}
