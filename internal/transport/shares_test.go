package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// answering is a transport made of a function.
type answering func(*http.Request) (*http.Response, error)

func (f answering) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTheCallsEndReleasesEverything ends calls in each way: afterwards the
// payload is back in the pool and the request's context is over.
func TestTheCallsEndReleasesEverything(t *testing.T) {
	status := func(code int) answering {
		return func(r *http.Request) (*http.Response, error) {
			_, err := io.Copy(io.Discard, r.Body)
			return &http.Response{StatusCode: code, Body: io.NopCloser(strings.NewReader("text")), Header: http.Header{}}, errors.Join(err, r.Body.Close())
		}
	}
	var late io.ReadCloser
	for _, tt := range []struct {
		name string
		rt   answering
		end  func(*Response)
	}{
		{"closed", status(200), func(r *Response) { _ = r.Close() }},
		{"closed twice", status(200), func(r *Response) { _, _ = r.Close(), r.Close() }},
		{"read and closed", status(200), func(r *Response) { _, _ = io.ReadAll(r); _ = r.Close() }},
		{"drained", status(401), (*Response).Drain},
		{"redirected", status(302), nil},
		{"failed", func(r *http.Request) (*http.Response, error) { _ = r.Body.Close(); return nil, io.ErrUnexpectedEOF }, nil},
		{"sent again on another connection", func(r *http.Request) (*http.Response, error) {
			_ = r.Body.Close()
			again, err := r.GetBody()
			return &http.Response{StatusCode: 200, Body: http.NoBody}, errors.Join(err, again.Close())
		}, func(r *Response) { _ = r.Close() }},
		{"read late", func(r *http.Request) (*http.Response, error) {
			late = r.Body
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		}, func(r *Response) { _ = r.Close(); _, _ = io.ReadAll(late); _ = late.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var ctx context.Context
			rt := answering(func(r *http.Request) (*http.Response, error) {
				ctx = r.Context()
				return tt.rt(r)
			})
			buf := jsonx.GetBuffer()
			buf.B = append(buf.B, "body"...)
			p := new(Payload)
			p.Hold(buf)
			res, err := New(rt, 0).Do(t.Context(), &Request{URL: &url.URL{Scheme: "https", Host: "h"}, Header: http.Header{}, Body: p})
			if (err == nil) != (tt.end != nil) {
				t.Fatal(err)
			}
			if err == nil {
				tt.end(res)
			}
			if n := p.refs.Load(); n != 0 {
				t.Errorf("%d shares of the payload are left", n)
			}
			if ctx.Err() == nil {
				t.Error("the request's context goes on")
			}
		})
	}
}
