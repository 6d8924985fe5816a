package routing_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// crowd sends calls to one target and notes when they were let go.
type crowd struct {
	t      *testing.T
	router *routing.Router
	begun  time.Time
	wg     sync.WaitGroup
	mu     sync.Mutex
	log    []string
}

func newCrowd(t *testing.T) *crowd {
	return &crowd{t: t, router: routing.New(routing.Config{}), begun: time.Now()}
}

// visit is one call: when it comes, how many tokens it seems to and does use,
// and how long it takes.
type visit struct {
	name      string
	at        time.Duration
	tokens    int64
	used      int64
	takes     time.Duration
	patience  time.Duration // of its context; 0 is endless
	cancelled time.Duration // when its context is cancelled; 0 is never
	err       error
}

func (c *crowd) send(l routing.Limits, visits ...visit) {
	tree := compile(c.t, &routing.Node{Key: "a", Limits: l})
	for _, v := range visits {
		c.wg.Go(func() {
			time.Sleep(v.at)
			ctx, cancel := context.WithCancel(c.t.Context())
			defer cancel()
			if v.patience != 0 {
				ctx, cancel = context.WithTimeout(ctx, v.patience)
				defer cancel()
			}
			if v.cancelled > 0 {
				defer time.AfterFunc(v.cancelled, cancel).Stop()
			}
			_, err := routing.Run(ctx, c.router, tree, &routing.Call{Tokens: v.tokens}, nil, func(_ context.Context, x *routing.Try) (int, error) {
				c.note(v.name, "")
				time.Sleep(v.takes)
				x.Used(v.used)
				return 0, v.err
			})
			if err != nil && err != v.err {
				c.note(v.name, string(codeOf(err)))
			}
		})
	}
}

func (c *crowd) note(name, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, strings.TrimSpace(fmt.Sprintf("%015d %s %v %s", time.Since(c.begun), name, time.Since(c.begun), what)))
}

// result waits for all, and returns the log, sorted within a moment.
func (c *crowd) result() []string {
	c.wg.Wait()
	slices.Sort(c.log)
	for i := range c.log {
		_, c.log[i], _ = strings.Cut(c.log[i], " ")
	}
	return c.log
}

