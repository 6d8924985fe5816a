package gcpauth

import (
	"fmt"
	"net/url"
	"strings"
)

// hosts decides where credential JSON may send secrets. Unchecked, a credential
// file from somewhere else could have tokens delivered to its author.
// [Externally sourced credentials]:
// https://cloud.google.com/docs/authentication/external/externally-sourced-credentials
type hosts struct {
	universe string   // from the Config, never from the JSON itself
	extra    []string // as Config.AllowedHosts
}

// check returns an error naming member unless raw is https to an allowed host, or
// http to an allowed loopback host. It doesn't repeat more of raw than the host.
func (h hosts) check(member, raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return fmt.Errorf("%q must be an absolute https URL without user info", member)
	}
	host := strings.ToLower(u.Hostname())
	listed := h.listed(host)
	if !listed && !under(host, DefaultUniverse) && (h.universe == "" || !under(host, h.universe)) {
		return fmt.Errorf("%q names the host %q, which isn't one of Google Cloud: "+
			"if it is trusted, add it to the allowed hosts", member, host)
	}
	if u.Scheme == "https" || u.Scheme == "http" && listed && isLoopback(host) {
		return nil
	}
	return fmt.Errorf("%q must be https", member)
}

// listed reports whether the caller allowed host.
func (h hosts) listed(host string) bool {
	for _, e := range h.extra {
		e = strings.ToLower(e)
		if e == host || strings.HasPrefix(e, "*.") && under(host, e[2:]) {
			return true
		}
	}
	return false
}

// metadata reports whether raw is an address of the metadata server.
func (h hosts) metadata(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.User == nil && isMetadataHost(u.Hostname())
}

// amazonSTS reports whether raw is an STS address of AWS, in which the region may
// still be a placeholder. The request to it is signed and handed to Google, who
// sends it. [Format]: https://google.aip.dev/auth/4117
func (h hosts) amazonSTS(raw string) bool {
	u, err := url.Parse(strings.ReplaceAll(raw, "{region}", "region"))
	if err != nil || u.Scheme != "https" || u.User != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return strings.HasPrefix(host, "sts.") && (under(host, "amazonaws.com") || under(host, "amazonaws.com.cn"))
}

// under reports whether host is a subdomain of domain.
func under(host, domain string) bool { return strings.HasSuffix(host, "."+domain) }

// encrypted checks an address that may name any host.
func encrypted(member, raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil:
		return fmt.Errorf("%q must be an absolute https URL without user info", member)
	case u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%q must be https", member)
}
