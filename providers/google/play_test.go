package google_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

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

// read reads a stream to its end and returns its chunks and their fold.
func read(r providers.ChunkReader) ([]*providers.ChatCompletionChunk, *providers.ChatCompletion, error) {
	defer func() { _ = r.Close() }()
	var acc providers.Accumulator
	var list []*providers.ChatCompletionChunk
	for {
		c, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return list, acc.Completion(), nil
		}
		if err != nil {
			return list, nil, err
		}
		if err := acc.Add(c); err != nil {
			return list, nil, err
		}
		list = append(list, c)
	}
}

func indent(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return b.Bytes()
}

var madeID = regexp.MustCompile(`(call_|chatcmpl-|audio_)[0-9A-Za-z]{24}`)

// stable encodes a value with numbers in place of ids made at random.
func stable(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	return madeID.ReplaceAllStringFunc(strings.TrimSpace(b.String()), func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprintf("%smade-%d", madeID.FindStringSubmatch(id)[1], len(names)+1)
		}
		return names[id]
	})
}

// describe writes an error with all that callers look at.
func describe(err error) string {
	var e *providers.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("%T: %v\n", err, err)
	}
	var b strings.Builder
	for _, f := range []struct {
		name  string
		value any
		given bool
	}{
		{"code", string(e.Code), true},
		{"param", e.Param, e.Param != ""},
		{"provider", e.Provider, e.Provider != ""},
		{"status", e.StatusCode, e.StatusCode != 0},
		{"native status", e.NativeStatus, e.NativeStatus != ""},
		{"retry after", e.RetryAfter.Round(time.Millisecond), e.RetryAfter != 0},
		{"sent", e.Sent, true},
		{"message", e.Message, e.Message != ""},
	} {
		if f.given {
			fmt.Fprintf(&b, "%s: %v\n", f.name, f.value)
		}
	}
	return b.String()
}

func warningLines(list []providers.Warning) string {
	var b strings.Builder
	for _, w := range list {
		fmt.Fprintf(&b, "%s | %s | %s\n", w.Code, w.Param, w.Message)
	}
	return b.String()
}
