package gcpauth_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/auth"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"

	"github.com/b650d4bf/gateway/internal/gcpauth"
)

// crowd calls f from n goroutines and returns how often each answer came.
func crowd(n int, f func() string) map[string]int {
	var mu sync.Mutex
	got := map[string]int{}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			v := f()
			mu.Lock()
			defer mu.Unlock()
			got[v]++
		})
	}
	wg.Wait()
	return got
}

func TestCrowdSharesOneExchangeAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ context.Context, call int) (*auth.Token, error) {
			time.Sleep(time.Second)
			return tokenFor(call, time.Hour), nil
		}}
		s := f.source(t)
		got := crowd(1000, func() string { return value(t.Context(), s) })
		if diff := cmp.Diff(map[string]int{"tok1": 1000}, got); diff != "" || f.calls.Load() != 1 {
			t.Errorf("%d exchanges, tokens (-want +got):\n%s", f.calls.Load(), diff)
		}
	})
}

// TestNobodyWaitsAcrossExpiry lets a thousand callers ask every second from before
// the stale window until after the expiry of the first token.
func TestNobodyWaitsAcrossExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ context.Context, call int) (*auth.Token, error) {
			time.Sleep(3 * time.Second)
			return tokenFor(call, time.Hour), nil
		}}
		s := f.source(t)
		wantValue(t, s, "tok1")
		time.Sleep(55 * time.Minute)
		got := crowd(1000, func() string {
			for range 600 {
				start := time.Now()
				v := value(t.Context(), s)
				if waited := time.Since(start); waited != 0 || v != "tok1" && v != "tok2" {
					return fmt.Sprintf("%s after %v", v, waited)
				}
				time.Sleep(time.Second)
			}
			return value(t.Context(), s)
		})
		if diff := cmp.Diff(map[string]int{"tok2": 1000}, got); diff != "" || f.calls.Load() != 2 {
			t.Errorf("%d exchanges, last tokens (-want +got):\n%s", f.calls.Load(), diff)
		}
	})
}

func TestOutageForTheWholeStaleWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := false
		f := &fake{answer: func(_ context.Context, call int) (*auth.Token, error) {
			if down {
				return nil, errors.New("connection refused")
			}
			return tokenFor(call, time.Hour), nil
		}}
		s := f.source(t)
		wantValue(t, s, "tok1")
		down = true
		expiry := time.Now().Add(time.Hour)
		for time.Now().Before(expiry) {
			wantValue(t, s, "tok1")
			time.Sleep(time.Second)
		}
		if calls := f.calls.Load(); calls < 8 || calls > 30 {
			t.Errorf("%d exchanges in the stale window, want repeated attempts that back off", calls)
		}
		start := time.Now()
		const want = "gcpauth: fetch token with credentials: connection refused"
		wantValue(t, s, want)
		if waited := time.Since(start); waited > 2*time.Second {
			t.Errorf("the error came after %v", waited)
		}
		down = false
		if got := value(t.Context(), s); !strings.HasPrefix(got, "tok") || got == "tok1" {
			t.Errorf("after the outage: %s", got)
		}
	})
}

func TestHungExchangeHoldsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(ctx context.Context, call int) (*auth.Token, error) {
			if call == 1 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return tokenFor(call, time.Hour), nil
		}}
		s := f.source(t)
		go func() { _, _ = s.Token(t.Context()) }()
		synctest.Wait()
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := s.Token(ctx)
		if waited := time.Since(start); waited != 100*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("returned after %v with %v", waited, err)
		}
		wantValue(t, s, "tok2") // the attempt timed out and was repeated
		if waited := time.Since(start); waited > 16*time.Second {
			t.Errorf("the patient caller waited %v", waited)
		}
	})
}

// TestCallerMayLeave checks that the exchange isn't tied to the one who started it.
func TestCallerMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(ctx context.Context, call int) (*auth.Token, error) {
			select {
			case <-time.After(time.Second):
				return tokenFor(call, time.Hour), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
		s := f.source(t)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Millisecond); cancel() }()
		if _, err := s.Token(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want canceled", err)
		}
		wantValue(t, s, "tok1")
		if f.calls.Load() != 1 {
			t.Errorf("%d exchanges, want 1", f.calls.Load())
		}
	})
}

func TestInvalidateStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: hourly}
		s := f.source(t)
		wantValue(t, s, "tok1")
		got := crowd(100, func() string {
			s.Invalidate("tok1")
			return value(t.Context(), s)
		})
		if diff := cmp.Diff(map[string]int{"tok2": 100}, got); diff != "" || f.calls.Load() != 2 {
			t.Errorf("%d exchanges, tokens (-want +got):\n%s", f.calls.Load(), diff)
		}
		s.Invalidate("tok1")
		s.Invalidate("other")
		wantValue(t, s, "tok2")
	})
}

// TestInvalidateDuringOutage checks that a waiting caller ends the long pause of
// the background flight, once.
func TestInvalidateDuringOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := false
		f := &fake{answer: func(_ context.Context, call int) (*auth.Token, error) {
			if down {
				return nil, errors.New("down")
			}
			return tokenFor(call, time.Hour), nil
		}}
		s := f.source(t)
		wantValue(t, s, "tok1")
		time.Sleep(57 * time.Minute)
		down = true
		wantValue(t, s, "tok1")
		time.Sleep(40 * time.Second) // the pauses are long by now
		s.Invalidate("tok1")
		before, start := f.calls.Load(), time.Now()
		crowd(100, func() string { return value(t.Context(), s) })
		if n, waited := f.calls.Load()-before, time.Since(start); n > 3 || waited > 2*time.Second {
			t.Errorf("%d exchanges in %v, want at most 3 without a long pause", n, waited)
		}
	})
}

func TestPermanentErrorIsNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &replies{byURL: map[string]string{googleToken: `400 {"error":"invalid_grant","error_description":"x"}`}}
		s := newSource(t, gcpauth.Config{Kind: gcpauth.AuthorizedUserJSON, JSON: []byte(userJSON), HTTPClient: r.client()})
		for range 100 {
			_, err := s.Token(t.Context())
			e, ok := errors.AsType[*gcpauth.Error](err)
			status, is := errors.AsType[*gcpauth.StatusError](err)
			if !ok || !e.Permanent || e.Remedy == "" || !is || status.Code != "invalid_grant" || status.Status != 400 {
				t.Fatalf("error %v (%T)", err, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if len(r.asked) != 1 {
			t.Errorf("%d exchanges within a second, want 1", len(r.asked))
		}
		r.byURL[googleToken] = `200 {"access_token":"good","expires_in":3600}`
		time.Sleep(5 * time.Second)
		wantValue(t, s, "good")
	})
}

func TestTransientErrorIsRetriedForCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for status, want := range map[int]int{503: 3, 429: 3, 500: 3, 401: 1, 403: 1, 404: 1} {
			r := &replies{byURL: map[string]string{googleToken: fmt.Sprint(status, ` {}`)}}
			s := newSource(t, gcpauth.Config{Kind: gcpauth.AuthorizedUserJSON, JSON: []byte(userJSON), HTTPClient: r.client()})
			if _, err := s.Token(t.Context()); err == nil || len(r.asked) != want {
				t.Errorf("status %d: %d exchanges, want %d (error %v)", status, len(r.asked), want, err)
			}
		}
	})
}

// TestCloseLeavesTheToken has calls under way when the source is closed, in the
// stale window: they go on with the token until its end, and nothing is fetched.
func TestCloseLeavesTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ context.Context, call int) (*auth.Token, error) { return tokenFor(call, time.Hour), nil }}
		s := f.source(t)
		wantValue(t, s, "tok1")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wantValue(t, s, "tok1")
		time.Sleep(58 * time.Minute) // a refresh would be due
		wantValue(t, s, "tok1")
		time.Sleep(2 * time.Minute)
		if _, err := s.Token(t.Context()); !errors.Is(err, gcpauth.ErrClosed) {
			t.Errorf("the token outlives its end: %v, want ErrClosed", err)
		}
	})
}

func TestCloseDuringRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(ctx context.Context, call int) (*auth.Token, error) {
			if call == 1 {
				return tokenFor(call, time.Hour), nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		s := f.source(t)
		wantValue(t, s, "tok1")
		time.Sleep(57 * time.Minute)
		wantValue(t, s, "tok1") // starts a refresh, which hangs
		synctest.Wait()
		s.Invalidate("tok1")
		waiter := make(chan error)
		go func() { _, err := s.Token(t.Context()); waiter <- err }()
		synctest.Wait()
		start := time.Now()
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := <-waiter; !errors.Is(err, gcpauth.ErrClosed) {
			t.Errorf("the waiter got %v, want ErrClosed", err)
		}
		if _, err := s.Token(t.Context()); !errors.Is(err, gcpauth.ErrClosed) {
			t.Errorf("after Close: %v, want ErrClosed", err)
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("Close took %v", waited)
		}
	})
}

