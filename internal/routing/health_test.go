package routing_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

func cooled(key string, c routing.Cooldown) *routing.Node {
	return &routing.Node{Key: key, Cooldown: c}
}

func TestATargetThatFailsIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := routing.Cooldown{Failures: 2, Duration: 10 * time.Second, Max: 35 * time.Second}
		root := group(routing.Fallback, cooled("a", c), leaf("b"))
		r, s := routing.New(routing.Config{}), newStage(nil)
		call := func(a ...error) string {
			s.replies = map[string][]reply{"a": fails(a...)}
			s.asked, s.begun = nil, time.Now()
			if _, err := s.run(t.Context(), t, r, root, routing.Call{}); err != nil {
				t.Error(err)
			}
			out := ""
			for _, name := range s.asked {
				out += name
			}
			return out
		}
		check := func(what, want, got string) {
			t.Helper()
			if want != got {
				t.Errorf("%s: asked %q, want %q", what, got, want)
			}
		}
		check("a failure", "ab", call(status(503)))
		check("a success between", "a", call())
		check("a failure that does not count", "ab", call(status(404)))
		check("the first in a row", "ab", call(status(503)))
		check("one that does not count keeps the row", "ab", call(status(400)))
		check("the second in a row", "ab", call(status(429)))
		check("it cools", "b", call())
		wantEqual(t, "trail", []string{"targets[0] skipped: cooldown", "targets[1] 200"}, lines(s.trail))
		time.Sleep(10*time.Second - 1)
		check("to the end", "b", call())
		time.Sleep(time.Nanosecond)
		check("a probe that fails", "ab", call(status(500)))
		time.Sleep(19 * time.Second)
		check("it cools for twice as long", "b", call())
		time.Sleep(time.Second)
		check("a probe that says nothing", "ab", call(status(400)))
		check("the next probe", "ab", call(status(500)))
		time.Sleep(34 * time.Second)
		check("as long as it may", "b", call())
		time.Sleep(time.Second)
		check("a probe that succeeds", "a", call())
		check("one failure is not enough again", "ab", call(status(500)))
		check("the row began anew", "ab", call(status(500)))
		time.Sleep(10 * time.Second)
		check("and so did its length", "a", call())
	})
}

func TestACooldownIsAsLongAsThePlatformAsks(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{0: 10 * time.Second, 5 * time.Second: 10 * time.Second, 20 * time.Second: 20 * time.Second, time.Hour: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			r, s := routing.New(routing.Config{}), newStage(map[string][]reply{"a": fails(asking(429, asked))})
			root := group(routing.Fallback, cooled("a", routing.Cooldown{Failures: 1, Duration: 10 * time.Second, Max: time.Minute}), leaf("b"))
			if _, err := s.run(t.Context(), t, r, root, routing.Call{}); err != nil {
				t.Error(err)
			}
			wantEqual(t, "health", []routing.TargetHealth{{Key: "a", Cooling: true, Until: time.Now().Add(want)}}, r.Health())
		})
	}
}

func TestWhenAllCoolTheSoonestIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := func(seconds int) routing.Cooldown {
			return routing.Cooldown{Failures: 1, Duration: time.Duration(seconds) * time.Second}
		}
		root := group(routing.Fallback, cooled("a", c(30)), group(routing.LoadBalance, cooled("b", c(40)), cooled("c", c(10))), cooled("d", c(20)))
		root.Children[1].Weights = []float64{1, 1}
		random := 0.0
		r, s := routing.New(routing.Config{Rand: func() float64 { return random }}), newStage(nil)
		down := func() map[string][]reply {
			return map[string][]reply{"a": fails(status(500)), "b": fails(status(500)), "c": fails(status(500)), "d": fails(status(500))}
		}
		run := func() []string {
			s.asked, s.begun = nil, time.Now()
			_, _ = s.run(t.Context(), t, r, root, routing.Call{})
			return s.asked
		}
		s.replies = down()
		wantEqual(t, "all fail but one of two", []string{"a", "b", "d"}, run())
		wantEqual(t, "the one left", []string{"c"}, run())
		random = 0.9
		wantEqual(t, "all cool", []string{"c"}, run())
		wantEqual(t, "trail", []string{"targets[0] skipped: cooldown", "targets[2] skipped: cooldown", "targets[1].targets[1] 200"}, lines(s.trail))
		wantEqual(t, "an answer ends a cooldown", []string{"c"}, run())
	})
}

