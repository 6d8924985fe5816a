package canary_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"cloud.google.com/go/auth"
	"golang.org/x/oauth2"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/internal/gcpauth"
)

// ownTokens is a source of the caller's own, of either kind. It fails with an error that
// says too much.
type ownTokens struct {
	f     *flock
	name  string
	fails bool
}

var errOwn = errors.New("the caller's source failed")

// kindTokens are tokens by the library's own way to get them.
type kindTokens struct {
	t   *testing.T
	src *gcpauth.Source
}

// Token is for WithTokenSource.
func (k kindTokens) Token() (*oauth2.Token, error) {
	token, err := k.src.Token(k.t.Context())
	if err != nil {
		return nil, err
	}
	return &oauth2.Token{AccessToken: token.Value, TokenType: "Bearer", Expiry: token.Expiry}, nil
}

// Token is for WithTokenSource.
func (o ownTokens) Token() (*oauth2.Token, error) {
	if o.fails {
		return nil, errOwn
	}
	return &oauth2.Token{AccessToken: o.f.secret(o.name), TokenType: "Bearer", Expiry: time.Now().Add(time.Hour)}, nil
}

type authTokens struct{ ownTokens }

// Token is for WithCredentials.
func (a authTokens) Token(context.Context) (*auth.Token, error) {
	if a.fails {
		return nil, errOwn
	}
	return &auth.Token{Value: a.f.secret(a.name), Type: "Bearer", Expiry: time.Now().Add(time.Hour)}, nil
}

// subjectFile is an external account whose subject token is in a file.
func subjectFile(t *testing.T, f *flock) string {
	t.Helper()
	file := writeFile(t, filepath.Join(t.TempDir(), "subject"), f.secret("subject token in a file")+"\n")
	return `{"type":"external_account","audience":"//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b",
		"subject_token_type":"urn:ietf:params:oauth:token-type:jwt","token_url":"https://sts.googleapis.com/v1/token","service_account_impersonation_url":"` + impersonate + `",
		"credential_source":{"file":` + quote(file) + `}}`
}

// TestErrorsWithTokensOfEveryKind calls with tokens of each kind of credentials, first well,
// and then with a platform that refuses and repeats them, and with sources that fail.
func TestErrorsWithTokensOfEveryKind(t *testing.T) {
	type credentials = func(t *testing.T, f *flock, p *platform, fail mode, at string) gateway.ClientOption
	document := func(kind gcpauth.Kind, doc func(*testing.T, *flock) string) credentials {
		return func(t *testing.T, f *flock, p *platform, fail mode, at string) gateway.ClientOption {
			t.Helper()
			src, err := gcpauth.New(gcpauth.Config{Kind: kind, JSON: []byte(doc(t, f)), AllowedHosts: []string{subjectHost}, HTTPClient: &http.Client{Transport: tokenClient{p, fail, at}}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = src.Close() })
			return gateway.WithTokenSource(kindTokens{t, src})
		}
	}
	tests := map[string]struct {
		token string
		with  credentials
	}{
		"service account":            {"minted access token", document(gcpauth.ServiceAccountJSON, accountJSON)},
		"authorized user":            {"minted access token", document(gcpauth.AuthorizedUserJSON, func(_ *testing.T, f *flock) string { return userJSON(f) })},
		"external account":           {"impersonated token", document(gcpauth.ExternalAccountJSON, func(_ *testing.T, f *flock) string { return externalJSON(f) })},
		"external account in a file": {"impersonated token", document(gcpauth.ExternalAccountJSON, subjectFile)},
		"impersonation":              {"impersonated token", document(gcpauth.ImpersonatedJSON, func(_ *testing.T, f *flock) string { return impersonatedJSON(f) })},
		"token source": {"token of a source", func(_ *testing.T, f *flock, _ *platform, fail mode, _ string) gateway.ClientOption {
			return gateway.WithTokenSource(ownTokens{f, "token of a source", fail != nil})
		}},
		"credentials": {"token of credentials", func(_ *testing.T, f *flock, _ *platform, fail mode, _ string) gateway.ClientOption {
			return gateway.WithCredentials(auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: authTokens{ownTokens{f, "token of credentials", fail != nil}}}))
		}},
	}
	fails := failures()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlock(t, t.Name())
			p, _ := newPlatform(t, f)
			ask := func(answer, tokens mode, at string) error {
				p.mode = answer
				option := tt.with(t, f, p, tokens, at)
				client, err := gateway.New(option, gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithHTTPClient(&http.Client{Transport: p}))
				if err != nil {
					return err
				}
				defer func() { _ = client.Close() }()
				_, err = client.Chat.Completions.Create(t.Context(), &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage(f.text("prompt"))}})
				f.refuse(t, "the client and its option", printed(client)+printed(option), credential)
				return err
			}
			if err := ask(nil, nil, ""); err != nil {
				t.Fatal(err)
			}
			f.want(t, "the platform", f.seen(), tt.token)
			for _, mode := range []string{"401", "echo of 401", "escaped echo of 401", "echo in text of 500", "connection refused", "garbage"} {
				err := ask(fails[mode], nil, "")
				if err == nil {
					t.Errorf("%s: no error", mode)
				}
				f.refuse(t, mode, seenOf(err), credential)
				if mode == "echo of 401" {
					f.want(t, mode, seenOf(err), "prompt") // a credential would be there too
				}
				for _, host := range []string{tokenHost, exchangeHost, iamHost, subjectHost} {
					f.refuse(t, fmt.Sprint(mode, " at ", host), seenOf(ask(nil, fails[mode], host)), credential, content)
				}
			}
		})
	}
}
