package routing_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// The model says what a router must do, in the plainest words, on a clock that
// is a number. It shares nothing with the package but the names of modes.

// fault is a way to fail, and all that the model knows of it.
type fault struct {
	name    string
	err     providers.Error
	status  int  // what on_status_codes finds it by
	again   bool // may be sent to the same target again
	byTable bool // a list of statuses may say otherwise
	next    bool // the next target is asked
	named   bool // the next target is asked if the status is named
	counts  bool // against the target
}

var faults = []fault{
	{name: "429", err: providers.Error{Code: providers.ErrRateLimited, StatusCode: 429}, status: 429, again: true, byTable: true, next: true, named: true, counts: true},
	{name: "500", err: providers.Error{Code: providers.ErrServer, StatusCode: 500, Sent: true}, status: 500, again: true, byTable: true, next: true, named: true, counts: true},
	{name: "503", err: providers.Error{Code: providers.ErrUnavailable, StatusCode: 503, Sent: true}, status: 503, again: true, byTable: true, next: true, named: true, counts: true},
	{name: "501", err: providers.Error{Code: providers.ErrServer, StatusCode: 501, Sent: true}, status: 501, byTable: true, next: true, named: true, counts: true},
	{name: "409", err: providers.Error{Code: providers.ErrInvalidRequest, StatusCode: 409}, status: 409, again: true, byTable: true, next: true, named: true},
	{name: "400", err: providers.Error{Code: providers.ErrInvalidRequest, StatusCode: 400}, status: 400, byTable: true, next: true, named: true},
	{name: "403", err: providers.Error{Code: providers.ErrPermission, StatusCode: 403}, status: 403, byTable: true, next: true, named: true},
	{name: "found here", err: providers.Error{Code: providers.ErrInvalidRequest}, status: 400, named: true},
	{name: "blocked", err: providers.Error{Code: providers.ErrContentFilter, Sent: true}, status: 400, named: true},
	{name: "quota", err: providers.Error{Code: providers.ErrQuotaExceeded, StatusCode: 429}, status: 429, next: true, named: true, counts: true},
	{name: "no connection", err: providers.Error{Code: providers.ErrConnection}, status: 502, again: true, next: true, named: true, counts: true},
	{name: "lost connection", err: providers.Error{Code: providers.ErrConnection, Sent: true}, status: 502, next: true, named: true, counts: true},
	{name: "cut", err: providers.Error{Code: providers.ErrStreamCut, Sent: true}, status: 502, next: true, named: true, counts: true},
	{name: "empty", err: providers.Error{Code: providers.ErrEmptyResponse, Sent: true}, status: 502, next: true, named: true},
	{name: "nonsense", err: providers.Error{Code: providers.ErrBadResponse, Sent: true}, status: 502, next: true, named: true, counts: true},
	{name: "cancelled", err: providers.Error{Code: providers.ErrCanceled, Sent: true}, status: 499},
	{name: "closed", err: providers.Error{Code: providers.ErrClosed}, status: 400},
}

// move is a scripted answer; a nil fault is a success.
type move struct {
	takes time.Duration
	fault *fault
	wait  time.Duration // Retry-After
}

// place is a node of the model.
type place struct {
	mode     routing.Mode
	name     string
	kids     []*place
	weights  []float64
	sticky   bool
	choice   int // of Conditional; -1 finds nothing
	onStatus []int
	// Of a leaf.
	retries      int
	retryOn      []int
	base, cap    time.Duration
	maxWait      time.Duration
	coolAfter    int
	coolFor      time.Duration
	coolAtMost   time.Duration
	moves        []move
	fails        int
	timesCooled  int
	cooling      bool
	coolingUntil time.Duration
}

// world runs calls one after the other.
type world struct {
	now      time.Duration
	random   func() float64
	maxTries int
	budget   float64 // what may be retried; below 0 is without bound
	burst    float64
	ratio    float64

	// Of the call.
	deadline time.Duration // 0 for none
	key      string
	tries    int
	log      []string
}

// failure is how an ask ended; the zero one is a success.
type failure struct {
	fault *fault
	over  bool // the deadline passed
	none  bool // no condition held
	wait  time.Duration
}

func (f failure) ok() bool { return f == failure{} }

// call runs one call and returns what happened.
func (w *world) call(root *place, key string, deadline time.Duration) ([]string, string) {
	w.key, w.deadline, w.tries, w.log = key, deadline, 0, nil
	if w.budget >= 0 {
		w.budget = math.Min(w.budget+w.ratio, w.burst)
	}
	f := w.ask(root)
	switch {
	case f.ok():
		return w.log, "answered"
	case f.over:
		return w.log, "over"
	case f.none:
		return w.log, "no case"
	}
	return w.log, f.fault.name
}

func (w *world) isCooling(p *place) bool {
	switch p.mode {
	case routing.Leaf:
		return p.cooling && w.now < p.coolingUntil
	case routing.Conditional:
		return p.choice >= 0 && w.isCooling(p.kids[p.choice])
	}
	for i, kid := range p.kids {
		if (p.mode != routing.LoadBalance || p.weights[i] > 0) && !w.isCooling(kid) {
			return false
		}
	}
	return true
}

