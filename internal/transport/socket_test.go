package transport_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/providers"
)

// serve starts a server on a real socket, and a client with a pool of its own.
func serve(t *testing.T, h http.HandlerFunc) (*transport.Client, string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c := transport.New(nil, 5*time.Second)
	t.Cleanup(c.CloseIdle)
	return c, srv.URL
}

// body reads an answer through the pooled buffer.
func body(res *transport.Response, limit int) (string, error) {
	buf := jsonx.GetBuffer()
	defer buf.Free()
	err := res.ReadInto(buf, limit)
	return string(buf.B), err
}

func TestTheRequestArrivesAsItWasMade(t *testing.T) {
	type arrived struct {
		Method, Path, Query, Body string
		Header                    http.Header
	}
	got := make(chan arrived, 1)
	c, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got <- arrived{r.Method, r.URL.Path, r.URL.RawQuery, string(data), r.Header.Clone()}
		_, _ = io.WriteString(w, "fine")
	})
	for _, stream := range []bool{false, true} {
		q := request(t, address+"/v1/a:b?alt=sse", "body", providers.Timeouts{Total: 10 * time.Second})
		q.Stream = stream
		q.Header["Authorization"] = []string{"Bearer token"}
		res, err := c.Do(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		text, err := body(res, 100)
		if text != "fine" || err != nil || res.Close() != nil {
			t.Errorf("%q %v", text, err)
		}
		coding := "gzip"
		if stream {
			coding = "identity"
		}
		want := arrived{http.MethodPost, "/v1/a:b", "alt=sse", "body", http.Header{
			"Accept-Encoding": {coding}, "Authorization": {"Bearer token"}, "Content-Length": {"4"},
			"User-Agent": {"Go-http-client/1.1"}, "X-Server-Timeout": {"10"},
		}}
		if diff := cmp.Diff(want, <-got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func TestRedirectsAreRefused(t *testing.T) {
	const secret = "hunter2"
	asked := 0
	c, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Location", r.Header.Get("X-Where"))
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	for where, names := range map[string]string{
		"https://evil.example/x?token=" + secret: "evil.example",
		"https://u:" + secret + "@evil.example/": "evil.example",
		"/login?continue=" + secret:              "another address",
		"":                                       "another address",
		"https://evil.example:bad/" + secret + "#frag": "another address",
	} {
		asked = 0
		q := request(t, address, "body", providers.Timeouts{})
		q.Header["X-Where"] = []string{where}
		_, err := c.Do(t.Context(), q)
		e := fault(t, err)
		if e.Code != providers.ErrBadResponse || e.Retryable() || e.HTTPStatus() != 502 || !e.Sent || !strings.Contains(e.Message, "redirected to "+names) || asked != 1 {
			t.Errorf("%q: %v after %d requests", where, err, asked)
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells the secret: %v", err)
		}
	}
}

func TestAnswersAreLimited(t *testing.T) {
	const size = 100_000
	c, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		text := bytes.Repeat([]byte("x"), size)
		if r.URL.Path == "/sized" {
			w.Header().Set("Content-Length", "100000")
		}
		if r.URL.Path == "/zipped" {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(text)
			_ = z.Close()
			return
		}
		_, _ = w.Write(text)
	})
	for _, path := range []string{"/sized", "/chunked", "/zipped"} {
		for limit, fits := range map[int]bool{size: true, size + 1: true, 1 << 30: true, size - 1: false, 10: false, 0: false} {
			res, err := c.Do(t.Context(), request(t, address+path, "body", providers.Timeouts{}))
			if err != nil {
				t.Fatal(err)
			}
			text, err := body(res, limit)
			_ = res.Close()
			if fits {
				if err != nil || len(text) != size || strings.Trim(text, "x") != "" {
					t.Errorf("%s up to %d: %d bytes, %v", path, limit, len(text), err)
				}
				continue
			}
			if e := fault(t, err); e.Code != providers.ErrBadResponse || !strings.Contains(e.Message, "larger than the limit") {
				t.Errorf("%s up to %d: %v", path, limit, err)
			}
		}
	}
}

func TestALimitIsToldInItsUnit(t *testing.T) {
	for limit, want := range map[int]string{10: "10 bytes", 1<<20 - 1: "1048575 bytes", 3 << 20: "3 MiB"} {
		text := strings.Repeat("x", limit+1)
		rt := roundTrip(func(r *http.Request) (*http.Response, error) {
			_, err := readBody(r)
			return answer(r, strings.NewReader(text)), err
		})
		res, err := transport.New(rt, 0).Do(t.Context(), request(t, "https://h", "body", providers.Timeouts{}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := body(res, limit); !strings.HasSuffix(fault(t, err).Message, want) {
			t.Errorf("%v, want %s", err, want)
		}
		_ = res.Close()
	}
}

func TestAnAnswerThatIsCutIsAnError(t *testing.T) {
	c, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sized" {
			w.Header().Set("Content-Length", "1000")
		}
		_, _ = io.WriteString(w, "some")
		_ = http.NewResponseController(w).Flush()
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	})
	for _, path := range []string{"/sized", "/chunked"} {
		res, err := c.Do(t.Context(), request(t, address+path, "body", providers.Timeouts{}))
		if err != nil {
			t.Fatal(err)
		}
		text, err := body(res, 1<<20)
		_ = res.Close()
		if e := fault(t, err); e.Code != providers.ErrConnection || !e.Sent || text != "some" {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}
}

// TestCancelEndsACallAtOnce wants the caller back, and the server to see the
// connection closed, within 100 ms.
func TestCancelEndsACallAtOnce(t *testing.T) {
	const soon = 100 * time.Millisecond
	left := make(chan struct{})
	c, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/streaming" {
			_, _ = io.WriteString(w, "data")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
		left <- struct{}{}
	})
	for _, path := range []string{"/waiting", "/streaming"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the user left")
		var canceled time.Time
		stop := time.AfterFunc(20*time.Millisecond, func() { canceled = time.Now(); cancel(why) })
		res, err := c.Do(ctx, request(t, address+path, "body", providers.Timeouts{}))
		if err == nil {
			_, err = body(res, 1<<20)
			_ = res.Close()
		}
		back := time.Since(canceled)
		if e := fault(t, err); e.Code != providers.ErrCanceled || !e.Sent || !errors.Is(err, why) {
			t.Errorf("%s: %v, want %s because of %v", path, err, providers.ErrCanceled, why)
		}
		<-left
		if closed := time.Since(canceled); back > soon || closed > soon {
			t.Errorf("%s: back after %v, closed after %v, want %v at most", path, back, closed, soon)
		}
		stop.Stop()
	}
}

