package routing

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Policy says how often, and when, a target that failed is asked again. The zero
// Policy never does.
type Policy struct {
	// Attempts is the number of further tries after the first.
	Attempts int
	// OnStatus are the only statuses after which there is another try; empty
	// leaves it to [Rules]. Blocked prompts, quotas that are used up and what has
	// no status stay with the rules.
	OnStatus []int
	// Base bounds the first pause, which is a random part of it; each further
	// bound is twice the last. 0 is 1 s.
	Base time.Duration
	// Max bounds every pause; 0 is 30 s.
	Max time.Duration
	// MaxWait is the longest pause that a platform may ask for, or the retrying
	// ends; 0 is 60 s. A pause is never shorter than what was asked for.
	MaxWait time.Duration
	// IgnoreRetryAfter waits by Base and Max alone, whatever the platform asks for.
	IgnoreRetryAfter bool
	// RepeatSent repeats requests that may have been answered: the connection
	// broke, or a limit of ours ran out. Their tokens may be billed twice.
	RepeatSent bool
}

// The pauses of a policy that names none.
const (
	defaultBase    = time.Second
	defaultMax     = 30 * time.Second
	defaultMaxWait = 60 * time.Second
)

// pause returns how long to wait before the retry that follows n others, or
// false when the platform asks for too long. The jitter is full, so that callers
// that failed together do not come back together.
func (p *Policy) pause(n int, asked time.Duration, random func() float64) (time.Duration, bool) {
	if asked > or(p.MaxWait, defaultMaxWait) {
		return 0, false
	}
	bound, limit := or(p.Base, defaultBase), or(p.Max, defaultMax)
	for range n {
		if bound >= limit {
			break
		}
		bound *= 2
	}
	wait := time.Duration(random() * float64(min(bound, limit)))
	return max(wait, asked), true
}

func or(d, instead time.Duration) time.Duration {
	if d == 0 {
		return instead
	}
	return d
}

// sleep waits for d, or returns an error when the caller has had enough. sent is
// whether a request before may be billed.
func sleep(ctx context.Context, d time.Duration, after *providers.Error) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() == nil {
		return nil
	}
	e := ended(ctx, "the caller's context ended in the pause before a retry, after "+string(after.Code))
	e.Sent = after.Sent
	return e
}

// ended says that the caller's context has ended.
func ended(ctx context.Context, message string) *providers.Error {
	return &providers.Error{Code: known(ctx.Err()).Code, Message: message, Err: context.Cause(ctx)}
}

// Budget bounds retries and hedges to a share of the traffic, so that they do
// not bring a platform down that has trouble already. Each call adds Ratio to an
// account and time adds PerSecond; each retry and each hedge takes 1. Asking
// another target takes nothing. The zero Budget has the defaults; a negative
// member is 0.
type Budget struct {
	// Off leaves retries unbounded.
	Off bool
	// Ratio is the share of the calls; 0 is 0.2.
	Ratio float64
	// PerSecond is what little traffic may retry all the same; 0 is 1.
	PerSecond float64
	// Burst is the most that the account holds, which it starts with; 0 is 50.
	Burst float64
}

// budget is the account. Calls only add to an atomic number; the rest is rare.
type budget struct {
	off       bool
	each      int64   // of a call, in millionths of a retry
	most      int64   // likewise
	perSecond float64 // likewise
	account   atomic.Int64
	mu        sync.Mutex // guards at
	at        time.Time  // up to when time has been added
}

const million = 1_000_000

func (b *budget) start(cfg Budget) {
	b.off = cfg.Off
	b.each = int64(share(cfg.Ratio, 0.2) * million)
	b.perSecond = share(cfg.PerSecond, 1) * million
	b.most = int64(share(cfg.Burst, 50) * million)
	b.account.Store(b.most)
	b.at = time.Now()
}

func share(v, instead float64) float64 {
	if v == 0 {
		return instead
	}
	return max(v, 0)
}

// call adds what one call brings in.
func (b *budget) call() {
	if b.off || b.each == 0 || b.account.Load() >= b.most {
		return
	}
	b.add(b.each)
}

func (b *budget) add(n int64) {
	for {
		have := b.account.Load()
		if b.account.CompareAndSwap(have, min(have+n, b.most)) {
			return
		}
	}
}

// take pays for one retry, if it can.
func (b *budget) take() bool {
	if b.off {
		return true
	}
	b.mu.Lock()
	now := time.Now()
	earned := now.Sub(b.at).Seconds() * b.perSecond
	b.at = now
	b.mu.Unlock()
	b.add(int64(min(earned, float64(b.most))))
	for {
		have := b.account.Load()
		if have < million {
			return false
		}
		if b.account.CompareAndSwap(have, have-million) {
			return true
		}
	}
}
