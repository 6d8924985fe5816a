package front

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// sdkRequest makes a request as an SDK does, with a key of its own.
func sdkRequest(ctx context.Context, t *testing.T, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.openai.com"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer sk-of-another-service")
	return r
}

func TestTransportAnswersAsTheHandlerDoes(t *testing.T) {
	bodies := map[string]string{
		"whole": hello, "stream": helloSSE, "broken": `{"model":`, "unknown member": `{"model":"m","messages":[],"n":"x"}`,
	}
	paths := []string{chatPath, "/v1/nothing", "/v1/messages"}
	for name, body := range bodies {
		for _, path := range paths {
			t.Run(name+" "+path, func(t *testing.T) {
				backendOf := func() *fake { return &fake{stream: newScript(io.EOF, "Hel", "lo")} }
				r := sdkRequest(t.Context(), t, path, body)
				r.Header.Set("X-Gateway-Trace-Id", "trace-1")
				served := ask(t, Config{}, backendOf(), http.MethodPost, path, body, "Content-Type", "application/json", "X-Gateway-Trace-Id", "trace-1")
				res, err := NewTransport(Config{}, backendOf()).RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				got, err := io.ReadAll(iotest.OneByteReader(res.Body))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(readBody(t, served), string(got)); diff != "" {
					t.Errorf("the body differs (-handler +transport):\n%s", diff)
				}
				for _, h := range []http.Header{served.Header, res.Header} {
					if id := h.Get(headerRequestID); path == "/v1/nothing" && id != "" {
						h.Set(headerRequestID, "random") // no header is read for it
					}
				}
				if diff := cmp.Diff(served.Header, res.Header); diff != "" || served.StatusCode != res.StatusCode {
					t.Errorf("status %d and %d, the header differs (-handler +transport):\n%s", served.StatusCode, res.StatusCode, diff)
				}
			})
		}
	}
}

func TestTransportLooksAtNoCredentials(t *testing.T) {
	f := new(fake)
	res, err := NewTransport(Config{Keys: []string{"of the handler"}}, f).RoundTrip(sdkRequest(t.Context(), t, chatPath, hello))
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	if f.overrides.Token != "" {
		t.Errorf("the token %q went on", f.overrides.Token)
	}
	if got := f.overrides.Surface; got != providers.SurfaceTransport {
		t.Errorf("the surface is %q", got)
	}
}

// TestTransportReadsNoFurtherThanItsBody holds a stream after its first text.
func TestTransportReadsNoFurtherThanItsBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(nil, "one", "two")
		s.hold = true
		res, err := NewTransport(Config{}, &fake{stream: s}).RoundTrip(sdkRequest(t.Context(), t, chatPath, helloSSE))
		if err != nil {
			t.Fatal(err)
		}
		one := make([]byte, 1<<10)
		if n, err := res.Body.Read(one); err != nil || !strings.Contains(string(one[:n]), "one") || strings.Contains(string(one[:n]), "two") {
			t.Errorf("read %q, %v", one[:n], err)
		}
		if len(s.texts) != 1 {
			t.Errorf("%d texts are left to be read, want 1", len(s.texts))
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		<-s.closed
		if _, err := res.Body.Read(one); !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("a read after Close: %v", err)
		}
	})
}

func TestCloseEndsAReadThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := &closing{script: newScript(nil), end: make(chan struct{})}
		res, err := NewTransport(Config{}, &fake{stream: s}).RoundTrip(sdkRequest(ctx, t, chatPath, helloSSE))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, res.Body)
			done <- err
		}()
		synctest.Wait()
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err == nil {
			t.Error("the read came to a good end")
		}
	})
}

// closing is a stream whose Recv waits for Close.
type closing struct {
	*script
	end chan struct{}
}

func (c *closing) Recv() (*providers.ChatCompletionChunk, error) {
	<-c.end
	return nil, &providers.Error{Code: providers.ErrCanceled}
}

func (c *closing) Close() error {
	close(c.end)
	return nil
}

func TestEndOfTheContextIsAnErrorOfTheTransport(t *testing.T) {
	t.Run("before the answer", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		res, err := NewTransport(Config{}, &fake{err: context.Canceled}).RoundTrip(sdkRequest(ctx, t, chatPath, hello))
		if !errors.Is(err, context.Canceled) || res != nil {
			t.Errorf("got %v, %v", res, err)
		}
	})
	t.Run("within a stream", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := newScript(nil, "one")
			s.hold = true
			res, err := NewTransport(Config{}, &fake{stream: s}).RoundTrip(sdkRequest(ctx, t, chatPath, helloSSE))
			if err != nil {
				t.Fatal(err)
			}
			head := make([]byte, len("data: "))
			if _, err := io.ReadFull(res.Body, head); err != nil {
				t.Fatal(err)
			}
			go cancel()
			got, err := io.ReadAll(res.Body)
			if !errors.Is(err, context.Canceled) || !strings.Contains(string(got), "one") || strings.Contains(string(got), "error") {
				t.Errorf("read %q, %v", got, err)
			}
			_ = res.Body.Close()
		})
	})
}