func TestADrainedErrorLeavesItsConnectionForTheNextCall(t *testing.T) {
	c, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusUnauthorized)
		size := 1000
		if r.URL.Path == "/large" {
			size = 1 << 20
		}
		_, _ = w.Write(make([]byte, size))
	})
	do := func(path string, end func(*transport.Response)) (reused bool) {
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused },
		})
		res, err := c.Do(ctx, request(t, address+path, "body", providers.Timeouts{Idle: time.Minute}))
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != http.StatusUnauthorized {
			t.Errorf("status %d", res.Status)
		}
		end(res)
		return reused
	}
	do("/", (*transport.Response).Drain)
	if !do("/", func(res *transport.Response) { _, _ = body(res, 1<<20); _ = res.Close() }) {
		t.Error("the connection of a drained answer was not used again")
	}
	if !do("/large", (*transport.Response).Drain) {
		t.Error("the connection of an answer that was read was not used again")
	}
	if do("/", (*transport.Response).Drain) {
		t.Error("a large answer was read to its end")
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("data", 1000))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	before := runtime.NumGoroutine()
	c := transport.New(nil, time.Second)
	limits := providers.Timeouts{FirstByte: time.Hour, Idle: time.Hour, Total: time.Hour}
	for i := range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		res, err := c.Do(ctx, request(t, srv.URL, "body", limits))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = res.Read(make([]byte, 10))
		switch i % 3 {
		case 0:
			_ = res.Close()
		case 1:
			cancel()
			_ = res.Close()
		default:
			cancel()
			_, err = io.Copy(io.Discard, res)
			if e := fault(t, err); e.Code != providers.ErrCanceled {
				t.Errorf("%v, want %s", err, providers.ErrCanceled)
			}
			_ = res.Close()
		}
		cancel()
	}
	close(release)
	srv.Close()
	c.CloseIdle()
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched() // those of closed connections are about to end
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

func TestNoConnectionIsNotSent(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	address := srv.URL
	srv.Close()
	c := transport.New(nil, time.Second)
	defer c.CloseIdle()
	_, err := c.Do(t.Context(), request(t, address+"/?key=hunter2", "body", providers.Timeouts{}))
	if e := fault(t, err); e.Code != providers.ErrConnection || e.Sent || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v, sent: %v", err, e.Sent)
	}
}
