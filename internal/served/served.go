// Package served carries the address of the server that a request was sent to
// from where the request is made to where the call is recorded.
package served

import (
	"context"
	"net"
	"net/url"
	"sync/atomic"
)

// Note is where the address of one try of a call is written. It is safe for
// concurrent use: a try may send several requests, and may go on when its call has
// ended. A nil Note has no address.
type Note struct{ server atomic.Pointer[string] }

type noteKey struct{}

// With returns a context whose requests are noted. The innermost note counts.
func With(ctx context.Context) (context.Context, *Note) {
	n := new(Note)
	return context.WithValue(ctx, noteKey{}, n), n
}

// Within returns a context with a note of its own if it has one already: if somebody
// wants to know.
func Within(ctx context.Context) (context.Context, *Note) {
	if _, ok := ctx.Value(noteKey{}).(*Note); !ok {
		return ctx, nil
	}
	return With(ctx)
}

// Tell notes that a request goes to the host of the URL, if anybody wants to know.
func Tell(ctx context.Context, u *url.URL) {
	n, ok := ctx.Value(noteKey{}).(*Note)
	if !ok || u.Host == "" {
		return
	}
	n.server.Store(new(address(u)))
}

// Server returns the host and the port that the latest request was sent to, as
// "host:port", or "" when none was.
func (n *Note) Server() string {
	if n == nil {
		return ""
	}
	if s := n.server.Load(); s != nil {
		return *s
	}
	return ""
}

// address is the host and port of a URL.
func address(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
