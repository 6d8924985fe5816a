package gcpauth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"cloud.google.com/go/auth"
	"golang.org/x/oauth2"

	"github.com/b650d4bf/gateway/internal/gcpauth"
)

func TestNewChecksTheConfig(t *testing.T) {
	bearer := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "t"})
	tests := []struct {
		name string
		cfg  gcpauth.Config
		want string
	}{
		{"token missing", gcpauth.Config{Kind: gcpauth.AccessToken}, "AccessToken is not set"},
		{"source missing", gcpauth.Config{Kind: gcpauth.TokenSource}, "TokenSource is not set"},
		{"credentials missing", gcpauth.Config{Kind: gcpauth.Credentials}, "Credentials is not set"},
		{"JSON missing", gcpauth.Config{Kind: gcpauth.ServiceAccountJSON}, "JSON is not set"},
		{"file missing", gcpauth.Config{Kind: gcpauth.ServiceAccountFile}, "File is not set"},
		{"file not there", gcpauth.Config{Kind: gcpauth.ServiceAccountFile, File: "/no/such/key"}, "open /no/such/key"},
		{"two forms", gcpauth.Config{Kind: gcpauth.AccessToken, AccessToken: "t", TokenSource: bearer},
			"TokenSource is set but not used by this kind"},
		{"unknown kind", gcpauth.Config{Kind: 99}, "unknown kind"},
		{"token with its scheme", gcpauth.Config{Kind: gcpauth.AccessToken, AccessToken: "Bearer t"}, `without "Bearer"`},
		{"token with a line break", gcpauth.Config{Kind: gcpauth.AccessToken, AccessToken: "t\r\nx:y"}, "bare token"},
		{"quota project with a line break", gcpauth.Config{QuotaProject: "a\nb"}, "QuotaProject must be"},
		{"universe with a path", gcpauth.Config{UniverseDomain: "a.b/c"}, "UniverseDomain must be"},
		{"negative window", gcpauth.Config{RefreshAhead: -1}, "RefreshAhead must not be negative"},
		{"nothing", gcpauth.Config{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantRefusal(t, tt.cfg, tt.want) })
	}
}

