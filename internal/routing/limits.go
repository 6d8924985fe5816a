package routing

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Limits bound what a target is asked. What is over them waits in line, first
// come, first served; what could not be met in time fails at once, without being
// sent, so that a fallback can go on. The zero Limits are none. Leaves with the
// same key share the count, each within its own limits.
type Limits struct {
	// Requests and Tokens are for any minute; 0 is no limit. Tokens are estimated
	// before a request and put right after it.
	Requests int
	Tokens   int64
	// Concurrent is the number of requests under way, streams up to their end; 0
	// is no limit.
	Concurrent int
	// QueueTimeout bounds the time in line; 0 is 30 s, and a negative one lets
	// nobody wait. The context bounds it as well.
	QueueTimeout time.Duration
}

const defaultQueueTimeout = 30 * time.Second

func (l *Limits) any() bool { return l.Requests != 0 || l.Tokens != 0 || l.Concurrent != 0 }

// limiter is the use of one target. Whoever waits does so on its own goroutine;
// one timer for all of them lets the first in line go.
type limiter struct {
	mu     sync.Mutex
	start  time.Time
	window window
	active int
	line   []*waiter
	timer  *time.Timer
}

// waiter is a request in line.
type waiter struct {
	limits *Limits
	tokens int64
	due    time.Duration // when it can go, by what is known when it comes
	ready  chan struct{}
	permit permit // once ready is closed
}

// permit is a request that was let go.
type permit struct {
	limiter *limiter // nil without limits
	slot    uint64
	counted bool // in the window
	tokens  int64
}

// acquire waits until the limits let a request of so many tokens go.
func (l *limiter) acquire(ctx context.Context, n *node, tokens int64, mayWait bool) (permit, error) {
	limits := &n.Limits
	tokens = max(tokens, 1)
	l.mu.Lock()
	now := l.now()
	l.window.drop(now)
	word := l.obstacle(limits, tokens)
	if word == "" && len(l.line) == 0 {
		p := l.admit(now, limits, tokens)
		l.mu.Unlock()
		return p, nil
	}
	if ctx.Err() != nil {
		l.mu.Unlock()
		return permit{}, ended(ctx, "the caller's context ended before the target "+n.target+" could be asked")
	}
	due, patience := l.due(now, limits, tokens), limits.patience()
	if limits.Tokens > 0 && tokens > limits.Tokens {
		l.mu.Unlock()
		return permit{}, refused(n, fmt.Sprintf("the request has about %d tokens, and the limit is %d per minute", tokens, limits.Tokens), 0)
	}
	late := due > now+patience
	if deadline, ok := ctx.Deadline(); ok {
		late = late || !l.start.Add(due).Before(deadline)
	}
	if late || !mayWait || patience == 0 {
		l.mu.Unlock()
		return permit{}, refused(n, limits.describe(word)+" can't be met in time", due-now)
	}
	w := &waiter{limits: limits, tokens: tokens, due: due, ready: make(chan struct{})}
	l.line = append(l.line, w)
	l.arm(now)
	l.mu.Unlock()
	return l.wait(ctx, n, w, patience)
}

// wait waits for a waiter's turn.
func (l *limiter) wait(ctx context.Context, n *node, w *waiter, patience time.Duration) (permit, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.ready:
		return w.permit, nil
	case <-ctx.Done():
	case <-timer.C:
	}
	l.mu.Lock()
	now := l.now()
	l.advance(now) // it may be its turn at this very moment
	here := l.leave(w)
	word := l.obstacle(w.limits, w.tokens)
	l.advance(now)
	l.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		if !here {
			w.permit.undo()
		}
		return permit{}, ended(ctx, "the caller's context ended in line for the target "+n.target)
	case here:
		return permit{}, refused(n, w.limits.describe(word)+" was not met in time", 0)
	}
	return w.permit, nil
}

// leave takes a waiter out of the line and reports whether it was still there.
func (l *limiter) leave(w *waiter) bool {
	for i, other := range l.line {
		if other == w {
			l.line = append(l.line[:i], l.line[i+1:]...)
			return true
		}
	}
	return false
}

// advance lets go whoever can, from the front of the line.
func (l *limiter) advance(now time.Duration) {
	l.window.drop(now)
	for len(l.line) > 0 {
		w := l.line[0]
		if l.obstacle(w.limits, w.tokens) != "" {
			break
		}
		l.line[0] = nil
		l.line = l.line[1:]
		w.permit = l.admit(now, w.limits, w.tokens)
		close(w.ready)
	}
	l.arm(now)
}

