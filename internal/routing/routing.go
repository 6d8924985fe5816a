// Package routing decides which target answers a call, and what happens when it
// does not: a compiled tree of targets is walked with fallback, weights,
// conditions, retries, cooldowns, limits and hedging. It knows nothing of
// requests and answers: a caller's function makes each try.
//
// # What is on without being asked for
//
// Nothing: a [Node] whose members are zero is asked once. Retries, cooldowns,
// limits and hedging each begin with their own member. What bounds them is on:
// a call makes [DefaultMaxAttempts] tries at most, and retries and hedges draw
// on a [Budget] of the [Router].
//
// # The order of things
//
// A leaf is Cooldown(Retry(Limits(Hedge(try)))), and the groups are around it: a
// cooldown decides whether the leaf is asked at all, each retry takes its own
// place within the limits, and a hedge goes along with one try. A limit that
// can't be met is not retried, but a fallback goes on after it.
//
// A stream is opened by a try and [Commit] says when it has begun: up to then a
// failure is the try's, and retries and fallbacks apply; from then on it is the
// stream's, and nothing is repeated.
//
// # Where state lives
//
// A [Router] holds the health and the use of targets by their keys, so that all
// trees with the same key share them, and forgets the key not used for longest
// once there are too many. A [Tree] has no state. Both are safe for concurrent
// use.
//
// [Rules] says what each kind of failure means for a retry, for the next target
// and for the health of a target.
package routing

import (
	"math/rand/v2"
	"sort"
	"time"
)

// What a router does when its config says nothing.
const (
	DefaultMaxAttempts = 10
	DefaultMaxKeys     = 4096
)

// Config sets a router up. The zero value has the defaults.
type Config struct {
	// Budget bounds the share of retries and hedges in the traffic.
	Budget Budget
	// MaxAttempts bounds the tries of one call over all its targets, retries and
	// hedges included; 0 is [DefaultMaxAttempts].
	MaxAttempts int
	// MaxKeys bounds the keys whose health is kept, and those whose use is; 0 is
	// [DefaultMaxKeys].
	MaxKeys int
	// Rand returns a number in [0, 1). It is called from many goroutines; nil is
	// math/rand/v2.
	Rand func() float64
}

// Router holds what is learnt of targets between calls. It is safe for
// concurrent use.
type Router struct {
	maxAttempts int
	rand        func() float64
	budget      budget
	health      store[health]
	limits      store[limiter]
}

// New returns a router.
func New(cfg Config) *Router {
	if cfg.MaxAttempts <= 0 {
		cfg.MaxAttempts = DefaultMaxAttempts
	}
	if cfg.MaxKeys <= 0 {
		cfg.MaxKeys = DefaultMaxKeys
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Float64
	}
	r := &Router{maxAttempts: cfg.MaxAttempts, rand: cfg.Rand}
	r.budget.start(cfg.Budget)
	r.health.init(cfg.MaxKeys, func(h *health) bool { return h.cools(time.Now()) })
	r.limits.init(cfg.MaxKeys, (*limiter).busy)
	return r
}

// TargetHealth is what is known of one target.
type TargetHealth struct {
	// Key is the target's.
	Key string
	// Failures counts those since the last success or cooldown.
	Failures int
	// Cooling says that the target is passed over: until Until, and from then on
	// while one call probes it.
	Cooling bool
	// Until is the end of the last cooldown; zero when the target answered since.
	Until time.Time
	// Probing says that a call finds out whether the target answers again.
	Probing bool
}

// Health returns what is known of the targets that have a cooldown and were
// asked, by key.
func (r *Router) Health() []TargetHealth {
	now := time.Now()
	var out []TargetHealth
	r.health.each(func(key string, h *health) {
		t := h.snapshot(now)
		t.Key = key
		out = append(out, t)
	})
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}
