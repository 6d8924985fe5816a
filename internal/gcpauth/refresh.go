package gcpauth

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"cloud.google.com/go/auth"
)

// The refresh policy. A token is fresh, then stale for the last minutes of its
// life, then invalid.
const (
	refreshAhead   = 4 * time.Minute        // length of the stale window
	attemptTimeout = 15 * time.Second       // one exchange
	maxAttempts    = 3                      // exchanges in a row while callers have no token
	staleBackoff   = time.Second            // first pause while the old token serves
	maxBackoff     = 30 * time.Second       // longest pause
	waitBackoff    = 200 * time.Millisecond // first pause while callers wait
	refusalPause   = 5 * time.Second        // how long a permanent error is repeated without asking again
)

// errUnchanged is why a flight goes on: sources that cache answer the old token
// until shortly before its end.
var errUnchanged = errors.New("the source still answers the old token")

// entry is a token with what is derived from it. It is immutable.
type entry struct {
	token  *auth.Token
	header string // "Bearer …", or "" when no header is to be sent
	quota  string
	// stale and expiry are on the wall clock, since the monotonic one stops while
	// a machine sleeps. Zero means never.
	stale, expiry time.Time
}

func newEntry(t *auth.Token, quota string, ahead time.Duration) *entry {
	e := &entry{token: t, quota: quota}
	if t.Value != "" {
		e.header = "Bearer " + t.Value
	}
	if !t.Expiry.IsZero() {
		e.expiry = t.Expiry.Round(0)
		e.stale = e.expiry.Add(-min(ahead, time.Until(e.expiry)/4))
	}
	return e
}

// fresh reports that the token can be used without a second thought. e may be nil.
func (e *entry) fresh(now time.Time) bool {
	return e != nil && (e.stale.IsZero() || now.Before(e.stale))
}

// usable reports that the token hasn't expired. e may be nil.
func (e *entry) usable(now time.Time) bool {
	return e != nil && (e.expiry.IsZero() || now.Before(e.expiry))
}

// repeats reports that e is old again, no longer valid than before.
func (e *entry) repeats(old *entry) bool {
	return e.token.Value == old.token.Value && !e.expiry.After(old.expiry)
}

// flight is one effort to get a token, shared by all callers. Its result may be
// read once done is closed.
type flight struct {
	done  chan struct{}
	hurry chan struct{} // ends a pause, because a caller now waits
	asked bool          // that a caller waits; guarded by Source.mu
	entry *entry
	err   error
}

// current returns a usable entry. It waits only if there is none.
func (s *Source) current(ctx context.Context) (*entry, error) {
	e := s.cur.Load()
	now := time.Now()
	switch {
	case e.fresh(now):
		return e, nil
	case e.usable(now):
		s.refreshAhead()
		return e, nil
	}
	f, err := s.join()
	if err != nil {
		return nil, err
	}
	if f == nil { // another caller was faster
		return s.current(ctx)
	}
	select {
	case <-f.done:
		return f.entry, f.err
	case <-ctx.Done():
		return nil, fault("wait for token", s.kind, ctx.Err())
	}
}

// refreshAhead starts a flight if none is under way and none was just refused.
func (s *Source) refreshAhead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flight == nil && !s.closed && s.refusalLocked() == nil && !s.cur.Load().fresh(time.Now()) {
		s.launchLocked(false)
	}
}

// join returns the flight to wait for, starting it if need be, or nil if a token
// has arrived meanwhile.
func (s *Source) join() (*flight, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fault("fetch token", s.kind, ErrClosed)
	}
	if s.cur.Load().usable(time.Now()) {
		return nil, nil
	}
	if s.flight == nil {
		if err := s.refusalLocked(); err != nil {
			return nil, err
		}
		s.launchLocked(true)
	}
	// Once per flight: a crowd of callers must not cut every pause short.
	if f := s.flight; !f.asked {
		f.asked = true
		close(f.hurry)
	}
	return s.flight, nil
}

// refusalLocked returns the last permanent error while it is recent.
func (s *Source) refusalLocked() error {
	if s.refusal != nil && time.Now().Before(s.refusedUntil) {
		return s.refusal
	}
	return nil
}

// launchLocked starts a flight; asked tells that it begins with a caller waiting.
func (s *Source) launchLocked(asked bool) {
	f := &flight{done: make(chan struct{}), hurry: make(chan struct{}), asked: asked}
	s.flight = f
	s.running.Go(func() { s.fly(f) })
}

// fly tries to get a token: for as long as the old one serves, and a few times
// more when there is none.
func (s *Source) fly(f *flight) {
	hurry := f.hurry
	attempts := 0 // made without a usable token
	for round := 0; ; round++ {
		e, err := s.attempt()
		old := s.cur.Load()
		serving := old.usable(time.Now())
		if serving && err == nil && e.repeats(old) {
			err = errUnchanged
		}
		if !serving {
			attempts++
		}
		if err == nil || isPermanent(err) || attempts >= maxAttempts {
			s.land(f, e, err)
			return
		}
		pause := backoff(waitBackoff, attempts-1)
		if serving {
			// Half the time left at most, so that a source which caches is asked
			// again near the end.
			pause = max(min(backoff(staleBackoff, round), time.Until(old.expiry)/2), staleBackoff/2)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-hurry:
			hurry = nil
		case <-s.base.Done():
			timer.Stop()
			s.land(f, nil, fault("fetch token", s.kind, ErrClosed))
			return
		}
		timer.Stop()
	}
}

// backoff doubles first for each round up to maxBackoff, and takes off up to half
// of it at random.
func backoff(first time.Duration, round int) time.Duration {
	d := min(first<<min(max(round, 0), 10), maxBackoff)
	return d - rand.N(d/2)
}

// attempt makes one exchange within its own deadline.
func (s *Source) attempt() (*entry, error) {
	ctx, cancel := context.WithTimeout(s.base, attemptTimeout)
	defer cancel()
	e, err := s.exchange(ctx)
	if err != nil {
		return nil, fault("fetch token", s.kind, err)
	}
	return e, nil
}

// exchange gets one token and refuses what can't be used.
func (s *Source) exchange(ctx context.Context) (*entry, error) {
	t, err := s.origin.exchange(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case t == nil || t.Value == "":
		return nil, errors.New("the answer holds no token")
	case !printable(t.Value):
		return nil, permanentError{errors.New("the token has characters that a header can't carry")}
	case !t.Expiry.IsZero() && time.Until(t.Expiry.Round(0)) <= 0:
		return nil, errors.New("the token has expired already: check the clock of this machine")
	}
	quota := s.quota
	if quota == "" {
		if quota, err = s.origin.fact(ctx, quotaProject); err != nil {
			return nil, err
		}
	}
	return newEntry(t, quota, s.ahead), nil
}

// land publishes the result of a flight.
func (s *Source) land(f *flight, e *entry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		e, err = nil, fault("fetch token", s.kind, ErrClosed)
	case err == nil:
		s.cur.Store(e)
		s.refusal = nil
	case isPermanent(err):
		s.refusal, s.refusedUntil = err, time.Now().Add(refusalPause)
	}
	f.entry, f.err = e, err
	s.flight = nil
	close(f.done)
}
