package google_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"cloud.google.com/go/auth"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/google"
)

// player is a transport that keeps what was sent and answers with bytes given
// beforehand, one after the other; the last of them again and again.
type player struct {
	status int // 200 when zero
	bodies [][]byte

	sent [][]byte
	urls []string
	head http.Header
	verb string // method of the last request
}

func plays(bodies ...string) *player {
	p := &player{}
	for _, b := range bodies {
		p.bodies = append(p.bodies, []byte(b))
	}
	return p
}

func (p *player) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	body := p.bodies[min(len(p.sent), len(p.bodies)-1)]
	p.sent, p.urls, p.head, p.verb = append(p.sent, sent), append(p.urls, r.URL.String()), r.Header.Clone(), r.Method
	res := &http.Response{StatusCode: p.status, Header: http.Header{}, ContentLength: -1, Request: r, Body: io.NopCloser(bytes.NewReader(body))}
	if res.StatusCode == 0 {
		res.StatusCode = http.StatusOK
	}
	if bytes.HasPrefix(body, []byte(`{"error"`)) && p.status == 0 {
		res.StatusCode = http.StatusBadRequest
	}
	return res, nil
}

// apiKey is a token source that gives a key.
type apiKey string

func (k apiKey) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: string(k)}, nil
}

func target(model string) *providers.Target {
	return &providers.Target{Provider: "google", Model: model, Token: apiKey("key")}
}

func newProvider(t *testing.T, rt http.RoundTripper) *google.Provider {
	t.Helper()
	p := google.New(google.Config{Transport: rt})
	t.Cleanup(func() { _ = p.Close() })
	return p
}

const okAnswer = `{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}]}`

// hello is a request with one user message and further members.
func hello(t *testing.T, model string, members ...string) *providers.ChatCompletionRequest {
	t.Helper()
	return decodeRequest(t, []byte(`{"model":"`+model+`","messages":[{"role":"user","content":"hi"}]`+
		strings.Join(append([]string{""}, members...), ",")+`}`))
}

func decodeRequest(t *testing.T, data []byte) *providers.ChatCompletionRequest {
	t.Helper()
	q := new(providers.ChatCompletionRequest)
	if err := json.Unmarshal(data, q); err != nil {
		t.Fatalf("request: %v", err)
	}
	return q
}
