package transport_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/providers"
)

// bodyless is a request without a body.
func bodyless(t *testing.T, method, address string) *transport.Request {
	t.Helper()
	q := request(t, address, "", providers.Timeouts{})
	q.Body.Release()
	q.Method, q.Body = method, nil
	return q
}

func TestRequestsOfOtherMethodsArriveAsTheyWereMade(t *testing.T) {
	type arrived struct {
		Method, Body string
		Length       int64
		Chunked      bool
	}
	got := make(chan arrived, 1)
	c, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got <- arrived{r.Method, string(data), r.ContentLength, len(r.TransferEncoding) > 0}
		_, _ = io.WriteString(w, "fine")
	})
	for _, tt := range []struct {
		method string
		body   *transport.Payload
		want   arrived
	}{
		{http.MethodGet, nil, arrived{Method: "GET"}},
		{http.MethodDelete, nil, arrived{Method: "DELETE"}},
		{http.MethodGet, new(transport.Payload), arrived{Method: "GET"}},
		{http.MethodPatch, payload("body"), arrived{Method: "PATCH", Body: "body", Length: 4}},
	} {
		t.Run(tt.method, func(t *testing.T) {
			q := bodyless(t, tt.method, address)
			q.Body = tt.body
			res, err := c.Do(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			text, err := body(res, 100)
			if text != "fine" || err != nil || res.Close() != nil {
				t.Errorf("%q %v", text, err)
			}
			if diff := cmp.Diff(tt.want, <-got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestARequestWithoutABodyIsSentWithItsHeader checks what no reader of a body
// can tell, over sockets that break at different moments.
func TestARequestWithoutABodyIsSentWithItsHeader(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, broken := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	for _, tt := range []struct {
		name, address string
		sent          bool
	}{
		{"no connection", "http://" + closed, false},
		{"a connection that breaks before the answer", broken, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := transport.New(nil, 5*time.Second)
			defer c.CloseIdle()
			wrote := false // the caller's own trace is told too
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteHeaders: func() { wrote = true }})
			_, err := c.Do(ctx, bodyless(t, http.MethodDelete, tt.address))
			e := fault(t, err)
			if e.Code != providers.ErrConnection || e.Sent != tt.sent || wrote != tt.sent {
				t.Errorf("%v, sent %v, traced %v, want %v", e, e.Sent, wrote, tt.sent)
			}
		})
	}
}

func TestAnAnswerMeansThatARequestWithoutABodyWasSent(t *testing.T) {
	limits := providers.Timeouts{Idle: time.Millisecond}
	rt := roundTrip(func(r *http.Request) (*http.Response, error) {
		return answer(r, &slow{r.Context(), []time.Duration{time.Hour}}), nil
	})
	q := bodyless(t, http.MethodGet, "http://x.example")
	q.Timeouts = limits
	res, err := transport.New(rt, 0).Do(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	_, err = body(res, 100)
	if e := fault(t, err); e.Code != providers.ErrTimeout || !e.Sent {
		t.Errorf("%v, sent %v", e, e.Sent)
	}
	_ = res.Close()
}
