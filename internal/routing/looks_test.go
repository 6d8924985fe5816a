package routing_test

import (
	"context"
	"testing"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// TestACallThatLooksBringsInNoRetries has a budget of one retry, which is taken, and
// half of which a call brings in.
func TestACallThatLooksBringsInNoRetries(t *testing.T) {
	r := routing.New(routing.Config{Budget: routing.Budget{Ratio: 0.5, PerSecond: -1, Burst: 1}})
	tree := compile(t, &routing.Node{Name: "a", Key: "a", Retry: routing.Policy{Attempts: 1, Base: 1, Max: 1}})
	down := func(context.Context, *routing.Try) (int, error) {
		return 0, &providers.Error{Code: providers.ErrUnavailable, StatusCode: 503}
	}
	call := func() int {
		var trail []providers.Attempt
		_, _ = routing.Run(t.Context(), r, tree, new(routing.Call), &trail, down)
		n := 0
		for i := range trail {
			if trail[i].Skipped == "" {
				n++
			}
		}
		return n
	}
	if n := call(); n != 2 {
		t.Fatalf("%d requests", n)
	}
	for range 4 {
		_, err := routing.RunAhead(t.Context(), r, tree, &routing.Call{Looks: true}, nil,
			func(context.Context, *routing.Try, func(context.Context) routing.Outcome[int]) (routing.Outcome[int], bool) {
				return routing.Outcome[int]{}, true
			}, down)
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := call(); n != 1 {
		t.Errorf("%d requests", n)
	}
}
