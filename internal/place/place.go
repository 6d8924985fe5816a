// Package place judges the names that say where a call goes: regions, projects,
// domains and hosts. They become part of hosts, paths and headers, so nothing passes that could
// mean more there than a name.
package place

import (
	"net"
	"strings"
)

// The most bytes of a label and of a domain, see
// https://www.rfc-editor.org/rfc/rfc1035#section-2.3.4
const maxLabel, maxDomain = 63, 253

// IsRegion reports whether s can be a location, such as "europe-west4" or "global".
func IsRegion(s string) bool { return isLabel(s) }

// IsProject reports whether s can be the id or number of a project, or an id that a
// domain scopes, as in "example.com:my-project", see
// https://docs.cloud.google.com/resource-manager/docs/creating-managing-projects
func IsProject(s string) bool {
	if domain, id, scoped := strings.Cut(s, ":"); scoped {
		return IsDomain(domain) && isLabel(id)
	}
	return isLabel(s)
}

// IsDomain reports whether s is a host name of at least two labels, in lower case and
// without a dot at its end.
func IsDomain(s string) bool {
	if len(s) > maxDomain || !strings.Contains(s, ".") {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isLabel(label) {
			return false
		}
	}
	return true
}

// IsLoopback reports whether host names this machine.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// isLabel reports whether s can be one label of a host name, in lower case.
func isLabel(s string) bool {
	if s == "" || len(s) > maxLabel || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
