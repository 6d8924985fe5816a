// Package transport sends requests to platforms: the only place that talks to
// the network for model traffic. It bounds each phase of a call, refuses
// redirects, limits what is read and turns failures into errors that say
// whether the request was sent. It never logs and never puts a header or a body
// into an error.
package transport

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/b650d4bf/gateway/internal/served"
	"github.com/b650d4bf/gateway/providers"
)

// Client sends requests over one pool of connections. It is safe for concurrent
// use.
type Client struct {
	rt    http.RoundTripper
	owned *http.Transport
}

// New returns a client that sends over rt, or, when rt is nil, over a transport
// of its own whose new connections are bounded by connect, 0 for no limit.
func New(rt http.RoundTripper, connect time.Duration) *Client {
	if rt != nil {
		return &Client{rt: rt}
	}
	t := newTransport(connect)
	return &Client{rt: t, owned: t}
}

// newTransport is tuned for many long answers from a few hosts: idle
// connections are kept per host, and a dead HTTP/2 peer is found by pings.
func newTransport(connect time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		TLSHandshakeTimeout:   connect,
		MaxIdleConns:          512,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		WriteBufferSize:       32 << 10,
		ReadBufferSize:        32 << 10,
	}
}

// CloseIdle closes the idle connections of the client's own transport.
func (c *Client) CloseIdle() {
	if c.owned != nil {
		c.owned.CloseIdleConnections()
	}
}

// Request is one request. URL and Header belong to the client from Do on, and
// so does one share of Body.
type Request struct {
	Method string // POST when empty
	URL    *url.URL
	Header http.Header
	Body   *Payload // nil for none, as with GET and DELETE
	// Stream says that the answer is read as it comes, so it must not be
	// compressed.
	Stream bool
	// Resume says that a 308 without a location is an answer, by which a store
	// asks for the rest of an upload.
	Resume   bool
	Timeouts providers.Timeouts
}

// Do sends the request and returns once the answer's header is there. Any
// status is an answer, but a redirect is refused.
func (c *Client) Do(ctx context.Context, q *Request) (*Response, error) {
	served.Tell(ctx, q.URL)
	call := newCall(ctx, q)
	req := call.request(q, c.owned != nil)
	res, err := c.rt.RoundTrip(req)
	for range maxStale {
		if !call.isStale(err) {
			break
		}
		req.Body, _ = req.GetBody()
		res, err = c.rt.RoundTrip(req)
	}
	if err != nil {
		err = call.failure(err)
		call.stop()
		return nil, err
	}
	if res.StatusCode >= 300 && res.StatusCode < 400 && !q.wantsRest(res) {
		err = refuseRedirect(res)
		_ = res.Body.Close()
		call.stop()
		return nil, err
	}
	return call.answered(res), nil
}

// wantsRest reports whether the answer asks for the rest of an upload.
func (q *Request) wantsRest(res *http.Response) bool {
	return q.Resume && res.StatusCode == http.StatusPermanentRedirect && res.Header.Get("Location") == ""
}

// request builds the *http.Request by hand: the URL is parsed already and the
// header is ours. Transports of others may follow no traces.
func (c *call) request(q *Request, traces bool) *http.Request {
	proto := http.Request{
		Method: http.MethodPost, URL: q.URL, Host: q.URL.Host, Header: q.Header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if q.Method != "" {
		proto.Method = q.Method
	}
	ctx := c.ctx
	proto.ContentLength = int64(len(q.Body.Bytes()))
	switch {
	case proto.ContentLength == 0:
		ctx = c.traced()
	case traces:
		ctx = c.followed()
		proto.Body = c.plain()
		proto.GetBody = c.plainAgain
	default:
		proto.Body = c.reader.open()
		proto.GetBody = c.reopen
	}
	if q.Stream {
		q.Header["Accept-Encoding"] = identity
	}
	if t := serverTimeout(c.ctx, q.Timeouts); t > 0 {
		q.Header["X-Server-Timeout"] = []string{strconv.Itoa(t)}
	}
	return proto.WithContext(ctx)
}

var identity = []string{"identity"}

// serverTimeout is the time the caller will wait, in whole seconds rounded up,
// so that the platform stops working when nobody waits any more; 0 when the
// wait is not bounded.
func serverTimeout(ctx context.Context, t providers.Timeouts) int {
	left := t.Total
	if deadline, ok := ctx.Deadline(); ok {
		if d := time.Until(deadline); left == 0 || d < left {
			left = d
		}
	}
	if left <= 0 {
		return 0
	}
	return int((left + time.Second - 1) / time.Second)
}

// refuseRedirect names only the host: a location may carry secrets.
func refuseRedirect(res *http.Response) error {
	host := "another address"
	if u, err := url.Parse(res.Header.Get("Location")); err == nil && u.Host != "" {
		host = u.Host
	}
	return &providers.Error{
		Code: providers.ErrBadResponse, StatusCode: res.StatusCode, Sent: true,
		Message: "the platform redirected to " + host + "; redirects are refused, since they would carry the token along: check the base URL",
	}
}
