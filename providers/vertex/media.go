package vertex

import (
	"crypto/x509"
	"net/netip"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/engine"
)

// MediaFetch says what the gateway may fetch, for models that the platform takes
// no URLs for: images, PDFs and texts that a request names by an https URL. They
// are sent inline.
//
// The URLs are those of whoever writes the request, so that servers within
// reach of the process must be out of reach of them. Without more, only public
// addresses are connected to, on port 443. What counts is the address that is
// dialled, whatever the name was, and redirects are judged likewise. No
// credentials, cookies or referrers are sent, and no proxy is used.
type MediaFetch struct {
	// Hosts are the only ones to fetch from: names such as "cdn.example.com", or
	// ".example.com" for all below it. Default all.
	Hosts []string
	// Ports are those that may be connected to; default 443.
	Ports []int
	// Networks are further addresses that may be connected to, which are not
	// public. Those of a link and of metadata servers, such as 169.254.169.254,
	// never may.
	Networks []netip.Prefix
	// RootCAs are the certificates that servers are judged by; default the
	// system's.
	RootCAs *x509.CertPool
	// MaxBytes bounds all files of one request together; default 20 MiB. The
	// platform takes 30 MB of a request, in which a file is a third larger.
	MaxBytes int64
	// Timeout bounds all fetches of one request together; default 30 s.
	Timeout time.Duration
	// MaxRedirects bounds the redirects of one fetch; default 3, negative for
	// none.
	MaxRedirects int
	// Parallel is the most fetches at a time of all requests; default 16. One
	// request has four at most.
	Parallel int
}

// Validate says what is wrong with the settings.
func (m *MediaFetch) Validate() error {
	for _, h := range m.Hosts {
		if name := strings.TrimPrefix(h, "."); name == "" || !onlyFrom(strings.ToLower(name), "-.:") {
			return badPlace("media_fetch", "a host is a name such as cdn.example.com, or .example.com for all below it")
		}
	}
	for _, p := range m.Ports {
		if p < 1 || p > 65535 {
			return badPlace("media_fetch", "a port is a number from 1 to 65535")
		}
	}
	for _, p := range m.Networks {
		if !p.IsValid() {
			return badPlace("media_fetch", "a network is a prefix such as 10.1.0.0/16")
		}
	}
	if m.MaxBytes < 0 || m.Timeout < 0 || m.Parallel < 0 {
		return badPlace("media_fetch", "a limit must not be negative")
	}
	return nil
}

// config copies the settings; nil stays nil.
func (m *MediaFetch) config() *engine.FetchConfig {
	if m == nil {
		return nil
	}
	return &engine.FetchConfig{
		Hosts: m.Hosts, Ports: m.Ports, Networks: m.Networks, RootCAs: m.RootCAs,
		MaxBytes: m.MaxBytes, Timeout: m.Timeout, MaxRedirects: m.MaxRedirects, Parallel: m.Parallel,
	}
}
