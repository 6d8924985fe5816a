package wiretap

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answering is a round tripper that gives back one answer.
type answering func(*http.Request) (*http.Response, error)

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

func ok(contentType, body string) answering {
	return func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return nil, err
			}
		}
		return &http.Response{
			Status: "200 OK", StatusCode: 200, Header: http.Header{"Content-Type": {contentType}, "X-Own": {"secret-of-the-platform"}},
			Body: io.NopCloser(strings.NewReader(body)), Request: r,
		}, nil
	}
}

func send(t *testing.T, tap *Tap, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://user:pw@h.example/p?alt=sse&key=k-123456789", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer token-123456")
	req.Header.Set("Content-Type", "application/json")
	res, err := tap.RoundTrip(req)
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Error(err)
	}
	_ = res.Body.Close()
}

func TestExchangesAreShown(t *testing.T) {
	tests := []struct {
		name    string
		next    http.RoundTripper
		answers bool
		body    string
		want    string
	}{
		{"a status alone", ok("application/json", `{"a":1}`), false, `{"b":"token-123456"}`, `→ request 1: POST https://h.example/p?alt=sse&key=[redacted]
  Authorization: Bearer [redacted]
  Content-Type: application/json

  {
    "b": "[redacted]"
  }

← answer 1: 200 OK
`},
		{"a whole answer", ok("text/event-stream", "data: {\"a\":[]}\n\ndata: [DONE]\n\n"), true, "", `→ request 1: POST https://h.example/p?alt=sse&key=[redacted]
  Authorization: Bearer [redacted]
  Content-Type: application/json
← answer 1: 200 OK
  Content-Type: text/event-stream
  X-Own: [redacted]

  data: {
    "a": []
  }

  data: [DONE]

`},
		{"no answer", answering(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route, token-123456") }), true, "", `→ request 1: POST https://h.example/p?alt=sse&key=[redacted]
  Authorization: Bearer [redacted]
  Content-Type: application/json
← request 1 failed: no route, [redacted]
`},
		{"a dry run", nil, true, "plain", `→ request 1: POST https://h.example/p?alt=sse&key=[redacted]
  Authorization: Bearer [redacted]
  Content-Type: application/json

  plain

`},
		{"bytes", ok("image/png", "\x89PNG\xff"), true, "", `→ request 1: POST https://h.example/p?alt=sse&key=[redacted]
  Authorization: Bearer [redacted]
  Content-Type: application/json
← answer 1: 200 OK
  Content-Type: image/png
  X-Own: [redacted]

  [5 bytes of image/png]

`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got strings.Builder
			tap := &Tap{Next: tt.next, Answers: tt.answers, Show: func(text string) { got.WriteString(text) }}
			send(t, tap, tt.body)
			tap.Flush()
			tap.Flush() // shows nothing twice
			lines := strings.SplitAfter(got.String(), "\n")
			for i, line := range lines {
				if before, rest, found := strings.Cut(line, " after "); found && strings.HasPrefix(line, "←") {
					lines[i] = before + strings.TrimLeft(rest, "0123456789.µms")
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(lines, "")); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDryRunStops checks that a request that is not sent ends the call.
func TestDryRunStops(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	tap := &Tap{Show: func(string) {}, Stop: cancel}
	send(t, tap, "x")
	if !errors.Is(context.Cause(ctx), ErrDryRun) || tap.Sent() != 1 {
		t.Errorf("cause %v, %d requests", context.Cause(ctx), tap.Sent())
	}
}

// TestRequestsAtOnce is for the race detector, and checks that texts are not mixed.
func TestRequestsAtOnce(t *testing.T) {
	var got []string
	tap := &Tap{Next: ok("application/json", `{"a":1}`), Answers: true, Show: func(text string) { got = append(got, text) }}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() { send(t, tap, `{"q":1}`) })
	}
	group.Wait()
	tap.Flush()
	if len(got) != 40 {
		t.Errorf("%d texts, want 40", len(got))
	}
	for _, text := range got {
		if !strings.HasPrefix(text, "→") && !strings.HasPrefix(text, "←") {
			t.Errorf("mixed: %q", text)
		}
	}
}

// TestTheTapChangesNothing checks that what is sent is what was given, again too.
func TestTheTapChangesNothing(t *testing.T) {
	var bodies []string
	tap := &Tap{Show: func(string) {}, Next: answering(func(r *http.Request) (*http.Response, error) {
		for _, open := range []func() (io.ReadCloser, error){func() (io.ReadCloser, error) { return r.Body, nil }, r.GetBody} {
			body, err := open()
			if err != nil {
				return nil, err
			}
			b, err := io.ReadAll(body)
			if err != nil {
				return nil, err
			}
			bodies = append(bodies, string(b))
		}
		if r.Header.Get("Authorization") != "Bearer token-123456" || r.URL.Query().Get("key") != "k-123456789" {
			t.Errorf("sent %v to %s", r.Header, r.URL)
		}
		return ok("text/plain", "x")(r)
	})}
	send(t, tap, "the body")
	if diff := cmp.Diff([]string{"the body", "the body"}, bodies); diff != "" {
		t.Error(diff)
	}
}

func TestLongAnswersAreCut(t *testing.T) {
	var got strings.Builder
	tap := &Tap{Next: ok("text/plain", strings.Repeat("long ", maxKept/4)), Answers: true, Show: func(text string) { got.WriteString(text) }}
	send(t, tap, "")
	tap.Flush()
	if !strings.Contains(got.String(), "[1048576 further bytes]") {
		t.Errorf("%s", got.String()[got.Len()-100:])
	}
}

func TestTextsAreShortened(t *testing.T) {
	run := strings.Repeat("QUJD", 40)
	tests := []struct{ name, text, want string }{
		{"base64", `{"data":"` + run + `=="}`, `{"data":"QUJDQUJDQUJDQUJDQUJDQUJD… [162 characters]"}`},
		{"a data URI", `"data:image/png;base64,` + run + `"`, `"data:image/png;base64,QUJDQUJDQUJDQUJDQUJDQUJD… [160 characters]"`},
		{"a text stays", strings.Repeat("word ", 100), strings.Repeat("word ", 100)},
		{"a signed URL with escapes", `"https://h/o?x=1\u0026X-Goog-Signature=abc\u0026y=2"`, `"https://h/o?x=1\u0026X-Goog-Signature=[redacted]\u0026y=2"`},
		{"a signed URL with one escape", `"https://h/o?sig=abc\u0026y=2"`, `"https://h/o?sig=[redacted]\u0026y=2"`},
		{"a signed URL", `"https://h/o?x=1&X-Goog-Signature=abc&y=2"`, `"https://h/o?x=1&X-Goog-Signature=[redacted]&y=2"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shorten(tt.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzShown checks that no body and no URL breaks the texts, and that a secret of
// the headers is in none.
func FuzzShown(f *testing.F) {
	f.Add(`{"a":1}`, "application/json", "https://h/p?key=1")
	f.Add("data: {\n\n", "text/event-stream", "https://u:p@h/p?%zz")
	f.Add("\xff\xfe", "image/png", "https://h/")
	f.Fuzz(func(t *testing.T, body, kind, address string) {
		u, err := url.Parse(address)
		if err != nil {
			return
		}
		const secret = "secret-0123456789"
		var got strings.Builder
		tap := &Tap{Show: func(text string) { got.WriteString(text) }}
		req := &http.Request{Method: "POST", URL: u, Header: http.Header{"X-Api-Key": {secret}, "Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body + secret))}
		if _, err := tap.RoundTrip(req.WithContext(t.Context())); !errors.Is(err, ErrDryRun) {
			t.Fatal(err)
		}
		if strings.Contains(got.String(), secret) {
			t.Errorf("the secret is in %q", got.String())
		}
	})
}
