package gcpauth_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/gcpauth"
)

// external returns an external account whose subject token is in a file.
func external(t *testing.T, more map[string]any) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "subject")
	if err := os.WriteFile(file, []byte("oidc-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return document(t, map[string]any{
		"type":               "external_account",
		"audience":           "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
		"subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
		"token_url":          stsToken,
		"credential_source":  map[string]any{"file": file},
	}, more)
}

// impersonation answers the two steps of an impersonated exchange, the first at url.
func impersonation(url string) *replies {
	expiry := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	return &replies{byURL: map[string]string{
		url:         `200 {"access_token":"first","expires_in":3600,"token_type":"Bearer"}`,
		impersonate: `200 {"accessToken":"second","expireTime":"` + expiry + `"}`,
	}}
}

func TestWorkloadIdentityFederation(t *testing.T) {
	r := impersonation(stsToken)
	s := newSource(t, gcpauth.Config{Kind: gcpauth.ExternalAccountJSON, JSON: external(t, nil), HTTPClient: r.client()})
	wantValue(t, s, "first")
	form, err := url.ParseQuery(r.sent[stsToken])
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{"scope": form.Get("scope"), "subject_token": form.Get("subject_token")}
	if diff := cmp.Diff(map[string]string{"scope": gcpauth.Scope, "subject_token": "oidc-token"}, got); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
}

func TestFederationWithImpersonation(t *testing.T) {
	r := impersonation(stsToken)
	s := newSource(t, gcpauth.Config{
		Kind: gcpauth.ExternalAccountJSON, HTTPClient: r.client(),
		JSON: external(t, map[string]any{"service_account_impersonation_url": impersonate}),
	})
	wantValue(t, s, "second")
	wantImpersonated(t, r)
	s.Invalidate("second")
	wantValue(t, s, "second")
	if diff := cmp.Diff([]string{stsToken, impersonate, stsToken, impersonate}, r.asked); diff != "" {
		t.Errorf("a refused token is replaced from the start; requests (-want +got):\n%s", diff)
	}
}

func TestImpersonatedServiceAccount(t *testing.T) {
	r := impersonation(googleToken)
	s := newSource(t, gcpauth.Config{
		Kind: gcpauth.ImpersonatedJSON, JSON: impersonated(t, json.RawMessage(userJSON)), HTTPClient: r.client(),
	})
	h, quota, err := s.Header(t.Context())
	if h != "Bearer second" || quota != "quota-2" || err != nil {
		t.Errorf("header %q, quota project %q, error %v", h, quota, err)
	}
	wantImpersonated(t, r)
}

func impersonated(t *testing.T, source json.RawMessage) []byte {
	t.Helper()
	return document(t, map[string]any{
		"type": "impersonated_service_account", "service_account_impersonation_url": impersonate,
		"source_credentials": source, "quota_project_id": "quota-2",
	}, nil)
}

// wantImpersonated checks that the first token paid for the second, with the scope.
func wantImpersonated(t *testing.T, r *replies) {
	t.Helper()
	var sent struct{ Scope []string }
	if err := json.Unmarshal([]byte(r.sent[impersonate]), &sent); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{gcpauth.Scope}, sent.Scope); diff != "" || r.auth[impersonate] != "Bearer first" {
		t.Errorf("authorization %q, scopes (-want +got):\n%s", r.auth[impersonate], diff)
	}
}

