package canary_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/gcpauth"
)

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// tokenClient sends token requests to the platform, and answers them by the mode, if any.
type tokenClient struct {
	p    *platform
	fail mode
	at   string // the host that fails
}

func (c tokenClient) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := c.p.RoundTrip(q)
	if err != nil || c.fail == nil || q.URL.Host != c.at {
		return answer, err
	}
	_ = answer.Body.Close()
	return c.fail(q, c.p.f.seen())
}

// TestCredentialsOfEveryKind gets tokens with each kind of credentials, and then has each
// of the endpoints fail in every way, repeating all that was sent.
func TestCredentialsOfEveryKind(t *testing.T) {
	tests := []struct {
		name  string
		kind  gcpauth.Kind
		json  func(*testing.T, *flock) string
		hosts []string
		token string
	}{
		{"service account", gcpauth.ServiceAccountJSON, accountJSON, []string{"oauth2.googleapis.com"}, "minted access token"},
		{"authorized user", gcpauth.AuthorizedUserJSON, func(_ *testing.T, f *flock) string { return userJSON(f) }, []string{"oauth2.googleapis.com"}, "minted access token"},
		{"external account", gcpauth.ExternalAccountJSON, func(_ *testing.T, f *flock) string { return externalJSON(f) },
			[]string{"ci.example", "sts.googleapis.com", "iamcredentials.googleapis.com"}, "impersonated token"},
		{"external account in a file", gcpauth.ExternalAccountJSON, subjectFile, []string{"sts.googleapis.com", "iamcredentials.googleapis.com"}, "impersonated token"},
		{"impersonation", gcpauth.ImpersonatedJSON, func(_ *testing.T, f *flock) string { return impersonatedJSON(f) },
			[]string{"oauth2.googleapis.com", "iamcredentials.googleapis.com"}, "impersonated token"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFlock(t, t.Name())
			p, _ := newPlatform(t, f)
			doc := tt.json(t, f)
			config := func(fail mode, at string) gcpauth.Config {
				return gcpauth.Config{Kind: tt.kind, JSON: []byte(doc), AllowedHosts: []string{"ci.example"}, HTTPClient: &http.Client{Transport: tokenClient{p, fail, at}}}
			}
			get := func(cfg gcpauth.Config) (string, error) {
				src, err := gcpauth.New(cfg)
				if err != nil {
					return "", err
				}
				defer func() { _ = src.Close() }()
				f.refuse(t, "the source", printed(src)+printed(cfg), credential)
				token, err := src.Token(t.Context())
				if err != nil {
					return "", err
				}
				return token.Value, nil
			}
			token, err := get(config(nil, ""))
			if err != nil {
				t.Fatal(err)
			}
			f.want(t, "the token", token, tt.token)
			for name, fail := range failures() {
				if name == "time-out" || name == "cut stream" {
					continue // their time is not for the caller to set
				}
				for _, host := range tt.hosts {
					_, err := get(config(fail, host))
					if err == nil {
						t.Errorf("%s at %s: no error", name, host)
						continue
					}
					f.refuse(t, name+" at "+host, seenOf(err), credential)
				}
			}
			for i := 0; i < len(doc); i += max(1, len(doc)/60) {
				for what, broken := range map[string]string{"cut": doc[:i], "with a quote": doc[:i] + `"` + doc[i:], "with a brace": doc[:i] + `{` + doc[i:]} {
					_, err := gcpauth.New(gcpauth.Config{Kind: tt.kind, JSON: []byte(broken), AllowedHosts: []string{"ci.example"}})
					f.refuse(t, fmt.Sprint("a file ", what, " at ", i), seenOf(err), credential)
				}
			}
			witnessed(t, f, p, tt.kind)
		})
	}
}

// witnessed checks that every secret reached the endpoint that it is for. Of a private
// key that is the signature.
func witnessed(t *testing.T, f *flock, p *platform, kind gcpauth.Kind) {
	t.Helper()
	found := f.find(f.seen())
	for name := range f.birds {
		made := strings.HasSuffix(name, " token") // by the endpoints, for the next one
		if strings.HasPrefix(name, "private key,") {
			if !p.signed {
				t.Errorf("the %s has signed nothing", name)
			}
			if at := found[name]; at != "" {
				t.Errorf("the %s was sent: %s", name, at)
			}
		} else if found[name] == "" && !made {
			t.Errorf("the %s was never in use by %s", name, kind)
		}
	}
}
