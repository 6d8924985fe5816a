package routing_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// TestTheRouterDoesAsTheModel makes random trees with random faults and runs
// calls through the router and through the model of model_test.go: the order and
// the times of the tries, what was passed over, and the end must be the same.
func TestTheRouterDoesAsTheModel(t *testing.T) {
	const bubbles, trees = 100, 100
	reached := map[string]int{}
	for seed := range uint64(bubbles) {
		synctest.Test(t, func(t *testing.T) {
			for i := range uint64(trees) {
				if simulate(t, seed*trees+i, reached); t.Failed() {
					return
				}
			}
		})
		if t.Failed() {
			t.Fatalf("in bubble %d", seed)
		}
	}
	for _, what := range []string{"answered", "over", "no case", "429", "blocked", "cooldown", "max_attempts", "retry_budget", "retry", "paused"} {
		if reached[what] < 100 {
			t.Errorf("only %d cases of %q: the simulation has lost its teeth", reached[what], what)
		}
	}
}

// maker makes random trees.
type maker struct {
	*rand.Rand
	leaves []*place
	count  int
}

func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

func (m *maker) millis(limit int) time.Duration {
	return time.Duration(m.IntN(limit)) * time.Millisecond
}

func (m *maker) place(depth int) *place {
	m.count++
	p := &place{name: "n" + strconv.Itoa(m.count), mode: routing.Mode(m.IntN(5))}
	if depth == 0 {
		p.mode = []routing.Mode{routing.Fallback, routing.Fallback, routing.LoadBalance, routing.Conditional, routing.Leaf}[m.IntN(5)]
	}
	if depth == 3 {
		p.mode = routing.Leaf
	}
	if p.mode == routing.Leaf {
		m.leaf(p)
		return p
	}
	kids := 1 + m.IntN(4)
	if p.mode == routing.Single {
		kids = 1
	}
	for range kids {
		p.kids = append(p.kids, m.place(depth+1))
	}
	switch p.mode {
	case routing.Fallback:
		if m.chance(30) {
			p.onStatus = m.statuses()
		}
	case routing.LoadBalance:
		for range kids {
			p.weights = append(p.weights, float64(m.IntN(4)))
		}
		p.weights[m.IntN(kids)] = 2
		p.sticky = m.chance(50)
	case routing.Conditional:
		p.choice = m.IntN(kids+1) - 1
		if m.chance(70) {
			p.choice = max(p.choice, 0)
		}
	}
	return p
}

func (m *maker) statuses() []int {
	all := []int{400, 403, 408, 409, 429, 499, 500, 502, 503}
	m.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+m.IntN(6)]
}

func (m *maker) leaf(p *place) {
	m.leaves = append(m.leaves, p)
	if m.chance(60) {
		p.retries = 1 + m.IntN(4)
	}
	if m.chance(20) {
		p.retryOn = m.statuses()
	}
	p.base, p.cap = 1+m.millis(2000), 1+m.millis(5000)
	p.maxWait = time.Second + m.millis(20_000)
	if m.chance(60) {
		p.coolAfter = 1 + m.IntN(3)
		p.coolFor = time.Second + m.millis(20_000)
		p.coolAtMost = p.coolFor + m.millis(60_000)
	}
	for range m.IntN(16) {
		mv := move{takes: m.millis(800)}
		if m.chance(80) {
			mv.fault = &faults[m.IntN(len(faults))]
			if m.chance(60) {
				mv.fault = &faults[m.IntN(3)]
			}
			if m.chance(20) {
				mv.wait = m.millis(30_000)
			}
		}
		p.moves = append(p.moves, mv)
	}
}

// node builds what the router gets.
func (p *place) node() *routing.Node {
	n := &routing.Node{Mode: p.mode, Name: p.name, Weights: p.weights, OnStatus: p.onStatus}
	for _, kid := range p.kids {
		n.Children = append(n.Children, kid.node())
	}
	if p.sticky {
		n.Sticky = func(view any) string { return view.(string) }
	}
	if p.mode == routing.Conditional {
		for i := range p.kids {
			n.Cases = append(n.Cases, routing.Case{When: func(any) bool { return i == p.choice }, Then: i})
		}
	}
	if p.mode == routing.Leaf {
		n.Key = p.name
		n.Retry = routing.Policy{Attempts: p.retries, OnStatus: p.retryOn, Base: p.base, Max: p.cap, MaxWait: p.maxWait}
		n.Cooldown = routing.Cooldown{Failures: p.coolAfter, Duration: p.coolFor, Max: p.coolAtMost}
	}
	return n
}

