package vertex_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"cloud.google.com/go/auth"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
)

// player is a transport that keeps what was sent and answers with bytes given
// beforehand.
type player struct {
	status int // 200 when zero
	header http.Header
	body   func() io.Reader

	mu     sync.Mutex // several choices may be asked for at once
	sent   []byte
	url    string
	method string
	head   http.Header
	calls  int
}

// plays answers with the text.
func plays(text []byte) *player {
	return &player{body: func() io.Reader { return bytes.NewReader(text) }}
}

func (p *player) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	p.url, p.method, p.head = r.URL.String(), r.Method, r.Header.Clone()
	if p.sent = nil; r.Body != nil {
		var err error
		if p.sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	res := &http.Response{
		StatusCode: p.status, Header: p.header, ContentLength: -1, Request: r,
		Body: io.NopCloser(p.body()),
	}
	if res.StatusCode == 0 {
		res.StatusCode = http.StatusOK
	}
	return res, nil
}

// staticToken is a token that can't be renewed.
type staticToken string

func (t staticToken) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: string(t)}, nil
}

func target(model string) *providers.Target {
	return &providers.Target{Model: model, Region: "global", ProjectID: "p", Token: staticToken("token")}
}

func newProvider(t *testing.T, rt http.RoundTripper) *vertex.Provider {
	t.Helper()
	p := vertex.New(vertex.Config{Transport: rt})
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// limited returns a provider that takes answers of at most limit bytes.
func limited(limit int, body []byte) *vertex.Provider {
	return vertex.New(vertex.Config{Transport: plays(body), MaxResponse: limit})
}

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

// okAnswer is the least that is an answer.
const okAnswer = `{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}]}`

// okOpenAnswer is the same in the OpenAI schema.
const okOpenAnswer = `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`

// encoded returns the body that goes out for the request, with the warnings.
func encoded(t *testing.T, q *providers.ChatCompletionRequest) ([]byte, []providers.Warning, error) {
	t.Helper()
	rt := plays([]byte(okAnswer))
	answer, err := newProvider(t, rt).ChatCompletion(t.Context(), target(q.Model), q)
	if err != nil {
		return nil, nil, err
	}
	return rt.sent, answer.Meta.Warnings, nil
}

// streamed sends a plain request and reads the stream that body answers with.
func streamed(t *testing.T, body func() io.Reader) ([]*providers.ChatCompletionChunk, *providers.ChatCompletion, error) {
	t.Helper()
	const model = "gemini-3.5-flash"
	p := vertex.New(vertex.Config{Transport: &player{body: body}})
	r, err := p.ChatCompletionStream(t.Context(), target(model), hello(t, model))
	if err != nil {
		return nil, nil, err
	}
	return outcome.Read(r)
}
