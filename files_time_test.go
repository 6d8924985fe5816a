package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// busyStore answers 503 to what it is busy for, after it has thought, and asks to
// be left alone for as long as it says.
type busyStore struct {
	then    http.RoundTripper
	busy    func(*http.Request) bool // nil while it is not
	thinks  time.Duration
	seconds string
}

func (b *busyStore) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.busy == nil || !b.busy(r) {
		return b.then.RoundTrip(r)
	}
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	select {
	case <-time.After(b.thinks):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	res := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: r}
	if b.seconds != "" {
		res.Header.Set("Retry-After", b.seconds)
	}
	return res, nil
}

func timed(t *testing.T, rt http.RoundTripper, total time.Duration) *gateway.Client {
	t.Helper()
	client, err := gateway.New(gateway.WithAccessToken("t"), gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithBucket("gs://bucket"),
		gateway.WithHTTPClient(&http.Client{Transport: rt}), gateway.WithTimeouts(gateway.Timeouts{Total: total}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestTheTotalBoundsOperationsOfTheStore has a store that is busy for longer than
// the caller waits: the pauses count, and each try has what is left.
func TestTheTotalBoundsOperationsOfTheStore(t *testing.T) {
	file := func(text string) *gateway.FileRequest {
		return &gateway.FileRequest{File: strings.NewReader(text), Filename: "a.txt", Purpose: "user_data"}
	}
	always := func(*http.Request) bool { return true }
	big := long(5 << 20)
	for _, tt := range []struct {
		name string
		busy func(*http.Request) bool
		do   func(ctx context.Context, c *gateway.Client, id string) error
	}{
		{"a small upload", always, func(ctx context.Context, c *gateway.Client, _ string) error {
			return errOf(c.Files.Create(ctx, file("a")))
		}},
		{"the beginning of a large upload", always, func(ctx context.Context, c *gateway.Client, _ string) error {
			return errOf(c.Files.Create(ctx, file(big)))
		}},
		{"a chunk", func(r *http.Request) bool { return r.Method == http.MethodPut },
			func(ctx context.Context, c *gateway.Client, _ string) error {
				return errOf(c.Files.Create(ctx, file(big)))
			}},
		{"a lookup", always, func(ctx context.Context, c *gateway.Client, id string) error { return errOf(c.Files.Get(ctx, id)) }},
		{"a content", func(r *http.Request) bool { return strings.Contains(r.URL.RawQuery, "alt=media") },
			func(ctx context.Context, c *gateway.Client, id string) error { return errOf(c.Files.Content(ctx, id)) }},
		{"a listing", always, func(ctx context.Context, c *gateway.Client, _ string) error {
			for _, err := range c.Files.List(ctx, gateway.ListQuery{}) {
				return err
			}
			return nil
		}},
		{"a deletion", always, func(ctx context.Context, c *gateway.Client, id string) error { return c.Files.Delete(ctx, id) }},
	} {
		for name, store := range map[string]busyStore{"that asks for a pause": {seconds: "30"}, "that is slow": {thinks: 400 * time.Millisecond}} {
			t.Run(tt.name+", of a store "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					platform := vertextest.New()
					defer platform.Close()
					store.then = platform.Transport()
					client := timed(t, &store, time.Second)
					f, err := client.Files.Create(t.Context(), file("a"))
					if err != nil {
						t.Fatal(err)
					}
					store.busy = tt.busy
					begun := time.Now()
					err = tt.do(t.Context(), client, f.ID)
					e, ok := errors.AsType[*gateway.Error](err)
					if took := time.Since(begun); !ok || e.Code != gateway.ErrTimeout || !errors.Is(err, context.DeadlineExceeded) || took.Round(time.Millisecond) != time.Second {
						t.Errorf("%v after %v, want %s after 1s", err, took, gateway.ErrTimeout)
					}
					if ok && (e.Provider == "" || !e.Sent) {
						t.Errorf("provider %q, sent %v", e.Provider, e.Sent)
					}
				})
			})
		}
	}
}

// TestWhatIsReadLaterHasATotal reads contents and results behind the operations
// that find them.
func TestWhatIsReadLaterHasATotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		platform := vertextest.New()
		defer platform.Close()
		client := timed(t, platform.Transport(), time.Minute)
		id := upload(t, client, chatLine("a", "Hello"))
		if text := contentOf(t, client, id); !strings.Contains(text, "Hello") {
			t.Errorf("content %q", text)
		}
		b := runBatch(t, client, &gateway.BatchRequest{InputFileID: id, Endpoint: gateway.BatchChat})
		n := 0
		for one, err := range client.Batches.Results(t.Context(), b.ID) {
			if err != nil || one.Chat == nil {
				t.Errorf("%+v, %v", one, err)
			}
			n++
		}
		if n != 1 || !strings.Contains(contentOf(t, client, b.OutputFileID), `"a"`) {
			t.Errorf("%d results", n)
		}
	})
}