func (w *world) endOfCooling(p *place) time.Duration {
	switch p.mode {
	case routing.Leaf:
		return p.coolingUntil
	case routing.Conditional:
		return w.endOfCooling(p.kids[p.choice])
	}
	end := time.Duration(math.MaxInt64)
	for i, kid := range p.kids {
		if p.mode != routing.LoadBalance || p.weights[i] > 0 {
			end = min(end, w.endOfCooling(kid))
		}
	}
	return end
}

func (w *world) ask(p *place) failure {
	switch p.mode {
	case routing.Single:
		return w.ask(p.kids[0])
	case routing.Conditional:
		if p.choice < 0 {
			return failure{none: true}
		}
		return w.ask(p.kids[p.choice])
	case routing.LoadBalance:
		return w.ask(p.kids[w.pick(p)])
	case routing.Fallback:
		return w.askInTurn(p)
	}
	return w.askLeaf(p)
}

func (w *world) askInTurn(p *place) failure {
	if w.isCooling(p) {
		best := p.kids[0]
		for _, kid := range p.kids {
			if w.endOfCooling(kid) < w.endOfCooling(best) {
				best = kid
			}
		}
		for _, kid := range p.kids {
			if kid != best {
				w.log = append(w.log, kid.name+" skipped: cooldown")
			}
		}
		return w.ask(best)
	}
	var last failure
	for _, kid := range p.kids {
		if !last.ok() {
			if !w.goesOn(p, last) {
				return last
			}
			if w.tries >= w.maxTries {
				w.log = append(w.log, kid.name+" skipped: max_attempts")
				return last
			}
		}
		if w.isCooling(kid) {
			w.log = append(w.log, kid.name+" skipped: cooldown")
			continue
		}
		if last = w.ask(kid); last.ok() {
			return last
		}
	}
	return last
}

func (w *world) goesOn(p *place, f failure) bool {
	if f.over {
		return false
	}
	if f.none { // counts as a mistake found here
		f.fault = &fault{status: 400, named: true}
	}
	if p.onStatus == nil {
		return f.fault.next
	}
	return f.fault.named && slices.Contains(p.onStatus, f.fault.status)
}

// pick draws a kid: those that cool have no chance, unless all do.
func (w *world) pick(p *place) int {
	weights := make([]float64, len(p.kids))
	sum := 0.0
	for i := range p.kids {
		if w.isCooling(p) || !w.isCooling(p.kids[i]) {
			weights[i] = p.weights[i]
		}
		sum += weights[i]
	}
	if p.sticky && w.key != "" {
		best, high := -1, 0.0
		for i, kid := range p.kids {
			x := scramble(fnvOf(w.key) ^ scramble(fnvOf(kid.name)))
			score := weights[i] / -math.Log((float64(x>>11)+0.5)/math.Exp2(53))
			if weights[i] > 0 && score > high {
				best, high = i, score
			}
		}
		return best
	}
	x := w.random() * sum
	for i := range p.kids {
		if x < weights[i] {
			return i
		}
		x -= weights[i]
	}
	panic("the draw ran off its end")
}

func fnvOf(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (w *world) askLeaf(p *place) failure {
	probing := p.cooling && w.now >= p.coolingUntil
	var paused time.Duration
	for retry := 0; ; retry++ {
		begun := w.now
		f := w.send(p)
		w.tries++
		w.log = append(w.log, fmt.Sprintf("%s at %v after %v for %v retry %d", p.name, begun, paused, w.now-begun, retry))
		w.learn(p, f, probing)
		probing = false
		if f.ok() || f.over || retry >= p.retries || !w.repeats(p, f) {
			return f
		}
		if w.tries >= w.maxTries {
			w.log = append(w.log, p.name+" skipped: max_attempts")
			return f
		}
		if f.wait > p.maxWait {
			return f
		}
		bound := p.base
		for range retry {
			bound = min(2*bound, p.cap)
		}
		paused = max(f.wait, time.Duration(w.random()*float64(min(bound, p.cap))))
		if w.deadline > 0 && w.now+paused >= w.deadline {
			return f
		}
		if w.budget >= 0 {
			if w.budget < 1 {
				w.log = append(w.log, p.name+" skipped: retry_budget")
				return f
			}
			w.budget--
		}
		w.now += paused
	}
}

func (w *world) repeats(p *place, f failure) bool {
	if p.retryOn != nil && f.fault.byTable {
		return slices.Contains(p.retryOn, f.fault.status)
	}
	return f.fault.again
}

// send plays the target's next move.
func (w *world) send(p *place) failure {
	var m move
	if len(p.moves) > 0 {
		m, p.moves = p.moves[0], p.moves[1:]
	}
	if w.deadline > 0 && w.now+m.takes >= w.deadline {
		w.now = w.deadline
		return failure{over: true}
	}
	w.now += m.takes
	return failure{fault: m.fault, wait: m.wait}
}

// learn keeps the target's health.
func (w *world) learn(p *place, f failure, probing bool) {
	if p.coolAfter == 0 {
		return
	}
	if f.ok() {
		p.fails, p.timesCooled, p.cooling = 0, 0, false
		return
	}
	if !f.over && !f.fault.counts { // running out of time counts
		return
	}
	if p.cooling && !probing {
		return
	}
	p.fails++
	if probing || p.fails >= p.coolAfter {
		length := float64(p.coolFor) * math.Exp2(float64(p.timesCooled))
		length = math.Min(math.Max(length, float64(f.wait)), float64(p.coolAtMost))
		p.cooling, p.coolingUntil = true, w.now+time.Duration(length)
		p.timesCooled++
		p.fails = 0
	}
}
