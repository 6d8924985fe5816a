package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/providers"
)

// script is a server in virtual time: it takes the request after taking,
// answers after thinking, and then sends a byte after each wait.
type script struct {
	taking, thinking time.Duration
	waits            []time.Duration
}

func (s script) RoundTrip(r *http.Request) (*http.Response, error) {
	err := pause(r.Context(), s.taking)
	if err == nil {
		_, err = readBody(r)
	} else {
		_ = r.Body.Close()
	}
	if err == nil {
		err = pause(r.Context(), s.thinking)
	}
	if err != nil {
		return nil, err
	}
	return answer(r, &slow{r.Context(), slices.Clone(s.waits)}), nil
}

// run sends a request and reads its answer to the end.
func run(ctx context.Context, t *testing.T, rt http.RoundTripper, limits providers.Timeouts) (read int, err error) {
	t.Helper()
	res, err := transport.New(rt, 0).Do(ctx, request(t, "https://h/p", "body", limits))
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Close() }()
	n, err := io.Copy(io.Discard, res)
	return int(n), err
}

func TestEachPhaseHasItsLimit(t *testing.T) {
	const s, m = time.Second, time.Minute
	for _, tt := range []struct {
		name   string
		server script
		limits providers.Timeouts
		caller time.Duration // deadline of the caller's context
		after  time.Duration
		code   providers.Code // "" for a success
		sent   bool
		msg    string
	}{
		{"no limit", script{taking: m, thinking: 60 * m, waits: []time.Duration{60 * m, 60 * m}}, providers.Timeouts{}, 0, 181 * m, "", false, ""},
		{"no connection", script{taking: m}, providers.Timeouts{FirstByte: 10 * s}, 0, 10 * s, providers.ErrTimeout, false, "no answer within 10s"},
		{"no answer", script{thinking: m}, providers.Timeouts{FirstByte: 10 * s}, 0, 10 * s, providers.ErrTimeout, true, "no answer within 10s"},
		{"an answer just in time", script{thinking: 9 * s}, providers.Timeouts{FirstByte: 10 * s}, 0, 9 * s, "", false, ""},
		{"the wait for an answer is no limit on the body", script{thinking: s, waits: []time.Duration{m}}, providers.Timeouts{FirstByte: 10 * s}, 0, 61 * s, "", false, ""},
		{"silence", script{waits: []time.Duration{s, s, m}}, providers.Timeouts{Idle: 10 * s}, 0, 12 * s, providers.ErrTimeout, true, "no data within 10s"},
		{"silence from the beginning", script{waits: []time.Duration{m}}, providers.Timeouts{Idle: 10 * s}, 0, 10 * s, providers.ErrTimeout, true, "no data within 10s"},
		{"the limit on silence is none on the wait for an answer", script{thinking: m}, providers.Timeouts{Idle: 10 * s}, 0, m, "", false, ""},
		{"a slow stream lives for hours", script{waits: slices.Repeat([]time.Duration{9 * s}, 2000)}, providers.Timeouts{FirstByte: 10 * s, Idle: 10 * s}, 0, 5 * 60 * m, "", false, ""},
		{"the whole call, before the answer", script{thinking: m}, providers.Timeouts{Total: 20 * s}, 0, 20 * s, providers.ErrTimeout, true, "the call did not end within 20s"},
		{"the whole call, in the body", script{thinking: 5 * s, waits: slices.Repeat([]time.Duration{s}, 100)}, providers.Timeouts{Total: 20 * s, Idle: 2 * s}, 0, 20 * s, providers.ErrTimeout, true, "the call did not end within 20s"},
		{"the whole call is over before the wait for an answer is", script{thinking: m}, providers.Timeouts{Total: 5 * s, FirstByte: 10 * s}, 0, 5 * s, providers.ErrTimeout, true, "the call did not end within 5s"},
		{"silence before the whole call is over", script{waits: []time.Duration{m}}, providers.Timeouts{Total: 30 * s, Idle: 10 * s}, 0, 10 * s, providers.ErrTimeout, true, "no data within 10s"},
		{"the caller's deadline", script{thinking: m}, providers.Timeouts{FirstByte: 50 * s}, 7 * s, 7 * s, providers.ErrTimeout, true, "the caller's context ended"},
		{"the caller's deadline before anything is sent", script{taking: m}, providers.Timeouts{}, 7 * s, 7 * s, providers.ErrTimeout, false, "the caller's context ended"},
		{"the caller's deadline in the body", script{waits: []time.Duration{s, m}}, providers.Timeouts{Idle: 50 * s}, 7 * s, 7 * s, providers.ErrTimeout, true, "the caller's context ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.caller > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.caller)
					defer cancel()
				}
				begun := time.Now()
				n, err := run(ctx, t, tt.server, tt.limits)
				if took := time.Since(begun); took != tt.after {
					t.Errorf("it took %v, want %v", took, tt.after)
				}
				if tt.code == "" {
					if err != nil || n != len(tt.server.waits) {
						t.Errorf("%d bytes, %v", n, err)
					}
					return
				}
				e := fault(t, err)
				if e.Code != tt.code || e.Sent != tt.sent || e.Message != tt.msg || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%+v, want %s, sent: %v, %q", e, tt.code, tt.sent, tt.msg)
				}
			})
		})
	}
}

func TestTheCallersOwnPausesAreNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := script{waits: slices.Repeat([]time.Duration{time.Second}, 3)}
		res, err := transport.New(rt, 0).Do(t.Context(), request(t, "https://h", "body", providers.Timeouts{FirstByte: time.Minute, Idle: 10 * time.Second}))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Close() }()
		for range 3 {
			time.Sleep(time.Hour)
			if _, err := res.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour)
		if _, err := res.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || !res.Ended() {
			t.Errorf("%v, ended: %v, want the end", err, res.Ended())
		}
	})
}

func TestTheWholeCallIsOverEvenWhileTheCallerPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := script{waits: []time.Duration{time.Second, time.Second}}
		res, err := transport.New(rt, 0).Do(t.Context(), request(t, "https://h", "body", providers.Timeouts{Idle: 10 * time.Second, Total: time.Minute}))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Close() }()
		if _, err := res.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		_, err = res.Read(make([]byte, 1))
		if e := fault(t, err); e.Code != providers.ErrTimeout || !res.Ended() {
			t.Errorf("%v, want %s", err, providers.ErrTimeout)
		}
	})
}

func TestFailuresSayWhetherTheRequestWasSent(t *testing.T) {
	refused := errors.New("connection refused")
	secret := "https://h/p?key=hunter2"
	for _, tt := range []struct {
		name string
		rt   roundTrip
		sent bool
	}{
		{"no connection", func(r *http.Request) (*http.Response, error) { _ = r.Body.Close(); return nil, refused }, false},
		{"broken after the request", func(r *http.Request) (*http.Response, error) { _, _ = readBody(r); return nil, refused }, true},
		{"broken within the request", func(r *http.Request) (*http.Response, error) {
			_, _ = r.Body.Read(make([]byte, 1))
			_ = r.Body.Close()
			return nil, refused
		}, true},
		{"written without a buffer", func(r *http.Request) (*http.Response, error) {
			w, _ := r.Body.(io.WriterTo)
			_, _ = w.WriteTo(io.Discard)
			_ = r.Body.Close()
			return nil, refused
		}, true},
		{"broken within the answer", func(r *http.Request) (*http.Response, error) {
			_ = r.Body.Close()
			return answer(r, io.MultiReader(&slow{t.Context(), nil}, failing{refused})), nil
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := transport.New(tt.rt, 0).Do(t.Context(), request(t, secret, "body", providers.Timeouts{}))
			if err == nil {
				_, err = io.Copy(io.Discard, res)
				_ = res.Close()
			}
			if e := fault(t, err); e.Code != providers.ErrConnection || e.Sent != tt.sent || !errors.Is(err, refused) {
				t.Errorf("%v, sent: %v, want %s, sent: %v", err, e.Sent, providers.ErrConnection, tt.sent)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestTheServerIsToldHowLongTheCallerWaits(t *testing.T) {
	for _, tt := range []struct {
		name          string
		total, caller time.Duration
		want          string
	}{
		{"no limit", 0, 0, ""},
		{"rounded up", 1001 * time.Millisecond, 0, "2"},
		{"whole seconds", 30 * time.Second, 0, "30"},
		{"a little", time.Nanosecond, 0, "1"},
		{"the caller's deadline", 0, 90 * time.Second, "90"},
		{"the shorter of both: ours", 10 * time.Second, 90 * time.Second, "10"},
		{"the shorter of both: the caller's", 100 * time.Second, 90 * time.Second, "90"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.caller > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.caller)
					defer cancel()
				}
				var got []string
				rt := roundTrip(func(r *http.Request) (*http.Response, error) {
					got = r.Header["X-Server-Timeout"]
					_, err := readBody(r)
					return answer(r, http.NoBody), err
				})
				if _, err := run(ctx, t, rt, providers.Timeouts{Total: tt.total, FirstByte: time.Hour, Idle: time.Hour}); err != nil {
					t.Fatal(err)
				}
				if want := []string{tt.want}; tt.want == "" && got != nil || tt.want != "" && !slices.Equal(got, want) {
					t.Errorf("%q, want %q", got, tt.want)
				}
			})
		})
	}
}
