package gcpauth_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/b650d4bf/gateway/internal/gcpauth"
)

// readsFiles reports whether credentials name a file, a program or a certificate, which
// the machine of the test has nothing to do with.
func readsFiles(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, w := range v {
			k = strings.ToLower(k)
			if k == "file" || k == "executable" || k == "certificate" || readsFiles(w) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, readsFiles)
	}
	return false
}

// FuzzWhereTokensGo uses credentials of somebody else. Requests with what they hold go
// to hosts of Google Cloud and to metadata servers and to no others, and neither a secret
// of theirs nor a line break is in an error.
func FuzzWhereTokensGo(f *testing.F) {
	const secret = "canary-subject"
	for _, s := range []string{
		`{"type":"external_account","audience":"//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q","subject_token_type":"urn:ietf:params:oauth:token-type:jwt","token_url":"https://sts.googleapis.com/v1/token","credential_source":{"url":"https://sts.googleapis.com/x","headers":{"a":"` + secret + `"},"format":{"type":"text"}}}`,
		`{"type":"external_account","audience":"a","subject_token_type":"b","token_url":"https://evil.example","Token_URL":"https://sts.googleapis.com/v1/token","credential_source":{"url":"http://169.254.169.254/x"}}`,
		`{"type":"external_account","audience":"a","subject_token_type":"urn:ietf:params:aws:token-type:aws4_request","token_url":"https://sts.googleapis.com/v1/token","credential_source":{"environment_id":"aws1","region_url":"http://169.254.169.254/r","url":"http://169.254.169.254/c","regional_cred_verification_url":"https://sts.{region}.amazonaws.com?Action=GetCallerIdentity"}}`,
		`{"type":"impersonated_service_account","service_account_impersonation_url":"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken","source_credentials":{"type":"authorized_user","client_id":"i","client_secret":"` + secret + `","refresh_token":"r"}}`,
		`{"type":"external_account","token_url":"https://sts.googleapis.com.evil.example/","credential_source":{"url":"https://googleapis.com@evil.example/"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if json.Unmarshal(data, &v) != nil || readsFiles(v) {
			return
		}
		var mu sync.Mutex
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			host := r.URL.Hostname()
			if google := strings.HasSuffix(strings.ToLower(host), ".googleapis.com"); !google && host != "169.254.169.254" && host != "metadata.google.internal" && host != "fd20:ce::254" && host != "fd00:ec2::254" {
				t.Errorf("%s is asked", host)
			} else if google && r.URL.Scheme != "https" {
				t.Errorf("%s is asked by %s", host, r.URL.Scheme)
			}
			return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"error":"invalid_grant"}`)), Request: r}, nil
		})}
		for _, kind := range []gcpauth.Kind{gcpauth.ExternalAccountJSON, gcpauth.AuthorizedUserJSON, gcpauth.ImpersonatedJSON} {
			s, err := gcpauth.New(gcpauth.Config{Kind: kind, JSON: data, HTTPClient: client})
			if err == nil {
				_, err = s.Token(t.Context())
				_ = s.Close()
			}
			if err == nil {
				t.Errorf("%s: a token out of nothing", kind)
			} else if strings.Contains(err.Error(), secret) || strings.ContainsAny(err.Error(), "\r\x00\x1b") {
				t.Errorf("%s: %q", kind, err)
			}
		}
	})
}
