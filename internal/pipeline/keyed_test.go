package pipeline

import (
	"errors"
	"net/http"
	"testing"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

// keyed is a provider that is asked with an API key.
type keyed struct{ *fake }

func (keyed) APIKeyHeader() string { return "X-Key" }

func withKeyed() *Engine { return New(&fake{name: "fake"}, keyed{&fake{name: "own"}}) }

// Nothing that a client or a call says of the platform reaches another service,
// least of all its credentials.
func TestAKeyedProviderHasItsEntryAlone(t *testing.T) {
	entry := catalog.Entry{
		Slug: "o", Provider: "own", APIKey: "the-key", BaseURL: "https://own.test/v1", APIVersion: "2",
		Headers: map[string]catalog.Secret{"X-Team": "a"},
	}
	client := Settings{
		Catalog: entries(t, entry), Token: token("platform"), ProjectID: "p", Region: "r", BaseURL: "https://platform.test", UniverseDomain: "u.test",
		Header: http.Header{"X-Goog-Api-Key": {"k"}, "X-Proxy-Token": {"k"}, "X-Any": {"c"}},
	}
	call := Settings{
		Token: token("call"), FallbackToken: token("along"), ProjectID: "p2", Region: "r2", BaseURL: "https://call.test",
		Header: http.Header{"X-Call": {"b"}, "X-Session-Token": {"s"}, "Cookie": {"c"}, "X-Api-Key": {"k"}},
	}
	r, err := resolve(t, withKeyed(), &client, &call, "@o/m")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "the-key", tokenOf(t, r.target.Token))
	r.target.Token = nil
	wantEqual(t, providers.Target{
		Slug: "o", Provider: "own", Model: "m", BaseURL: "https://own.test/v1", APIVersion: "2",
		Header: http.Header{"X-Team": {"a"}, "X-Any": {"c"}, "X-Call": {"b"}, "X-Session-Token": {"s"}},
	}, r.target)
}

func TestAKeyedProviderWithoutAnEntryHasNoKey(t *testing.T) {
	client := Settings{Token: token("platform"), Provider: "own"}
	r, err := resolve(t, withKeyed(), &client, &Settings{FallbackToken: token("along")}, "m")
	if err != nil {
		t.Fatal(err)
	}
	if r.target.Token != nil {
		t.Errorf("it is asked as %s", tokenOf(t, r.target.Token))
	}
}

func TestEntriesFitTheirProviders(t *testing.T) {
	for name, tt := range map[string]struct {
		entry catalog.Entry
		want  string // the member that is wrong
	}{
		"a key":                          {catalog.Entry{Provider: "own", APIKey: "k"}, ""},
		"a token in place of a key":      {catalog.Entry{Provider: "own", AccessToken: "k"}, ""},
		"a server that wants none":       {catalog.Entry{Provider: "own", Auth: catalog.AuthNone}, ""},
		"no key":                         {catalog.Entry{Provider: "own"}, "providers.s.api_key"},
		"a service account in its stead": {catalog.Entry{Provider: "own", ServiceAccountFile: "f"}, "providers.s.api_key"},
		"default credentials":            {catalog.Entry{Provider: "own", Auth: catalog.AuthDefault}, "providers.s.api_key"},
		"a key for the platform":         {catalog.Entry{Provider: "fake", APIKey: "k"}, "providers.s.api_key"},
		"a version for the platform":     {catalog.Entry{Provider: "fake", APIVersion: "1"}, "providers.s.api_version"},
		"nobody":                         {catalog.Entry{Provider: "none"}, "providers.s.provider"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.entry.Slug = "s"
			e := withKeyed()
			err := e.CheckCatalog(entries(t, tt.entry))
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var refused *providers.Error
			if !errors.As(err, &refused) || refused.Code != providers.ErrInvalidConfig || refused.Param != tt.want {
				t.Errorf("%v, want one about %s", err, tt.want)
			}
		})
	}
}

// A config's host is for the provider beside it: whoever names the model must not
// send the credentials of another entry there.
func TestAHostOfAConfigIsForItsProvider(t *testing.T) {
	list := entries(t, catalog.Entry{Slug: "a", Provider: "own", APIKey: "the-key"}, catalog.Entry{Slug: "b", Provider: "own", APIKey: "another"})
	for name, tt := range map[string]struct {
		of, provider, model string
		refused             string // the member at fault
	}{
		"no slug":                  {"@a", "@a", "m", ""},
		"its own slug":             {"@a", "@a", "@a/m", ""},
		"another's":                {"@a", "@a", "@b/m", "model"},
		"another of the call":      {"@a", "@b", "m", "provider"},
		"a host for all providers": {"", "", "@b/m", "model"},
		"likewise, by the call":    {"", "b", "m", "provider"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := resolve(t, withKeyed(), &Settings{Catalog: list}, &Settings{Provider: tt.provider, CustomHost: "https://a.test", HostOf: tt.of}, tt.model)
			var e *providers.Error
			switch {
			case tt.refused != "" && (!errors.As(err, &e) || e.Param != tt.refused):
				t.Errorf("%v, want one about %s", err, tt.refused)
			case tt.refused == "" && err != nil:
				t.Error(err)
			case tt.refused == "":
				wantEqual(t, "https://a.test", r.target.BaseURL)
			}
		})
	}
}