func TestLimits(t *testing.T) {
	const s = time.Second
	names := func(n int, v visit) (out []visit) {
		for i := range n {
			v.name, v.at = string(rune('a'+i)), time.Duration(i)*100*time.Millisecond
			out = append(out, v)
		}
		return out
	}
	for _, tt := range []struct {
		name   string
		limits routing.Limits
		visits []visit
		want   []string
	}{
		{
			"requests in any minute", routing.Limits{Requests: 2, QueueTimeout: time.Hour}, []visit{{name: "a"}, {name: "b", at: 10 * s}, {name: "c", at: 20 * s}, {name: "d", at: 21 * s}, {name: "e", at: 22 * s}},
			[]string{"a 0s", "b 10s", "c 1m0s", "d 1m10s", "e 2m0s"},
		},
		{
			"tokens in any minute", routing.Limits{Tokens: 100, QueueTimeout: time.Hour},
			[]visit{{name: "a", tokens: 60}, {name: "b", at: s, tokens: 40}, {name: "c", at: 2 * s, tokens: 30}, {name: "d", at: 3 * s, tokens: 80}},
			[]string{"a 0s", "b 1s", "c 1m0s", "d 2m0s"},
		},
		{
			"an estimate that was too high makes room at once", routing.Limits{Tokens: 100, QueueTimeout: time.Hour},
			[]visit{{name: "a", tokens: 90, used: 10, takes: 5 * s}, {name: "b", at: s, tokens: 90}},
			[]string{"a 0s", "b 5s"},
		},
		{
			"an estimate that was too low takes room", routing.Limits{Tokens: 100, QueueTimeout: time.Hour},
			[]visit{{name: "a", tokens: 10, used: 150, takes: 5 * s}, {name: "b", at: 6 * s, tokens: 10}},
			[]string{"a 0s", "b 1m0s"},
		},
		{
			"a request at a time", routing.Limits{Concurrent: 1}, names(3, visit{takes: 4 * s}),
			[]string{"a 0s", "b 4s", "c 8s"},
		},
		{
			"all of them", routing.Limits{Requests: 3, Tokens: 100, Concurrent: 2, QueueTimeout: time.Hour}, names(4, visit{tokens: 40, takes: 10 * s}),
			[]string{"a 0s", "b 100ms", "c 1m0s", "d 1m0.1s"},
		},
		{
			"the first in line holds up those who would fit", routing.Limits{Tokens: 100, QueueTimeout: time.Hour},
			[]visit{{name: "a", tokens: 80}, {name: "big", at: s, tokens: 90}, {name: "small", at: 2 * s, tokens: 10}},
			[]string{"a 0s", "big 1m0s", "small 1m0s"},
		},
		{
			"one who leaves lets the next come forward", routing.Limits{Tokens: 100, QueueTimeout: time.Hour},
			[]visit{{name: "a", tokens: 80}, {name: "big", at: s, tokens: 90, cancelled: 4 * s}, {name: "small", at: 2 * s, tokens: 10}},
			[]string{"a 0s", "big 5s canceled", "small 5s"},
		},
		{
			"what can't be in time fails at once", routing.Limits{Requests: 1},
			[]visit{{name: "a"}, {name: "b", at: 30*s - 1}, {name: "c", at: 40 * s}},
			[]string{"a 0s", "b 29.999999999s rate_limit_exceeded", "c 1m0s"},
		},
		{
			"nor what is too far back in line", routing.Limits{Requests: 1, QueueTimeout: 90 * s},
			[]visit{{name: "a"}, {name: "b", at: s}, {name: "c", at: 2 * s}},
			[]string{"a 0s", "c 2s rate_limit_exceeded", "b 1m0s"},
		},
		{
			"nor what is later than the deadline", routing.Limits{Requests: 1},
			[]visit{{name: "a"}, {name: "b", at: 50 * s, patience: 10 * s}, {name: "c", at: 50 * s, patience: 10*s + 1}},
			[]string{"a 0s", "b 50s rate_limit_exceeded", "c 1m0s"},
		},
		{
			"nobody waits", routing.Limits{Concurrent: 1, QueueTimeout: -1},
			[]visit{{name: "a", takes: s}, {name: "b", at: s - 1}, {name: "c", at: s + 1}},
			[]string{"a 0s", "b 999.999999ms rate_limit_exceeded", "c 1.000000001s"},
		},
		{
			"the line is left after a while", routing.Limits{Concurrent: 1, QueueTimeout: 3 * s},
			[]visit{{name: "a", takes: 10 * s}, {name: "b", at: s}}, []string{"a 0s", "b 4s rate_limit_exceeded"},
		},
		{
			"the deadline passes in line", routing.Limits{Concurrent: 1},
			[]visit{{name: "a", takes: 10 * s}, {name: "b", at: s, patience: 2 * s}}, []string{"a 0s", "b 3s timeout"},
		},
		{
			"the deadline had passed before", routing.Limits{Concurrent: 1},
			[]visit{{name: "a", takes: 10 * s}, {name: "b", at: s, patience: -1}}, []string{"a 0s", "b 1s timeout"},
		},
		{
			"a turn at the very end of the patience", routing.Limits{Concurrent: 1, QueueTimeout: 3 * s},
			[]visit{{name: "a", takes: 4*s - 1}, {name: "b", at: s}}, []string{"a 0s", "b 3.999999999s"},
		},
		{
			"a minute that ends with the patience", routing.Limits{Requests: 2},
			[]visit{{name: "a"}, {name: "b", at: 10 * s}, {name: "c", at: 31 * s}, {name: "d", at: 40 * s}},
			[]string{"a 0s", "b 10s", "c 1m0s", "d 1m10s"},
		},
		{
			"too many tokens for any minute", routing.Limits{Tokens: 100, QueueTimeout: time.Hour},
			[]visit{{name: "a", tokens: 101}}, []string{"a 0s rate_limit_exceeded"},
		},
		{
			"what was not sent does not count", routing.Limits{Requests: 1, QueueTimeout: -1},
			[]visit{{name: "a", err: providers.Invalid("x", "y")}, {name: "b", at: s}, {name: "c", at: 2 * s}},
			[]string{"a 0s", "b 1s", "c 2s rate_limit_exceeded"},
		},
		{
			"what was refused used no tokens", routing.Limits{Tokens: 100, QueueTimeout: -1},
			[]visit{{name: "a", tokens: 100, err: status(429)}, {name: "b", at: s, tokens: 100}}, []string{"a 0s", "b 1s"},
		},
		{
			"what failed on the way may have", routing.Limits{Tokens: 100, QueueTimeout: -1},
			[]visit{{name: "a", tokens: 100, err: status(500)}, {name: "b", at: s, tokens: 1}}, []string{"a 0s", "b 1s rate_limit_exceeded"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(t)
				c.send(tt.limits, tt.visits...)
				wantEqual(t, "let go", tt.want, c.result())
			})
		})
	}
}

func TestLeavesWithTheSameKeyShareTheCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		c.send(routing.Limits{Requests: 3, QueueTimeout: -1}, visit{name: "a"}, visit{name: "b", at: 2})
		c.send(routing.Limits{Requests: 2, QueueTimeout: -1}, visit{name: "c", at: 1}, visit{name: "d", at: 3})
		c.send(routing.Limits{Requests: 3, QueueTimeout: -1}, visit{name: "e", at: 4})
		wantEqual(t, "let go", []string{"a 0s", "c 1ns", "b 2ns", "d 3ns rate_limit_exceeded", "e 4ns rate_limit_exceeded"}, c.result())
	})
}

// A newcomer with a wider limit still stands behind those in line.
func TestTheLineIsOneForAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		c.send(routing.Limits{Requests: 1, QueueTimeout: time.Hour}, visit{name: "a"}, visit{name: "b", at: time.Second})
		c.send(routing.Limits{Requests: 5, QueueTimeout: 10 * time.Second}, visit{name: "c", at: 2 * time.Second})
		wantEqual(t, "let go", []string{"a 0s", "c 2s rate_limit_exceeded", "b 1m0s"}, c.result())
	})
}

// brink is a context that ends just when somebody is about to wait for it.
type brink struct {
	context.Context
	end func()
}

func (b brink) Done() <-chan struct{} {
	b.end()
	return b.Context.Done()
}

// Who leaves at the moment of its turn takes nothing along.
func TestATurnThatNobodyTakesIsPassedOn(t *testing.T) {
	tree := compile(t, &routing.Node{Key: "a", Limits: routing.Limits{Concurrent: 1, QueueTimeout: time.Hour}})
	left := 0
	for range 100 { // whether it leaves or takes its turn is open
		r := routing.New(routing.Config{})
		begun, release, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = routing.Run(t.Context(), r, tree, &routing.Call{}, nil, func(context.Context, *routing.Try) (int, error) {
				close(begun)
				<-release
				return 0, nil
			})
		}()
		<-begun
		ctx, cancel := context.WithCancel(t.Context())
		second := brink{ctx, func() {
			close(release)
			<-gone
			cancel()
		}}
		quick := func(context.Context, *routing.Try) (int, error) { return 0, nil }
		if _, err := routing.Run(second, r, tree, &routing.Call{}, nil, quick); codeOf(err) == providers.ErrCanceled {
			left++
		}
		third, cancelThird := context.WithTimeout(t.Context(), 10*time.Second)
		if _, err := routing.Run(third, r, tree, &routing.Call{}, nil, quick); err != nil {
			t.Fatalf("the place is lost: %v", err)
		}
		cancelThird()
	}
	if left == 0 {
		t.Error("nobody left")
	}
}

func TestALimitIsNamedAndFallsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := leaf("@slug/model")
		a.Limits = routing.Limits{Requests: 1, QueueTimeout: time.Second}
		a.Retry = routing.Policy{Attempts: 3}
		r, s := routing.New(routing.Config{}), newStage(nil)
		if _, err := s.run(t.Context(), t, r, a, routing.Call{}); err != nil {
			t.Error(err)
		}
		time.Sleep(20 * time.Second)
		_, err := s.run(t.Context(), t, r, a, routing.Call{})
		wantEqual(t, "error", &providers.Error{
			Code: providers.ErrRateLimited, RetryAfter: 40 * time.Second,
			Message: "the limit of 1 requests per minute can't be met in time for the target @slug/model: raise the limit, allow a longer queue_timeout or deadline, or add a target to fall back to",
		}, err.(*providers.Error))
		wantEqual(t, "trail", []string{" skipped: limit rate_limit_exceeded"}, lines(s.trail))

		if got, err := s.run(t.Context(), t, r, group(routing.Fallback, a, leaf("b")), routing.Call{}); got != "b" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		wantEqual(t, "trail", []string{"targets[0] skipped: limit rate_limit_exceeded", "targets[1] 200"}, lines(s.trail))

		a.Limits.QueueTimeout = time.Minute
		if _, err := s.run(t.Context(), t, r, a, routing.Call{}); err != nil {
			t.Error(err)
		}
		wantEqual(t, "trail", []string{" 200 after 40s"}, lines(s.trail))
	})
}

