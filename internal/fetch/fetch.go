// Package fetch gets files from the web for callers who name them by URL. The
// URLs are anybody's: nothing but public addresses is connected to, judged by
// the address that is dialled, nothing of the caller's is sent, and sizes, times
// and redirects are bounded. An error never holds a URL, which may carry a
// secret, nor the address behind a name.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of a [Config] that sets none.
const (
	DefaultMaxBytes     = 20 << 20
	DefaultTimeout      = 30 * time.Second
	DefaultMaxRedirects = 3
	DefaultParallel     = 16
)

const (
	// perRequest is the most fetches of one request at a time.
	perRequest = 4
	// maxHeader bounds the header of an answer, in bytes.
	maxHeader = 64 << 10
	idleTime  = 30 * time.Second
)

// Config says what may be fetched. Each zero member has its default.
type Config struct {
	// Hosts are the only ones to fetch from: a name, or ".example.com" for all
	// names below one. Default all.
	Hosts []string
	// Ports are those that may be connected to; default 443.
	Ports []int
	// Networks are addresses that may be connected to although they are not
	// public. Those of a link and of metadata servers never may.
	Networks []netip.Prefix
	// RootCAs are the certificates that servers are judged by; default the
	// system's.
	RootCAs *x509.CertPool
	// MaxBytes bounds all files of one request together; default
	// [DefaultMaxBytes].
	MaxBytes int64
	// Timeout bounds all fetches of one request together; default
	// [DefaultTimeout].
	Timeout time.Duration
	// MaxRedirects bounds the redirects of one fetch; default
	// [DefaultMaxRedirects], negative for none.
	MaxRedirects int
	// Parallel is the most fetches at a time of all requests; default
	// [DefaultParallel]. One request has four at most.
	Parallel int
}

// Document is a file that was fetched.
type Document struct {
	// Type is what the server says of it, without parameters; "" for nothing.
	Type string
	Data []byte
}

// Fetcher fetches files. It is safe for concurrent use.
type Fetcher struct {
	cfg    Config
	rt     *http.Transport
	places chan struct{}
}

// New returns a fetcher.
func New(cfg Config) *Fetcher {
	if len(cfg.Ports) == 0 {
		cfg.Ports = []int{443}
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.MaxRedirects == 0 {
		cfg.MaxRedirects = DefaultMaxRedirects
	}
	if cfg.Parallel <= 0 {
		cfg.Parallel = DefaultParallel
	}
	cfg.Hosts, cfg.Ports, cfg.Networks = slices.Clone(cfg.Hosts), slices.Clone(cfg.Ports), slices.Clone(cfg.Networks)
	f := &Fetcher{cfg: cfg, places: make(chan struct{}, cfg.Parallel)}
	dialer := &net.Dialer{Timeout: cfg.Timeout, Control: f.control}
	f.rt = &http.Transport{ // without a proxy, whose address would be judged in place of the server's
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: cfg.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    cfg.Timeout,
		DisableCompression:     true, // what is small on the way may be large
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           cfg.Parallel,
		IdleConnTimeout:        idleTime,
		ForceAttemptHTTP2:      true,
	}
	return f
}

// CloseIdle closes idle connections.
func (f *Fetcher) CloseIdle() { f.rt.CloseIdleConnections() }

// Get fetches what the URLs lead to, some at a time. The first failure ends all
// and is an [*Error]. Nothing is left running.
func (f *Fetcher) Get(ctx context.Context, urls []string) ([]Document, error) {
	parsed := make([]*url.URL, len(urls))
	for i, ref := range urls {
		u, err := url.Parse(ref)
		if err != nil {
			return nil, &Error{Index: i, Kind: Refused, Message: "not a valid URL"}
		}
		if fault := f.check(u); fault != "" {
			return nil, &Error{Index: i, Kind: Refused, Message: fault}
		}
		parsed[i] = u
	}
	r := run{f: f, caller: ctx, docs: make([]Document, len(urls))}
	r.left.Store(f.cfg.MaxBytes)
	r.ctx, r.cancel = context.WithTimeout(ctx, f.cfg.Timeout)
	defer r.cancel()
	var wg sync.WaitGroup
	for range min(perRequest, len(urls)) {
		wg.Go(func() { r.work(parsed) })
	}
	wg.Wait()
	if r.failed != nil {
		return nil, r.failed
	}
	return r.docs, nil
}

// run is the fetches of one request.
type run struct {
	f      *Fetcher
	caller context.Context
	ctx    context.Context
	cancel context.CancelFunc
	left   atomic.Int64 // bytes that may still come
	next   atomic.Int64 // the URL whose turn it is
	docs   []Document
	once   sync.Once
	failed error
}

// work fetches one URL after the other, as long as none has failed.
func (r *run) work(urls []*url.URL) {
	for {
		i := int(r.next.Add(1)) - 1
		if i >= len(urls) {
			return
		}
		doc, err := r.one(urls[i])
		if err != nil {
			r.once.Do(func() {
				err.Index = i
				r.failed = err
				r.cancel()
			})
			return
		}
		r.docs[i] = doc
	}
}

// one fetches one URL when there is room for it.
func (r *run) one(u *url.URL) (Document, *Error) {
	select {
	case r.f.places <- struct{}{}:
		defer func() { <-r.f.places }()
	case <-r.ctx.Done():
		return Document{}, r.failure(u, r.ctx.Err())
	}
	return r.follow(u)
}
