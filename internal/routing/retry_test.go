package routing_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// retried runs a target that fails with the errors, and returns when it was
// asked.
func retried(ctx context.Context, t *testing.T, cfg routing.Config, p routing.Policy, errs ...error) (asked []string, err error) {
	t.Helper()
	s := newStage(map[string][]reply{"a": fails(errs...)})
	_, err = s.run(ctx, t, routing.New(cfg), &routing.Node{Key: "a", Retry: p}, routing.Call{})
	return s.asked, err
}

func TestPauses(t *testing.T) {
	down := status(503)
	four := []error{down, down, down, down}
	for _, tt := range []struct {
		name   string
		policy routing.Policy
		random float64
		errs   []error
		asked  []string
		fails  bool
	}{
		{"no retry unless asked for", routing.Policy{}, 0.5, four, []string{"a"}, true},
		{"the pauses double", routing.Policy{Attempts: 4}, 0.5, four, []string{"a", "a@500ms", "a@1.5s", "a@3.5s", "a@7.5s"}, false},
		{"up to a bound", routing.Policy{Attempts: 4, Base: 2 * time.Second, Max: 3 * time.Second}, 0.5, four, []string{"a", "a@1s", "a@2.5s", "a@4s", "a@5.5s"}, false},
		{"a bound below the first", routing.Policy{Attempts: 1, Base: time.Hour, Max: time.Second}, 0.5, four[:1], []string{"a", "a@500ms"}, false},
		{"the jitter is full", routing.Policy{Attempts: 4}, 0, four, []string{"a", "a", "a", "a", "a"}, false},
		{"the attempts are an upper bound", routing.Policy{Attempts: 2}, 0, four, []string{"a", "a", "a"}, true},
		{"the platform's wish", routing.Policy{Attempts: 1}, 0.5, []error{asking(429, 7*time.Second)}, []string{"a", "a@7s"}, false},
		{"never less than it, and spread", routing.Policy{Attempts: 1, Base: 20 * time.Second}, 0.5, []error{asking(429, 7*time.Second)}, []string{"a", "a@10s"}, false},
		{"the longest wish that is granted", routing.Policy{Attempts: 1}, 0.5, []error{asking(429, time.Minute)}, []string{"a", "a@1m0s"}, false},
		{"a wish too long", routing.Policy{Attempts: 1}, 0.5, []error{asking(429, time.Minute+1)}, []string{"a"}, true},
		{"a wish too long for the policy", routing.Policy{Attempts: 1, MaxWait: time.Second}, 0.5, []error{asking(503, 2*time.Second)}, []string{"a"}, true},
		{"a lost connection", routing.Policy{Attempts: 1}, 0, []error{&providers.Error{Code: providers.ErrConnection, Sent: true}}, []string{"a"}, true},
		{"a lost connection, as allowed", routing.Policy{Attempts: 1, RepeatSent: true}, 0, []error{&providers.Error{Code: providers.ErrConnection, Sent: true}}, []string{"a", "a"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, err := retried(t.Context(), t, routing.Config{Rand: always(tt.random)}, tt.policy, tt.errs...)
				wantEqual(t, "asked", tt.asked, asked)
				if (err != nil) != tt.fails {
					t.Errorf("%v, want an error: %v", err, tt.fails)
				}
			})
		})
	}
}

func TestManyPausesStayBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errs := slices.Repeat([]error{status(503)}, 100)
		begun := time.Now()
		_, err := retried(t.Context(), t, routing.Config{Rand: always(0.999999999), MaxAttempts: 1000, Budget: routing.Budget{Off: true}}, routing.Policy{Attempts: 100}, errs...)
		if d := time.Since(begun); err != nil || d > 100*30*time.Second || d < 95*30*time.Second {
			t.Errorf("%v after %v, want about 30 s for each of 100", err, d)
		}
	})
}

func TestAPauseThatDoesNotFitTheDeadlineIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begun := time.Now()
		asked, err := retried(ctx, t, routing.Config{}, routing.Policy{Attempts: 3}, asking(429, 4*time.Second), asking(429, 2*time.Second))
		wantEqual(t, "asked", []string{"a", "a@4s"}, asked)
		if d := time.Since(begun); codeOf(err) != providers.ErrRateLimited || d != 4*time.Second {
			t.Errorf("%v after %v, want the platform's refusal at once", err, d)
		}
	})
}

func TestACancelledPauseEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		time.AfterFunc(time.Second, func() { cancel(gone) })
		begun := time.Now()
		_, err := retried(ctx, t, routing.Config{}, routing.Policy{Attempts: 3}, asking(503, 40*time.Second))
		e, _ := err.(*providers.Error)
		if e == nil || e.Code != providers.ErrCanceled || !errors.Is(err, gone) || !e.Sent || time.Since(begun) != time.Second {
			t.Errorf("%v (%+v) after %v", err, e, time.Since(begun))
		}
	})
}

func TestRetriesHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(nil)
		root := &routing.Node{Key: "a", Retry: routing.Policy{Attempts: 1, Base: 1}}
		r := routing.New(routing.Config{Budget: routing.Budget{Ratio: 0.25, PerSecond: 1, Burst: 2}})
		call := func(down bool) bool {
			if down {
				s.replies = map[string][]reply{"a": fails(status(503))}
			}
			_, err := s.run(t.Context(), t, r, root, routing.Call{})
			return err == nil
		}
		var got []bool
		for range 4 {
			got = append(got, call(true))
		}
		wantEqual(t, "the burst", []bool{true, true, false, false}, got)
		wantEqual(t, "trail", []string{" 503 service_unavailable", " skipped: retry_budget retry 1"}, lines(s.trail))
		for range 2 { // with the two refused ones, four calls make one retry
			call(false)
		}
		wantEqual(t, "a share of the calls", []bool{true, false}, []bool{call(true), call(true)})
		time.Sleep(time.Second)
		wantEqual(t, "a second", []bool{true, true, false}, []bool{call(true), call(true), call(true)})
		time.Sleep(time.Hour)
		got = nil
		for range 4 {
			got = append(got, call(true))
		}
		wantEqual(t, "no more than the burst", []bool{true, true, false, false}, got)
	})
}

func TestTheBudgetCanBeOff(t *testing.T) {
	r := routing.New(routing.Config{Budget: routing.Budget{Off: true}})
	for range 200 {
		s := newStage(map[string][]reply{"a": fails(status(503))})
		if _, err := s.run(t.Context(), t, r, &routing.Node{Key: "a", Retry: routing.Policy{Attempts: 1, Base: 1}}, routing.Call{}); err != nil {
			t.Fatal(err)
		}
	}
	none := routing.New(routing.Config{Budget: routing.Budget{Ratio: -1, PerSecond: -1, Burst: -1}})
	s := newStage(map[string][]reply{"a": fails(status(503))})
	if _, err := s.run(t.Context(), t, none, &routing.Node{Key: "a", Retry: routing.Policy{Attempts: 1, Base: 1}}, routing.Call{}); err == nil {
		t.Error("a retry without any budget")
	}
}
