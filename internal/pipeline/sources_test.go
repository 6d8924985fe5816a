package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"cloud.google.com/go/auth"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/gcpauth"
	"github.com/b650d4bf/gateway/providers"
)

func sourceOf(t *testing.T, s *Sources, e catalog.Entry) auth.TokenProvider {
	t.Helper()
	src, err := s.entry(&e)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestSourcesShareTheSourceOfAnEntry(t *testing.T) {
	var s Sources
	defer func() { _ = s.Close() }()
	base := catalog.Entry{Slug: "vx", Provider: "fake", AccessToken: "t1", QuotaProject: "q", UniverseDomain: "u.test"}
	first := sourceOf(t, &s, base)
	moved := base
	moved.Region, moved.ProjectID, moved.BaseURL, moved.Headers = "r", "p", "https://x", map[string]catalog.Secret{"X-A": "b"}
	for name, e := range map[string]catalog.Entry{"the same entry": base, "the same credentials elsewhere": moved} {
		if sourceOf(t, &s, e) != first {
			t.Errorf("%s has another source", name)
		}
	}
	for name, change := range map[string]func(*catalog.Entry){
		"token":         func(e *catalog.Entry) { e.AccessToken = "t2" },
		"quota project": func(e *catalog.Entry) { e.QuotaProject = "q2" },
		"universe":      func(e *catalog.Entry) { e.UniverseDomain = "u2.test" },
		"slug":          func(e *catalog.Entry) { e.Slug = "vy" },
		"kind":          func(e *catalog.Entry) { e.AccessToken, e.Auth = "", catalog.AuthNone },
		"default":       func(e *catalog.Entry) { e.AccessToken, e.Auth = "", catalog.AuthDefault },
	} {
		e := base
		change(&e)
		if before := sourceOf(t, &s, base); sourceOf(t, &s, e) == before {
			t.Errorf("another %s has the same source", name)
		}
	}
}

func TestSourcesWithoutCredentials(t *testing.T) {
	var s Sources
	for name, e := range map[string]catalog.Entry{
		"no credentials": {Slug: "vx", QuotaProject: "q", UniverseDomain: "u.test"},
		"no slug":        {AccessToken: "t"},
	} {
		if src := sourceOf(t, &s, e); src != nil {
			t.Errorf("%s: got a source", name)
		}
	}
}

// An entry whose credentials are replaced gets a new source; calls under way
// go on with the old one, which is not kept for ever.
func TestSourcesFollowTheCatalog(t *testing.T) {
	list := entries(t, catalog.Entry{Slug: "vx", Provider: "fake", AccessToken: "t0"})
	e, client := New(&fake{name: "fake"}), &Settings{Catalog: list}
	defer func() { _ = e.Close() }()
	old, err := resolve(t, e, client, &Settings{}, "@vx/m")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		value := fmt.Sprintf("t%d", i+1)
		if err := list.Replace(catalog.Entry{Slug: "vx", Provider: "fake", AccessToken: catalog.Secret(value)}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			r, err := resolve(t, e, client, &Settings{}, "@vx/m")
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, value, tokenOf(t, r.target.Token))
		}
	}
	wantEqual(t, "t0", tokenOf(t, old.target.Token))
	if n := len(e.sources.owned); n != 1 {
		t.Errorf("%d sources are kept for one entry", n)
	}
}