func TestAddressesInExternalAccounts(t *testing.T) {
	const foreign = "which isn't one of Google Cloud"
	source := func(kv ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		return map[string]any{"credential_source": m}
	}
	aws := func(verify string) map[string]any {
		return source("environment_id", "aws1", "region_url", "http://169.254.169.254/r", "url", "http://169.254.169.254/c",
			"regional_cred_verification_url", verify)
	}
	tests := []struct {
		name  string
		more  map[string]any
		allow []string
		want  string // part of the error; "" for none
	}{
		{"Google's own", map[string]any{"token_url": "https://sts.googleapis.com/v1/token"}, nil, ""},
		{"a regional one", map[string]any{"token_url": "https://sts.us-east1.rep.googleapis.com/v1/token"}, nil, ""},
		{"of the overridden universe", map[string]any{"token_url": "https://sts.example-tpc.goog/v1"}, nil, ""},
		{"plain http", map[string]any{"token_url": "http://sts.googleapis.com/v1"}, nil, `"token_url" must be https`},
		{"foreign token URL", map[string]any{"token_url": "https://sts.evil.example/v1"}, nil, foreign},
		{"lookalike", map[string]any{"token_url": "https://evilgoogleapis.com/v1"}, nil, foreign},
		{"lookalike by suffix", map[string]any{"token_url": "https://sts.googleapis.com.evil.example/v1"}, nil, foreign},
		{"user info", map[string]any{"token_url": "https://sts.googleapis.com@evil.example/v1"}, nil, "without user info"},
		{"no host", map[string]any{"token_url": "file:///etc/passwd"}, nil, "absolute https URL"},
		{"metadata server as token URL", map[string]any{"token_url": "http://169.254.169.254/t"}, nil, foreign},
		{"foreign token info URL", map[string]any{"token_info_url": "https://evil.example/"}, nil, `"token_info_url"`},
		{"foreign impersonation URL", map[string]any{"service_account_impersonation_url": "https://evil.example/"}, nil, foreign},
		{"foreign subject URL", source("url", "https://evil.example/"), nil, `"credential_source.url" names the host "evil.example"`},
		{"allowed subject URL", source("url", "https://ci.example/"), []string{"CI.example"}, ""},
		{"allowed by wildcard", source("url", "https://a.b.ci.example/"), []string{"*.ci.example"}, ""},
		{"wildcard doesn't cover the domain", source("url", "https://ci.example/"), []string{"*.ci.example"}, foreign},
		{"allowed host by plain http", source("url", "http://ci.example/"), []string{"ci.example"}, "must be https"},
		{"allowed loopback by plain http", source("url", "http://127.0.0.1:80/"), []string{"127.0.0.1"}, ""},
		{"loopback that isn't allowed", source("url", "http://127.0.0.1:80/"), nil, foreign},
		{"metadata server", source("url", "http://169.254.169.254/metadata/identity"), nil, ""},
		{"metadata server with user info", source("url", "http://u:p@169.254.169.254/"), nil, "without user info"},
		{"AWS", aws("https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"), nil, ""},
		{"AWS elsewhere", aws("https://sts.evil.example"), nil, foreign},
		{"AWS session token elsewhere", source("environment_id", "aws1", "imdsv2_session_token_url", "http://evil.example"), nil, foreign},
		{"no source", map[string]any{"credential_source": nil}, nil, `"credential_source" is missing`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := gcpauth.Config{
				Kind: gcpauth.ExternalAccountJSON, JSON: external(t, tt.more), AllowedHosts: tt.allow,
				UniverseDomain: "example-tpc.goog",
			}
			wantRefusal(t, cfg, tt.want)
			if tt.want == "" {
				return
			}
			nested := gcpauth.Config{Kind: gcpauth.ImpersonatedJSON, JSON: impersonated(t, cfg.JSON), AllowedHosts: tt.allow}
			wantRefusal(t, nested, "source_credentials: ")
		})
	}
}

func TestNestingIsBounded(t *testing.T) {
	data := json.RawMessage(userJSON)
	for range 6 {
		data = impersonated(t, data)
	}
	wantRefusal(t, gcpauth.Config{Kind: gcpauth.ImpersonatedJSON, JSON: data}, "nested too deeply")
}

// wantRefusal checks that New fails with a text containing want, or doesn't if
// want is "".
func wantRefusal(t *testing.T, cfg gcpauth.Config, want string) {
	t.Helper()
	s, err := gcpauth.New(cfg)
	if err == nil {
		_ = s.Close()
	}
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
