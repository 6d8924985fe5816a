package pipeline

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

func resolve(t *testing.T, e *Engine, client, call *Settings, model string) (route, error) {
	t.Helper()
	var r route
	err := e.resolve(t.Context(), client, call, model, &r)
	return r, err
}

func twoProviders() *Engine { return New(&fake{name: "fake"}, &fake{name: "other"}) }

// The slug in the model wins over the call's provider, and that one over the
// client's.
func TestResolveChoosesTheProvider(t *testing.T) {
	list := entries(t,
		catalog.Entry{Slug: "one", Provider: "fake", AccessToken: "t1"},
		catalog.Entry{Slug: "two", Provider: "other", AccessToken: "t2"},
		catalog.Entry{Slug: "three", Provider: "fake", AccessToken: "t3"},
		catalog.Entry{Slug: "other", Provider: "fake", AccessToken: "shadow"},
	)
	tests := []struct {
		name                     string
		client, call             Settings
		model                    string
		slug, provider, rest, as string
	}{
		{"slug in the model", Settings{Provider: "two"}, Settings{Provider: "three"}, "@one/a/b@1", "one", "fake", "a/b@1", "t1"},
		{"the call's provider", Settings{Provider: "two"}, Settings{Provider: "three"}, "m", "three", "fake", "m", "t3"},
		{"with its sign", Settings{Provider: "@two"}, Settings{Provider: "@three"}, "m", "three", "fake", "m", "t3"},
		{"the client's provider", Settings{Provider: "two"}, Settings{}, "m", "two", "other", "m", "t2"},
		{"an entry named like a provider", Settings{Provider: "other"}, Settings{}, "m", "other", "fake", "m", "shadow"},
		{"a provider id", Settings{Provider: "fake", Token: token("t")}, Settings{}, "m", "", "fake", "m", "t"},
		{"no provider but a project", Settings{ProjectID: "p", Token: token("t")}, Settings{}, "m", "", "fake", "m", "t"},
		{"no provider but a region", Settings{}, Settings{Region: "r", Token: token("t")}, "m", "", "fake", "m", "t"},
		{"no provider but a base URL", Settings{BaseURL: "https://x"}, Settings{FallbackToken: token("f")}, "m", "", "fake", "m", "f"},
		{"no provider but a token", Settings{}, Settings{Token: token("t")}, "m", "", "fake", "m", "t"},
		{"the call's catalog", Settings{Catalog: brokenCatalog{errors.New("down")}}, Settings{Catalog: list}, "@one/m", "one", "fake", "m", "t1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.client.Catalog == nil {
				tt.client.Catalog = list
			}
			r, err := resolve(t, twoProviders(), &tt.client, &tt.call, tt.model)
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, tt.provider, r.provider.Name())
			wantEqual(t, []string{tt.slug, tt.provider, tt.rest, tt.as},
				[]string{r.target.Slug, r.target.Provider, r.target.Model, tokenOf(t, r.target.Token)})
		})
	}
}

func TestResolveRefusals(t *testing.T) {
	list := entries(t, catalog.Entry{Slug: "vx-prod", Provider: "fake"}, catalog.Entry{Slug: "vx-test", Provider: "fake"},
		catalog.Entry{Slug: "strange", Provider: "nobody"})
	tests := []struct {
		name         string
		client, call Settings
		model        string
		code         providers.Code
		param, say   string
	}{
		{"slug without a model", Settings{Catalog: list}, Settings{}, "@vx-prod", providers.ErrInvalidRequest, "model", `"@slug/model"`},
		{"empty slug", Settings{Catalog: list}, Settings{}, "@/m", providers.ErrInvalidRequest, "model", `"@slug/model"`},
		{"empty model", Settings{Catalog: list}, Settings{}, "@vx-prod/", providers.ErrInvalidRequest, "model", `"@slug/model"`},
		{"unknown slug", Settings{Catalog: list}, Settings{}, "@vx-prid/m", providers.ErrProviderNotFound, "model", `did you mean "vx-prod"`},
		{"unknown provider of the call", Settings{Catalog: list}, Settings{Provider: "vx-tset"}, "m", providers.ErrProviderNotFound, "provider", `"vx-test"`},
		{"a provider id is no slug", *here(), Settings{}, "@fake/m", providers.ErrProviderNotFound, "model", `"fake" not found`},
		{"no catalog", *here(), Settings{}, "@vx-prod/m", providers.ErrProviderNotFound, "model", `"vx-prod" not found`},
		{"nothing at all", Settings{}, Settings{}, "m", providers.ErrInvalidConfig, "provider", `use "@slug/model" as the model, WithProvider or the header x-gateway-provider`},
		{"a kind nobody serves", Settings{Catalog: list}, Settings{}, "@strange/m", providers.ErrInvalidConfig, "providers.strange.provider", `"nobody"`},
		{"no credentials", Settings{Region: "r"}, Settings{}, "m", providers.ErrAuthentication, "", "no credentials"},
		{"a catalog that is down", Settings{Catalog: brokenCatalog{errors.New("db down")}}, Settings{}, "@vx-prod/m", providers.ErrInvalidConfig, "model", "db down"},
		{"a broken key", Settings{Catalog: entries(t, catalog.Entry{Slug: "x", Provider: "fake", ServiceAccountFile: "/does/not/exist"})},
			Settings{}, "@x/m", providers.ErrInvalidConfig, "provider", "service account file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := resolve(t, twoProviders(), &tt.client, &tt.call, tt.model)
			e := known(t, err)
			wantEqual(t, tt.code, e.Code)
			wantEqual(t, tt.param, e.Param)
			if e.Sent || !strings.Contains(e.Error(), tt.say) {
				t.Errorf("sent %v, %v does not say %q", e.Sent, err, tt.say)
			}
			// An HTTP client is told what it can mend, and no cause on this side.
			shown := strings.Contains(string(e.AppendJSON(nil)), strings.ReplaceAll(tt.say, `"`, `\"`))
			if mendable := tt.code != providers.ErrInvalidConfig || e.Err == nil; shown != mendable {
				t.Errorf("%s shows %q: %v, want %v", e.AppendJSON(nil), tt.say, shown, mendable)
			}
		})
	}
}