// However many calls meet at a new entry, they share one source.
func TestSourcesRace(t *testing.T) {
	list := entries(t, catalog.Entry{Slug: "vx", Provider: "fake", AccessToken: "t"})
	e, client := New(&fake{name: "fake"}), &Settings{Catalog: list}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 20 {
				var r route
				if err := e.resolve(t.Context(), client, &Settings{}, "@vx/m", &r); err != nil {
					t.Error(err)
				}
				if i == 0 {
					_ = list.Replace(catalog.Entry{Slug: "vx", Provider: "fake", AccessToken: catalog.Secret(fmt.Sprint("t", j))})
				}
			}
		})
	}
	wg.Wait()
	r, err := resolve(t, e, client, &Settings{}, "@vx/m")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "t19", tokenOf(t, r.target.Token))
	if n := len(e.sources.owned); n != 1 {
		t.Errorf("%d sources are kept for one entry", n)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// One that lost the race for an entry takes the winner's source.
func TestSourcesInstallOnce(t *testing.T) {
	var s Sources
	made := credentials{token: "t"}
	winner, err := s.Add(made.config())
	if err != nil {
		t.Fatal(err)
	}
	loser, err := s.Add(made.config())
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range []*gcpauth.Source{winner, loser} {
		if s.install("vx", slugSource{made: made, src: src}) != winner {
			t.Error("the second source replaced the first")
		}
	}
	wantEqual(t, 1, len(s.owned))
}

func TestSourcesClose(t *testing.T) {
	var s Sources
	if err := s.SetDefault(gcpauth.Config{Kind: gcpauth.AccessToken, AccessToken: "default"}); err != nil {
		t.Fatal(err)
	}
	def, err := s.byDefault()
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "default", tokenOf(t, def))
	entry := catalog.Entry{Slug: "vx", AccessToken: "t"}
	src := sourceOf(t, &s, entry)
	for range 3 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantEqual(t, "default", tokenOf(t, def)) // for calls under way
	wantEqual(t, "t", tokenOf(t, src))
	other := catalog.Entry{Slug: "vy", AccessToken: "t"}
	if _, err := s.entry(&other); !errors.Is(err, providers.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if err := s.SetDefault(gcpauth.Config{}); !errors.Is(err, providers.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestSourcesRefuseBrokenConfigs(t *testing.T) {
	var s Sources
	if _, err := s.Add(gcpauth.Config{Kind: gcpauth.AccessToken}); err == nil {
		t.Error("an empty token was taken")
	}
	if err := s.SetDefault(gcpauth.Config{Kind: gcpauth.ServiceAccountJSON, JSON: []byte(`{}`)}); err == nil {
		t.Error("an empty key was taken")
	}
	if _, err := s.byDefault(); !errors.Is(err, providers.ErrAuthentication) {
		t.Errorf("got %v", err)
	}
}

func TestCredentialsConfig(t *testing.T) {
	key := catalog.Secret(`{"type":"service_account"}`)
	for name, tt := range map[string]struct {
		entry catalog.Entry
		want  gcpauth.Config
	}{
		"file":    {catalog.Entry{ServiceAccountFile: "f"}, gcpauth.Config{Kind: gcpauth.ServiceAccountFile, File: "f"}},
		"json":    {catalog.Entry{ServiceAccountJSON: key}, gcpauth.Config{Kind: gcpauth.ServiceAccountJSON, JSON: []byte(key)}},
		"token":   {catalog.Entry{AccessToken: "t"}, gcpauth.Config{Kind: gcpauth.AccessToken, AccessToken: "t"}},
		"default": {catalog.Entry{Auth: catalog.AuthDefault}, gcpauth.Config{Kind: gcpauth.ApplicationDefault}},
		"none":    {catalog.Entry{Auth: catalog.AuthNone}, gcpauth.Config{Kind: gcpauth.None}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.entry.QuotaProject, tt.entry.UniverseDomain = "q", "u.test"
			tt.want.QuotaProject, tt.want.UniverseDomain = "q", "u.test"
			c := credentialsOf(&tt.entry)
			if !c.given() {
				t.Error("the credentials are not seen")
			}
			wantEqual(t, tt.want, c.config())
		})
	}
}

func TestStaticTokenPrintsRedacted(t *testing.T) {
	src := NewStaticToken("the-secret")
	target := providers.Target{Token: src}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
		if got := fmt.Sprintf(verb, src); strings.Contains(got, "secret") || got != "[redacted]" {
			t.Errorf("%s prints %s", verb, got)
		}
		if got := fmt.Sprintf(verb, target); strings.Contains(got, "secret") {
			t.Errorf("%s of a target prints %s", verb, got)
		}
	}
	if data, err := json.Marshal(target); err == nil && strings.Contains(string(data), "secret") {
		t.Errorf("JSON shows %s", data)
	}
	header, quota, err := src.Header(t.Context())
	wantEqual(t, []any{"Bearer the-secret", "", nil}, []any{header, quota, err})
	wantEqual(t, "the-secret", tokenOf(t, src))
	_, quota, err = src.WithQuota("q").Header(t.Context())
	wantEqual(t, []any{"q", nil}, []any{quota, err})
}
