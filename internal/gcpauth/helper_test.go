package gcpauth_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/auth"

	"github.com/b650d4bf/gateway/internal/gcpauth"
)

// fake is a token provider that counts its calls, the first being 1.
type fake struct {
	calls  atomic.Int64
	answer func(ctx context.Context, call int) (*auth.Token, error)
}

func (f *fake) Token(ctx context.Context) (*auth.Token, error) {
	return f.answer(ctx, int(f.calls.Add(1)))
}

// source returns a Source over f, closed at the end of the test.
func (f *fake) source(t *testing.T) *gcpauth.Source {
	t.Helper()
	return newSource(t, gcpauth.Config{
		Kind: gcpauth.Credentials, Credentials: auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: f}),
	})
}

func newSource(t *testing.T, cfg gcpauth.Config) *gcpauth.Source {
	t.Helper()
	s, err := gcpauth.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// hourly answers tok1, tok2, … valid for an hour each.
func hourly(_ context.Context, call int) (*auth.Token, error) { return tokenFor(call, time.Hour), nil }

func tokenFor(call int, life time.Duration) *auth.Token {
	return &auth.Token{Value: fmt.Sprintf("tok%d", call), Expiry: time.Now().Add(life)}
}

// value returns the value of the token, or the text of the error.
func value(ctx context.Context, s *gcpauth.Source) string {
	t, err := s.Token(ctx)
	if err != nil {
		return err.Error()
	}
	return t.Value
}

func wantValue(t *testing.T, s *gcpauth.Source, want string) {
	t.Helper()
	if got := value(t.Context(), s); got != want {
		t.Errorf("token %q, want %q", got, want)
	}
}

// transport answers requests in memory.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// replies answers each request by host and path, and records the bodies.
type replies struct {
	byURL map[string]string // value: status, a space, the body

	mu    sync.Mutex
	asked []string
	sent  map[string]string
	auth  map[string]string
}

func (r *replies) client() *http.Client { return &http.Client{Transport: transport(r.roundTrip)} }

func (r *replies) roundTrip(req *http.Request) (*http.Response, error) {
	url := req.URL.Scheme + "://" + req.URL.Host + req.URL.Path
	body := ""
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sent == nil {
		r.sent, r.auth = map[string]string{}, map[string]string{}
	}
	r.asked = append(r.asked, url)
	r.sent[url], r.auth[url] = body, req.Header.Get("Authorization")
	reply, ok := r.byURL[url]
	if !ok {
		return nil, errors.New("unexpected request to " + url)
	}
	status, text, _ := strings.Cut(reply, " ")
	resp := &http.Response{
		Header: http.Header{"Content-Type": {"application/json"}, "Metadata-Flavor": {"Google"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(text)),
	}
	if _, err := fmt.Sscan(status, &resp.StatusCode); err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 3 {
		resp.Header.Set("Location", text)
	}
	return resp, nil
}

// testKey is generated once, since that takes long under the race detector.
var testKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func key(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	k, err := testKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// serviceAccount returns a key file; more sets or, with nil, removes members.
func serviceAccount(t *testing.T, more map[string]any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key(t))
	if err != nil {
		t.Fatal(err)
	}
	doc := map[string]any{
		"type": "service_account", "project_id": "my-project", "private_key_id": "kid-1",
		"client_email": "sa@my-project.iam.gserviceaccount.com",
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	}
	return document(t, doc, more)
}

// document returns doc with more laid over it as JSON.
func document(t *testing.T, doc, more map[string]any) []byte {
	t.Helper()
	for k, v := range more {
		if v == nil {
			delete(doc, k)
		} else {
			doc[k] = v
		}
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const userJSON = `{"type":"authorized_user","client_id":"id","client_secret":"cs","refresh_token":"rt","quota_project_id":"quota-1"}`

const (
	googleToken = "https://oauth2.googleapis.com/token"
	stsToken    = "https://sts.googleapis.com/v1/token"
	impersonate = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/t@p.iam.gserviceaccount.com:generateAccessToken"
)

// captureStderr redirects standard error to a file until the returned function,
// which reads it, or the end of the test.
func captureStderr(t *testing.T) func() string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	os.Stderr = f
	t.Cleanup(func() { os.Stderr = old; _ = f.Close() })
	return func() string {
		os.Stderr = old
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}
