package gcpauth

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	maxTokenBody = 1 << 20  // bytes of an answer that is read
	maxErrorBody = 16 << 10 // bytes of a refusal searched for its code
	maxRedirects = 3
)

// errRedirect is the cause when a token endpoint sends the exchange elsewhere.
var errRedirect = errors.New("the token endpoint redirects to another host, which is refused")

// exchangeClient returns a client for token exchanges over base, and the transport
// to release with it if base is nil.
func exchangeClient(base *http.Client) (*http.Client, *http.Transport) {
	client := &http.Client{CheckRedirect: sameHost}
	var private *http.Transport
	switch {
	case base == nil:
		private = privateTransport()
		client.Transport = guard{private}
	case base.Transport == nil:
		client.Transport, client.Timeout = guard{http.DefaultTransport}, base.Timeout
	default:
		client.Transport, client.Timeout = guard{base.Transport}, base.Timeout
	}
	return client, private
}

// privateTransport is small: exchanges are rare and go to one or two hosts.
func privateTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return &http.Transport{
		Proxy:                 proxyFor,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          4,
		IdleConnTimeout:       10 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
	}
}

// proxyFor keeps requests to the metadata server off the proxy, which couldn't
// reach it and would be shown a token.
func proxyFor(req *http.Request) (*url.URL, error) {
	if isMetadataHost(req.URL.Hostname()) || req.URL.Host == metadataHost() {
		return nil, nil
	}
	return http.ProxyFromEnvironment(req)
}

// sameHost refuses a redirect that leaves the host or the encryption: an
// assertion or refresh token in the body would follow it.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Host != first.Host || req.URL.Scheme != first.Scheme || len(via) > maxRedirects {
		return errRedirect
	}
	return nil
}

// guard turns every refusal into a [StatusError] and bounds the rest.
//
// Answering a status with an error bends the contract of [http.RoundTripper]. It
// is what keeps response bodies, which can echo secrets, out of the error text of
// the library above, some of which has no type to take them out of again.
type guard struct{ next http.RoundTripper }

// RoundTrip sends req.
func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	redirect := resp.StatusCode/100 == 3 && resp.Header.Get("Location") != ""
	if resp.StatusCode/100 == 2 || redirect {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxTokenBody)
		return resp, nil
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	_ = resp.Body.Close()
	return nil, &StatusError{Host: req.URL.Hostname(), Status: resp.StatusCode, Code: errorCode(body)}
}

// isLoopback reports whether host names this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// isMetadataHost reports whether host is the metadata server of a cloud. All of
// them are link-local. [GCE]: https://cloud.google.com/compute/docs/metadata/querying-metadata
// [AWS]: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
func isMetadataHost(host string) bool {
	switch strings.ToLower(host) {
	case "169.254.169.254", "metadata.google.internal", "fd00:ec2::254":
		return true
	}
	return false
}