func TestALoneTargetIsAskedThoughItCools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := cooled("a", routing.Cooldown{Failures: 1})
		root.Retry = routing.Policy{Attempts: 1}
		r, s := routing.New(routing.Config{Rand: always(0)}), newStage(map[string][]reply{"a": fails(status(500), status(500), status(500))})
		for range 2 {
			_, _ = s.run(t.Context(), t, r, root, routing.Call{})
		}
		wantEqual(t, "asked", []string{"a", "a", "a", "a"}, s.asked)
		wantEqual(t, "trail", []string{" 500 server_error", " 200 retry 1"}, lines(s.trail))
		wantEqual(t, "health", []routing.TargetHealth{{Key: "a"}}, r.Health())
	})
}

func TestTheDrawLeavesOutWhatCools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := sticky(group(routing.LoadBalance, cooled("a", routing.Cooldown{Failures: 1}), cooled("b", routing.Cooldown{Failures: 1}), leaf("c")))
		root.Weights = []float64{1, 1, 0}
		r, s := routing.New(routing.Config{}), newStage(nil)
		where := func() string {
			s.asked, s.begun = nil, time.Now()
			_, _ = s.run(t.Context(), t, r, root, routing.Call{View: "user"})
			return s.asked[0]
		}
		home := where()
		s.replies = map[string][]reply{home: fails(status(500))}
		where()
		away := where()
		if away == home || away == "c" {
			t.Errorf("asked %s while %s cools", away, home)
		}
		s.replies = map[string][]reply{away: fails(status(500))}
		where()
		if got := where(); got != home {
			t.Errorf("asked %s though all cool, want %s as ever", got, home)
		}
	})
}

func TestOneCallProbesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := routing.Cooldown{Failures: 1, Duration: time.Second}
		tree := compile(t, group(routing.Fallback, cooled("a", c), leaf("b")))
		r := routing.New(routing.Config{})
		var mu sync.Mutex
		asked := map[string]int{}
		down := true
		run := func() {
			_, _ = routing.Run(t.Context(), r, tree, &routing.Call{}, nil, func(_ context.Context, x *routing.Try) (int, error) {
				mu.Lock()
				asked[x.Leaf.Key]++
				fail := down && x.Leaf.Key == "a"
				mu.Unlock()
				time.Sleep(time.Second)
				if fail {
					return 0, status(500)
				}
				return 0, nil
			})
		}
		together := func() map[string]int {
			asked = map[string]int{}
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(run)
			}
			wg.Wait()
			return asked
		}
		run()
		time.Sleep(time.Second)
		wantEqual(t, "a probe that fails", map[string]int{"a": 1, "b": 50}, together())
		time.Sleep(5 * time.Second)
		down = false
		wantEqual(t, "a probe that succeeds", map[string]int{"a": 1, "b": 49}, together())
		wantEqual(t, "afterwards", map[string]int{"a": 50}, together())
	})
}

// Answers that were on their way when a cooldown began say nothing of now.
func TestStragglersChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := cooled("a", routing.Cooldown{Failures: 2, Duration: time.Minute})
		tree := compile(t, root)
		r := routing.New(routing.Config{})
		run := func(after time.Duration, err error) {
			_, _ = routing.Run(t.Context(), r, tree, &routing.Call{}, nil, func(context.Context, *routing.Try) (int, error) {
				time.Sleep(after)
				return 0, err
			})
		}
		var wg sync.WaitGroup
		for _, after := range []time.Duration{time.Second, 2 * time.Second} {
			wg.Go(func() { run(after, status(500)) })
		}
		wg.Go(func() { run(3*time.Second, nil) })
		wg.Go(func() { run(4*time.Second, status(500)) })
		begun := time.Now()
		wg.Wait()
		wantEqual(t, "health", []routing.TargetHealth{{Key: "a", Cooling: true, Until: begun.Add(2*time.Second + time.Minute)}}, r.Health())
	})
}

func TestAStragglerOfALastCooldownChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree := compile(t, cooled("a", routing.Cooldown{Failures: 1, Duration: time.Second}))
		r := routing.New(routing.Config{})
		run := func(after time.Duration, err error) {
			_, _ = routing.Run(t.Context(), r, tree, &routing.Call{}, nil, func(context.Context, *routing.Try) (int, error) {
				time.Sleep(after)
				return 0, err
			})
		}
		var wg sync.WaitGroup
		wg.Go(func() { run(10*time.Second, status(500)) })
		run(time.Second, status(500))
		time.Sleep(time.Second)
		run(time.Second, nil)
		wg.Wait()
		wantEqual(t, "health", []routing.TargetHealth{{Key: "a"}}, r.Health())
	})
}

