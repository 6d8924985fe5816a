package routing

import (
	"sync"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Cooldown leaves a target alone for a while that failed several times in a row.
// Then one call at a time probes it, until it answers. The zero Cooldown is off.
// A cooldown decides who is asked, not how often: retries under way go on, and
// when every target cools down, the one whose cooldown ends first is asked.
type Cooldown struct {
	// Failures is the number of failures in a row that begin a cooldown; 0 is
	// off. [Rules] says what counts.
	Failures int
	// Duration is the length of the first cooldown; each further one without a
	// success in between is twice as long. A platform that asks for a longer wait
	// gets it. 0 is 30 s.
	Duration time.Duration
	// Max bounds the length; 0 is 5 min.
	Max time.Duration
	// OnStatus are the only statuses that count; empty leaves it to [Rules].
	OnStatus []int
}

// The times of a cooldown that names none.
const (
	defaultCooldown    = 30 * time.Second
	defaultMaxCooldown = 5 * time.Minute
)

// length is how long the cooldown is that follows n others.
func (c *Cooldown) length(n int, asked time.Duration) time.Duration {
	d := or(c.Duration, defaultCooldown)
	most := max(or(c.Max, defaultMaxCooldown), d)
	for range n {
		if d >= most {
			break
		}
		d *= 2
	}
	return min(max(d, asked), most)
}

// health is what is known of one target.
type health struct {
	mu       sync.Mutex
	failures int       // in a row, since the last success or cooldown
	cooled   int       // cooldowns since the last success
	open     bool      // a cooldown began and no success ended it
	until    time.Time // its end
	probing  bool      // it is over, and a call finds out
	epoch    uint64    // counts cooldowns
}

// admission is a call's leave to ask a target.
type admission struct {
	health *health // nil without a cooldown
	rule   *Cooldown
	epoch  uint64
	probe  bool
}

// admit asks for leave. It is refused while the target cools down, unless the
// call is forced to go there.
func (r *Router) admit(n *node, forced bool) (admission, bool) {
	if n.Cooldown.Failures == 0 {
		return admission{}, true
	}
	h := r.health.use(n.Key)
	a := admission{health: h, rule: &n.Cooldown}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open {
		a.probe = !h.probing && !time.Now().Before(h.until)
		if !a.probe && !forced {
			return a, false
		}
		h.probing = h.probing || a.probe
	}
	a.epoch = h.epoch
	return a, true
}

// again is the leave for a retry, which is no probe.
func (a admission) again() admission {
	if a.health == nil {
		return a
	}
	a.health.mu.Lock()
	defer a.health.mu.Unlock()
	a.epoch, a.probe = a.health.epoch, false
	return a
}

// succeeded notes an answer: it ends a cooldown that the request was sent in.
func (a *admission) succeeded() {
	if a.health == nil {
		return
	}
	h := a.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.epoch == a.epoch {
		h.failures, h.cooled, h.open, h.probing, h.until = 0, 0, false, false, time.Time{}
	}
	a.probe = false
}

// opened notes the beginning of an answer whose end is not known yet: it is
// enough to end a cooldown, but not to forget the failures before it.
func (a *admission) opened() {
	if a.health == nil {
		return
	}
	h := a.health
	h.mu.Lock()
	open := h.open
	h.mu.Unlock()
	if open {
		a.succeeded()
	}
}

// failed notes a failure. Of an error that says nothing of the target only the
// leave to probe is given back.
func (a *admission) failed(e *providers.Error) {
	if a.health == nil {
		return
	}
	h := a.health
	counts := a.rule.counts(e)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.epoch != a.epoch {
		return // it was asked before the last cooldown began
	}
	switch {
	case h.open && !a.probe:
	case h.open && !counts:
		h.probing = false
	case !counts:
	default:
		if h.failures++; h.open || h.failures >= a.rule.Failures {
			h.until = time.Now().Add(a.rule.length(h.cooled, e.RetryAfter))
			h.open, h.probing, h.failures = true, false, 0
			h.cooled++
			h.epoch++
		}
	}
	a.probe, a.epoch = false, h.epoch
}

// givenUp gives back the leave to probe of a call that asked nothing.
func (a *admission) givenUp() {
	a.failed(&providers.Error{Code: providers.ErrCanceled})
}

// cools reports whether the target is passed over at the time.
func (h *health) cools(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open && (h.probing || now.Before(h.until))
}

func (h *health) snapshot(now time.Time) TargetHealth {
	h.mu.Lock()
	defer h.mu.Unlock()
	return TargetHealth{
		Failures: h.failures, Cooling: h.open && (h.probing || now.Before(h.until)),
		Until: h.until, Probing: h.probing,
	}
}

// cools reports whether nothing in the node can be asked for now.
func (r *Router) cools(n *node, view any, now time.Time) bool {
	if !n.cools {
		return false
	}
	switch n.Mode {
	case Leaf:
		h := r.health.peek(n.Key)
		return h != nil && h.cools(now)
	case Conditional:
		child := n.choose(view)
		return child >= 0 && r.cools(&n.children[child], view, now)
	}
	for i := range n.children {
		if n.mayAsk(i) && !r.cools(&n.children[i], view, now) {
			return false
		}
	}
	return true
}

// coolsUntil returns when the first of what a node can ask ends its cooldown.
func (r *Router) coolsUntil(n *node, view any) time.Time {
	switch n.Mode {
	case Leaf:
		h := r.health.peek(n.Key)
		if h == nil {
			return time.Time{}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.until
	case Conditional:
		if child := n.choose(view); child >= 0 {
			return r.coolsUntil(&n.children[child], view)
		}
		return time.Time{}
	}
	var first time.Time
	found := false
	for i := range n.children {
		if !n.mayAsk(i) {
			continue
		}
		if until := r.coolsUntil(&n.children[i], view); !found || until.Before(first) {
			first, found = until, true
		}
	}
	return first
}

// mayAsk reports whether the child gets any calls.
func (n *node) mayAsk(child int) bool { return n.Mode != LoadBalance || n.weights[child] > 0 }
