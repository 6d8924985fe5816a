package fetch

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// errAddress says that an address may not be connected to.
var errAddress = errors.New("the address may not be connected to")

// reserved are IPv4 addresses that are not anybody's on the public internet.
//
// Source: https://www.iana.org/assignments/iana-ipv4-special-registry
var reserved = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)

// unicast6 has all public IPv6 addresses, and reserved6 what in it is none:
// protocols, Teredo and other tunnels to IPv4, and documentation. IPv4 that is
// mapped, translated by 64:ff9b::/96 or written as IPv6 in another way lies
// outside of it, as do unique local addresses and those of a link.
//
// Source: https://www.iana.org/assignments/iana-ipv6-special-registry
var (
	unicast6  = netip.MustParsePrefix("2000::/3")
	reserved6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// isPublic reports whether an address is one of the public internet.
func isPublic(a netip.Addr) bool {
	holds := func(p netip.Prefix) bool { return p.Contains(a) }
	if a.Is4() {
		return !slices.ContainsFunc(reserved, holds)
	}
	return a.Zone() == "" && unicast6.Contains(a) && !slices.ContainsFunc(reserved6, holds)
}

// servers are addresses at which clouds tell a machine its secrets, beside that of
// the link. No setting opens them.
//
// Source: https://docs.cloud.google.com/compute/docs/metadata/querying-metadata
// Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
// Source: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
// Source: https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
var servers = prefixes("fd20:ce::254/128", "fd00:ec2::254/128", "168.63.129.16/32", "100.100.100.200/32")

// mayConnect reports whether an address may be connected to.
func (f *Fetcher) mayConnect(a netip.Addr) bool {
	a = a.Unmap()
	if slices.ContainsFunc(servers, func(p netip.Prefix) bool { return p.Contains(a.WithZone("")) }) {
		return false
	}
	if isPublic(a) {
		return true
	}
	if a.Zone() != "" || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
		return false
	}
	return slices.ContainsFunc(f.cfg.Networks, func(p netip.Prefix) bool { return p.Contains(a) })
}

// control refuses a connection by the address that a name has led to, when it is
// dialled: what the name leads to at another time does not matter.
func (f *Fetcher) control(network, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") || !f.mayConnect(a.Addr()) || !slices.Contains(f.cfg.Ports, int(a.Port())) {
		return errAddress
	}
	return nil
}

// check says what is wrong with a URL that is to be fetched, "" for nothing.
func (f *Fetcher) check(u *url.URL) string {
	host := hostOf(u)
	address, notAddress := netip.ParseAddr(host)
	port := 443
	if u.Port() != "" {
		port, _ = strconv.Atoi(u.Port())
	}
	switch {
	case u.Scheme != "https":
		return "only https URLs are fetched"
	case notAddress != nil && (host == "" || strings.ContainsFunc(host, notInName)):
		return "not a valid URL: the host must be a name of ASCII letters, digits, '-', '_' and '.', or an address"
	case u.User != nil:
		return "a URL with a user in it is not fetched"
	case len(f.cfg.Hosts) > 0 && !slices.ContainsFunc(f.cfg.Hosts, func(p string) bool { return matches(p, host) }):
		return "the host is not one that the gateway may fetch from"
	case !slices.Contains(f.cfg.Ports, port):
		return "the port is not one that the gateway may connect to"
	}
	if notAddress == nil && !f.mayConnect(address) {
		return notPublic
	}
	return ""
}

// notInName reports whether r can't be in a host name in lower case. More is not taken,
// though [url.Parse] lets it be: resolvers and dialers do not agree on what it means.
func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

const notPublic = "the host has no public address, and others are not connected to"

// hostOf returns the name or address of a URL.
func hostOf(u *url.URL) string { return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) }

// matches reports whether a host is the one of the pattern, or, where that begins
// with a dot, below it.
func matches(pattern, host string) bool {
	pattern = strings.ToLower(pattern)
	if strings.HasPrefix(pattern, ".") {
		return strings.HasSuffix(host, pattern) && len(host) > len(pattern)
	}
	return host == pattern
}