// arm sets the timer for the first in line. What waits for the end of another
// request needs none: that end lets it go.
func (l *limiter) arm(now time.Duration) {
	if len(l.line) == 0 {
		if l.timer != nil {
			l.timer.Stop()
		}
		return
	}
	w := l.line[0]
	after := l.free(now, w.limits, w.tokens, nil) - now
	switch {
	case after <= 0 && l.timer != nil:
		l.timer.Stop()
	case after <= 0:
	case l.timer == nil:
		l.timer = time.AfterFunc(after, l.tick)
	default:
		l.timer.Reset(after)
	}
}

func (l *limiter) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance(l.now())
}

func (l *limiter) now() time.Duration {
	if l.start.IsZero() {
		l.start = time.Now()
	}
	return time.Since(l.start)
}

// The words for limits.
const (
	perRequest = "requests per minute"
	perToken   = "tokens per minute"
	atOnce     = "requests at once"
)

// obstacle returns the limit that a request is over now, or "".
func (l *limiter) obstacle(m *Limits, tokens int64) string {
	switch {
	case m.Requests > 0 && l.window.requests+1 > m.Requests:
		return perRequest
	case m.Tokens > 0 && l.window.tokens+tokens > m.Tokens:
		return perToken
	case m.Concurrent > 0 && l.active+1 > m.Concurrent:
		return atOnce
	}
	return ""
}

// describe names a limit with its number; "" is the line alone.
func (l *Limits) describe(word string) string {
	number := int64(l.Requests)
	switch word {
	case perToken:
		number = l.Tokens
	case atOnce:
		number = int64(l.Concurrent)
	case "":
		return "the requests in line leave no room: the limit"
	}
	return fmt.Sprintf("the limit of %d %s", number, word)
}

func (l *Limits) patience() time.Duration { return max(or(l.QueueTimeout, defaultQueueTimeout), 0) }

// due returns when a newcomer can go, if all in line go when they are due. How
// long requests under way will take is not known, so it may be later.
func (l *limiter) due(now time.Duration, m *Limits, tokens int64) time.Duration {
	t := l.free(now, m, tokens, l.line)
	if n := len(l.line); n > 0 {
		t = max(t, l.line[n-1].due)
	}
	return t
}

// free returns when the window has room for a request after those in line.
func (l *limiter) free(now time.Duration, m *Limits, tokens int64, line []*waiter) time.Duration {
	requests, sum := l.window.requests+1, l.window.tokens+tokens
	for _, w := range line {
		requests++
		sum += w.tokens
	}
	t := now
	fits := func() bool { return (m.Requests == 0 || requests <= m.Requests) && (m.Tokens == 0 || sum <= m.Tokens) }
	for i := range l.window.slots {
		if fits() {
			return t
		}
		s := &l.window.slots[i]
		requests -= s.requests
		sum -= s.tokens
		t = s.last + minute
	}
	for _, w := range line {
		if fits() {
			return t
		}
		requests--
		sum -= w.tokens
		t = w.due + minute
	}
	return t
}

// admit counts a request.
func (l *limiter) admit(now time.Duration, m *Limits, tokens int64) permit {
	p := permit{limiter: l, tokens: tokens}
	l.active++
	if m.Requests > 0 || m.Tokens > 0 {
		p.counted = true
		p.slot = l.window.add(now, tokens)
	}
	return p
}

// end gives the place back. requests and tokens correct what was counted.
func (p *permit) end(requests int, tokens int64) {
	l := p.limiter
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.active--
	l.window.drop(now)
	if p.counted {
		l.window.change(p.slot, requests, tokens)
	}
	l.advance(now)
}

// undo gives the place back as if it had never been taken.
func (p *permit) undo() { p.end(-1, -p.tokens) }

// busy reports whether requests are under way or in line.
func (l *limiter) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.active > 0 || len(l.line) > 0
}

// refused is the error of a limit of ours.
func refused(n *node, what string, after time.Duration) *providers.Error {
	where := n.target
	if where == "" {
		where = n.Key
	}
	return &providers.Error{
		Code: providers.ErrRateLimited, RetryAfter: max(after, 0),
		Message: what + " for the target " + where + ": raise the limit, allow a longer queue_timeout or deadline, or add a target to fall back to",
	}
}
