package vertextest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const flashURL = place + "publishers/google/models/" + flash + ":streamGenerateContent?alt=sse"

// closeRecorder is a request body that remembers that it was closed.
type closeRecorder struct {
	io.Reader
	mu     sync.Mutex
	closed bool
}

func (c *closeRecorder) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return nil
}

func (c *closeRecorder) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// In a synctest bubble a goroutine that is left behind fails the test, so each
// of these is a leak check as well.

func TestTransportStreamsInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := vertextest.New(vertextest.WithChunkDelay(30 * time.Second))
		start := time.Now()
		res, err := s.Transport().RoundTrip(newPost(t, flashURL, say("one two three four five six")))
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1<<16)
		var arrivals []time.Duration
		for {
			n, err := res.Body.Read(buf)
			if n > 0 {
				arrivals = append(arrivals, time.Since(start))
			}
			if err != nil {
				break
			}
		}
		if err := res.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if len(arrivals) < 3 {
			t.Fatalf("%d chunks", len(arrivals))
		}
		for i, at := range arrivals {
			if want := time.Duration(i) * 30 * time.Second; at != want {
				t.Errorf("chunk %d after %v, want %v", i, at, want)
			}
		}
	})
}

func TestTransportEndsWithTheContext(t *testing.T) {
	for name, reply := range map[string]vertextest.Reply{
		"before the head": vertextest.Text("a b c").After(time.Hour),
		"between chunks":  vertextest.Text("a b c").Paced(time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := vertextest.New()
				s.Script(reply)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				res, err := s.Transport().RoundTrip(newPost(t, flashURL, say("a")).WithContext(ctx))
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want the context's error", err)
				}
			})
		})
	}
}

func TestTransportLetsABodyBeAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := vertextest.New()
		s.Script(vertextest.Text("a b c").Paced(time.Hour))
		body := &closeRecorder{Reader: strings.NewReader(say("a"))}
		r := newPost(t, flashURL, "")
		r.Body = body
		start := time.Now()
		res, err := s.Transport().RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := res.Body.Read(make([]byte, 1<<16)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the handler pauses before the next chunk
		if err := res.Body.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !body.isClosed() {
			t.Error("the request body isn't closed")
		}
		if _, err := res.Body.Read(make([]byte, 1)); err == nil {
			t.Error("a closed body can be read")
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("the handler went on for %v", d)
		}
	})
}

func TestTransportWaitsForTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := vertextest.New()
		body := &closeRecorder{Reader: strings.NewReader(say("a"))}
		r := newPost(t, flashURL, "")
		r.Body = body
		res, err := s.Transport().RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if body.isClosed() {
			t.Error("the handler has ended though nothing was read")
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !body.isClosed() {
			t.Error("the handler goes on though everything was read")
		}
	})
}

func TestTransportRefusesACancelledRequest(t *testing.T) {
	s := vertextest.New()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := &closeRecorder{Reader: strings.NewReader(say("a"))}
	r := newPost(t, flashURL, "").WithContext(ctx)
	r.Body = body
	if _, err := s.Transport().RoundTrip(r); !errors.Is(err, context.Canceled) || !body.isClosed() || len(s.Requests()) != 0 {
		t.Errorf("got %v, body closed %v, %d requests", err, body.isClosed(), len(s.Requests()))
	}
}

func TestTransportUnblocksABodyThatNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr, pw := io.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := newPost(t, flashURL, "").WithContext(ctx)
		r.Body = pr
		if _, err := vertextest.New().Transport().RoundTrip(r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if _, err := pw.Write([]byte("x")); err == nil {
			t.Error("somebody still reads the request body")
		}
	})
}

func TestCloseEndsRequestsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := vertextest.New()
		s.Script(vertextest.Text("a b c").Paced(time.Hour))
		res, err := s.Transport().RoundTrip(newPost(t, flashURL, say("a")))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Minute)
			s.Close()
			s.Close()
		}()
		start := time.Now()
		if _, err = io.Copy(io.Discard, res.Body); !errors.Is(err, io.ErrUnexpectedEOF) || time.Since(start) != time.Minute {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		_ = res.Body.Close()
		if _, err = s.Transport().RoundTrip(newPost(t, flashURL, say("a"))); err == nil {
			t.Error("a closed server answers")
		}
	})
}

func TestTransportIsSafeForConcurrentUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := vertextest.New(vertextest.WithChunkDelay(time.Second))
		client := &http.Client{Transport: s.Transport()}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				s.Script(vertextest.Auto())
				res, err := client.Do(newPost(t, flashURL, say("a b c d e f")))
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := io.Copy(io.Discard, res.Body); err != nil {
					t.Error(err)
				}
				_ = res.Body.Close()
				_, _ = s.Pending(), s.SentinelUses()
			})
		}
		wg.Wait()
		if n := len(s.Requests()); n != 20 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestStartListens(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	url, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Start(); again != url || err != nil {
		t.Errorf("second Start: %q, %v", again, err)
	}
	s.Script(vertextest.Text("a b c").CutAfterEvents(1))
	path := strings.TrimPrefix(flashURL, "https://aiplatform.googleapis.com")
	for _, wantCut := range []bool{true, false} {
		res, err := http.DefaultClient.Do(newPost(t, url+path, say("a")))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if (err != nil) != wantCut || len(b) == 0 {
			t.Errorf("%d bytes and %v, want cut %v", len(b), err, wantCut)
		}
	}
	s.Close()
	if _, err := http.DefaultClient.Do(newPost(t, url+path, say("a"))); err == nil {
		t.Error("a closed server answers")
	}
	if _, err := s.Start(); err == nil {
		t.Error("a closed server starts")
	}
}
