package routing_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

func TestHedges(t *testing.T) {
	const s = time.Second
	type want struct {
		Who   int // the request that answered, from 1; 0 for none
		Code  providers.Code
		After time.Duration
		Trail []string
	}
	for _, tt := range []struct {
		name    string
		change  func(*routing.Node, *routing.Config, *routing.Call)
		replies []reply
		want    want
	}{
		{"an answer in time", nil, []reply{{after: s}}, want{1, "", s, []string{" 200 in 1s"}}},
		{"the second answers first", nil, []reply{{after: 10 * s}, {after: s}}, want{2, "", 3 * s, []string{" canceled in 3s", " 200 in 1s hedged"}}},
		{"the first answers first", nil, []reply{{after: 3 * s}, {after: 10 * s}}, want{1, "", 3 * s, []string{" 200 in 3s", " canceled in 1s hedged"}}},
		{"a failure in time is no reason for a hedge", nil, []reply{{after: s, err: status(500)}}, want{0, providers.ErrServer, s, []string{" 500 server_error in 1s"}}},
		{"the first fails later", nil, []reply{{after: 3 * s, err: status(500)}, {after: 4 * s}}, want{2, "", 6 * s, []string{" 500 server_error in 3s", " 200 in 4s hedged"}}},
		{"the second fails", nil, []reply{{after: 5 * s}, {after: s, err: status(500)}}, want{1, "", 5 * s, []string{" 200 in 5s", " 500 server_error in 1s hedged"}}},
		{"both fail", nil, []reply{{after: 5 * s, err: status(500)}, {after: s, err: status(429)}}, want{0, providers.ErrServer, 5 * s, []string{" 500 server_error in 5s", " 429 rate_limit_exceeded in 1s hedged"}}},
		{"streams have none", func(_ *routing.Node, _ *routing.Config, c *routing.Call) { c.Stream = true }, []reply{{after: 10 * s}}, want{1, "", 10 * s, []string{" 200 in 10s"}}},
		{"no try is left", func(_ *routing.Node, c *routing.Config, _ *routing.Call) { c.MaxAttempts = 1 }, []reply{{after: 10 * s}}, want{1, "", 10 * s, []string{" 200 in 10s", " skipped: max_attempts hedged"}}},
		{"no budget is left", func(_ *routing.Node, c *routing.Config, _ *routing.Call) {
			c.Budget = routing.Budget{Ratio: -1, PerSecond: -1, Burst: -1}
		}, []reply{{after: 10 * s}}, want{1, "", 10 * s, []string{" 200 in 10s", " skipped: retry_budget hedged"}}},
		{"no place is left", func(n *routing.Node, _ *routing.Config, _ *routing.Call) { n.Limits.Concurrent = 1 }, []reply{{after: 10 * s}}, want{1, "", 10 * s, []string{" 200 in 10s", " skipped: limit hedged"}}},
		{"after both failed it is retried", func(n *routing.Node, _ *routing.Config, _ *routing.Call) {
			n.Retry = routing.Policy{Attempts: 1, Base: 1}
		},
			[]reply{{after: 5 * s, err: status(500)}, {after: s, err: status(429)}, {after: s}},
			want{3, "", 6 * s, []string{" 500 server_error in 5s", " 429 rate_limit_exceeded in 1s hedged", " 200 retry 1 in 1s"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, cfg, call := leaf("a"), routing.Config{Rand: always(0)}, routing.Call{}
				n.Hedge.After = 2 * s
				n.Cooldown.Failures = 100
				if tt.change != nil {
					tt.change(n, &cfg, &call)
				}
				var trail []providers.Attempt
				begun := time.Now()
				var asked atomic.Int32
				who, err := routing.Run(t.Context(), routing.New(cfg), compile(t, n), &call, &trail, func(ctx context.Context, _ *routing.Try) (int, error) {
					me := int(asked.Add(1)) // the requests begin at different times
					return me, settle(ctx, tt.replies[me-1])
				})
				if err != nil {
					who = 0
				}
				wantEqual(t, "outcome", tt.want, want{who, codeOf(err), time.Since(begun), lines(trail)})
			})
		})
	}
}

// What we cancel ourselves is no failure of the target, and gives its place back.
func TestTheLoserIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := leaf("a")
		n.Hedge.After = time.Second
		n.Cooldown.Failures = 1
		n.Limits.Concurrent = 2
		r, tree := routing.New(routing.Config{}), compile(t, n)
		for range 3 {
			var asked atomic.Int32
			_, err := routing.Run(t.Context(), r, tree, &routing.Call{}, nil, func(ctx context.Context, _ *routing.Try) (int, error) {
				if asked.Add(1) == 1 {
					<-ctx.Done()
					return 0, &providers.Error{Code: providers.ErrConnection, Sent: true} // a provider that does not look at why
				}
				return 0, nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		wantEqual(t, "health", []routing.TargetHealth{{Key: "a"}}, r.Health())
	})
}

func TestACallThatEndsEndsBothRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := leaf("a")
		n.Hedge.After = time.Second
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begun := time.Now()
		var ended atomic.Int32
		_, err := routing.Run(ctx, routing.New(routing.Config{}), compile(t, n), &routing.Call{}, nil, func(ctx context.Context, _ *routing.Try) (int, error) {
			err := settle(ctx, reply{after: time.Hour})
			ended.Add(1)
			return 0, err
		})
		if codeOf(err) != providers.ErrTimeout || ended.Load() != 2 || time.Since(begun) != 5*time.Second {
			t.Errorf("%v, %d ended after %v", err, ended.Load(), time.Since(begun))
		}
	})
}

// Whoever keeps a place for an answer that loses has it given back: the places
// are enough for a hedge each time.
func TestALosersPlaceIsGivenBack(t *testing.T) {
	for name, takes := range map[string][]time.Duration{
		"the first loses":  {3 * time.Second, time.Second},
		"the second loses": {3 * time.Second, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := leaf("a")
				n.Hedge.After = time.Second
				n.Limits = routing.Limits{Concurrent: 2, QueueTimeout: -1}
				r, tree := routing.New(routing.Config{}), compile(t, n)
				for range 3 {
					var asked atomic.Int32
					lease, err := routing.Run(t.Context(), r, tree, &routing.Call{}, nil, func(_ context.Context, x *routing.Try) (*routing.Lease, error) {
						time.Sleep(takes[asked.Add(1)-1]) // deaf to its context
						return x.Keep(), nil
					})
					if err != nil || asked.Load() != 2 {
						t.Fatalf("%v, %d requests", err, asked.Load())
					}
					lease.Done(0, nil)
				}
			})
		})
	}
}