func TestResolveErrorsKeepTheirCause(t *testing.T) {
	down := errors.New("db down")
	_, err := resolve(t, twoProviders(), &Settings{Catalog: brokenCatalog{down}}, &Settings{}, "@x/m")
	if !errors.Is(err, down) {
		t.Errorf("the catalog's own error is lost: %v", err)
	}
	_, err = resolve(t, twoProviders(), &Settings{Catalog: entries(t)}, &Settings{}, "@x/m")
	if !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("catalog.ErrNotFound is lost: %v", err)
	}
}

// The call wins over the entry, and the entry over the client.
func TestResolveLayers(t *testing.T) {
	full := func(v string) Settings {
		return Settings{ProjectID: "p-" + v, Region: "r-" + v, BaseURL: "https://" + v, UniverseDomain: v + ".test"}
	}
	entry := catalog.Entry{Slug: "vx", Provider: "fake", ProjectID: "p-entry", Region: "r-entry", BaseURL: "https://entry", UniverseDomain: "entry.test", Auth: "none"}
	bare := catalog.Entry{Slug: "vx", Provider: "fake", Auth: "none"}
	type place struct{ Project, Region, Base, Universe string }
	for name, tt := range map[string]struct {
		client, call Settings
		entry        catalog.Entry
		want         string
	}{
		"the call":   {full("client"), full("call"), entry, "call"},
		"the entry":  {full("client"), Settings{}, entry, "entry"},
		"the client": {full("client"), Settings{}, bare, "client"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.client.Catalog = entries(t, tt.entry)
			r, err := resolve(t, twoProviders(), &tt.client, &tt.call, "@vx/m")
			if err != nil {
				t.Fatal(err)
			}
			w := tt.want
			wantEqual(t, place{"p-" + w, "r-" + w, "https://" + w, w + ".test"},
				place{r.target.ProjectID, r.target.Region, r.target.BaseURL, r.target.UniverseDomain})
		})
	}
}

func TestResolveLayersHeaders(t *testing.T) {
	client := &Settings{
		Header:  http.Header{"X-A": {"client"}, "X-B": {"client"}, "X-C": {"client", "twice"}},
		Catalog: entries(t, catalog.Entry{Slug: "vx", Provider: "fake", Auth: "none", Headers: map[string]catalog.Secret{"x-b": "entry", "X-D": "entry"}}),
	}
	call := &Settings{Header: http.Header{"x-b": {"call"}, "X-E": {"call"}}}
	r, err := resolve(t, twoProviders(), client, call, "@vx/m")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, http.Header{"X-A": {"client"}, "X-B": {"call"}, "X-C": {"client", "twice"}, "X-D": {"entry"}, "X-E": {"call"}}, r.target.Header)
	r.target.Header.Set("X-A", "changed")
	wantEqual(t, "client", client.Header.Get("X-A"))

	for name, tt := range map[string]struct {
		client, call *Settings
		model        string
	}{
		"the entry's alone":  {&Settings{Catalog: client.Catalog}, &Settings{}, "@vx/m"},
		"the call's alone":   {here(), call, "m"},
		"the client's alone": {&Settings{Header: client.Header, Token: token("t")}, &Settings{}, "m"},
	} {
		if r, err = resolve(t, twoProviders(), tt.client, tt.call, tt.model); err != nil || len(r.target.Header) == 0 {
			t.Errorf("%s: got %v, %v", name, r.target.Header, err)
		}
	}
	r, err = resolve(t, twoProviders(), here(), &Settings{}, "m")
	if err != nil {
		t.Fatal(err)
	}
	if r.target.Header != nil {
		t.Errorf("got %v for no headers at all", r.target.Header)
	}
}

