package transport_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/providers"
)

// errStale has the text of net/http, which the tests on sockets check.
var errStale = errors.New("http: server closed idle connection")

// staleAt is a transport that fails so often, without reading the body or with, and then answers.
func staleAt(err error, times int, read bool) (*transport.Client, *atomic.Int64) {
	var tries atomic.Int64
	rt := roundTrip(func(r *http.Request) (*http.Response, error) {
		n := tries.Add(1)
		if int(n) > times || read {
			text, readErr := readBody(r)
			if readErr != nil || string(text) != "body" {
				return nil, errors.Join(errors.New("no body"), readErr)
			}
		} else {
			_ = r.Body.Close()
		}
		if int(n) <= times {
			return nil, err
		}
		return answer(r, strings.NewReader("fine")), nil
	})
	return transport.New(rt, 0), &tries
}

func TestAStaleConnectionIsLeftForAnother(t *testing.T) {
	other := errors.New("connection refused")
	for name, row := range map[string]struct {
		err   error
		times int
		read  bool
		tries int64
		fine  bool
	}{
		"once":                          {errStale, 1, false, 2, true},
		"as often as is borne":          {errStale, 4, false, 5, true},
		"more often":                    {errStale, 9, false, 5, false},
		"with the body under way":       {errStale, 1, true, 1, false},
		"for a reason that is no other": {other, 1, false, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, tries := staleAt(row.err, row.times, row.read)
			res, err := c.Do(t.Context(), request(t, "https://h", "body", providers.Timeouts{}))
			if tries.Load() != row.tries || (err == nil) != row.fine {
				t.Errorf("%d tries, %v", tries.Load(), err)
			}
			if err != nil {
				if e := fault(t, err); e.Code != providers.ErrConnection || e.Sent != row.read {
					t.Errorf("%v, sent %v", e, e.Sent)
				}
				return
			}
			if text, err := body(res, 100); text != "fine" || err != nil || res.Close() != nil {
				t.Errorf("%q %v", text, err)
			}
		})
	}
}

func TestAStaleConnectionIsNotLeftByACallThatHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	rt := roundTrip(func(r *http.Request) (*http.Response, error) {
		tries++
		_ = r.Body.Close()
		cancel()
		return nil, errStale
	})
	_, err := transport.New(rt, 0).Do(ctx, request(t, "https://h", "body", providers.Timeouts{}))
	if e := fault(t, err); e.Code != providers.ErrCanceled || tries != 1 {
		t.Errorf("%v after %d tries", e, tries)
	}
}

// The peer ends its connection as soon as it has answered. Of the calls that take it
// all the same, those that had not begun to send must not fail.
func TestNoCallFailsUnsentOnAConnectionThatEnds(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "fine")
	}))
	srv.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateIdle {
			_ = c.Close()
		}
	}
	srv.Start()
	defer srv.Close()
	c := transport.New(nil, 5*time.Second)
	defer c.CloseIdle()
	for range 2000 {
		res, err := c.Do(t.Context(), request(t, srv.URL, "body", providers.Timeouts{}))
		if err != nil {
			if e := fault(t, err); !e.Sent {
				t.Fatalf("%v, and nothing was sent", err)
			}
			continue
		}
		_, _ = body(res, 100)
		_ = res.Close()
	}
}