// actor plays the moves of the leaves for the router.
type actor struct {
	begun time.Time
	moves map[string][]move
	times []time.Duration // of the tries
}

func (a *actor) try(ctx context.Context, t *routing.Try) (string, error) {
	a.times = append(a.times, time.Since(a.begun))
	key := t.Leaf.Key
	var m move
	if list := a.moves[key]; len(list) > 0 {
		m, a.moves[key] = list[0], list[1:]
	}
	r := reply{after: m.takes}
	if m.fault != nil {
		e := m.fault.err
		e.RetryAfter, e.Message = m.wait, m.fault.name
		r.err = &e
	}
	return key, settle(ctx, r)
}

// told writes a trail as the model writes its log.
func (a *actor) told(trail []providers.Attempt) []string {
	var out []string
	for _, e := range trail {
		if e.Skipped != "" {
			out = append(out, e.Target+" skipped: "+string(e.Skipped))
			continue
		}
		out = append(out, fmt.Sprintf("%s at %v after %v for %v retry %d", e.Target, a.times[0], e.Wait, e.Duration, e.Retry))
		a.times = a.times[1:]
	}
	return out
}

// ending names how a call ended.
func ending(ctx context.Context, err error) string {
	e, _ := err.(*providers.Error)
	switch {
	case err == nil:
		return "answered"
	case ctx.Err() != nil:
		return "over"
	case e.Code == providers.ErrInvalidConfig:
		return "no case"
	}
	return e.Message
}

func simulate(t *testing.T, seed uint64, reached map[string]int) {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 1))}
	root := m.place(0)
	cfg := routing.Config{
		MaxAttempts: 1 + m.IntN(12), Rand: rand.New(rand.NewPCG(seed, 2)).Float64,
		Budget: routing.Budget{Off: true},
	}
	w := &world{random: rand.New(rand.NewPCG(seed, 2)).Float64, maxTries: cfg.MaxAttempts, budget: -1}
	if m.chance(30) {
		w.burst, w.ratio = float64(1+m.IntN(3)), 0.25
		w.budget = w.burst
		cfg.Budget = routing.Budget{Ratio: w.ratio, Burst: w.burst, PerSecond: -1}
	}
	a := &actor{begun: time.Now(), moves: map[string][]move{}}
	for _, p := range m.leaves {
		a.moves[p.name] = p.moves
	}
	r, tree := routing.New(cfg), compile(t, root.node())
	for n := range 8 {
		key, deadline := "", time.Duration(0)
		if m.chance(70) {
			key = strconv.Itoa(m.IntN(100))
		}
		ctx, cancel := context.WithCancel(t.Context())
		if m.chance(30) { // never at the same moment as something else
			deadline = w.now + m.millis(6000) + time.Microsecond
			ctx, cancel = context.WithDeadline(ctx, a.begun.Add(deadline))
		}
		var trail []providers.Attempt
		out, err := routing.Run(ctx, r, tree, &routing.Call{View: key}, &trail, a.try)
		got := append(a.told(trail), "end: "+ending(ctx, err), "at "+time.Since(a.begun).String())
		cancel()
		log, end := w.call(root, key, deadline)
		want := append(log, "end: "+end, "at "+w.now.String())
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (out != "") {
			t.Errorf("seed %d, call %d (-model +router)\n%s", seed, n, diff)
			return
		}
		count(reached, end, trail)
		pause := m.millis(15_000)
		time.Sleep(pause)
		w.now += pause
	}
}

// count notes what a simulated call went through.
func count(reached map[string]int, end string, trail []providers.Attempt) {
	reached[end]++
	for _, e := range trail {
		reached[string(e.Skipped)]++
		if e.Retry > 0 {
			reached["retry"]++
		}
		if e.Wait > 0 {
			reached["paused"]++
		}
	}
}