func TestResolveLayersTimeouts(t *testing.T) {
	client := here()
	client.Timeouts = providers.Timeouts{Connect: 1 * time.Second, FirstByte: 2 * time.Second, Idle: 3 * time.Second, Total: -1}
	call := &Settings{Timeouts: providers.Timeouts{FirstByte: 5 * time.Second, Idle: -1, Total: 9 * time.Second}}
	for _, tt := range []struct {
		call *Settings
		want providers.Timeouts
	}{
		{&Settings{}, providers.Timeouts{Connect: 1 * time.Second, FirstByte: 2 * time.Second, Idle: 3 * time.Second}},
		{call, providers.Timeouts{Connect: 1 * time.Second, FirstByte: 5 * time.Second, Total: 9 * time.Second}},
		{&Settings{Timeouts: providers.Timeouts{Connect: -1, FirstByte: -1, Idle: -1, Total: -1}}, providers.Timeouts{}},
	} {
		r, err := resolve(t, twoProviders(), client, tt.call, "m")
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, tt.want, r.target.Timeouts)
	}
}

// The call's token, the entry's, the client's, what came along, the process's.
func TestResolveChoosesTheCredentials(t *testing.T) {
	withToken := catalog.Entry{Slug: "vx", Provider: "fake", AccessToken: "entry"}
	without := catalog.Entry{Slug: "vx", Provider: "fake"}
	none := catalog.Entry{Slug: "vx", Provider: "fake", Auth: "none"}
	all := Settings{Token: token("call"), FallbackToken: token("along")}
	for name, tt := range map[string]struct {
		client, call Settings
		entry        catalog.Entry
		want         string
	}{
		"the call's":               {Settings{Token: token("client")}, all, withToken, "call"},
		"the entry's":              {Settings{Token: token("client")}, Settings{FallbackToken: token("along")}, withToken, "entry"},
		"an entry that wants none": {Settings{Token: token("client")}, Settings{FallbackToken: token("along")}, none, ""},
		"the client's":             {Settings{Token: token("client")}, Settings{FallbackToken: token("along")}, without, "client"},
		"what came along":          {Settings{}, Settings{FallbackToken: token("along")}, without, "along"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.client.Catalog = entries(t, tt.entry)
			r, err := resolve(t, twoProviders(), &tt.client, &tt.call, "@vx/m")
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, tt.want, tokenOf(t, r.target.Token))
		})
	}
}

func TestResolveTakesThePlaceFromTheCredentials(t *testing.T) {
	src := placed{token("t"), "own-project", "own.test", nil}
	for name, tt := range map[string]struct {
		client            Settings
		model             string
		project, universe string
	}{
		"nothing is set":         {Settings{Region: "r"}, "m", "own-project", "own.test"},
		"a project is set":       {Settings{ProjectID: "p"}, "m", "p", "own.test"},
		"the model names one":    {Settings{Region: "r"}, "projects/x/locations/y/endpoints/1", "", "own.test"},
		"a universe is set":      {Settings{UniverseDomain: "u.test"}, "m", "own-project", "u.test"},
		"the base URL says host": {Settings{BaseURL: "https://x"}, "m", "own-project", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt.client.Token = src
			r, err := resolve(t, twoProviders(), &tt.client, &Settings{}, tt.model)
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, []string{tt.project, tt.universe}, []string{r.target.ProjectID, r.target.UniverseDomain})
		})
	}
}

func TestResolveReportsCredentialsThatFail(t *testing.T) {
	cause := errors.New("metadata server is down")
	e := twoProviders()
	for name, client := range map[string]*Settings{
		"project":  {Region: "r", Token: placed{TokenProvider: token("t"), err: cause}},
		"universe": {ProjectID: "p", Token: placed{TokenProvider: token("t"), err: cause}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := resolve(t, e, client, &Settings{}, "m")
			if !errors.Is(err, providers.ErrAuthentication) || !errors.Is(err, cause) {
				t.Errorf("got %v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			err = e.resolve(ctx, client, &Settings{}, "m", new(route))
			if !errors.Is(err, providers.ErrCanceled) || !errors.Is(err, context.Canceled) {
				t.Errorf("a caller who left is not a lack of credentials: %v", err)
			}
			ctx, cancel = context.WithDeadline(t.Context(), time.Unix(1, 0))
			defer cancel()
			if err = e.resolve(ctx, client, &Settings{}, "m", new(route)); !errors.Is(err, providers.ErrTimeout) {
				t.Errorf("nor is a deadline: %v", err)
			}
		})
	}
}
