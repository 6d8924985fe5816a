package gcpauth

import (
	"context"
	"errors"
	"sync"

	"cloud.google.com/go/auth"
	"golang.org/x/oauth2"
)

// callerOrigin gets tokens from code of the caller, which may ignore its context.
// A call that outlives its attempt isn't started a second time; the next attempt
// waits for the same call, so that at most one goroutine is ever stuck in it.
type callerOrigin struct {
	fetch func(context.Context) (*auth.Token, error)
	facts func(context.Context, fact) (string, error)

	mu      sync.Mutex
	pending *callerResult
}

// callerResult may be read once done is closed.
type callerResult struct {
	done  chan struct{}
	token *auth.Token
	err   error
}

func sourceOrigin(ts oauth2.TokenSource) *callerOrigin {
	return &callerOrigin{
		fetch: func(context.Context) (*auth.Token, error) {
			t, err := ts.Token()
			if err != nil || t == nil {
				return nil, err
			}
			return &auth.Token{Value: t.AccessToken, Type: t.Type(), Expiry: t.Expiry}, nil
		},
		facts: staticOrigin{}.fact,
	}
}

func credentialsOrigin(c *auth.Credentials) *callerOrigin {
	return &callerOrigin{
		fetch: func(ctx context.Context) (*auth.Token, error) {
			if c.TokenProvider == nil {
				return nil, permanentError{errors.New("the credentials have no token provider")}
			}
			return c.Token(ctx)
		},
		facts: func(ctx context.Context, f fact) (string, error) {
			switch f {
			case projectID:
				return c.ProjectID(ctx)
			case quotaProject:
				return c.QuotaProjectID(ctx)
			}
			return c.UniverseDomain(ctx)
		},
	}
}

func (o *callerOrigin) exchange(ctx context.Context) (*auth.Token, error) {
	r := o.call(ctx)
	select {
	case <-r.done:
		return r.token, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// call returns the call under way, or a new one.
func (o *callerOrigin) call(ctx context.Context) *callerResult {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pending != nil {
		return o.pending
	}
	r := &callerResult{done: make(chan struct{})}
	o.pending = r
	go func() {
		r.token, r.err = o.fetch(ctx)
		o.mu.Lock()
		o.pending = nil
		o.mu.Unlock()
		close(r.done)
	}()
	return r
}

func (o *callerOrigin) fact(ctx context.Context, f fact) (string, error) { return o.facts(ctx, f) }