func TestNewChecksTheJSON(t *testing.T) {
	tests := []struct {
		name string
		kind gcpauth.Kind
		json string
		want string
	}{
		{"of a user as a service account", gcpauth.ServiceAccountJSON, userJSON,
			`"type" is "authorized_user", want "service_account": declare it as authorized user JSON`},
		{"of a service account as a user", gcpauth.AuthorizedUserJSON, string(serviceAccount(t, nil)),
			`"type" is "service_account", want "authorized_user": declare it as service account JSON`},
		{"of federation as a service account", gcpauth.ServiceAccountJSON, string(external(t, nil)),
			`"type" is "external_account", want "service_account": declare it as external account JSON`},
		{"of an unknown type", gcpauth.ServiceAccountJSON, `{"type":"x"}`, `"type" is "x", want "service_account"`},
		{"without a type", gcpauth.ServiceAccountJSON, `{}`, `"type" is missing, want "service_account"`},
		{"cut off", gcpauth.ServiceAccountJSON, `{"type":`, "malformed"},
		{"without a key", gcpauth.ServiceAccountJSON, string(serviceAccount(t, map[string]any{"private_key": nil})), "is missing"},
		{"with a damaged key", gcpauth.ServiceAccountJSON, string(serviceAccount(t, map[string]any{"private_key": "x"})), "isn't PEM"},
		{"with another key", gcpauth.ServiceAccountJSON, string(serviceAccount(t, map[string]any{
			"private_key": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"})), "isn't an RSA key"},
		{"with a plain token URI", gcpauth.ServiceAccountJSON,
			string(serviceAccount(t, map[string]any{"token_uri": "http://h.example/t"})), `"token_uri" must be https`},
		{"with a universe that isn't one", gcpauth.ServiceAccountJSON,
			string(serviceAccount(t, map[string]any{"universe_domain": "evil.example/x"})), "universe_domain"},
		{"of a user without a login", gcpauth.AuthorizedUserJSON, `{"type":"authorized_user"}`, "log in again"},
		{"of an impersonation without a source", gcpauth.ImpersonatedJSON, `{"type":"impersonated_service_account"}`, "is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantRefusal(t, gcpauth.Config{Kind: tt.kind, JSON: []byte(tt.json)}, tt.want)
		})
	}
}

// TestNewStaysOffline also covers questions that JSON answers by itself.
func TestNewStaysOffline(t *testing.T) {
	cleanEnv(t)
	offline := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		t.Errorf("request to %s", r.URL.Host)
		return nil, errors.New("offline")
	})}
	for kind, data := range map[gcpauth.Kind][]byte{
		gcpauth.ApplicationDefault: nil, gcpauth.ServiceAccountJSON: serviceAccount(t, nil),
		gcpauth.AuthorizedUserJSON: []byte(userJSON), gcpauth.ExternalAccountJSON: external(t, nil),
		gcpauth.ImpersonatedJSON: impersonated(t, json.RawMessage(userJSON)),
	} {
		s := newSource(t, gcpauth.Config{Kind: kind, JSON: data, HTTPClient: offline})
		if kind == gcpauth.ApplicationDefault {
			continue
		}
		_, err1 := s.ProjectID(t.Context())
		_, err2 := s.UniverseDomain(t.Context())
		if err := errors.Join(err1, err2); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func FuzzCredentialJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, userJSON, `{"type":"service_account","client_email":"a","private_key":"-----BEGIN"}`,
		`{"type":"external_account","credential_source":{"url":"https://x/"},"token_url":"https://sts.googleapis.com/"}`,
		`{"type":"impersonated_service_account","source_credentials":{"type":"authorized_user"},"service_account_impersonation_url":"x"}`,
	} {
		f.Add([]byte(s))
	}
	kinds := []gcpauth.Kind{
		gcpauth.ServiceAccountJSON, gcpauth.AuthorizedUserJSON, gcpauth.ExternalAccountJSON, gcpauth.ImpersonatedJSON,
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		accepted := 0
		for _, kind := range kinds {
			s, err := gcpauth.New(gcpauth.Config{Kind: kind, JSON: data})
			if err != nil {
				continue
			}
			accepted++
			if _, err := s.UniverseDomain(t.Context()); err != nil {
				t.Errorf("%s: New accepts what UniverseDomain refuses: %v", kind, err)
			}
			_ = s.Close()
		}
		if accepted > 1 {
			t.Errorf("accepted as %d kinds", accepted)
		}
	})
}

const canary = "CANARY-7e1f"

// prints collects every way a value can end up in a log.
func prints(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		fmt.Fprintf(&out, verb+"\n", v)
	}
	if j, err := json.Marshal(v); err == nil {
		out.Write(j)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("m", "v", v)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "v", v)
	return out.String()
}

func wantNoCanary(t *testing.T, what, text string) {
	t.Helper()
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), strings.Trim(fmt.Sprint([]byte(canary)), "[]")} {
		if strings.Contains(text, form) {
			t.Errorf("%s shows the secret: %s", what, text)
		}
	}
}

func TestSecretsNeverPrint(t *testing.T) {
	user := []byte(strings.ReplaceAll(userJSON, `"rt"`, `"`+canary+`"`))
	cfg := gcpauth.Config{
		Kind: gcpauth.AuthorizedUserJSON, JSON: user, AccessToken: canary,
		TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: canary}),
	}
	for _, v := range []any{cfg, &cfg, []gcpauth.Config{cfg}, struct{ C gcpauth.Config }{cfg}} {
		wantNoCanary(t, fmt.Sprintf("%T", v), prints(t, v))
	}
	s := newSource(t, gcpauth.Config{Kind: gcpauth.AccessToken, AccessToken: canary})
	wantNoCanary(t, "source", prints(t, s))
	wantNoCanary(t, "holder of a source", prints(t, struct{ s *gcpauth.Source }{s}))
}

