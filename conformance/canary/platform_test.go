package canary_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// platform is the world outside of the gateway: the emulator and the services of the
// vendors, the token endpoints, and whatever fails in the way of the mode. It notes all
// that it is sent.
type platform struct {
	f    *flock
	next http.RoundTripper
	mode mode
	key  *rsa.PrivateKey

	mu     sync.Mutex
	signed bool // an assertion had the signature of the key
}

// mode answers a request in place of the emulator. It is shown what came.
type mode func(q *http.Request, sent string) (*http.Response, error)

func (p *platform) RoundTrip(q *http.Request) (*http.Response, error) {
	if err := q.Context().Err(); err != nil {
		return nil, err
	}
	dump, err := httputil.DumpRequestOut(withoutBody(q), false)
	if err != nil {
		return nil, err
	}
	var body []byte
	if q.Body != nil {
		if body, err = io.ReadAll(q.Body); err != nil {
			return nil, err
		}
		_ = q.Body.Close()
		q.Body = io.NopCloser(bytes.NewReader(body))
	}
	sent := string(dump) + string(body)
	p.f.witness(placeOf(q.URL.Host), sent)
	if answer := p.tokens(q, string(body)); answer != nil {
		return answer, nil
	}
	if p.mode != nil {
		return p.mode(q, sent)
	}
	return p.next.RoundTrip(q)
}

func withoutBody(q *http.Request) *http.Request {
	bare := q.Clone(context.WithoutCancel(q.Context()))
	bare.Body, bare.ContentLength = nil, 0
	return bare
}

// tokens answers for the endpoints that make tokens; nil for all others.
func (p *platform) tokens(q *http.Request, body string) *http.Response {
	switch q.URL.Host {
	case "oauth2.googleapis.com":
		p.verify(body)
		return reply(q, 200, `{"access_token":"`+p.f.secret("minted access token")+`","expires_in":3600,"token_type":"Bearer"}`)
	case "sts.googleapis.com":
		return reply(q, 200, `{"access_token":"`+p.f.secret("federated token")+`","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","expires_in":3600,"token_type":"Bearer"}`)
	case "iamcredentials.googleapis.com":
		return reply(q, 200, `{"accessToken":"`+p.f.secret("impersonated token")+`","expireTime":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`"}`)
	case "ci.example":
		return reply(q, 200, `{"value":"`+p.f.secret("subject token")+`"}`)
	}
	return nil
}

// verify looks whether an assertion in the form is signed by the key.
func (p *platform) verify(form string) {
	_, assertion, ok := strings.Cut(form, "assertion=")
	assertion, _, _ = strings.Cut(assertion, "&")
	i := strings.LastIndexByte(assertion, '.')
	if !ok || i < 0 || p.key == nil {
		return
	}
	signed, err := base64.RawURLEncoding.DecodeString(assertion[i+1:])
	sum := sha256.Sum256([]byte(assertion[:i]))
	if err == nil && rsa.VerifyPKCS1v15(&p.key.PublicKey, crypto.SHA256, sum[:], signed) == nil {
		p.mu.Lock()
		p.signed = true
		p.mu.Unlock()
		for _, name := range []string{"line", "number", "bytes", "first prime"} {
			sightings.add("private key, "+name, signature)
		}
	}
}

func reply(q *http.Request, status int, body string, header ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1, Request: q, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
}

// failures are the ways in which a platform fails. What echoes repeats all that it was
// sent, as proxies and small servers do; what does not says nothing of the request.
func failures() map[string]mode {
	out := map[string]mode{
		"connection refused": func(q *http.Request, _ string) (*http.Response, error) {
			_, err := (&net.Dialer{}).DialContext(q.Context(), "tcp", closedPort())
			return nil, err
		},
		"broken pipe": func(*http.Request, string) (*http.Response, error) { return nil, syscall.EPIPE },
		"TLS": func(q *http.Request, _ string) (*http.Response, error) {
			srv := httptest.NewUnstartedServer(http.NotFoundHandler())
			srv.Config.ErrorLog = quiet()
			srv.StartTLS()
			defer srv.Close()
			asked := q.Clone(q.Context())
			asked.URL.Host, asked.Host = srv.Listener.Addr().String(), ""
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			return transport.RoundTrip(asked)
		},
		"redirect": func(q *http.Request, _ string) (*http.Response, error) {
			return reply(q, 307, "", "Location", "https://elsewhere.example/?k="+q.Header.Get("Authorization")), nil
		},
		"time-out": func(q *http.Request, _ string) (*http.Response, error) {
			<-q.Context().Done()
			return nil, q.Context().Err()
		},
		"garbage": func(q *http.Request, sent string) (*http.Response, error) {
			return reply(q, 200, `{"candidates":[{`+sent), nil
		},
		"garbage in JSON": func(q *http.Request, _ string) (*http.Response, error) {
			return reply(q, 200, `{"candidates":"a","content":{"a":"b"},"choices":"c","predictions":7}`), nil
		},
		"empty": func(q *http.Request, _ string) (*http.Response, error) { return reply(q, 200, ``), nil },
		"cut stream": func(q *http.Request, sent string) (*http.Response, error) {
			res := reply(q, 200, "", "Content-Type", "text/event-stream")
			res.Body = io.NopCloser(io.MultiReader(strings.NewReader("data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hel\"}]}}]}\n\ndata: {"+quote(sent)), cut{}))
			return res, nil
		},
		"error in a stream": func(q *http.Request, sent string) (*http.Response, error) {
			return reply(q, 200, `data: {"type":"error","error":{"code":503,"type":"overloaded_error","message":`+quote("you sent "+sent)+"}}\n\n", "Content-Type", "text/event-stream"), nil
		},
	}
	for _, status := range []int{400, 401, 403, 404, 408, 413, 429, 500, 503} {
		said := func(message string) string {
			return fmt.Sprintf(`{"error":{"code":%d,"status":"FAILED","type":"invalid_request_error","message":%s,"param":%s,"details":[{"@type":"x","got":%s}]}}`, status, message, message, message)
		}
		out[fmt.Sprint(status)] = func(q *http.Request, _ string) (*http.Response, error) {
			return reply(q, status, said(`"No."`), "X-Debug", "none"), nil
		}
		if status != 401 && status != 429 && status != 500 {
			continue
		}
		out[fmt.Sprint("echo of ", status)] = func(q *http.Request, sent string) (*http.Response, error) {
			return reply(q, status, said(quote("you sent "+sent)), "X-Request-Id", q.Header.Get("Authorization"), "Set-Cookie", "a="+q.Header.Get("Authorization")), nil
		}
		out[fmt.Sprint("escaped echo of ", status)] = func(q *http.Request, sent string) (*http.Response, error) {
			return reply(q, status, said(escaped("you sent "+sent))), nil
		}
		out[fmt.Sprint("echo in text of ", status)] = func(q *http.Request, sent string) (*http.Response, error) {
			return reply(q, status, "you sent "+sent, "Content-Type", "text/plain"), nil
		}
	}
	return out
}

// isEcho says that the platform itself quotes the request in its error.
func isEcho(name string) bool { return strings.Contains(name, "echo") || name == "error in a stream" }

type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(b)
}