// A stream may end before anybody has noted that it began.
func TestAStreamThatEndsBeforeItIsHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree := compile(t, cooled("a", routing.Cooldown{Failures: 1, Duration: time.Second}))
		r := routing.New(routing.Config{})
		_, _ = routing.Run(t.Context(), r, tree, &routing.Call{Stream: true}, nil, func(_ context.Context, x *routing.Try) (int, error) {
			x.Keep().Done(0, status(503))
			return 0, nil
		})
		wantEqual(t, "health", []routing.TargetHealth{{Key: "a", Cooling: true, Until: time.Now().Add(time.Second)}}, r.Health())
	})
}

// An answer that is kept is a success at its end.
func TestStreamsTellTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree := compile(t, cooled("a", routing.Cooldown{Failures: 2, Duration: time.Second}))
		r := routing.New(routing.Config{})
		open := func() *routing.Lease {
			lease, err := routing.Run(t.Context(), r, tree, &routing.Call{Stream: true}, nil, func(_ context.Context, x *routing.Try) (*routing.Lease, error) { return x.Keep(), nil })
			if err != nil {
				t.Fatal(err)
			}
			return lease
		}
		health := func(want routing.TargetHealth) {
			t.Helper()
			want.Key = "a"
			wantEqual(t, "health", []routing.TargetHealth{want}, r.Health())
		}
		cut := &providers.Error{Code: providers.ErrStreamCut, Sent: true}
		open().Done(0, cut)
		health(routing.TargetHealth{Failures: 1})
		gone := open()
		gone.Done(0, &providers.Error{Code: providers.ErrCanceled})
		gone.Done(0, cut) // only the first counts
		health(routing.TargetHealth{Failures: 1})
		open().Done(0, cut)
		health(routing.TargetHealth{Cooling: true, Until: time.Now().Add(time.Second)})
		time.Sleep(time.Second)
		probe := open()
		health(routing.TargetHealth{}) // it answers again
		probe.Done(0, cut)
		health(routing.TargetHealth{Failures: 1})
		open().Done(0, nil)
		health(routing.TargetHealth{})
		var none *routing.Lease
		none.Done(1, cut)
	})
}

func TestTheStatusesOfACooldown(t *testing.T) {
	root := cooled("a", routing.Cooldown{Failures: 1, OnStatus: []int{418}})
	for _, tt := range []struct {
		err  error
		want bool
	}{{status(418), true}, {status(500), false}, {&providers.Error{Code: providers.ErrConnection}, true}, {&providers.Error{Code: providers.ErrEmptyResponse}, false}} {
		r, s := routing.New(routing.Config{}), newStage(map[string][]reply{"a": fails(tt.err)})
		_, _ = s.run(t.Context(), t, r, root, routing.Call{})
		if got := r.Health()[0].Cooling; got != tt.want {
			t.Errorf("%v: cooling %v, want %v", tt.err, got, tt.want)
		}
	}
}

func TestHealthIsForgottenByAge(t *testing.T) {
	r := routing.New(routing.Config{MaxKeys: 3})
	ask := func(key string, err error) {
		s := newStage(map[string][]reply{key: fails(err)})
		_, _ = s.run(t.Context(), t, r, cooled(key, routing.Cooldown{Failures: 1}), routing.Call{})
	}
	keys := func() []string {
		var out []string
		for _, h := range r.Health() {
			out = append(out, h.Key)
		}
		return out
	}
	for _, key := range []string{"a", "b", "c", "a", "d"} {
		ask(key, nil)
	}
	wantEqual(t, "the one not used for longest goes", []string{"a", "c", "d"}, keys())
	ask("c", status(500))
	for _, key := range []string{"e", "f", "g"} {
		ask(key, nil)
	}
	wantEqual(t, "one that cools stays", []string{"c", "f", "g"}, keys())
	for i := range 100 {
		ask(strconv.Itoa(i), status(500))
	}
	wantEqual(t, "but not for ever", []string{"97", "98", "99"}, keys())
}

func TestHealthIsSafeForConcurrentUse(t *testing.T) {
	c := routing.Cooldown{Failures: 2, Duration: time.Microsecond, Max: time.Millisecond}
	var leaves []*routing.Node
	for i := range 8 {
		leaves = append(leaves, cooled(strconv.Itoa(i), c))
	}
	tree := compile(t, group(routing.Fallback, group(routing.LoadBalance, leaves[:4]...), group(routing.Fallback, leaves[4:]...)))
	r := routing.New(routing.Config{MaxKeys: 5})
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 500 {
				_, _ = routing.Run(t.Context(), r, tree, &routing.Call{}, nil, func(context.Context, *routing.Try) (int, error) {
					if (i+n)%3 > 0 {
						return 0, status(503)
					}
					return 0, nil
				})
				r.Health()
			}
		})
	}
	wg.Wait()
}
