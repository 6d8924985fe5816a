package anthropic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"cloud.google.com/go/auth"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/anthropic"
)

// player is a transport that keeps what was sent and answers with bytes given
// beforehand.
type player struct {
	status int // 200 when zero
	header http.Header
	body   func() io.Reader

	sent  []byte
	url   string
	head  http.Header
	calls int
}

// plays answers with the text.
func plays(text []byte) *player {
	return &player{body: func() io.Reader { return bytes.NewReader(text) }}
}

func (p *player) RoundTrip(r *http.Request) (*http.Response, error) {
	p.calls++
	p.url, p.head = r.Method+" "+r.URL.String(), r.Header.Clone()
	var err error
	if p.sent, err = io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	res := &http.Response{StatusCode: p.status, Header: p.header, ContentLength: -1, Request: r, Body: io.NopCloser(p.body())}
	if res.StatusCode == 0 {
		res.StatusCode = http.StatusOK
	}
	return res, nil
}

// key is a source of an API key.
type key string

func (k key) Token(context.Context) (*auth.Token, error) { return &auth.Token{Value: string(k)}, nil }

func target(model string) *providers.Target {
	return &providers.Target{Slug: "mine", Model: model, Token: key("sk-ant-secret")}
}

func newProvider(t *testing.T, rt http.RoundTripper) *anthropic.Provider {
	t.Helper()
	p := anthropic.New(anthropic.Config{Transport: rt})
	t.Cleanup(func() { _ = p.Close() })
	return p
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

// okMessage is the least that is an answer.
const okMessage = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[{"type":"text","text":"ok"}],` +
	`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`

// headerLines lists the headers that say who asks for what, in which version.
func headerLines(h http.Header) string {
	var b strings.Builder
	for _, name := range []string{"Authorization", "X-Api-Key", "Anthropic-Version", "Anthropic-Beta"} {
		for _, value := range h.Values(name) {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	return b.String()
}
