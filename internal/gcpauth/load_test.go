package gcpauth_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/gcpauth"
)

// claims verifies the signature of a JWT with the test key and returns its claims.
func claims(t *testing.T, jwt string) map[string]any {
	t.Helper()
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		t.Fatalf("%d parts, want a JWT", len(parts))
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&key(t).PublicKey, crypto.SHA256, digest[:], signature); err != nil {
		t.Error(err)
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// tokenServer answers like a token endpoint and hands each assertion to seen.
func tokenServer(t *testing.T, seen func(jwt string)) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.FormValue("grant_type"); got != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
			t.Errorf("grant type %q", got)
		}
		seen(r.FormValue("assertion"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"sa-token","expires_in":3600,"token_type":"Bearer"}`))
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/token"
}

func TestServiceAccountExchange(t *testing.T) {
	var jwt string
	url := tokenServer(t, func(j string) { jwt = j })
	data := serviceAccount(t, map[string]any{"token_uri": url})
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]gcpauth.Config{
		"JSON": {Kind: gcpauth.ServiceAccountJSON, JSON: data},
		"file": {Kind: gcpauth.ServiceAccountFile, File: file},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource(t, cfg)
			if project, err := s.ProjectID(t.Context()); project != "my-project" || err != nil {
				t.Errorf("project %q, error %v", project, err)
			}
			h, quota, err := s.Header(t.Context())
			if h != "Bearer sa-token" || quota != "" || err != nil {
				t.Errorf("header %q, quota project %q, error %v", h, quota, err)
			}
			got := claims(t, jwt)
			lifetime := got["exp"].(float64) - got["iat"].(float64)
			delete(got, "exp")
			delete(got, "iat")
			want := map[string]any{
				"iss": "sa@my-project.iam.gserviceaccount.com", "aud": url, "scope": gcpauth.Scope,
			}
			if diff := cmp.Diff(want, got); diff != "" || lifetime != 3600 {
				t.Errorf("lifetime %v, claims (-want +got):\n%s", lifetime, diff)
			}
		})
	}
}

func TestKeyFileIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "key.json")
		write := func(uri string) {
			if err := os.WriteFile(file, serviceAccount(t, map[string]any{"token_uri": uri}), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := &replies{byURL: map[string]string{
			"https://one.example/t": `200 {"access_token":"one","expires_in":3600}`,
			"https://two.example/t": `200 {"access_token":"two","expires_in":3600}`,
		}}
		write("https://one.example/t")
		s := newSource(t, gcpauth.Config{Kind: gcpauth.ServiceAccountFile, File: file, HTTPClient: r.client()})
		wantValue(t, s, "one")
		write("https://two.example/t")
		wantValue(t, s, "one")
		s.Invalidate("one")
		wantValue(t, s, "two")
		if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Invalidate("two")
		wantValue(t, s, "two") // a damaged file leaves the loaded key in use
		if len(r.asked) != 3 {
			t.Errorf("%d exchanges, want 3", len(r.asked))
		}
	})
}

func TestTokenWithoutExpiryCanBeReplaced(t *testing.T) {
	r := &replies{byURL: map[string]string{googleToken: `200 {"access_token":"a"}`}}
	s := newSource(t, gcpauth.Config{Kind: gcpauth.AuthorizedUserJSON, JSON: []byte(userJSON), HTTPClient: r.client()})
	wantValue(t, s, "a")
	r.byURL[googleToken] = `200 {"access_token":"b"}`
	wantValue(t, s, "a")
	s.Invalidate("a")
	wantValue(t, s, "b")
}

func TestUniverseDomain(t *testing.T) {
	const sovereign = "example-tpc.goog"
	tests := []struct {
		name string
		cfg  gcpauth.Config
		want string
	}{
		{"default", gcpauth.Config{Kind: gcpauth.AccessToken, AccessToken: "t"}, "googleapis.com"},
		{"of the key", gcpauth.Config{Kind: gcpauth.ServiceAccountJSON,
			JSON: serviceAccount(t, map[string]any{"universe_domain": sovereign})}, sovereign},
		{"override", gcpauth.Config{Kind: gcpauth.ServiceAccountJSON, UniverseDomain: "other.goog",
			JSON: serviceAccount(t, map[string]any{"universe_domain": sovereign})}, "other.goog"},
		{"override without JSON", gcpauth.Config{Kind: gcpauth.None, UniverseDomain: sovereign}, sovereign},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := newSource(t, tt.cfg).UniverseDomain(t.Context())
			if got != tt.want || err != nil {
				t.Errorf("universe %q, error %v, want %q", got, err, tt.want)
			}
		})
	}
}

// TestSovereignServiceAccountSignsItself: such universes have no token endpoint
// for keys, and take a JWT signed with the key.
func TestSovereignServiceAccountSignsItself(t *testing.T) {
	r := &replies{}
	s := newSource(t, gcpauth.Config{
		Kind: gcpauth.ServiceAccountJSON, HTTPClient: r.client(),
		JSON: serviceAccount(t, map[string]any{"universe_domain": "example-tpc.goog"}),
	})
	tok, err := s.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := claims(t, tok.Value)["scope"]; got != gcpauth.Scope || len(r.asked) != 0 {
		t.Errorf("scope %v after %d requests", got, len(r.asked))
	}
	if until := time.Until(tok.Expiry); until < 50*time.Minute {
		t.Errorf("the token ends in %v", until)
	}
}

func TestQuotaProject(t *testing.T) {
	t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "from-env")
	r := &replies{byURL: map[string]string{googleToken: `200 {"access_token":"a","expires_in":3600}`}}
	for _, tt := range []struct{ name, override, want string }{
		{"of the JSON, not of the environment", "", "quota-1"}, {"override", "mine", "mine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSource(t, gcpauth.Config{
				Kind: gcpauth.AuthorizedUserJSON, JSON: []byte(userJSON), HTTPClient: r.client(), QuotaProject: tt.override,
			})
			if _, got, err := s.Header(t.Context()); got != tt.want || err != nil {
				t.Errorf("quota project %q, error %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestStaticKinds(t *testing.T) {
	for _, tt := range []struct {
		cfg    gcpauth.Config
		header string
	}{
		{gcpauth.Config{Kind: gcpauth.None, QuotaProject: "q"}, ""},
		{gcpauth.Config{Kind: gcpauth.AccessToken, AccessToken: "abc", QuotaProject: "q"}, "Bearer abc"},
	} {
		t.Run(tt.cfg.Kind.String(), func(t *testing.T) {
			s := newSource(t, tt.cfg)
			s.Invalidate("abc")
			h, quota, err := s.Header(t.Context())
			if h != tt.header || quota != "q" || err != nil || s.Refreshable() {
				t.Errorf("header %q, quota %q, error %v, refreshable %v", h, quota, err, s.Refreshable())
			}
			if project, err := s.ProjectID(t.Context()); project != "" || err != nil {
				t.Errorf("project %q, error %v", project, err)
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	const elsewhere, nearby = "https://evil.example/token", "https://oauth2.googleapis.com/v2/token"
	t.Run("to another host is refused", func(t *testing.T) {
		r := &replies{byURL: map[string]string{googleToken: "307 " + elsewhere, elsewhere: `200 {"access_token":"x"}`}}
		s := newSource(t, gcpauth.Config{Kind: gcpauth.AuthorizedUserJSON, JSON: []byte(userJSON), HTTPClient: r.client()})
		_, err := s.Token(t.Context())
		if err == nil || !strings.Contains(err.Error(), "redirects to another host") {
			t.Errorf("error %v", err)
		}
		if diff := cmp.Diff([]string{googleToken}, r.asked); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
	t.Run("to plain http is refused", func(t *testing.T) {
		r := &replies{byURL: map[string]string{googleToken: "307 http://oauth2.googleapis.com/token"}}
		s := newSource(t, gcpauth.Config{Kind: gcpauth.AuthorizedUserJSON, JSON: []byte(userJSON), HTTPClient: r.client()})
		if _, err := s.Token(t.Context()); err == nil || len(r.asked) != 1 {
			t.Errorf("error %v after %v", err, r.asked)
		}
	})
	t.Run("on the same host is followed", func(t *testing.T) {
		r := &replies{byURL: map[string]string{googleToken: "307 " + nearby, nearby: `200 {"access_token":"x"}`}}
		s := newSource(t, gcpauth.Config{Kind: gcpauth.AuthorizedUserJSON, JSON: []byte(userJSON), HTTPClient: r.client()})
		wantValue(t, s, "x")
	})
}

func TestHugeAnswerIsRefused(t *testing.T) {
	cleanEnv(t)
	synctest.Test(t, func(t *testing.T) {
		huge := `200 {"access_token":"x","expires_in":3600,"more":"` + strings.Repeat("a", 1<<20) + `"}`
		r := &replies{byURL: map[string]string{googleToken: huge, metadataToken: huge}}
		for _, cfg := range []gcpauth.Config{
			{Kind: gcpauth.AuthorizedUserJSON, JSON: []byte(userJSON), HTTPClient: r.client()},
			{Kind: gcpauth.ApplicationDefault, HTTPClient: r.client()},
		} {
			if tok, err := newSource(t, cfg).Token(t.Context()); err == nil {
				t.Errorf("%s: token %q from an answer over 1 MiB", cfg.Kind, tok.Value)
			}
		}
	})
}
