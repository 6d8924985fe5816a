package gcpauth_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/gcpauth"
)

const metadataToken = "http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token"

// cleanEnv hides the credentials of whoever runs the test, and returns the home.
func cleanEnv(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("APPDATA", home)
	for _, name := range []string{
		"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_QUOTA_PROJECT", "GCE_METADATA_HOST",
	} {
		t.Setenv(name, "")
	}
	return home
}

func writeJSON(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// identity collects all that a Source tells.
func identity(t *testing.T, s *gcpauth.Source) map[string]string {
	t.Helper()
	out := map[string]string{}
	var errs [3]error
	out["header"], out["quota"], errs[0] = s.Header(t.Context())
	out["project"], errs[1] = s.ProjectID(t.Context())
	out["universe"], errs[2] = s.UniverseDomain(t.Context())
	if err := errors.Join(errs[:]...); err != nil {
		t.Error(err)
	}
	return out
}

func TestDefaultCredentialsFromTheNamedFile(t *testing.T) {
	cleanEnv(t)
	t.Setenv("GOOGLE_CLOUD_PROJECT", "env-project")
	t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "env-quota")
	data := serviceAccount(t, map[string]any{"token_uri": tokenServer(t, func(string) {}), "quota_project_id": "json-quota"})
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", writeJSON(t, filepath.Join(t.TempDir(), "k.json"), data))
	want := map[string]string{
		"header": "Bearer sa-token", "quota": "env-quota", "project": "my-project", "universe": "googleapis.com",
	}
	got := identity(t, newSource(t, gcpauth.Config{Kind: gcpauth.ApplicationDefault}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
}

func TestDefaultCredentialsFromALogin(t *testing.T) {
	home := cleanEnv(t)
	if runtime.GOOS == "windows" {
		t.Skip("gcloud keeps its login elsewhere on Windows")
	}
	t.Setenv("GOOGLE_CLOUD_PROJECT", "env-project")
	login := filepath.Join(home, ".config", "gcloud", "application_default_credentials.json")
	writeJSON(t, login, []byte(userJSON))
	r := &replies{byURL: map[string]string{googleToken: `200 {"access_token":"a","expires_in":3600}`}}
	s := newSource(t, gcpauth.Config{Kind: gcpauth.ApplicationDefault, HTTPClient: r.client()})
	want := map[string]string{"header": "Bearer a", "quota": "quota-1", "project": "env-project", "universe": "googleapis.com"}
	if diff := cmp.Diff(want, identity(t, s)); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
	writeJSON(t, login, []byte(strings.Replace(userJSON, `"rt"`, `"new-login"`, 1)))
	s.Invalidate("a")
	wantValue(t, s, "a")
	if !strings.Contains(r.sent[googleToken], "refresh_token=new-login") {
		t.Errorf("a new login isn't used: %s", r.sent[googleToken])
	}
}

// TestDefaultCredentialsAreTrusted: a CI system's own addresses must work without
// being listed, since whoever sets the environment owns the process.
func TestDefaultCredentialsAreTrusted(t *testing.T) {
	cleanEnv(t)
	const subject = "https://ci.example/token"
	data := external(t, map[string]any{"credential_source": map[string]any{"url": subject}})
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", writeJSON(t, filepath.Join(t.TempDir(), "k.json"), data))
	r := impersonation(stsToken)
	r.byURL[subject] = "200 oidc"
	wantValue(t, newSource(t, gcpauth.Config{Kind: gcpauth.ApplicationDefault, HTTPClient: r.client()}), "first")
}

func TestMetadataServer(t *testing.T) {
	cleanEnv(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Metadata-Flavor") != "Google" {
			t.Error("the header Metadata-Flavor is missing")
		}
		answers := map[string]string{
			"/computeMetadata/v1/instance/service-accounts/default/token": `{"access_token":"vm","expires_in":3599,"token_type":"Bearer"}`,
			"/computeMetadata/v1/project/project-id":                      "vm-project\n",
			"/computeMetadata/v1/universe/universe-domain":                "example-tpc.goog",
		}
		if strings.HasSuffix(r.URL.Path, "/token") && r.FormValue("scopes") != gcpauth.Scope {
			t.Errorf("scopes %q", r.FormValue("scopes"))
		}
		_, _ = w.Write([]byte(answers[r.URL.Path]))
	}))
	defer srv.Close()
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(srv.URL, "http://"))
	want := map[string]string{"header": "Bearer vm", "quota": "", "project": "vm-project", "universe": "example-tpc.goog"}
	got := identity(t, newSource(t, gcpauth.Config{Kind: gcpauth.ApplicationDefault}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
}

func TestMetadataServerAnswers(t *testing.T) {
	tests := []struct {
		name, reply string // "" for no answer at all
		want        string
		requests    int
	}{
		{"a token", `200 {"access_token":"vm","expires_in":3599}`, "vm", 1},
		{"no service account", `404 not found`, "the machine has no service account: attach one to it", 1},
		{"not a token", `200 {}`, "the metadata server's answer isn't a token", 3},
		{"a fault", `503 later`, "169.254.169.254 answered 503", 3},
		{"a redirect", `302 https://evil.example/`, "redirects to another host", 1},
		{"no server", ``, "no application default credentials: ", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cleanEnv(t)
			synctest.Test(t, func(t *testing.T) {
				r := &replies{byURL: map[string]string{}}
				if tt.reply != "" {
					r.byURL[metadataToken] = tt.reply
				}
				s := newSource(t, gcpauth.Config{Kind: gcpauth.ApplicationDefault, HTTPClient: r.client()})
				if got := value(t.Context(), s); !strings.Contains(got, tt.want) || len(r.asked) != tt.requests {
					t.Errorf("%q after %d requests, want %q after %d", got, len(r.asked), tt.want, tt.requests)
				}
			})
		})
	}
}

// TestMetadataServerOfAnotherCloud has a server at the address that isn't Google's.
func TestMetadataServerOfAnotherCloud(t *testing.T) {
	cleanEnv(t)
	r := &replies{byURL: map[string]string{metadataToken: `200 {"access_token":"x","expires_in":9}`}}
	client := &http.Client{Transport: transport(func(req *http.Request) (*http.Response, error) {
		resp, err := r.roundTrip(req)
		resp.Header.Del("Metadata-Flavor")
		return resp, err
	})}
	s := newSource(t, gcpauth.Config{Kind: gcpauth.ApplicationDefault, HTTPClient: client})
	if got := value(t.Context(), s); !strings.Contains(got, "no application default credentials: ") {
		t.Errorf("token %q", got)
	}
}

func TestDefaultCredentialsThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ path, want string }{
		"missing":   {filepath.Join(dir, "none.json"), "the file that GOOGLE_APPLICATION_CREDENTIALS names: open "},
		"malformed": {writeJSON(t, filepath.Join(dir, "bad.json"), []byte("{")), "the credential JSON is malformed"},
		"client":    {writeJSON(t, filepath.Join(dir, "c.json"), []byte(`{"installed":{}}`)), "these aren't credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			cleanEnv(t)
			t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", tt.path)
			s := newSource(t, gcpauth.Config{Kind: gcpauth.ApplicationDefault})
			_, err := s.Token(t.Context())
			e, ok := errors.AsType[*gcpauth.Error](err)
			if !ok || !e.Permanent || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want a permanent one with %q", err, tt.want)
			}
		})
	}
}
