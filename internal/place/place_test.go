package place_test

import (
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/place"
)

func TestNames(t *testing.T) {
	label := strings.Repeat("a", 63)
	domain := strings.Repeat(label+".", 3) + strings.Repeat("a", 61)
	for name, row := range map[string]struct {
		region, project, domain bool
	}{
		"europe-west4": {true, true, false}, "global": {true, true, false}, "7": {true, true, false}, label: {true, true, false},
		"example.com": {false, false, true}, "a.b-c.9": {false, false, true}, domain: {false, false, true},
		"example.com:my-project": {false, true, false}, "a.b:7": {false, true, false},

		"": {}, ".": {}, ":": {}, "-": {}, "-a": {}, "a-": {}, "a--": {}, "US": {}, "a_b": {}, "a b": {}, "a/b": {}, "a\x00": {}, "é": {}, "a%2e": {},
		label + "a": {}, domain + "a": {}, ".a": {}, "a.": {}, "a..b": {}, "a.-b": {}, "a.B": {}, "a.b.": {},
		"example:p": {}, "example.com:": {}, ":p": {}, "example.com:p:q": {}, "example.com::p": {}, "example.com:-p": {}, ".com:p": {}, "a@b": {},
	} {
		if got := place.IsRegion(name); got != row.region {
			t.Errorf("IsRegion(%q) is %v", name, got)
		}
		if got := place.IsProject(name); got != row.project {
			t.Errorf("IsProject(%q) is %v", name, got)
		}
		if got := place.IsDomain(name); got != row.domain {
			t.Errorf("IsDomain(%q) is %v", name, got)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST.": true, "a.localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true,
		"": false, "notlocalhost": false, "localhost.example.com": false, "128.0.0.1": false, "0.0.0.0": false, "127.1": false,
	} {
		if got := place.IsLoopback(host); got != want {
			t.Errorf("IsLoopback(%q) is %v", host, got)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { place.IsProject("example.com:my-project") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
