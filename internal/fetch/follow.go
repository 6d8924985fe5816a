package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
)

// Kind says who can mend a failure.
type Kind uint8

// The kinds of failures.
const (
	Refused     Kind = iota + 1 // the URL, or what is behind it, is not fetched
	TooLarge                    // there is more than may be fetched
	Unreachable                 // no connection, or it broke
	Late                        // it took too long
	Ended                       // the caller's context ended
)

// Error is a failure of one URL.
type Error struct {
	// Index is the URL's place in the list.
	Index int
	Kind  Kind
	// Message says what was wrong. It names the host at most.
	Message string
	// Err is the end of the caller's context, else nil.
	Err error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// errSize says that there is more than may be fetched.
var errSize = errors.New("too large")

// follow fetches a URL that was checked, over its redirects, each of which is
// checked too. Nothing is told to one server of another.
func (r *run) follow(u *url.URL) (Document, *Error) {
	for redirects := 0; ; redirects++ {
		res, err := r.f.rt.RoundTrip(request(r.ctx, u))
		if err == nil && r.ctx.Err() != nil {
			_ = res.Body.Close()
			err = r.ctx.Err() // a server may answer when it sees the connection go
		}
		if err != nil {
			return Document{}, r.failure(u, err)
		}
		next, fault := r.f.redirect(u, res)
		switch {
		case fault == "" && next == nil:
			return r.read(u, res)
		case fault == "" && redirects >= r.f.cfg.MaxRedirects:
			fault = "redirects too often"
		}
		_ = res.Body.Close()
		if fault != "" {
			return Document{}, refused(u, fault)
		}
		u = next
	}
}

// request asks for a URL. It holds nothing of the caller's.
func request(ctx context.Context, u *url.URL) *http.Request {
	q := http.Request{
		Method: http.MethodGet, URL: u, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"User-Agent": {"b650d4bf-gateway"}, "Accept": {"*/*"}, "Accept-Encoding": {"identity"}},
	}
	return q.WithContext(ctx)
}

// redirect returns where the answer leads to, nil when it is no redirect, or
// what is wrong with it.
func (f *Fetcher) redirect(u *url.URL, res *http.Response) (next *url.URL, fault string) {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, ""
	}
	next, err := u.Parse(res.Header.Get("Location"))
	if err != nil || res.Header.Get("Location") == "" {
		return nil, "redirects to nowhere"
	}
	if fault := f.check(next); fault != "" {
		return nil, "redirects, and there " + fault
	}
	return next, ""
}

// read reads the file that answers.
func (r *run) read(u *url.URL, res *http.Response) (Document, *Error) {
	defer func() { _ = res.Body.Close() }()
	switch coding := res.Header.Get("Content-Encoding"); {
	case res.StatusCode != http.StatusOK:
		return Document{}, refused(u, "answers with the status "+strconv.Itoa(res.StatusCode))
	case coding != "" && !strings.EqualFold(coding, "identity"):
		return Document{}, refused(u, "answers in a content coding that was not asked for")
	case res.ContentLength > r.left.Load():
		return Document{}, r.failure(u, errSize)
	}
	var buf bytes.Buffer
	if res.ContentLength > 0 {
		buf.Grow(int(res.ContentLength) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(&bounded{res.Body, &r.left})
	if err == nil {
		err = r.ctx.Err() // likewise, with the end of its answer
	}
	if err != nil {
		return Document{}, r.failure(u, err)
	}
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	return Document{Type: strings.ToLower(strings.TrimSpace(kind)), Data: buf.Bytes()}, nil
}

// bounded reads as long as there are bytes left, which others count down too.
type bounded struct {
	r    io.Reader
	left *atomic.Int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left.Add(int64(-n)) < 0 {
		return 0, errSize
	}
	return n, err
}

func refused(u *url.URL, fault string) *Error {
	return &Error{Kind: Refused, Message: hostOf(u) + " " + fault}
}

// failure says what went wrong, without the address that a name has led to.
func (r *run) failure(u *url.URL, err error) *Error {
	host := hostOf(u)
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	switch {
	case errors.Is(err, errSize):
		return &Error{Kind: TooLarge, Message: "more than " + strconv.FormatInt(r.f.cfg.MaxBytes, 10) + " bytes in all are not fetched"}
	case errors.Is(err, errAddress):
		return &Error{Kind: Refused, Message: host + ": " + notPublic}
	case r.caller.Err() != nil:
		return &Error{Kind: Ended, Message: "the caller's context ended", Err: context.Cause(r.caller)}
	case r.ctx.Err() != nil:
		return &Error{Kind: Late, Message: host + " did not answer within " + r.f.cfg.Timeout.String(), Err: context.DeadlineExceeded}
	case errors.As(err, &certificate):
		return &Error{Kind: Refused, Message: host + " has no valid certificate"}
	case errors.As(err, &name) && name.IsNotFound:
		return &Error{Kind: Refused, Message: "there is no host " + host}
	}
	return &Error{Kind: Unreachable, Message: "no connection to " + host + ", or it broke"}
}