// TestCachingSource has a token source that answers the old token until ten
// seconds before its end, as the x/oauth2 package does.
func TestCachingSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &countingSource{}
		asked := 0
		cached := oauth2.ReuseTokenSource(nil, inner)
		s := newSource(t, gcpauth.Config{Kind: gcpauth.TokenSource, TokenSource: sourceFunc(func() (*oauth2.Token, error) {
			asked++
			return cached.Token()
		})})
		for range 4 * 60 * 60 {
			start := time.Now()
			v := value(t.Context(), s)
			if !strings.HasPrefix(v, "tok") || time.Since(start) != 0 {
				t.Fatalf("%s after %v", v, time.Since(start))
			}
			time.Sleep(time.Second)
		}
		if inner.n > 5 || asked > 100 {
			t.Errorf("%d tokens in four hours, the source was asked %d times", inner.n, asked)
		}
	})
}

// TestSourceThatIsSlowToRenew has a source that, like the metadata server, answers
// the old token for a while after it went stale: it is asked again without waiting
// for the next caller.
func TestSourceThatIsSlowToRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		first := tokenFor(1, time.Hour)
		f := &fake{answer: func(_ context.Context, _ int) (*auth.Token, error) {
			if time.Since(begin) < 56*time.Minute+30*time.Second {
				return first, nil
			}
			return &auth.Token{Value: "renewed", Expiry: time.Now().Add(time.Hour)}, nil
		}}
		s := f.source(t)
		wantValue(t, s, "tok1")
		time.Sleep(56*time.Minute + time.Second)
		wantValue(t, s, "tok1")
		time.Sleep(time.Minute + 29*time.Second)
		wantValue(t, s, "renewed")
	})
}

type sourceFunc func() (*oauth2.Token, error)

func (f sourceFunc) Token() (*oauth2.Token, error) { return f() }

type countingSource struct{ n int }

func (c *countingSource) Token() (*oauth2.Token, error) {
	c.n++
	return &oauth2.Token{AccessToken: fmt.Sprintf("tok%d", c.n), Expiry: time.Now().Add(time.Hour)}, nil
}

// TestShortLivedTokens must not refresh at every call because all of a token's
// life lies in the stale window.
func TestShortLivedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ context.Context, call int) (*auth.Token, error) { return tokenFor(call, time.Minute), nil }}
		s := f.source(t)
		for range 600 {
			if v := value(t.Context(), s); !strings.HasPrefix(v, "tok") {
				t.Fatal(v)
			}
			time.Sleep(time.Second)
		}
		if n := f.calls.Load(); n < 10 || n > 15 {
			t.Errorf("%d exchanges in ten minutes of one-minute tokens", n)
		}
	})
}

// TestStuckSource checks that a source that ignores everything is entered once,
// and doesn't hold up Close.
func TestStuckSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := &fake{answer: func(_ context.Context, call int) (*auth.Token, error) {
			<-release
			return tokenFor(call, time.Hour), nil
		}}
		s := f.source(t)
		if _, err := s.Token(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want a deadline", err)
		}
		if f.calls.Load() != 1 {
			t.Errorf("the source was entered %d times", f.calls.Load())
		}
		go func() { _, _ = s.Token(t.Context()) }()
		synctest.Wait()
		_ = s.Close()
		close(release)
	})
}

func TestUnusableTokens(t *testing.T) {
	for name, tok := range map[string]*auth.Token{
		"none":                nil,
		"empty":               {},
		"expired":             {Value: "old", Expiry: time.Unix(1, 0)},
		"with a line break":   {Value: "a\r\nx: y"},
		"with a space":        {Value: "Bearer a"},
		"with another script": {Value: "tokén"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{answer: func(context.Context, int) (*auth.Token, error) { return tok, nil }}
				if h, _, err := f.source(t).Header(t.Context()); err == nil {
					t.Errorf("header %q, want an error", h)
				}
			})
		})
	}
}

func TestHeaderDoesNotAllocate(t *testing.T) {
	s := (&fake{answer: hourly}).source(t)
	h, _, err := s.Header(t.Context())
	if err != nil || h != "Bearer tok1" {
		t.Fatalf("header %q, error %v", h, err)
	}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { _, _, _ = s.Header(ctx) }); n != 0 {
		t.Errorf("%v allocations for a fresh token, want 0", n)
	}
}
