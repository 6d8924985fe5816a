// Package gcpauth answers who calls Google Cloud: one [Source] turns any kind of
// credential into a bearer token that is ready when a request needs it.
//
// A Source never stalls live traffic for a token. Shortly before expiry it goes on
// serving the old token while one goroutine fetches the next, trying again until
// it succeeds or the token is gone. Only then do callers wait, all for the same
// exchange, each with its own deadline. That goroutine exists only while a fetch
// is under way; an idle Source costs nothing.
//
// # Caveats
//
// [Config] prints redacted, but fmt doesn't call methods on unexported struct
// fields: don't store a Config in one and print the struct.
//
// Application default credentials are trusted as the process environment is; the
// addresses in them aren't checked. Credential JSON handed over in a Config is.
package gcpauth

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/auth"
	"golang.org/x/oauth2"

	"github.com/b650d4bf/gateway/internal/place"
)

// Scope is the OAuth scope of every token. It is always sent: workload identity
// federation mints no token without one.
const Scope = "https://www.googleapis.com/auth/cloud-platform"

// DefaultUniverse is the universe domain of the public cloud.
const DefaultUniverse = "googleapis.com"

// Kind declares what a [Config] holds. Credential JSON is loaded by its declared
// kind only, never by what it claims to be.
type Kind uint8

// The kinds of credentials.
const (
	None                Kind = iota // no credentials: a proxy adds them
	AccessToken                     // a ready token, never refreshed
	TokenSource                     // an [oauth2.TokenSource] of the caller
	Credentials                     // [auth.Credentials] of the caller
	ServiceAccountJSON              // the text of a service account key
	ServiceAccountFile              // the path of a service account key, read again at each exchange
	ApplicationDefault              // whatever the environment offers, looked up at the first use
	AuthorizedUserJSON              // a user's refresh token, as gcloud writes it
	ExternalAccountJSON             // workload or workforce identity federation
	ImpersonatedJSON                // a service account impersonated by another credential
)

// String returns a readable name, such as "service account JSON".
func (k Kind) String() string {
	names := [...]string{
		"no credentials", "access token", "token source", "credentials", "service account JSON", "service account file",
		"application default credentials", "authorized user JSON", "external account JSON", "impersonated account JSON",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// jsonType returns the "type" that credential JSON of this kind must have, or "".
func (k Kind) jsonType() string {
	switch k {
	case ServiceAccountJSON, ServiceAccountFile:
		return typeServiceAccount
	case AuthorizedUserJSON:
		return typeAuthorizedUser
	case ExternalAccountJSON:
		return typeExternalAccount
	case ImpersonatedJSON:
		return typeImpersonated
	}
	return ""
}

// Config says which credentials to use. Exactly the member that Kind names is
// set. It prints redacted with every fmt verb, in JSON and in slog.
type Config struct {
	Kind        Kind
	AccessToken string             // for AccessToken: the bare token, without "Bearer"
	TokenSource oauth2.TokenSource // for TokenSource; may cache, may block, is called by one goroutine at a time
	Credentials *auth.Credentials  // for Credentials; as TokenSource
	JSON        []byte             // for the JSON kinds; copied
	File        string             // for ServiceAccountFile

	// QuotaProject overrides the quota project of the credentials.
	QuotaProject string
	// UniverseDomain overrides the universe domain of the credentials.
	UniverseDomain string
	// HTTPClient sends token exchanges and nothing else. Its redirect policy is
	// replaced: no exchange follows a redirect to another host. A proxy it uses
	// should leave the metadata server (169.254.169.254) alone. Nil means a small
	// private client.
	HTTPClient *http.Client
	// AllowedHosts lists hosts that the addresses inside external account and
	// impersonated JSON may name, beyond those of Google Cloud, the universe of
	// UniverseDomain and the metadata server. "*.example.com" allows subdomains.
	// Addresses must be https, except those of a listed loopback host.
	AllowedHosts []string
	// RefreshAhead is how long before expiry the next token is fetched. Zero
	// means 4 minutes. Short-lived tokens are refreshed in their last quarter.
	RefreshAhead time.Duration
}

// String names the kind and nothing secret.
func (c Config) String() string { return "gcpauth.Config{" + c.Kind.String() + "}" }

// GoString is [Config.String].
func (c Config) GoString() string { return c.String() }

// Format writes [Config.String] for every verb.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// MarshalJSON returns [Config.String] as a JSON string.
func (c Config) MarshalJSON() ([]byte, error) { return []byte(`"` + c.String() + `"`), nil }

// LogValue returns [Config.String].
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// validate checks that the member Kind names is set and no other, and the
// overrides.
func (c *Config) validate() error {
	members := []struct {
		name string
		set  bool
		used bool
	}{
		{"AccessToken", c.AccessToken != "", c.Kind == AccessToken},
		{"TokenSource", c.TokenSource != nil, c.Kind == TokenSource},
		{"Credentials", c.Credentials != nil, c.Kind == Credentials},
		{"JSON", len(c.JSON) > 0, c.Kind.jsonType() != "" && c.Kind != ServiceAccountFile},
		{"File", c.File != "", c.Kind == ServiceAccountFile},
	}
	var errs []error
	for _, m := range members {
		switch {
		case m.used && !m.set:
			errs = append(errs, fmt.Errorf("%s is not set", m.name))
		case m.set && !m.used:
			errs = append(errs, fmt.Errorf("%s is set but not used by this kind: leave it empty", m.name))
		}
	}
	if c.Kind > ImpersonatedJSON {
		errs = append(errs, errors.New("unknown kind"))
	}
	if !printable(c.AccessToken) {
		errs = append(errs, errors.New(`AccessToken must be the bare token, without spaces and without "Bearer"`))
	}
	if !printable(c.QuotaProject) {
		errs = append(errs, errors.New("QuotaProject must be a project id"))
	}
	if c.UniverseDomain != "" && !place.IsDomain(c.UniverseDomain) {
		errs = append(errs, errors.New(`UniverseDomain must be a domain name such as "googleapis.com"`))
	}
	if c.RefreshAhead < 0 {
		errs = append(errs, errors.New("RefreshAhead must not be negative"))
	}
	return errors.Join(errs...)
}

// printable reports whether s can stand in a header as one word.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}