func TestErrorsKeepSecrets(t *testing.T) {
	echo := `{"error":"` + canary + `","error_description":"` + canary + `"}`
	user := []byte(strings.ReplaceAll(userJSON, `"rt"`, `"`+canary+`"`))
	response := &http.Response{StatusCode: 400}
	failing := func(err error) gcpauth.Config {
		f := &fake{answer: func(context.Context, int) (*auth.Token, error) { return nil, err }}
		return gcpauth.Config{
			Kind: gcpauth.Credentials, Credentials: auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: f}),
		}
	}
	replying := func(status string) gcpauth.Config {
		r := impersonation(stsToken)
		r.byURL[impersonate] = status + " " + echo
		return gcpauth.Config{Kind: gcpauth.ExternalAccountJSON, HTTPClient: r.client(),
			JSON: external(t, map[string]any{"service_account_impersonation_url": impersonate})}
	}
	for name, cfg := range map[string]gcpauth.Config{
		"token endpoint": {Kind: gcpauth.AuthorizedUserJSON, JSON: user,
			HTTPClient: (&replies{byURL: map[string]string{googleToken: "400 " + echo}}).client()},
		"token endpoint that answers 200": {Kind: gcpauth.AuthorizedUserJSON, JSON: user,
			HTTPClient: (&replies{byURL: map[string]string{googleToken: "200 " + echo}}).client()},
		"impersonation":       replying("403"),
		"impersonation fault": replying("500"),
		"network": {Kind: gcpauth.ExternalAccountJSON, HTTPClient: (&replies{}).client(), AllowedHosts: []string{"ci.example"},
			JSON: external(t, map[string]any{"credential_source": map[string]any{"url": "https://ci.example/?key=" + canary}})},
		"caller's library":     failing(&auth.Error{Response: response, Body: []byte(echo)}),
		"caller's old library": failing(&oauth2.RetrieveError{Response: response, Body: []byte(echo), ErrorCode: "x", ErrorDescription: canary}),
		"untyped text":         failing(errors.New("credentials: status code 403: " + echo)),
		"text of two lines":    failing(errors.New("failed\n" + canary)),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := newSource(t, cfg).Token(t.Context())
				if err == nil {
					t.Fatal("no error")
				}
				for ; err != nil; err = errors.Unwrap(err) {
					wantNoCanary(t, "error", prints(t, err))
				}
			})
		})
	}
	for name, data := range map[string]string{
		"wrong type":  `{"type":"authorized_user","private_key":"` + canary + `"}`,
		"wrong shape": `{"type":"service_account","private_key":["` + canary + `"]}`,
		"malformed":   `{"type":"service_account","private_key":"` + canary,
		"not PEM":     `{"type":"service_account","client_email":"a","private_key":"` + canary + `"}`,
	} {
		_, err := gcpauth.New(gcpauth.Config{Kind: gcpauth.ServiceAccountJSON, JSON: []byte(data)})
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		wantNoCanary(t, name, prints(t, err))
	}
}

// TestLibraryStaysQuiet sets the variable that makes Google's library print whole
// exchanges to standard error.
func TestLibraryStaysQuiet(t *testing.T) {
	t.Setenv("GOOGLE_SDK_GO_LOGGING_LEVEL", "debug")
	read := captureStderr(t)
	r := &replies{byURL: map[string]string{googleToken: `200 {"access_token":"` + canary + `","expires_in":3600}`}}
	s := newSource(t, gcpauth.Config{Kind: gcpauth.AuthorizedUserJSON, JSON: []byte(userJSON), HTTPClient: r.client()})
	wantValue(t, s, canary)
	if text := read(); text != "" {
		t.Errorf("printed %q", text)
	}
}
