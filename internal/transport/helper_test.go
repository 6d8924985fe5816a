package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/providers"
)

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// payload returns a body with one share.
func payload(text string) *transport.Payload {
	buf := jsonx.GetBuffer()
	buf.B = append(buf.B, text...)
	p := new(transport.Payload)
	p.Hold(buf)
	return p
}

// request returns a request that posts the text.
func request(t *testing.T, address, text string, limits providers.Timeouts) *transport.Request {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return &transport.Request{URL: u, Header: http.Header{}, Body: payload(text), Timeouts: limits}
}

// answer is a response with a body.
func answer(r *http.Request, body io.Reader) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body), ContentLength: -1, Request: r}
}

// slow is a body that waits before each piece, until the request ends.
type slow struct {
	ctx   context.Context
	waits []time.Duration
}

func (s *slow) Read(p []byte) (int, error) {
	if len(s.waits) == 0 {
		return 0, io.EOF
	}
	if err := pause(s.ctx, s.waits[0]); err != nil {
		return 0, err
	}
	s.waits = s.waits[1:]
	return copy(p, "x"), nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readBody takes the request in, as a transport does.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	data, err := io.ReadAll(r.Body)
	return data, errors.Join(err, r.Body.Close())
}

// fault returns the error as the one type there is.
func fault(t *testing.T, err error) *providers.Error {
	t.Helper()
	var e *providers.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T %v, want a *providers.Error", err, err)
	}
	return e
}
