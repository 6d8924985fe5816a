package canary_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The places that canaries are for.
const (
	platformPlace = "the platform"
	frontPlace    = "the front"
	refused       = "the front, which refused it"
	storePlace    = "a store or a proxy"
	sealedCache   = "the sealed cache"
	signature     = "a signature"
	answersPlace  = "an answer"
	hook          = "a function of the caller"
	processes     = "a service that a program asked"
)

// placeOf is the place behind a host: the platform's own hosts, those that make tokens,
// and each vendor by itself.
func placeOf(host string) string {
	if strings.HasSuffix(host, "aiplatform.googleapis.com") || host == "storage.googleapis.com" || host == "discoveryengine.googleapis.com" {
		return platformPlace
	}
	return host
}

// The hosts of vendors and of token endpoints.
const (
	google       = "generativelanguage.googleapis.com"
	anthropic    = "api.anthropic.com"
	openai       = "api.openai.com"
	ownServer    = "llm.example"
	tokenHost    = "oauth2.googleapis.com"
	exchangeHost = "sts.googleapis.com"
	iamHost      = "iamcredentials.googleapis.com"
	subjectHost  = "ci.example"
)

// uses are the credentials, with the places that each has to reach: one that never did
// was not in use, and that no outlet shows it says nothing. It may reach no other.
var uses = map[string][]string{
	"access token": {platformPlace}, "header of the client": {platformPlace, google, anthropic, openai, ownServer}, "header with signs": {platformPlace, google, anthropic, openai, ownServer},
	"key of @token": {platformPlace}, "header of @token": {platformPlace}, "key of @google": {google}, "header of @google": {google},
	"key of @anthropic": {anthropic}, "header of @anthropic": {anthropic}, "key of @openai": {openai}, "header of @openai": {openai},
	"key of @server": {ownServer}, "header of @server": {ownServer},
	"Authorization header": {frontPlace}, "cookie": {frontPlace}, "x-api-key header": {frontPlace}, "x-goog-api-key header": {frontPlace}, "Proxy-Authorization header": {frontPlace},
	"header that is not forwarded": {frontPlace}, "forwarded header": {frontPlace, platformPlace}, "query of a client": {frontPlace},
	"API key of the front": {frontPlace}, "admin key": {frontPlace}, "wrong key": {frontPlace, refused}, // the page itself is for all
	"private key, line": {signature}, "private key, number": {signature}, "private key, bytes": {signature}, "private key, first prime": {signature}, "private key id": {tokenHost},
	"client secret": {tokenHost}, "refresh token": {tokenHost}, "key of the subject's address": {subjectHost}, "header of the subject's address": {subjectHost},
	"subject token": {exchangeHost}, "subject token in a file": {exchangeHost}, "federated token": {iamHost}, "minted access token": {platformPlace, iamHost}, "impersonated token": {platformPlace},
	"token of a source": {platformPlace}, "token of credentials": {platformPlace}, "access token of a view": {platformPlace},
	"password of Redis": {storePlace}, "password of PostgreSQL": {storePlace}, "password of a proxy": {storePlace}, "sealing key": {sealedCache}, "key of a guard": {hook},
	"token of a program": {processes}, "token of a program's environment": {processes}, "token of a program's file": {processes}, "header of a program": {processes}, "key for another front": {processes},
	"key of a program's catalog": {processes}, "header of a program's catalog": {processes}, "key of the sidecar": {frontPlace}, "admin key of the sidecar": {frontPlace},
}

// sightings are where the canaries of all tests were seen.
var sightings register

type register struct {
	mu   sync.Mutex
	seen map[string]map[string]string // by name and place, an example
	kind map[string]kind
}

// rowOf is the name of a canary in the table: the lines of a key are one.
func rowOf(name string) string {
	if strings.HasPrefix(name, "private key, line") {
		return "private key, line"
	}
	return name
}

func (r *register) add(name, place string) { r.put(name, place, "") }

func (r *register) put(name, place, at string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen, r.kind = map[string]map[string]string{}, map[string]kind{}
	}
	if r.seen[name] == nil {
		r.seen[name] = map[string]string{}
	}
	if place != "" {
		r.seen[name][place] = at
	}
}

// note takes what the flock of a test has seen.
func (r *register) note(f *flock) {
	f.mu.Lock()
	at := maps.Clone(f.at)
	birds := maps.Clone(f.birds)
	f.mu.Unlock()
	for name, c := range birds {
		r.put(rowOf(name), "", "")
		r.mu.Lock()
		r.kind[rowOf(name)] = c.kind
		r.mu.Unlock()
	}
	for place, text := range at {
		for name, at := range f.find(text.String()) {
			r.put(rowOf(name), place, at)
		}
	}
}

// faults are the canaries that were not in use, or that went where they must not.
func (r *register) faults() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for name, k := range r.kind {
		wants, ok := uses[name]
		switch seen := r.seen[name]; {
		case k == content && len(seen) == 0:
			out = append(out, fmt.Sprintf("%q was never in use", name))
		case k == credential && !ok:
			out = append(out, fmt.Sprintf("%q has no row in uses; it was seen at %q", name, slices.Sorted(maps.Keys(seen))))
		case k == credential:
			for place, at := range seen {
				if !slices.Contains(wants, place) {
					out = append(out, fmt.Sprintf("%q reached %s: %s", name, place, at))
				}
			}
		}
	}
	for name, wants := range uses {
		for _, place := range wants {
			if _, ok := r.seen[name][place]; !ok {
				out = append(out, fmt.Sprintf("%q never reached %s", name, place))
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestMain ends with the table of uses, when all tests were run.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("16") // the tests mostly wait
	}
	code := m.Run()
	removePrograms()
	whole := os.Getenv(childOf) == ""
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		whole = whole && flag.Lookup(name).Value.String() == ""
	}
	if code == 0 && whole {
		for _, fault := range sightings.faults() {
			fmt.Fprintln(os.Stderr, "FAIL: canary", fault)
			code = 1
		}
	}
	os.Exit(code)
}

// TestTableOfUses has canaries without a row, ones that were never seen, and ones that
// went elsewhere.
func TestTableOfUses(t *testing.T) {
	var r register
	for name := range uses {
		for _, place := range uses[name] {
			r.add(name, place)
			r.kind[name] = credential
		}
	}
	if got := r.faults(); len(got) > 0 {
		t.Fatal(got)
	}
	delete(r.seen["admin key"], frontPlace)
	r.add("cookie", platformPlace)
	r.put("new key", "", "")
	r.put("new prompt", "", "")
	r.kind["new key"], r.kind["new prompt"] = credential, content
	want := []string{`"admin key" never reached the front`, `"cookie" reached the platform: `, `"new key" has no row in uses; it was seen at []`, `"new prompt" was never in use`}
	if got := r.faults(); !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}
