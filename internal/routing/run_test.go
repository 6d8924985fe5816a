package routing_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

func TestTreesAreWalked(t *testing.T) {
	down := status(503)
	conditional := func(def *int) *routing.Node {
		n := group(routing.Conditional, leaf("a"), leaf("b"), group(routing.Fallback, leaf("c"), leaf("d")))
		is := func(want string) func(any) bool { return func(view any) bool { return view == want } }
		n.Cases, n.Default = []routing.Case{{When: is("x"), Then: 1}, {When: is("y"), Then: 2}, {When: is("x"), Then: 0}}, def
		return n
	}
	for _, tt := range []struct {
		name    string
		root    *routing.Node
		replies map[string][]reply
		view    any
		want    string // who answered
		code    providers.Code
		trail   []string
	}{
		{name: "a leaf", root: leaf("a"), want: "a", trail: []string{" 200"}},
		{name: "a leaf that fails", root: leaf("a"), replies: map[string][]reply{"a": fails(down)}, code: providers.ErrUnavailable, trail: []string{" 503 service_unavailable"}},
		{name: "single", root: group(routing.Single, leaf("a")), want: "a", trail: []string{"targets[0] 200"}},
		{
			name: "fallback", root: group(routing.Fallback, leaf("a"), leaf("b"), leaf("c")),
			replies: map[string][]reply{"a": fails(down), "b": fails(status(400))}, want: "c",
			trail: []string{"targets[0] 503 service_unavailable", "targets[1] 400 invalid_request", "targets[2] 200"},
		},
		{
			name: "fallback returns the last error", root: group(routing.Fallback, leaf("a"), leaf("b")),
			replies: map[string][]reply{"a": fails(down), "b": fails(status(404))}, code: providers.ErrModelNotFound,
			trail: []string{"targets[0] 503 service_unavailable", "targets[1] 404 model_not_found"},
		},
		{
			name: "nested fallbacks", root: group(routing.Fallback, group(routing.Fallback, leaf("a"), leaf("b")), leaf("c")),
			replies: map[string][]reply{"a": fails(down), "b": fails(down)}, want: "c",
			trail: []string{"targets[0].targets[0] 503 service_unavailable", "targets[0].targets[1] 503 service_unavailable", "targets[1] 200"},
		},
		{
			name: "a name stands for the place", root: group(routing.Fallback, &routing.Node{Name: "eu", Key: "a"}),
			want: "a", trail: []string{"eu 200"},
		},
		{
			name: "loadbalance does not fall back", root: group(routing.LoadBalance, leaf("a"), leaf("b")),
			replies: map[string][]reply{"a": fails(down)}, code: providers.ErrUnavailable, trail: []string{"targets[0] 503 service_unavailable"},
		},
		{name: "the first case that holds", root: conditional(nil), view: "x", want: "b", trail: []string{"targets[1] 200"}},
		{
			name: "a case with a group", root: conditional(nil), view: "y", replies: map[string][]reply{"c": fails(down)}, want: "d",
			trail: []string{"targets[2].targets[0] 503 service_unavailable", "targets[2].targets[1] 200"},
		},
		{name: "no case", root: conditional(nil), view: "z", code: providers.ErrInvalidConfig},
		{name: "the default", root: conditional(new(0)), view: "z", want: "a", trail: []string{"targets[0] 200"}},
		{name: "an error that is no Error", root: group(routing.Fallback, leaf("a"), leaf("b")), replies: map[string][]reply{"a": fails(errors.New("odd"))}, want: "b",
			trail: []string{"targets[0] server_error", "targets[1] 200"}},
		{name: "a wrapped error", root: group(routing.Fallback, leaf("a"), leaf("b")), replies: map[string][]reply{"a": fails(fmt.Errorf("w: %w", down))}, want: "b",
			trail: []string{"targets[0] 503 service_unavailable", "targets[1] 200"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(tt.replies)
				got, err := s.run(t.Context(), t, routing.New(routing.Config{Rand: always(0)}), tt.root, routing.Call{View: tt.view})
				if got != tt.want && err == nil || codeOf(err) != tt.code {
					t.Errorf("%q, %v; want %q, %q", got, err, tt.want, tt.code)
				}
				wantEqual(t, "trail", tt.trail, lines(s.trail))
			})
		})
	}
}

func TestTheErrorIsThatOfTheTry(t *testing.T) {
	own := fmt.Errorf("wrapped: %w", status(500))
	s := newStage(map[string][]reply{"a": fails(own)})
	if _, err := s.run(t.Context(), t, routing.New(routing.Config{}), leaf("a"), routing.Call{}); err != own {
		t.Errorf("%v, want the try's own error", err)
	}
	_, err := s.run(t.Context(), t, routing.New(routing.Config{}), &routing.Node{
		Mode: routing.Conditional, Name: "by region", Children: []*routing.Node{leaf("a")},
		Cases: []routing.Case{{When: func(any) bool { return false }}},
	}, routing.Call{})
	if err == nil || err.Error() != "invalid_config: by region.conditions: none holds for this request: add a default" {
		t.Errorf("%v", err)
	}
}

func TestTheTrailHasTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(map[string][]reply{
			"a": {{2 * time.Second, asking(429, 3*time.Second)}, {time.Second, status(500)}}, "b": {{after: 5 * time.Second}},
		})
		a := leaf("a")
		a.Retry = routing.Policy{Attempts: 1}
		begin := time.Now()
		if _, err := s.run(t.Context(), t, routing.New(routing.Config{}), group(routing.Fallback, a, leaf("b")), routing.Call{}); err != nil {
			t.Error(err)
		}
		wantEqual(t, "trail", []providers.Attempt{
			{Target: "targets[0]", Provider: "p-a", StatusCode: 429, Code: providers.ErrRateLimited, Start: begin, Duration: 2 * time.Second},
			{Target: "targets[0]", Provider: "p-a", StatusCode: 500, Code: providers.ErrServer, Start: begin.Add(5 * time.Second), Duration: time.Second, Retry: 1, Wait: 3 * time.Second},
			{Target: "targets[1]", Provider: "p-b", StatusCode: 200, Start: begin.Add(6 * time.Second), Duration: 5 * time.Second},
		}, s.trail)
	})
}

func TestTriesAreBounded(t *testing.T) {
	down := fails(status(500), status(500), status(500), status(500))
	tree := func() *routing.Node {
		a, b, c := leaf("a"), leaf("b"), leaf("c")
		for _, n := range []*routing.Node{a, b, c} {
			n.Retry = routing.Policy{Attempts: 2, Base: 1}
		}
		return group(routing.Fallback, a, b, c)
	}
	for tries, want := range map[int][]string{
		2: {"targets[0] 500 server_error", "targets[0] 500 server_error retry 1", "targets[0] skipped: max_attempts retry 2", "targets[1] skipped: max_attempts"},
		3: {"targets[0] 500 server_error", "targets[0] 500 server_error retry 1", "targets[0] 500 server_error retry 2", "targets[1] skipped: max_attempts"},
		4: {"targets[0] 500 server_error", "targets[0] 500 server_error retry 1", "targets[0] 500 server_error retry 2", "targets[1] 500 server_error",
			"targets[1] skipped: max_attempts retry 1", "targets[2] skipped: max_attempts"},
	} {
		s := newStage(map[string][]reply{"a": down, "b": down, "c": down})
		_, err := s.run(t.Context(), t, routing.New(routing.Config{MaxAttempts: tries, Rand: always(0)}), tree(), routing.Call{})
		if codeOf(err) != providers.ErrServer || len(s.asked) != tries {
			t.Errorf("%d tries, %v", len(s.asked), err)
		}
		for i := range s.trail {
			s.trail[i].Duration = 0
		}
		wantEqual(t, "trail", want, lines(s.trail))
	}
}

func TestACallThatHasEndedAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		a := leaf("a")
		a.Retry = routing.Policy{Attempts: 3, RepeatSent: true}
		s := newStage(map[string][]reply{"a": {{after: time.Minute}}})
		_, err := s.run(ctx, t, routing.New(routing.Config{}), group(routing.Fallback, a, leaf("b")), routing.Call{})
		if codeOf(err) != providers.ErrTimeout || len(s.asked) != 1 {
			t.Errorf("%v after %v", err, s.asked)
		}
	})
}

func TestNoTrailIsKeptUnasked(t *testing.T) {
	s := newStage(map[string][]reply{"a": fails(status(500))})
	a := leaf("a")
	a.Cooldown.Failures = 1
	tree := compile(t, group(routing.Fallback, a, leaf("b")))
	r := routing.New(routing.Config{})
	for range 2 {
		if got, err := routing.Run(t.Context(), r, tree, &routing.Call{}, nil, s.try); got != "b" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	wantEqual(t, "asked", 3, len(s.asked))
}

func TestAPanicLeavesNothingTaken(t *testing.T) {
	a := leaf("a")
	a.Limits.Concurrent, a.Limits.QueueTimeout = 1, -1
	a.Cooldown.Failures = 1
	a.Hedge.After = time.Hour
	r, tree := routing.New(routing.Config{}), compile(t, a)
	for range 3 {
		func() {
			defer func() { _ = recover() }()
			_, _ = routing.Run(t.Context(), r, tree, &routing.Call{}, nil, func(context.Context, *routing.Try) (int, error) { panic("odd") })
		}()
	}
	if _, err := newStage(nil).run(t.Context(), t, r, a, routing.Call{}); err != nil {
		t.Error(err)
	}
}

// A try that is bound by the call's own time may fail before the context says that
// it is over.
func TestNothingFollowsTheDeadline(t *testing.T) {
	for range 20 { // which of two timers is first is chance
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			tree, trail, tries := compile(t, group(routing.Fallback, leaf("a"), leaf("b"))), []providers.Attempt(nil), 0
			_, err := routing.Run(ctx, routing.New(routing.Config{}), tree, aCall(), &trail, func(context.Context, *routing.Try) (string, error) {
				tries++
				time.Sleep(time.Second)
				return "", &providers.Error{Code: providers.ErrTimeout, Sent: true}
			})
			if tries != 1 || len(trail) != 1 || !errors.Is(err, providers.ErrTimeout) {
				t.Errorf("%d tries, %v, %v", tries, trail, err)
			}
		})
	}
}