// escaped is a JSON string as PHP, and encoders that keep to ASCII, write it: what
// need not be escaped is.
func escaped(text string) string {
	return strings.NewReplacer("/", `\/`, "+", `\u002B`, "=", `\u003d`).Replace(quote(text))
}

// closedPort is an address at which nobody listens.
func closedPort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:1"
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

var makeKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// newPlatform is one before an emulator, with the key of a service account, whose
// lines are canaries, and so are its numbers.
func newPlatform(t *testing.T, f *flock) (*platform, *vertextest.Server) {
	t.Helper()
	srv := vertextest.New(vertextest.WithoutAuth(), vertextest.WithoutChecks())
	t.Cleanup(srv.Close)
	key, err := makeKey()
	if err != nil {
		t.Fatal(err)
	}
	return &platform{f: f, next: srv.Transport(), key: key}, srv
}

// accountJSON is the key file of a service account.
func accountJSON(t *testing.T, f *flock) string {
	t.Helper()
	key, err := makeKey()
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	for i, line := range strings.Split(text, "\n") {
		if i > 7 && len(line) == 64 { // before that is the public half
			f.known(credential, fmt.Sprint("private key, line ", i), line, 12)
		}
	}
	f.known(credential, "private key, number", key.D.String(), 24)
	f.known(credential, "private key, bytes", string(key.D.Bytes()), 8)
	f.known(credential, "private key, first prime", key.Primes[0].String(), 24)
	doc, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "private_key_id": f.secret("private key id"), "private_key": text,
		"client_email": "sa@p.iam.gserviceaccount.com", "client_id": "1", "token_uri": "https://oauth2.googleapis.com/token",
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func userJSON(f *flock) string {
	return `{"type":"authorized_user","client_id":"id","client_secret":"` + f.secret("client secret") + `","refresh_token":"` + f.secret("refresh token") + `"}`
}

const impersonate = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/t@p.iam.gserviceaccount.com:generateAccessToken"

func externalJSON(f *flock) string {
	return `{"type":"external_account","audience":"//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b",
		"subject_token_type":"urn:ietf:params:oauth:token-type:jwt","token_url":"https://sts.googleapis.com/v1/token","service_account_impersonation_url":"` + impersonate + `",
		"credential_source":{"url":"https://ci.example/token?key=` + f.secret("key of the subject's address") + `","headers":{"Authorization":"Bearer ` + f.secret("header of the subject's address") + `"},
		"format":{"type":"json","subject_token_field_name":"value"}}}`
}

func impersonatedJSON(f *flock) string {
	return `{"type":"impersonated_service_account","service_account_impersonation_url":"` + impersonate + `","source_credentials":` + userJSON(f) + `}`
}

// errHook is the error of a caller's function.
var errHook = errors.New("a hook failed")