// A place that is kept is taken until the answer's end.
func TestStreamsKeepTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree := compile(t, &routing.Node{Key: "a", Limits: routing.Limits{Concurrent: 1, Tokens: 100, QueueTimeout: -1}})
		r := routing.New(routing.Config{})
		open := func(err error) (*routing.Lease, error) {
			return routing.Run(t.Context(), r, tree, &routing.Call{Tokens: 50, Stream: true}, nil, func(_ context.Context, x *routing.Try) (*routing.Lease, error) {
				return x.Keep(), err
			})
		}
		if _, err := open(status(500)); err == nil { // it counts its tokens, but not its place
			t.Error("no error")
		}
		lease, err := open(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := open(nil); codeOf(err) != providers.ErrRateLimited || !strings.Contains(err.Error(), "100 tokens") {
			t.Errorf("%v, want the tokens at their limit", err)
		}
		lease.Done(1, nil)
		lease.Done(1, nil)
		if _, err = open(nil); codeOf(err) != providers.ErrRateLimited || !strings.Contains(err.Error(), "100 tokens") {
			t.Errorf("%v, want 51 tokens to count", err)
		}
		time.Sleep(time.Minute)
		if lease, err = open(nil); err != nil {
			t.Error(err)
		}
		if _, err := open(nil); codeOf(err) != providers.ErrRateLimited || !strings.Contains(err.Error(), "1 requests at once") {
			t.Errorf("%v, want the place to be taken", err)
		}
		lease.Done(0, nil)
	})
}

// Whatever happens, no minute has more than the limit, and all who may go go.
func TestNoMinuteIsOverfull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		const limit, calls = 50, 400
		var visits []visit
		for i := range calls {
			visits = append(visits, visit{name: "v", at: time.Duration(i*i%977) * 100 * time.Millisecond, tokens: 10, takes: time.Duration(i%7) * time.Second})
		}
		c.send(routing.Limits{Requests: limit, Tokens: 10 * limit, Concurrent: 20, QueueTimeout: time.Hour}, visits...)
		var times []time.Duration
		for _, line := range c.result() {
			d, err := time.ParseDuration(strings.Fields(line)[1])
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, d)
		}
		slices.Sort(times)
		if len(times) != calls {
			t.Fatalf("%d went, want %d", len(times), calls)
		}
		for i := limit; i < calls; i++ {
			if gap := times[i] - times[i-limit]; gap < time.Minute {
				t.Errorf("%d requests within %v", limit+1, gap)
			}
		}
		if whole := times[calls-1]; whole > (calls/limit)*time.Minute+10*time.Second {
			t.Errorf("it took %v", whole)
		}
	})
}

func TestLimitsAreSafeForConcurrentUse(t *testing.T) {
	tree := compile(t, group(routing.LoadBalance,
		&routing.Node{Key: "a", Limits: routing.Limits{Concurrent: 2, QueueTimeout: time.Millisecond}},
		&routing.Node{Key: "b", Limits: routing.Limits{Requests: 500, Tokens: 5000, QueueTimeout: time.Millisecond}},
		&routing.Node{Key: "c", Limits: routing.Limits{Concurrent: 1}},
	))
	r := routing.New(routing.Config{MaxKeys: 2})
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 300 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%5+1)*time.Millisecond)
				var lease *routing.Lease
				_, err := routing.Run(ctx, r, tree, &routing.Call{Tokens: 10}, nil, func(_ context.Context, x *routing.Try) (int, error) {
					switch (i + n) % 4 {
					case 0:
						return 0, status(500)
					case 1:
						lease = x.Keep()
					default:
						x.Used(5)
					}
					return 0, nil
				})
				if err == nil {
					lease.Done(20, nil)
				}
				cancel()
			}
		})
	}
	wg.Wait()
}
