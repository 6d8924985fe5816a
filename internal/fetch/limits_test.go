package fetch

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestNoProxyStandsBetween(t *testing.T) {
	if New(Config{}).rt.Proxy != nil {
		t.Error("a proxy would be judged in place of the server")
	}
}

func TestRedirectsAreCounted(t *testing.T) {
	var asked atomic.Int64
	at, cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, "/", http.StatusFound)
	})
	for limit, want := range map[int]int64{-1: 1, 0: DefaultMaxRedirects + 1, 1: 2} {
		asked.Store(0)
		cfg.MaxRedirects = limit
		_, err := get(t, cfg, at)
		wantFault(t, err, Refused, 0, "redirects too often")
		if asked.Load() != want {
			t.Errorf("limit %d: %d requests, want %d", limit, asked.Load(), want)
		}
	}
}

// TestAnswersThatPromiseTooMuch have a length, or a header, beyond reason.
func TestAnswersThatPromiseTooMuch(t *testing.T) {
	at, cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/header" {
			w.Header().Set("X-Long", strings.Repeat("a", 2*maxHeader))
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(1<<50)) // of which nothing comes
		_ = http.NewResponseController(w).Flush()
	})
	_, err := get(t, cfg, at+"/length")
	wantFault(t, err, TooLarge, 0, "bytes in all")
	_, err = get(t, cfg, at+"/header")
	wantFault(t, err, Unreachable, 0, "broke")
}

// TestASlowBodyEnds sends a byte now and then.
func TestASlowBodyEnds(t *testing.T) {
	at, cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("a"))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	})
	cfg.Timeout = 100 * time.Millisecond
	_, err := get(t, cfg, at)
	wantFault(t, err, Late, 0, "did not answer within")
}

// TestNothingIsLeftRunning ends fetches in all phases: before the handshake,
// before the answer, in the middle of a body that is refused or not wanted.
func TestNothingIsLeftRunning(t *testing.T) {
	at, cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/wait":
			<-r.Context().Done()
		case "/to":
			http.Redirect(w, r, "/gone", http.StatusFound)
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
			fallthrough
		default:
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		}
	})
	mute, err := net.Listen("tcp", "127.0.0.1:0") // it never shakes hands
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mute.Close() }()
	_, port, err := net.SplitHostPort(mute.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Ports = append(cfg.Ports, number)
	cfg.MaxBytes = 1 << 16
	f := New(cfg)
	before := runtime.NumGoroutine()
	for range 5 {
		for _, ref := range []string{at + "/wait", at + "/to", at + "/gone", at + "/large", "https://" + mute.Addr().String()} {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			if _, err := f.Get(ctx, []string{ref, ref + "?2", ref + "?3"}); err == nil {
				t.Errorf("%s: no error", ref)
			}
			cancel()
		}
	}
	f.CloseIdle()
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}
