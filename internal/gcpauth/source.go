package gcpauth

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"cloud.google.com/go/auth"

	"github.com/b650d4bf/gateway/internal/place"
)

// Source hands out tokens of one credential. It is safe for concurrent use and
// meant to be shared by all callers with that credential.
type Source struct {
	kind     Kind
	quota    string // override, or ""
	universe string // override, or ""
	ahead    time.Duration
	origin   origin
	private  *http.Transport // released by Close; may be nil

	base    context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup // flights

	cur atomic.Pointer[entry] // the token callers get; nil when there is none

	mu           sync.Mutex
	closed       bool
	flight       *flight // nil when none is under way
	refusal      error   // the last permanent error
	refusedUntil time.Time
}

var _ auth.TokenProvider = (*Source)(nil)

// fact is a property of credentials besides the token.
type fact uint8

const (
	projectID fact = iota
	quotaProject
	universeDomain
)

// origin is where tokens come from. Callers must not overlap exchange; fact is
// safe for concurrent use. An unknown fact is "".
type origin interface {
	exchange(ctx context.Context) (*auth.Token, error)
	fact(ctx context.Context, f fact) (string, error)
}

// New checks cfg and returns a Source for it. It doesn't touch the network, and
// looks for application default credentials only when a token is needed.
func New(cfg Config) (*Source, error) {
	if err := cfg.validate(); err != nil {
		return nil, &Error{Op: "configure", Kind: cfg.Kind, Permanent: true, Err: err}
	}
	s := &Source{kind: cfg.Kind, quota: cfg.QuotaProject, universe: cfg.UniverseDomain, ahead: cfg.RefreshAhead}
	if s.ahead == 0 {
		s.ahead = refreshAhead
	}
	var client *http.Client
	client, s.private = exchangeClient(cfg.HTTPClient)
	var err error
	if s.origin, err = newOrigin(&cfg, client); err != nil {
		return nil, fault("load", cfg.Kind, permanentError{sanitize(err)})
	}
	if !s.Refreshable() {
		s.cur.Store(newEntry(&auth.Token{Value: cfg.AccessToken, Type: "Bearer"}, s.quota, s.ahead))
	}
	s.base, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Token returns a token that hasn't expired, fetching one if there is none. The
// caller must not change it. For [None] its value is empty.
//
// An error is an [*Error]; when ctx ends first it wraps the error of ctx, and the
// exchange goes on for the other callers.
func (s *Source) Token(ctx context.Context) (*auth.Token, error) {
	e, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	return e.token, nil
}

// Header returns the value of the Authorization header, "" for [None], and the
// quota project, "" when none is known. It doesn't allocate while the token is
// fresh.
func (s *Source) Header(ctx context.Context) (authorization, quotaProject string, err error) {
	e, err := s.current(ctx)
	if err != nil {
		return "", "", err
	}
	return e.header, e.quota, nil
}

// Refreshable reports whether there can be another token than the present one.
func (s *Source) Refreshable() bool { return s.kind != None && s.kind != AccessToken }

// Invalidate reports that token, a bare one, was answered with 401: the next call
// fetches anew, once for all callers. It has no effect if the token has changed
// meanwhile or the Source isn't refreshable. A source of the caller's may answer
// the same token again; there is no point in repeating a request with it.
func (s *Source) Invalidate(token string) {
	if !s.Refreshable() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.cur.Load(); e != nil && e.token.Value == token {
		s.cur.Store(nil)
	}
}

// ProjectID returns the project of the credentials, "" when they don't tell. It
// may ask the metadata server for application default credentials, and whatever
// [auth.Credentials] of the caller do; other kinds answer from memory.
func (s *Source) ProjectID(ctx context.Context) (string, error) {
	v, err := s.origin.fact(ctx, projectID)
	if err != nil {
		return "", fault("find project", s.kind, err)
	}
	return v, nil
}

// UniverseDomain returns the domain that services are called under, which is
// [DefaultUniverse] unless the credentials or the Config say otherwise.
func (s *Source) UniverseDomain(ctx context.Context) (string, error) {
	if s.universe != "" {
		return s.universe, nil
	}
	v, err := s.origin.fact(ctx, universeDomain)
	switch {
	case err != nil:
		return "", fault("find universe domain", s.kind, err)
	case v == "":
		return DefaultUniverse, nil
	case !place.IsDomain(v):
		return "", fault("find universe domain", s.kind, permanentError{errUniverse})
	}
	return v, nil
}

// Close stops a fetch under way and waits for it; there is none from then on. The
// token that there is serves on, so that what is under way can end, until it
// expires or [Source.Invalidate] gives it up: callers then fail with [ErrClosed]. It
// is in memory for as long as the Source. Close may be called again; the error is
// always nil. It doesn't wait for a token source of the caller's that ignores its
// context.
func (s *Source) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.running.Wait()
	if s.private != nil {
		s.private.CloseIdleConnections()
	}
	return nil
}

// String names the kind and nothing secret.
func (s *Source) String() string { return "gcpauth.Source{" + s.kind.String() + "}" }

// GoString is [Source.String].
func (s *Source) GoString() string { return s.String() }

// Format writes [Source.String] for every verb.
func (s *Source) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }
